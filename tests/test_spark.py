"""Spark: executors in processes of their own list and rewrite what the local engine does, row by row."""

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
    pytest.skip("there is no Java, which Spark wants", allow_module_level=True)

import pyarrow as pa
from pyarrow import compute, parquet

from absolve import arrow, inventory, spark
from absolve.errors import UsageError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Give a cluster of two executors, each in a process of its own."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with spark.session("tests", "local-cluster[2,1,1024]") as made:
        yield made


def absolve(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "absolve", *map(str, arguments), "--quiet"]
    return subprocess.run(argv, check=False, capture_output=True, text=True, env={**os.environ, **environment})


def records(*files: Path) -> Iterator[dict[str, Any]]:
    for file in files:
        for line in file.read_bytes().splitlines():
            yield json.loads(line)


def rows(*files: Path) -> list[str]:
    return sorted(repr([record[name] for name in inventory.COLUMNS]) for record in records(*files))


def ordered(path: Path) -> pa.Table:
    """The rows of one file, or of a folder of them, sorted by all they say, in columns without dictionaries."""
    table = parquet.ParquetDataset(path).read()
    columns = [
        compute.binary_join(column, " ") if pa.types.is_list(column.type) else column.cast(plain(column.type))
        for column in table.columns
    ]
    return pa.table(columns, table.column_names).sort_by([(name, "ascending") for name in table.column_names])


def plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if kind == arrow.WORD else kind


def test_the_rows_are_the_same_from_one_process_from_two_and_from_a_cluster(
    session: Any, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(shared / "sites"), str(shared / "warc")]
    for jobs in (1, 2):
        out, errors = tmp_path / f"{jobs}.parquet", tmp_path / f"{jobs}.errors"
        assert absolve("links", *paths, "-o", out, "--errors", errors, "--jobs", jobs).returncode == 1
    expected = ordered(tmp_path / "1.parquet")
    assert expected.num_rows > 200_000
    assert ordered(tmp_path / "2.parquet").equals(expected)

    monkeypatch.setattr(spark, "RANGE", 100_000)  # so that archives are cut
    made = spark.tables(session, paths).kept()
    assert made.links.columns == list(inventory.COLUMNS)
    spark.save(made.links, str(tmp_path / "cluster.parquet"), "parquet")
    assert ordered(tmp_path / "cluster.parquet").equals(expected)
    failed = Counter((row.input, row.code, row.text) for row in made.errors.collect())
    assert len(failed) > 10
    assert failed == Counter((one["input"], one["code"], one["text"]) for one in records(tmp_path / "1.errors"))
    made.all.unpersist()


def test_its_columns_have_the_types_of_arrow_but_for_dictionaries(session: Any, shared: Path) -> None:
    schema = spark.links(session, [str(shared / "sites/httrack-doc")]).limit(10).toArrow().schema
    assert schema.names == arrow.schema().names
    assert [str(kind) for kind in schema.types] == [
        str(plain(kind)).replace("<item", "<element") for kind in arrow.schema().types
    ]


def test_a_rewrite_gives_the_files_that_the_command_gives(session: Any, shared: Path, tmp_path: Path) -> None:
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


def test_what_is_not_there_or_broken_is_a_row_of_errors_and_the_rest_goes_on(session: Any, tmp_path: Path) -> None:
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
    failed = spark.rewrite(session, paths[2:], f"file://{tmp_path}/store").collect()
    assert [(row.input, row.code) for row in failed] == [(paths[2], "unwritable")]


def test_options_have_the_names_and_the_meaning_of_the_commands(session: Any, tmp_path: Path) -> None:
    page, urls = tmp_path / "page.html", tmp_path / "urls.csv"
    page.write_bytes(b'<a href="x"><a href="y"><img src="z"><img src="http://h/z">')
    urls.write_text(f"{page},http://h/a/b\n")
    found = spark.links(session, str(page), url_map=str(urls), kind=["image"], columns=["kind", "target"], unique=True)
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


def test_names_are_relative_to_the_folder_that_the_driver_is_in(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_bytes(b'<a href="http://h/">')
    assert [row.document for row in spark.links(session, ["page.html"]).collect()] == ["page.html"]


def test_the_command_writes_a_folder_and_names_what_failed(shared: Path, tmp_path: Path) -> None:
    source, out, errors = shared / "sites/httrack-doc", tmp_path / "links.jsonl", tmp_path / "errors"
    assert absolve("links", source, "-o", tmp_path / "1.jsonl").returncode == 0
    gone = tmp_path / "gone.html"
    run = ("links", source, gone, "-o", out, "--engine", "spark", "--master", "local[2]", "--errors", errors)
    done = absolve(*run)
    assert done.returncode == 1
    assert f"{gone}: not-found: " in done.stderr
    assert rows(*out.glob("*.json")) == rows(tmp_path / "1.jsonl")
    assert [one["input"] for one in records(errors)] == [str(gone)]


def test_what_a_cluster_lacks_is_said_in_a_line(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(b"<a href=x>")
    venv.create(tmp_path / "bare", symlinks=True)
    bare = {"PYSPARK_PYTHON": str(tmp_path / "bare/bin/python"), "PYTHONPATH": ""}
    for master, environment, said in (
        ("local[1]", {"JAVA_HOME": str(tmp_path)}, "Spark does not start: there is no Java"),
        ("local[1]", bare, "the executors cannot work: No module named '"),
        ("nowhere", {}, "Spark does not start: what it says stands above"),
    ):
        run = ("links", page, "-o", tmp_path / "out.parquet", "--engine", "spark", "--master", master)
        done = absolve(*run, **environment)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())
        assert "Error: " not in done.stderr.partition("usage: ")[2]
        assert not (tmp_path / "out.parquet").is_file()


def test_the_example_prints_by_spark_submit_what_the_readme_shows(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    ((line, shown),) = re.findall(r"^```shell-session\n\$ ([^\n]*)\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    program, *arguments, out = shlex.split(line)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    argv = [str(Path(sys.executable).with_name(program)), *arguments, str(tmp_path / out)]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.strip() == shown.strip()
    assert (tmp_path / "out/links/_SUCCESS").exists()
    assert (tmp_path / "out/errors/_SUCCESS").exists()
