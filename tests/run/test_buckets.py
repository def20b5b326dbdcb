"""Stores of Spark: a file appears completely or not at all, and Hadoop's settings of S3 count."""

import pickle
from pathlib import Path

import pytest

from absolve.core.errors import UsageError
from absolve.run import buckets


def nothing(_: str) -> None:
    return None


@pytest.mark.parametrize(
    ("output", "expected"),
    [("out", False), ("/out/", False), ("C:\\out", False), ("a:b", False), ("s3a://bucket/x", True), ("hdfs://h:1/x", True)],
)
def test_a_store_has_a_scheme_and_two_slashes(output: str, expected: bool) -> None:
    assert buckets.is_url(output) is expected


def test_a_file_is_uploaded_below_the_folder_and_replaces_an_existing_one(tmp_path: Path) -> None:
    source = tmp_path / "x"
    store = buckets.of(f"file://{tmp_path}/out/", nothing)
    store = pickle.loads(pickle.dumps(store))  # noqa: S301 - our own
    for data in (b"old", b"new"):
        source.write_bytes(data)
        store.put(source, "a/b c.html")
        assert (tmp_path / "out/a/b c.html").read_bytes() == data
    assert [path.name for path in (tmp_path / "out/a").iterdir()] == ["b c.html"]


def test_a_path_without_a_scheme_is_a_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = buckets.of("a %20 b/", nothing)
    assert store.path("x") == f"{tmp_path}/a %20 b/x"
    assert not store.is_there
    (tmp_path / "a %20 b").mkdir()
    assert store.is_there


def test_a_failed_upload_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "x"
    source.write_bytes(b"new")
    (tmp_path / "out/a/taken").mkdir(parents=True)
    store = buckets.of(f"file://{tmp_path}/out", nothing)
    with pytest.raises(OSError, match="taken"):
        store.put(source, "a/taken")
    assert [path.name for path in (tmp_path / "out/a").iterdir()] == ["taken"]


def test_s3_gets_the_settings_of_hadoop(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs")
    monkeypatch.setattr(buckets, "settings", {})
    settings = {
        "fs.s3a.access.key": "who",
        "fs.s3a.secret.key": "sesame",
        "fs.s3a.endpoint": "localhost:9",
        "fs.s3a.endpoint.region": "here",
    }
    store = buckets.of("s3a://bucket/below", settings.get)
    assert store.root == "bucket/below"
    expected = {"key": "who", "secret": "sesame", "endpoint_url": "https://localhost:9", "client_kwargs": {"region_name": "here"}}
    assert buckets.settings == {"s3": expected}
    assert store.files.storage_options.items() >= expected.items()
    buckets.of("s3a://bucket/below", {"fs.s3a.endpoint": "s3.amazonaws.com"}.get)  # Spark's own default
    assert buckets.settings == {"s3": {}}


def test_an_unknown_store_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"^nowhere://x/y: "):
        buckets.of("nowhere://x/y", nothing)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("s3://b/a", "s3://b/a", True),
        ("s3://b/a/", "s3://b/a/c/", True),
        ("s3://b/a", "s3://b/ab", False),
        ("s3://b/a/", "gs://b/a/", False),
        ("/b/a", "/b/a", False),
    ],
)
def test_two_urls_overlap_if_one_is_a_prefix_of_whole_steps(one: str, other: str, expected: bool) -> None:
    assert buckets.overlap(one, other) is buckets.overlap(other, one) is expected


def test_any_file_system_of_fsspec_is_a_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setitem(buckets.SCHEMES, "memory", buckets.Scheme("memory", "fsspec", "s3", whole=False))
    buckets.is_many.cache_clear()
    (tmp_path / "x").write_bytes(b"x" * 999)
    for key in ("a/x.html", "a/b/y.html", "c.html"):
        buckets.send(tmp_path / "x", f"memory://bucket/{key}")
    assert [place for _, place, _ in buckets.found("memory://bucket/")] == ["a/b/y.html", "a/x.html", "c.html"]
    assert [url for url, _, _ in buckets.found("memory://bucket/*/*.html")] == ["memory://bucket/a/x.html"]
    assert buckets.is_many("memory://bucket/a")
    assert buckets.contents("memory://bucket/c.html", 999) == b"x" * 999
    assert buckets.contents("memory://bucket/c.html", 998) is None
    state = buckets.state("memory://bucket/c.html")
    assert state is not None
    assert state.size == 999
    assert buckets.state("memory://bucket/none") is None
