"""Files of a bucket as inputs and outputs of commands: the same rows and bytes as from a disk, and nothing half written."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command_runner import FIXTURES, Runner

from tests.shapes.captures import page, written, zipped
from tests.shapes.s3_server import Bucket, made, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = b'<a href="x.html">x</a>'
WARC = b"".join(gzip.compress(page(f"http://h/{number}/", PAGE)) for number in range(40))
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as url:
        yield url


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    import s3fs

    from absolve.run import buckets

    s3fs.S3FileSystem.clear_instance_cache()  # one of another server, perhaps
    found = made(endpoint, f"bucket{next(_NUMBERS)}")
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    buckets.is_many.cache_clear()
    return found


def rows(text: bytes, root: str) -> list[dict[str, Any]]:
    """Return the rows with the paths of documents relative to a folder or a prefix."""
    found = [json.loads(line) for line in text.splitlines()]
    return [{**row, "document": row["document"].removeprefix(root).lstrip("/")} for row in found]


@pytest.mark.parametrize(("command", "jobs"), [("links", "2"), ("documents", "1")])
def test_rows_of_a_prefix_are_those_of_a_folder(command: str, jobs: str, absolve: Runner, bucket: Bucket, tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in FIXTURES.iterdir()}
    files |= {"b/crawl.warc.gz": WARC, "a-b/x.html": PAGE, "a/x.html": PAGE, "empty.html": b"", "x.bin": bytes(9)}
    files["large.html"] = b"<!doctype html>" + PAGE * 20_000  # more than the first range
    bucket.put(files)
    here = absolve(command, str(written(tmp_path, files)), "-f", "jsonl", "-j", jobs)
    there = absolve(command, bucket.url(), "-f", "jsonl", "-j", jobs)
    assert there.status == here.status
    assert rows(there.out, bucket.url()) == rows(here.out, str(tmp_path))
    assert there.err.replace(bucket.url(), "") == here.err.replace(f"{tmp_path}/", "")


def test_an_archive_of_several_blocks_is_read_by_ranges_and_cut_for_processes(
    absolve: Runner, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from absolve.cli import many
    from absolve.run import buckets, load

    data = b"".join(gzip.compress(page(f"http://h/{n}/", PAGE + os.urandom(4000).hex().encode()), 1) for n in range(500))
    for module, name, value in ((buckets, "_BLOCK", 1 << 17), (load, "LARGE", 1 << 20), (many, "WORTH_A_POOL", 1)):
        monkeypatch.setattr(module, name, value)
    assert len(data) > 16 * buckets._BLOCK
    bucket.put({"crawl.warc.gz": data, "two.warc.gz": WARC})
    folder = written(tmp_path, {"crawl.warc.gz": data, "two.warc.gz": WARC})
    expected = rows(absolve("links", str(folder), "-f", "jsonl").out, str(folder))
    assert len(expected) == 540
    for jobs in "12":
        assert rows(absolve("links", bucket.url("*.warc.gz"), "-f", "jsonl", "-j", jobs).out, bucket.url()) == expected
    assert absolve("rewrite", bucket.url("crawl.warc.gz"), "-o", str(tmp_path / "new.warc.gz")).status == 0
    absolve("rewrite", str(folder / "crawl.warc.gz"), "-o", str(tmp_path / "expected.warc.gz"))
    assert (tmp_path / "new.warc.gz").read_bytes() == (tmp_path / "expected.warc.gz").read_bytes()


GLOBS = {
    "*.html": ["x.html", "y.html"], "?.html": ["x.html", "y.html"], "a/": ["a/b/z.html", "a/z.html"], "a": ["a/b/z.html", "a/z.html"],
    "*/z.html": ["a/z.html"], "**/z.html": ["a/b/z.html", "a/z.html"], "[x]*": ["x.html"], "[xy].html": ["x.html", "y.html"], "none*": [],
}


def test_a_glob_matches_as_in_a_shell_and_a_file_of_the_name_comes_first(absolve: Runner, bucket: Bucket) -> None:
    def found(key: str) -> list[str]:
        done = absolve("links", bucket.url(key), "-f", "csv", "--columns", "document", "-q")
        return [line.removeprefix(bucket.url()) for line in done.lines[1:]]

    bucket.put(dict.fromkeys(("x.html", "y.html", "a/z.html", "a/b/z.html", "in/[x]*", "in/x.html"), PAGE))
    assert {key: found(key) for key in GLOBS} == GLOBS
    assert found("in/[x]*") == ["in/[x]*"]


UNSAFE = ("../up.html", "a/../../up.html", "a//b.html", "./dot.html", "/root.html")
SAFE = ("ok.html", "a\x01b.html", "é #%20?.html", "...html", "a/..b/c.html")


def test_keys_that_are_no_paths_are_listed_and_leave_no_output_folder(absolve: Runner, bucket: Bucket, tmp_path: Path) -> None:
    bucket.put({**{f"in/{key}": PAGE for key in (*UNSAFE, *SAFE)}, "in/folder/": b""})
    listed = absolve("links", bucket.url("in/"), "-f", "jsonl")
    assert sorted(row["document"] for row in rows(listed.out, bucket.url("in/"))) == sorted(key.lstrip("/") for key in (*UNSAFE, *SAFE))
    assert "\x01" not in listed.err
    out = tmp_path / "below/out"
    done = absolve("rewrite", bucket.url("in/"), "-o", str(out), "--url", "http://h/")
    assert done.status == 3
    assert done.err.count(": outside: ") == len(UNSAFE)
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()) == sorted(SAFE)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and out not in path.parents] == []


def test_a_rewrite_into_a_bucket_has_the_bytes_of_one_into_a_folder(absolve: Runner, bucket: Bucket, tmp_path: Path) -> None:
    files = {"b/crawl.warc.gz": WARC, "x.html": PAGE, "x.bin": bytes(9), "../up.html": PAGE}
    bucket.put({f"in/{name}": data for name, data in files.items()})
    del files["../up.html"]
    folder = written(tmp_path / "in", files)
    absolve("rewrite", str(folder), "-o", str(tmp_path / "out"), "--url", "http://h/")
    expected = {name: (tmp_path / "out" / name).read_bytes() for name in files}
    assert expected["x.html"] != PAGE
    for jobs, source in (("1", bucket.url("in/")), ("2", bucket.url("in/")), ("1", str(folder))):
        out = bucket.url(f"{jobs}{source == str(folder)}/")
        assert absolve("rewrite", source, "-o", out, "--url", "http://h/", "-j", jobs).status == 0
        found = {key.partition("/")[2]: data for key, data in bucket.files(out.removeprefix(bucket.url())).items()}
        assert {name: found[name] for name in files} == expected
    assert absolve("rewrite", bucket.url("in/x.html"), "-o", bucket.url("one.html"), "--url", "http://h/").status == 0
    assert bucket.files("one.html") == {"one.html": expected["x.html"]}
    command = ("rewrite", bucket.url("in/"), "-o", bucket.url("again/"), "--url", "http://h/")
    bucket.put({"in/broken.html": b"\x7fELF\x02\x01\x01\0"})
    assert absolve(*command).status == 3
    assert "4 skipped" in absolve(*command, "--resume").err


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "duckdb", "xlsx"])
def test_a_table_in_a_bucket_is_that_on_a_disk(suffix: str, absolve: Runner, bucket: Bucket, tmp_path: Path) -> None:
    bucket.put({"x.html": PAGE})
    name = f"t/links.{suffix}"
    assert absolve("links", bucket.url("x.html"), "-o", bucket.url(name)).status == 0
    found = bucket.files()
    assert sorted(found) == [name, "x.html"]
    absolve("links", bucket.url("x.html"), "-o", str(tmp_path / f"links.{suffix}"))
    here = (tmp_path / f"links.{suffix}").read_bytes()
    assert found[name] == here if suffix in {"jsonl", "parquet"} else found[name][8:10] == here[8:10]


def test_a_list_that_fails_leaves_the_old_one_and_no_upload(absolve: Runner, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise OSError("no")

    bucket.put({"x.html": PAGE, "links.jsonl": b"old"})
    monkeypatch.setattr("absolve.cli.listing._write", failing)
    assert absolve("links", bucket.url("x.html"), "-o", bucket.url("links.jsonl")).status != 0
    assert bucket.files("links.jsonl") == {"links.jsonl": b"old"}
    assert bucket.unfinished() == []


def test_an_upload_in_parts_is_aborted_by_an_error(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    from absolve.run import buckets

    real = s3fs.S3FileSystem._call_s3

    async def failing(self: object, method: str, *given: object, **more: object) -> object:
        if method == "upload_part" and more.get("PartNumber") == 2:
            raise OSError("the network is gone")
        return await real(self, method, *given, **more)

    source = tmp_path / "x"
    source.write_bytes(bytes(50 << 20))
    bucket.put({"x": b"old"})
    monkeypatch.setattr(s3fs.core, "calculate_chunksize", lambda *_, **__: 16 << 20)
    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", failing)
    with pytest.raises(OSError, match="the network is gone"):
        buckets.send(source, bucket.url("x"))
    assert bucket.files() == {"x": b"old"}
    assert bucket.unfinished() == []
    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", real)
    buckets.send(source, bucket.url("x"))
    assert bucket.files() == {"x": source.read_bytes()}


def test_a_file_that_changes_while_it_is_read_is_an_error(bucket: Bucket) -> None:
    from absolve.run import buckets

    bucket.put({"x": bytes(buckets._BLOCK * 4)})
    file = buckets.opened(bucket.url("x"))
    assert file.read(9) == bytes(9)
    bucket.put({"x": b"1" * buckets._BLOCK * 4})
    with file, pytest.raises(OSError, match="no longer exists"):
        file.read()


def test_a_mirror_from_and_into_a_bucket_is_that_of_a_disk(absolve: Runner, bucket: Bucket, tmp_path: Path) -> None:
    links = {f"http://h/{n}.html": f'<a href="/{n + 1}.html">x</a><img src=i.png>'.encode() for n in range(5)}
    crawl = b"".join(gzip.compress(page(url, data)) for url, data in links.items())
    wacz = zipped({"datapackage.json": b"{}", "archive/data.warc.gz": crawl}, stored=True)
    for name, data in (("crawl.warc.gz", crawl), ("crawl.wacz", wacz)):
        bucket.put({f"in/{name}": data})
        (tmp_path / name).write_bytes(data)
        assert absolve("mirror", str(tmp_path / name), "-o", str(tmp_path / f"{name}.out")).status == 0
        files = [path for path in (tmp_path / f"{name}.out").rglob("*") if path.is_file() and path.suffix != ".sqlite"]
        expected = {path.relative_to(tmp_path / f"{name}.out").as_posix(): path.read_bytes() for path in files}
        assert len(expected) > 5
        out = f"out/{name}/"
        assert absolve("mirror", bucket.url(f"in/{name}"), "-o", bucket.url(out)).status == 0
        found = {key.removeprefix(out): data for key, data in bucket.files(out).items()}
        assert found.pop("mirror.sqlite")
        assert found == expected
        assert absolve("mirror", bucket.url(f"in/{name}"), "-o", bucket.url(f"{name}.zip")).status == 0
        listed = [absolve("links", place, "--columns", "entity,start,target") for place in (str(tmp_path / name), bucket.url(f"in/{name}"))]
        assert listed[0].out
        assert listed[0].out == listed[1].out
        ((key, packed),) = bucket.files(f"{name}.zip").items()  # a file, and no folder of this name
        assert (key, packed[:2]) == (f"{name}.zip", b"PK")


MISTAKES = {
    ("mirror", "s3://b/a/", "-o", "s3://b/a/c/"): (2, "is also an input"),
    ("mirror", "s3://b/a/", "-o", "s3://b/c/", "--resume"): (2, "--resume goes on with a mirror on a disk"),
    ("links", "gs://none/x.html"): (2, "gs://none/x.html needs a package: pip install gcsfs"),
    ("links", "s3://"): (2, "s3:// names no bucket"),
    ("rewrite", "s3://b/a.html", "--in-place"): (2, "--in-place replaces files of a disk"),
    ("links", "s3://b/a.html", "-o", "s3://b/a.html", "-f", "csv"): (2, "is also an input"),
    ("links", str(FIXTURES / "default.html"), "-o", "s3://none/x.csv"): (3, "s3://none/x.csv"),
    ("audit", "s3://b/a/", str(FIXTURES)): (2, "s3://b/a/ is the URL of a store, and absolve audit"),
    ("base", "s3://none/x.html"): (3, "not-found"),
}


@pytest.mark.parametrize(("arguments", "expected"), MISTAKES.items(), ids=range(len(MISTAKES)))
@pytest.mark.usefixtures("bucket")
def test_a_mistake_is_reported_and_makes_no_file(
    arguments: tuple[str, ...], expected: tuple[int, str], absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = absolve(*arguments)
    assert (done.status, expected[1] in done.err) == (expected[0], True), done.err
    assert "sesame" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_without_credentials_or_a_server_a_run_ends_with_the_reason(absolve: Runner, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    bucket.put({"x.html": PAGE})
    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    done = absolve("links", bucket.url())
    assert done.status == 3
    assert "Could not connect to the endpoint" in done.err


def test_without_a_url_of_a_store_its_packages_are_not_imported(tmp_path: Path) -> None:
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:/x.html").write_bytes(PAGE)
    code = "import sys; from absolve.cli import main; main(); print(*{'fsspec', 's3fs', 'aiohttp'} & {*sys.modules}, 'end')"
    argv = [sys.executable, "-c", code, "links", "s3:/x.html", "-f", "csv", "--columns", "document"]
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split() == ["document", "s3:/x.html", "end"]
