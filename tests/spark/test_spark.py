"""Spark: executors in processes of their own give the rows and bytes of one machine, from a disk and from S3."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("pyspark", reason="there is no pyspark: pip install 'absolve[spark]'")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs Java", allow_module_level=True)

import pyarrow as pa
from pyarrow import compute, parquet
from pyspark.sql import SparkSession

from absolve import spark
from absolve.cli import main
from absolve.core.errors import UsageError
from absolve.tables.parquet import DICTIONARY
from absolve.tables.parquet import schema as schema_of
from tests.shapes.captures import page
from tests.shapes.s3_server import Bucket, made, serving

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = b'<a href="http://h/">'


def warc(number: int, records: int) -> bytes:
    body = b'<a href="x.html">x</a>' + os.urandom(3000).hex().encode()
    return b"".join(gzip.compress(page(f"http://h{number}/{one}/", body), 1) for one in range(records))


FILES = {f"{number:02}.warc.gz": warc(number, 40) for number in range(24)}
FILES |= {"page.html": b'<a href="x">', "broken.warc.gz": b"\x1f\x8b"}


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    """Yield a bucket whose settings are in the environment of this process, with which Java and the executors start."""
    with serving() as endpoint, pytest.MonkeyPatch.context() as patch:
        found = made(endpoint, "bucket")
        for name, value in {**found.environment, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}.items():
            patch.setenv(name, value)
        found.put({f"crawl/{name}": data for name, data in FILES.items()})
        yield found


@pytest.fixture(scope="module")
def session(bucket: Bucket) -> Iterator[SparkSession]:
    """Start a cluster of two executors, each in a process of its own."""
    assert bucket.environment.items() <= os.environ.items()
    found = SparkSession.builder.appName("tests").master("local-cluster[2,1,1024]").getOrCreate()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("crawl")
    for name, data in FILES.items():
        (found / name).write_bytes(data)
    return found


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ordered(path: Path) -> pa.Table:
    """Return the rows of one file, or of a folder of them, sorted by all values, in columns without dictionaries."""
    table = parquet.ParquetDataset(path).read()
    columns = [compute.binary_join(column, " ") if pa.types.is_list(column.type) else column.cast(plain(column.type)) for column in table.columns]
    return pa.table(columns, table.column_names).sort_by([(name, "ascending") for name in table.column_names])


def plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if kind == DICTIONARY else kind


def test_rows_and_failures_are_those_of_the_command(session: SparkSession, shared: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = [str(shared / "sites"), str(shared / "warc"), str(tmp_path / "gone.html")]
    out = tmp_path / "1.parquet"
    assert main(["links", *paths, "-o", str(out), "-q"]) == 3
    errors = capfd.readouterr().err
    found = spark.links(session, paths, failures=True).persist()
    found.where("failure IS NULL").drop("failure").write.parquet(str(tmp_path / "2.parquet"))
    expected = ordered(out)
    assert expected.num_rows > 200_000
    assert ordered(tmp_path / "2.parquet").equals(expected)
    failed = found.where("failure IS NOT NULL").select("failure.*").collect()
    assert len(failed) == errors.count("error: ") > 10
    assert [row for row in failed if f"{row.code}: {row.text}" not in errors] == []
    found.unpersist()


def test_columns_have_the_types_of_arrow_without_dictionaries(session: SparkSession, folder: Path) -> None:
    schema = spark.links(session, str(folder / "page.html")).toArrow().schema
    assert schema.names == schema_of().names
    assert [str(kind) for kind in schema.types] == [str(plain(kind)).replace("<item", "<element") for kind in schema_of().types]
    few = spark.links(session, str(folder / "page.html"), columns=["kind", "target"], url="http://h/")
    assert [*map(tuple, few.collect())] == [("navigation", "http://h/x")]


def of_s3(bucket: Bucket, folder: Path, tmp_path: Path) -> list[tuple[str, str]]:
    """Return the rows of the command for the files on the disk, with the names that they have in the bucket."""
    main(["links", str(folder), "-o", str(tmp_path / "x.jsonl"), "-q"])
    rows = map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())
    return sorted((row["document"].replace(f"{folder}/", bucket.url("crawl/")), row["target"]) for row in rows)


def test_rows_and_files_from_s3_are_those_of_the_disk(session: SparkSession, bucket: Bucket, folder: Path, tmp_path: Path) -> None:
    rows = [*map(tuple, spark.links(session, bucket.url("crawl/"), columns=["document", "target"]).collect())]
    assert sorted(rows) == of_s3(bucket, folder, tmp_path)
    assert spark.links(session, bucket.url("crawl/*.warc.gz")).count() == len(rows) - 1
    main(["rewrite", str(folder), "-o", str(tmp_path / "out"), "--url", "http://u/", "-q"])
    failed = spark.rewrite(session, bucket.url("crawl/"), bucket.url("new"), url="http://u/")
    assert [(row.input, row.code) for row in failed] == [(bucket.url("crawl/broken.warc.gz"), "no-record")]
    found = {name.removeprefix("new/"): data for name, data in bucket.files("new/").items()}
    assert found == tree(tmp_path / "out")
    assert found["page.html"] == b'<a href="http://u/x">'


def test_a_rewrite_gives_the_files_of_the_command(session: SparkSession, shared: Path, tmp_path: Path) -> None:
    source = str(shared / "sites/httrack-doc")
    main(["rewrite", source, "-o", str(tmp_path / "expected"), "--url", "http://h/", "-q"])
    for _ in range(2):  # the second replaces the files of the first
        assert spark.rewrite(session, [source], str(tmp_path / "found"), url="http://h/", verify=True) == []
        assert tree(tmp_path / "found") == tree(tmp_path / "expected")


def test_what_fails_is_a_row_and_the_rest_goes_on(session: SparkSession, tmp_path: Path) -> None:
    for name, data in (("good.html", PAGE), ("broken.warc", b"WARC/1.0\r\nContent-Length: 9\r\n\r\nx")):
        (tmp_path / name).write_bytes(data)
    paths = [str(tmp_path / name) for name in ("gone.html", "broken.warc", "good.html")]
    assert [row.document for row in spark.links(session, paths).collect()] == [paths[2]]
    failed = spark.rewrite(session, paths, str(tmp_path / "out"))
    assert {(row.input, row.code) for row in failed} == {(paths[0], "not-found"), (paths[1], "truncated")}
    assert tree(tmp_path / "out")["good.html"] == PAGE
    (tmp_path / "taken/good.html").mkdir(parents=True)
    failed = spark.rewrite(session, paths[2:], str(tmp_path / "taken"))
    assert [(row.input, row.code) for row in failed] == [(paths[2], "unwritable")]
    assert tree(tmp_path / "taken") == {}


def test_names_are_relative_to_the_working_folder_of_the_driver(session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_bytes(PAGE)
    Path("empty").mkdir()
    assert [row.document for row in spark.links(session, ["page.html", "empty"]).collect()] == ["page.html"]
    assert spark.links(session, "empty").count() == 0
    assert spark.rewrite(session, "page.html", "out", policy=lambda _: "http://new/") == []
    assert tree(tmp_path / "out") == {"page.html": b'<a href="http://new/">'}


@pytest.mark.parametrize(("options", "error"), [
    ({"columns": ["colour"]}, UsageError), ({"profile": "rfc1"}, UsageError), ({"colour": "red"}, TypeError), ({"paths": "-"}, UsageError),
    ({"paths": "http://h/x.warc.gz"}, UsageError), ({"paths": "nowhere://h/x.warc.gz"}, UsageError),
])
def test_a_mistake_is_an_error_before_any_work(options: dict[str, Any], error: type[Exception], session: SparkSession) -> None:
    with pytest.raises(error):
        spark.links(session, **{"paths": "page.html", **options})


def executors(session: SparkSession) -> list[int]:
    """Return the numbers of the Java processes of the executors."""
    named = f"CoarseGrainedExecutorBackend.*--app-id\0{session.sparkContext.applicationId}\0".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [int(path.parent.name)] if re.search(named, path.read_bytes(), re.DOTALL) else []
        except OSError:  # it has ended
            continue
    return found


@pytest.mark.parametrize("work", ["links", "rewrite", "rewrite to S3"])
def test_killed_executors_lose_nothing(work: str, session: SparkSession, bucket: Bucket, folder: Path, tmp_path: Path) -> None:
    """Both executors are killed when the first tasks are done."""

    def slow(resolved: Any) -> str:
        time.sleep(0.02)
        return str(resolved.target)

    out = bucket.url("killed") if work == "rewrite to S3" else str(tmp_path / "killed")
    names = ["document", "target"]
    call: Callable[[], Any] = {
        "links": lambda: spark.links(session, bucket.url("crawl/"), columns=names).collect(),
        "rewrite": lambda: spark.rewrite(session, str(folder), out, policy=slow, url="http://u/"),
        "rewrite to S3": lambda: spark.rewrite(session, str(folder), out, policy=slow, url="http://u/"),
    }[work]
    tracker = session.sparkContext.statusTracker()
    with ThreadPoolExecutor(1) as thread:
        run = thread.submit(call)
        while not any(info and info.numCompletedTasks for info in map(tracker.getStageInfo, tracker.getActiveStageIds())):
            assert not run.done()
            time.sleep(0.01)
        killed = executors(session)
        for number in killed:
            os.kill(number, signal.SIGKILL)
        assert len(killed) == 2
        assert not run.done()
        found = run.result()
    if work == "links":
        assert sorted(map(tuple, found)) == of_s3(bucket, folder, tmp_path)
        return
    assert [row.code for row in found] == ["no-record"]
    main(["rewrite", str(folder), "-o", str(tmp_path / "expected"), "--url", "http://u/", "-q"])
    written = bucket.files("killed/") if "S3" in work else tree(tmp_path / "killed")
    assert {name.removeprefix("killed/"): data for name, data in written.items()} == tree(tmp_path / "expected")


def test_the_spark_example_prints_the_output_shown_in_the_documentation(tmp_path: Path) -> None:
    text = (ROOT / "docs/howto/spark-s3.md").read_text("utf-8")
    ((line, shown),) = re.findall(r"^```shell-session\n\$ ([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    program, *arguments, out = shlex.split(line)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    argv = [str(Path(sys.executable).with_name(program)), *arguments, str(tmp_path / out)]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.strip() == shown.strip()
    assert (tmp_path / out / "_SUCCESS").exists()
