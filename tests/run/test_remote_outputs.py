"""Remote stores: a file appears completely or not at all, and Hadoop's settings of S3 are passed to Arrow."""

import pickle
from pathlib import Path

import pytest

from absolve.core.errors import UsageError
from absolve.run import remote_outputs


def nothing(_: str) -> None:
    return None


@pytest.mark.parametrize(
    ("output", "expected"),
    [("out", False), ("/out/", False), ("C:\\out", False), ("a:b", False), ("s3a://bucket/x", True), ("hdfs://h:1/x", True)],
)
def test_a_store_has_a_scheme_and_two_slashes(output: str, expected: bool) -> None:
    assert remote_outputs.is_url(output) is expected


def test_a_file_is_uploaded_below_the_folder_and_replaces_an_existing_one(tmp_path: Path) -> None:
    source = tmp_path / "x"
    store = remote_outputs.of(f"file://{tmp_path}/out/", nothing)
    store = pickle.loads(pickle.dumps(store))  # noqa: S301 - our own
    for data in (b"old", b"new"):
        source.write_bytes(data)
        store.put(source, "a/b c.html")
        assert (tmp_path / "out/a/b c.html").read_bytes() == data
    assert [path.name for path in (tmp_path / "out/a").iterdir()] == ["b c.html"]


def test_a_path_without_a_scheme_is_a_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = remote_outputs.of("a %20 b/", nothing)
    assert store.path("x") == f"{tmp_path}/a %20 b/x"
    assert not store.is_there
    (tmp_path / "a %20 b").mkdir()
    assert store.is_there


def test_a_failed_upload_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "x"
    source.write_bytes(b"new")
    (tmp_path / "out/a/taken").mkdir(parents=True)
    store = remote_outputs.of(f"file://{tmp_path}/out", nothing)
    with pytest.raises(OSError, match="taken"):
        store.put(source, "a/taken")
    assert [path.name for path in (tmp_path / "out/a").iterdir()] == ["taken"]


def test_s3_gets_the_settings_of_hadoop() -> None:
    settings = {
        "fs.s3a.access.key": "who",
        "fs.s3a.secret.key": "sesame",
        "fs.s3a.endpoint": "http://localhost:9",
        "fs.s3a.endpoint.region": "here",
    }
    store = remote_outputs.of("s3a://bucket/below", settings.get)
    assert store.root == "bucket/below"
    assert store.files.type_name == "s3"
    assert store.files.region == "here"
    assert remote_outputs._s3(settings.get) == {
        "access_key": "who",
        "secret_key": "sesame",
        "endpoint_override": "localhost:9",
        "scheme": "http",
        "region": "here",
    }


def test_an_unknown_store_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"^nowhere://x/y: "):
        remote_outputs.of("nowhere://x/y", nothing)
