"""Spark with inputs and outputs in S3, on executors that share no disk: the same rows and bytes, and a job that goes on."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("pyspark", reason="there is no pyspark: pip install 'absolve[spark]'")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs Java", allow_module_level=True)

from absolve import spark
from absolve.cli import main
from absolve.core.errors import UsageError
from absolve.run import buckets
from absolve.spark import parts, ranges, tasks
from tests.shapes.captures import page
from tests.shapes.s3_server import Bucket

pytestmark = pytest.mark.slow

CLUSTER = "local-cluster[2,1,1024]"


def warc(number: int, records: int = 60) -> bytes:
    body = b'<a href="x.html">x</a>' + os.urandom(3000).hex().encode()
    return b"".join(gzip.compress(page(f"http://h{number}/{one}/", body), 1) for one in range(records))


FILES = {**{f"{number}.warc.gz": warc(number) for number in range(6)}, "page.html": b'<a href="x">', "broken.warc.gz": b"\x1f\x8b"}


@pytest.fixture(scope="module")
def bucket(spark_bucket: Bucket) -> Bucket:
    spark_bucket.put({f"crawl/{name}": data for name, data in FILES.items()})
    return spark_bucket


@pytest.fixture(scope="module")
def session(bucket: Bucket) -> Iterator[Any]:
    assert bucket.environment.items() <= os.environ.items()  # which executors get
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with spark.session("tests", CLUSTER) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("crawl")
    for name, data in FILES.items():
        (found / name).write_bytes(data)
    return found


def rows(*parts_of: bytes) -> list[bytes]:
    return [line for part in parts_of for line in part.splitlines()]


def expected(folder: Path, bucket: Bucket) -> list[bytes]:
    """Return the rows of the local engine for the files on the disk, with the names that they have in the bucket."""
    out = folder.with_name("expected.jsonl")
    main(["links", str(folder), "-o", str(out), "-q"])
    return rows(out.read_bytes().replace(f"{folder}/".encode(), bucket.url("crawl/").encode()))


def table(bucket: Bucket, prefix: str) -> list[bytes]:
    return rows(*(data for key, data in sorted(bucket.files(prefix).items()) if "/part-" in key))


def test_rows_from_a_disk_from_s3_and_by_spark_on_s3_are_equal(
    session: Any, bucket: Bucket, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = expected(folder, bucket)
    assert len(here) > 300
    main(["links", bucket.url("crawl/"), "-o", str(tmp_path / "1.jsonl"), "-q"])
    assert rows((tmp_path / "1.jsonl").read_bytes()) == here
    monkeypatch.setattr(tasks, "RANGE", 50_000)  # so that archives are cut
    monkeypatch.setattr(tasks, "_TURNS", 100)
    failed = spark.write(session, bucket.url("crawl/"), bucket.url("links.jsonl")).collect()
    assert table(bucket, "links.jsonl/") == here
    assert {(row.input, row.code) for row in failed} == {(bucket.url("crawl/broken.warc.gz"), "no-record")}
    assert bucket.files("links.jsonl/_SUCCESS")
    assert not bucket.files("links.jsonl/_temporary")
    assert len(bucket.files("links.jsonl/part-")) > len(FILES)
    assert spark.links(session, bucket.url("crawl/*.warc.gz")).count() == len(here) - 1


def test_the_command_on_a_cluster_writes_into_the_bucket(bucket: Bucket, folder: Path) -> None:
    argv = ["links", bucket.url("crawl/*.warc.gz"), "--engine", CLUSTER, "-o", bucket.url("command.jsonl")]
    done = subprocess.run([sys.executable, "-m", "absolve", *argv], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert f"rows written to {bucket.url('command.jsonl')}" in done.stderr
    assert "sesame" not in done.stderr
    assert table(bucket, "command.jsonl/") == [row for row in expected(folder, bucket) if b"page.html" not in row]


@pytest.mark.parametrize("kind", ["links", "rewrite"])
def test_a_killed_job_goes_on_and_does_nothing_twice(kind: str, bucket: Bucket, tmp_path: Path) -> None:
    """The program is killed when some tasks are done; what they have written is the same file afterwards."""
    program = tmp_path / "program.py"
    call = {
        "links": "spark.write(session, sys.argv[1], sys.argv[2], resume=len(sys.argv) > 3)",
        "rewrite": "spark.rewrite(session, sys.argv[1], sys.argv[2], url='http://u/', resume=len(sys.argv) > 3)",
    }
    program.write_text(f"""
