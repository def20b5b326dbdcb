"""Spark: executors in processes of their own give the same rows and rewrites as the local engine."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("pyspark", reason="there is no pyspark: pip install 'absolve[spark]'")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs Java", allow_module_level=True)

import pyarrow as pa
from pyarrow import compute, parquet

from absolve import spark
from absolve.core.errors import UsageError
from absolve.document.settings import Settings
from absolve.inventory import arrow_batches
from absolve.inventory import columns as inventory
from absolve.run import buckets
from absolve.run.inputs import Input
from absolve.run.links_task import ListOptions
from absolve.run.load import ReadOptions
from absolve.spark import parts, tasks
from tests.shapes.s3_server import Bucket

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def session(spark_bucket: Bucket) -> Iterator[Any]:
    """Start a cluster of two executors, each in a process of its own."""
    assert spark_bucket.environment.items() <= os.environ.items()  # which executors get
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with spark.session("tests", "local-cluster[2,1,1024]") as made:
        yield made


def absolve(
    *arguments: object, quiet: bool = True, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "absolve", *map(str, arguments), *(["--quiet"] if quiet else [])]
    return subprocess.run(argv, check=False, capture_output=True, text=True, env={**os.environ, **(environment or {})})


def records(*files: Path) -> Iterator[dict[str, Any]]:
    for file in files:
        for line in file.read_bytes().splitlines():
            yield json.loads(line)


def ordered(path: Path) -> pa.Table:
    """Return the rows of one file, or of a folder of them, sorted by all values, in columns without dictionaries."""
    table = parquet.ParquetDataset(path).read()
    columns = [
        compute.binary_join(column, " ") if pa.types.is_list(column.type) else column.cast(plain(column.type))
        for column in table.columns
    ]
    return pa.table(columns, table.column_names).sort_by([(name, "ascending") for name in table.column_names])


def plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if kind == arrow_batches.DICTIONARY else kind


def test_documents_are_the_rows_of_the_command(session: Any) -> None:
    fixtures = ROOT / "fixtures"
    rows = spark.documents(session, str(fixtures), columns=["document", "entity", "size", "anchors"]).collect()
    done = absolve("documents", fixtures, "--columns", "document,entity,size,anchors")
    assert sorted(map(tuple, rows)) == sorted(tuple(json.loads(line).values()) for line in done.stdout.splitlines())


def test_one_process_two_processes_and_a_cluster_give_the_same_rows(
    session: Any, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(shared / "sites"), str(shared / "warc")]
    for jobs in (1, 2):
        out, errors = tmp_path / f"{jobs}.parquet", tmp_path / f"{jobs}.errors"
        options = ("--errors", errors, "--jobs", jobs)
        assert absolve("links", *paths, "-o", out, *options).returncode == 3
    expected = ordered(tmp_path / "1.parquet")
    assert expected.num_rows > 200_000
    assert ordered(tmp_path / "2.parquet").equals(expected)

    monkeypatch.setattr(tasks, "RANGE", 100_000)  # so that archives are split
    failed = spark.write(session, paths, str(tmp_path / "cluster.parquet")).collect()
    assert ordered(tmp_path / "cluster.parquet").equals(expected)
    counted = Counter((row.input, row.code, row.text) for row in failed)
    assert len(counted) > 10
    assert counted == Counter((one["input"], one["code"], one["text"]) for one in records(tmp_path / "1.errors"))


def test_a_frame_has_the_rows_and_the_errors_that_the_command_writes(
    session: Any, shared: Path, tmp_path: Path
) -> None:
    paths = [str(shared / "sites/httrack-doc"), str(shared / "warc/pywb")]
    out, errors = tmp_path / "1.parquet", tmp_path / "1.errors"
    assert absolve("links", *paths, "-o", out, "--errors", errors).returncode == 3
    made = spark.tables(session, paths).kept()
    assert made.links.columns == list(inventory.COLUMNS)
    made.links.write.parquet(str(tmp_path / "frame.parquet"))
    assert ordered(tmp_path / "frame.parquet").equals(ordered(out))
    failed = Counter((row.input, row.code, row.text) for row in made.errors.collect())
    assert failed == Counter((one["input"], one["code"], one["text"]) for one in records(errors))
    made.all.unpersist()


def test_columns_of_a_frame_have_the_types_of_arrow_without_dictionaries(session: Any, shared: Path) -> None:
    schema = spark.links(session, [str(shared / "sites/httrack-doc")]).limit(10).toArrow().schema
    assert schema.names == arrow_batches.schema().names
    assert [str(kind) for kind in schema.types] == [
        str(plain(kind)).replace("<item", "<element") for kind in arrow_batches.schema().types
    ]


def test_a_rewrite_on_spark_gives_the_files_of_the_command(session: Any, shared: Path, tmp_path: Path) -> None:
    source = shared / "sites/httrack-doc"
    assert absolve("rewrite", source, "-o", tmp_path / "expected", "--url", "http://h/").returncode == 0
    failed = spark.rewrite(session, [str(source)], str(tmp_path / "found"), url="http://h/").collect()
    assert failed == []
    files = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    assert len(files) > 50
    for path in files:
        assert (tmp_path / "found" / path).read_bytes() == (tmp_path / "expected" / path).read_bytes()
    store = f"file://{tmp_path}/store/below"
    assert spark.rewrite(session, [str(source)], store, url="http://h/").collect() == []
    for path in files:
        assert (tmp_path / "store/below" / path).read_bytes() == (tmp_path / "expected" / path).read_bytes()
    assert not list(tmp_path.rglob("*.tmp"))


def test_missing_or_broken_inputs_are_rows_of_errors_and_the_rest_continues(session: Any, tmp_path: Path) -> None:
    for name, data in (("good.html", b'<a href="http://h/">'), ("broken.warc", b"WARC/1.0\r\nContent-Length: 9\r\n\r\nx")):
        (tmp_path / name).write_bytes(data)
    paths = [str(tmp_path / name) for name in ("gone.html", "broken.warc", "good.html")]
    made = spark.tables(session, paths)
    assert [row.document for row in made.links.collect()] == [paths[2]]
    assert {(row.input, row.code) for row in made.errors.collect()} == {(paths[0], "not-found"), (paths[1], "truncated")}
    failed = spark.rewrite(session, paths, str(tmp_path / "out")).collect()
    assert {row.input for row in failed} == set(paths[:2])
    assert (tmp_path / "out/good.html").read_bytes() == b'<a href="http://h/">'
    (tmp_path / "store").write_bytes(b"a file, where a folder is wanted")
    with pytest.raises(UsageError, match="unwritable"):
        spark.rewrite(session, paths[2:], f"file://{tmp_path}/store")


def test_options_of_spark_functions_equal_those_of_the_command(session: Any, tmp_path: Path) -> None:
    page, urls = tmp_path / "page.html", tmp_path / "urls.csv"
    page.write_bytes(b'<a href="x"><a href="y"><img src="z"><img src="http://h/z">')
    urls.write_text(f"{page},http://h/a/b\n")
    found = spark.links(session, str(page), url_map=str(urls), kind=["image"], columns=["kind", "target"])
    assert sorted(map(tuple, found.collect())) == [("image", "http://h/a/z"), ("image", "http://h/z")]
    spark.rewrite(session, str(page), str(tmp_path / "out"), url="http://g/", scope=["internal"], kind=["image"])
    expected = page.read_bytes().replace(b"z", b"http://g/z", 1)
    assert (tmp_path / "out/page.html").read_bytes() == expected
    for options, error in (
        ({"columns": ["colour"]}, UsageError),
        ({"kind": ["fish"]}, UsageError),
        ({"profile": "rfc1"}, UsageError),
        ({"include": ["[z-a]"]}, UsageError),
        ({"colour": "red"}, TypeError),
    ):
        with pytest.raises(error):
            spark.links(session, str(page), **options)


def test_names_are_relative_to_the_working_folder_of_the_driver(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_bytes(b'<a href="http://h/">')
    assert [row.document for row in spark.links(session, ["page.html"]).collect()] == ["page.html"]


def test_an_output_folder_of_spark_is_new_and_appears_completely_or_not_at_all(session: Any, tmp_path: Path) -> None:
    page, out = tmp_path / "page.html", tmp_path / "out.jsonl"
    page.write_bytes(b'<a href="http://h/">')
    assert spark.write(session, str(page), f"file://{out}").collect() == []
    assert sorted(path.name for path in out.iterdir()) == ["_SUCCESS", "part-00000.jsonl"]
    assert [one["target"] for one in records(out / "part-00000.jsonl")] == ["http://h/"]
    with pytest.raises(UsageError, match="is there already"):
        spark.write(session, str(page), str(out))
    with pytest.raises(UsageError, match="unwritable"):
        spark.write(session, str(page), str(page / "x"))
    with pytest.raises(UsageError, match="sqlite is no format"):
        spark.write(session, str(page), str(tmp_path / "x.sqlite"))
    store = buckets.of(str(tmp_path / "lost"), lambda _: None)
    with pytest.raises(FileNotFoundError), parts.begun(store):
        parts.put(store, [parts.Part("part-00000", "_temporary/none")])
    assert not (tmp_path / "lost").exists()


def test_a_repeated_task_writes_its_rows_once_and_is_seen_as_done(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(b'<a href="http://h/">')
    store = buckets.of(str(tmp_path / "out"), lambda _: None)
    how = ListOptions(ReadOptions(Settings()))
    part = parts.Part.of(0, "jsonl")
    with parts.begun(store):
        assert parts.done(store, [part]) == []
        made = [parts.write(how, store, part, iter([Input(str(page), "page.html")])) for _ in range(2)]
        assert parts.done(store, [part]) == made[1:]
        (tmp_path / "out/_temporary/part-00000.jsonl").write_bytes(b"half")
        assert parts.done(store, [part]) == []
        made = [parts.write(how, store, part, iter([Input(str(page), "page.html")]))]
        parts.put(store, made)
        assert parts.done(store, [part]) == made
        parts.put(store, made)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_SUCCESS", "part-00000.jsonl"]


def test_spark_writes_an_empty_table_without_inputs(session: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    spark.write(session, str(tmp_path / "empty"), str(tmp_path / "out"))
    table = parquet.ParquetDataset(tmp_path / "out").read()
    assert table.num_rows == 0
    assert table.schema.names == list(inventory.COLUMNS)


def test_the_command_on_spark_has_the_order_and_diagnostics_of_the_local_engine(
    shared: Path, tmp_path: Path
) -> None:
    source, out, errors = shared / "sites/httrack-doc", tmp_path / "links.jsonl", tmp_path / "errors"
    gone = tmp_path / "gone.html"
    here = absolve("links", source, gone, "-o", tmp_path / "1.jsonl", quiet=False)
    cluster = ("--engine", "local[2]", "--errors", errors)
    done = absolve("links", source, gone, "-o", out, *cluster, quiet=False)
    assert here.returncode == done.returncode == 3
    printed = [line for line in here.stderr.splitlines() if not line.startswith("absolve: ")]  # progress and summary
    printed = list(dict.fromkeys(printed))  # a failure may be repeated at the end
    assert [line.split(": ")[0] for line in printed] == ["warning", "error", "warning", "hint"]  # a page, the others
    assert [line for line in done.stderr.splitlines() if line in printed] == printed
    assert done.stderr.endswith(f"absolve: 80 inputs read, rows written to {out}; 1 input failed\n")
    written = sorted(out.glob("*.jsonl"))
    assert len(written) > 1
    assert b"".join(path.read_bytes() for path in written) == (tmp_path / "1.jsonl").read_bytes()
    assert [one["input"] for one in records(errors)] == [str(gone)]


def test_the_command_on_spark_writes_equal_rows_once_with_unique(tmp_path: Path) -> None:
    pages = [tmp_path / f"{number}.html" for number in range(9)]
    for number, page in enumerate(pages):
        page.write_bytes(b'<a href="http://h/x"><img src="http://h/%d">' % (number % 3))
    cluster = ("--engine", "local[2]")
    run = ("links", *pages, "--columns", "target,problems", "--unique", "-o")
    for name, more in (("1.csv", ()), ("2.csv", cluster)):
        assert absolve(*run, tmp_path / name, *more).returncode == 0
    found = [line for path in (tmp_path / "2.csv").glob("*.csv") for line in path.read_text().splitlines()]
    assert sorted(line for line in found if line != "target,problems") == [f"http://h/{last}," for last in "012x"]
    head, *lines = (tmp_path / "1.csv").read_text().splitlines()
    assert head == "target,problems"
    assert sorted(lines) == [f"http://h/{last}," for last in "012x"]


def test_missing_requirements_of_a_cluster_are_reported_in_one_line(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(b"<a href=x>")
    venv.create(tmp_path / "bare", symlinks=True)
    bare = {"PYSPARK_PYTHON": str(tmp_path / "bare/bin/python"), "PYTHONPATH": ""}
    for master, environment, message in (
        ("local[1]", {"JAVA_HOME": str(tmp_path)}, "Spark does not start: there is no Java"),
        ("local[1]", bare, "the executors cannot work: No module named '"),
        ("spark://nowhere", {}, "Invalid master URL: spark://nowhere"),
    ):
        run = ("links", page, "-o", tmp_path / "out.parquet", "--engine", master)
        done = absolve(*run, environment=environment)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())
        assert "Error: " not in done.stderr.partition("usage: ")[2]
        assert not (tmp_path / "out.parquet").is_file()


def test_the_spark_example_prints_the_output_shown_in_the_documentation(tmp_path: Path) -> None:
    page = (ROOT / "docs/howto/spark-s3.md").read_text("utf-8")
    ((line, shown),) = re.findall(r"^```shell-session\n\$ ([^\n]*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    program, *arguments, out = shlex.split(line)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    argv = [str(Path(sys.executable).with_name(program)), *arguments, str(tmp_path / out)]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.strip() == shown.strip()
    assert (tmp_path / "out/links/_SUCCESS").exists()
    assert (tmp_path / "out/errors/_SUCCESS").exists()