import sys
from absolve import spark
with spark.session("killed", {CLUSTER!r}) as session:
    {call[kind]}.collect()
""")
    for number in range(24):
        bucket.put({f"many/{number:02}.warc.gz": warc(number, 150)})
    out = bucket.url(f"killed-{kind}.jsonl")
    argv = [sys.executable, str(program), bucket.url("many/"), out]
    key = f"killed-{kind}.jsonl/"
    with subprocess.Popen(argv, start_new_session=True) as run:
        while len(there := records(bucket, f"{key}_temporary/")) < 2:
            assert run.poll() is None
            time.sleep(0.1)
        os.killpg(run.pid, signal.SIGKILL)
    time.sleep(3)  # executors end when their driver has
    there = records(bucket, f"{key}_temporary/")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        subprocess.run([*argv[:2], bucket.url("crawl/"), out, "resume"], check=True, capture_output=True)
    assert b"was begun with other inputs" in refused.value.stderr
    asked = len(bucket.requests)
    subprocess.run([*argv, "resume"], check=True)
    assert not [one for one in bucket.requests[asked:] if one.startswith("PUT ") and one[4:] in there]
    files = bucket.files(key)
    assert not [name for name in files if "_temporary" in name]
    local = tmp_path / "many"
    local.mkdir()
    for name, data in bucket.files("many/").items():
        (local / name.rpartition("/")[2]).write_bytes(data)
    if kind == "links":
        assert table(bucket, key) == [row.replace(b"/crawl/", b"/many/") for row in expected(local, bucket)]
    else:
        main(["rewrite", str(local), "-o", str(tmp_path / "out"), "--url", "http://u/", "-q"])
        assert {name.rpartition("/")[2]: data for name, data in files.items()} == {
            path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()
        }


def records(bucket: Bucket, prefix: str) -> set[str]:
    """Return the paths of what ends the work of a task."""
    ends = (".diagnostics", ".json")
    return {f"/{bucket.name}/{key}" for key in bucket.keys(prefix) if key.endswith(ends) and not key.endswith("_plan.json")}


def test_an_archive_is_rewritten_in_ranges_to_the_bytes_of_the_local_engine(
    session: Any, bucket: Bucket, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["rewrite", str(folder), "-o", str(tmp_path / "expected"), "--url", "http://u/", "-q"])
    here = {path.name: path.read_bytes() for path in (tmp_path / "expected").iterdir()}
    monkeypatch.setattr(tasks, "RANGE", 50_000)
    monkeypatch.setattr(tasks, "_TURNS", 100)
    whole = ranges._joined

    def failing(*_: object) -> None:
        raise UsageError("stopped")

    monkeypatch.setattr(ranges, "_ranges", failing)
    with pytest.raises(UsageError, match="stopped"):
        spark.rewrite(session, bucket.url("crawl/"), bucket.url("new/"), url="http://u/")
    monkeypatch.undo()
    assert whole is ranges._joined
    lost = next(key for key in bucket.keys("new/_temporary/ranges/"))
    bucket.put({lost: b"another size"})
    with pytest.raises(UsageError, match="other inputs, states of them, or options"):
        spark.rewrite(session, bucket.url("crawl/"), bucket.url("new/"), url="http://other/", resume=True)
    failed = spark.rewrite(session, bucket.url("crawl/"), bucket.url("new/"), url="http://u/", resume=True).collect()
    found = {name.removeprefix("new/"): data for name, data in bucket.files("new/").items()}
    assert found == here
    assert [row.code for row in failed] == ["no-record"]
    assert parts.has_plan(buckets.of(bucket.url("new/"), lambda _: None)) is False
