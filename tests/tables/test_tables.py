"""Sinks for databases and Parquet: their files as other programs read them."""

import io
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

import absolve
from absolve import api, arrow
from absolve.core.arrow_stream import BOOL, DOUBLE, NUMBER, TEXT, Field
from absolve.inventory import batches
from absolve.inventory.columns import COLUMNS, Row
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.tables import FORMATS, by_name, typed_table
from absolve.tables import parquet as batches_of_pyarrow
from absolve.tables.parquet import batch, gathered, schema

PAGE = """<base href="http://User@Example.com:8080/d/"><a href='x?//y'> a  b </a><a href="http://[">é</a>
<img src=" HTTP://Other.example#f "><a href=mailto:a@b.example?x=http://c/><a href=../../z>"""
ROWS = list(absolve.links(PAGE, name="é.html"))
HOSTS = [("example.com:8080", 3, 1), ("other.example", 1, 1)]
LAYERS = [("embedded", 5, 1), ("default", 1, 1)]  # the base element has no outer base


def write_chunks(format_: str, columns: Sequence[str], chunks: Iterable[Any], target: Any) -> None:
    by_name(format_).write([typed_table("links", columns)], (("links", chunk) for chunk in chunks), target)


def write(format_: str, target: Any, columns: Sequence[str] = COLUMNS, rows: Sequence[Any] = ROWS) -> None:
    """Write the rows in two chunks."""
    encode = by_name(format_).encode
    write_chunks(format_, columns, [encode(columns, rows[:2]), encode(columns, rows[2:])], target)


def expected(row: Row) -> tuple[Any, ...]:
    return tuple(" ".join(cell) if isinstance(cell, list) else cell for cell in row)


# --- SQLite -----------------------------------------------------------------------------------------------------------


def test_sqlite_has_the_rows_with_lists_joined_by_blanks_and_views_for_common_questions(tmp_path: Path) -> None:
    write("sqlite", tmp_path / "x")
    with closing(sqlite3.connect(tmp_path / "x")) as database:
        assert database.execute("SELECT * FROM links").fetchall() == [expected(row) for row in ROWS]
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        plan = database.execute("EXPLAIN QUERY PLAN SELECT * FROM links WHERE target = ''").fetchone()
        assert "USING INDEX links_target" in plan[-1]
        assert database.execute("SELECT reference FROM broken").fetchall() == [("http://[",)]
        assert database.execute("SELECT * FROM by_host").fetchall() == HOSTS
        assert database.execute("SELECT * FROM by_base_layer").fetchall() == LAYERS


def test_sqlite_of_some_columns_has_the_views_that_need_only_those(tmp_path: Path) -> None:
    write("sqlite", tmp_path / "x", ("document", "target"), [("a", "http://h/"), ("b", None)])
    with closing(sqlite3.connect(tmp_path / "x")) as database:
        views = database.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall()
        assert views == [("by_host",)]
        assert database.execute("SELECT * FROM by_host").fetchall() == [("h", 1, 1)]


def test_sqlite_of_no_rows_is_an_empty_table(tmp_path: Path) -> None:
    write_chunks("sqlite", COLUMNS, [], tmp_path / "x")
    with closing(sqlite3.connect(tmp_path / "x")) as database:
        assert database.execute("SELECT count(*) FROM links").fetchone() == (0,)


def test_datasette_serves_the_views_of_the_table(tmp_path: Path) -> None:
    write("sqlite", tmp_path / "x.sqlite")
    argv = [sys.executable, "-m", "datasette", str(tmp_path / "x.sqlite"), "--get", "/x/by_host.json?_shape=arrays"]
    answer = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    assert [tuple(row) for row in answer["rows"]] == HOSTS


# --- Arrow, Parquet, DuckDB -------------------------------------------------------------------------------------------


def test_an_arrow_table_has_all_columns_and_only_target_may_be_null() -> None:
    table = arrow.links(PAGE, name="é.html")
    assert [tuple(row.values()) for row in table.to_pylist()] == [tuple(row) for row in ROWS]
    assert [field.name for field in table.schema if field.nullable] == ["target"]
    assert arrow.links("").schema == table.schema
    assert arrow.batch(("text", "rel"), [("a\udcffb", "\udcff")]).to_pylist() == [{"text": "a\ufffdb", "rel": "\ufffd"}]


def test_an_arrow_column_outlives_its_batch_and_is_valid() -> None:
    found = {name: arrow.links(PAGE, name="é.html").column(name) for name in COLUMNS}
    for number in range(50):
        arrow.links(PAGE, name=f"{number}.html")  # would reuse the memory of a freed column
    for place, (name, column) in enumerate(found.items()):
        column.validate(full=True)
        assert column.to_pylist() == [row[place] for row in ROWS], name
        assert column.null_count == sum(row[place] is None for row in ROWS)


def test_batches_of_many_documents_have_their_rows_in_order() -> None:
    documents = [absolve.Document(PAGE, name=name) for name in ("é.html", "b.html", "c.html")]
    rows = [row for document in documents for row in absolve.links(document, profile="whatwg")]
    for most in (1, 4, len(rows), 1000):
        made = list(arrow.batches(documents, rows=most, profile="whatwg"))
        assert [tuple(row.values()) for batch in made for row in batch.to_pylist()] == [tuple(row) for row in rows]
        assert {batch.num_rows for batch in made[:-1]} <= {most}
    assert list(arrow.batches([])) == []


@pytest.mark.parametrize(("few", "little"), [(4096, 1 << 20), (20, 1 << 20), (4096, 3000), (1, 1)])
def test_columns_of_small_documents_are_joined(monkeypatch: pytest.MonkeyPatch, few: int, little: int) -> None:
    monkeypatch.setattr(batches, "_FEW", few)
    monkeypatch.setattr(batches, "_LITTLE", little)
    names = ("document", "target", "line", "problems", "kind")
    places = [COLUMNS.index(name) for name in names]
    columns = [api.columns(f"<a href=x{number}><img src=''>" * (number % 7), name=f"{number}") for number in range(50)]
    columns.append(api.columns("<a href=z>" * 5000, name="large"))
    rows = [[getattr(row, names[at]) for at in range(len(places))] for one in columns for row in one]
    chunks = [batch(names, columns[0]), *columns[1:], batch(names, columns[9])]
    tables = list(gathered(chunks, schema(names), 10_000))
    assert sum(table.column(0).num_chunks for table in tables) <= (4 if few == 4096 and little > 3000 else 52)
    found = [[*row.values()] for row in pa.concat_tables(tables).to_pylist()]
    assert found == [*rows, *[[getattr(row, name) for name in names] for row in columns[9]]]


def test_missing_cells_of_the_table_of_documents_are_null() -> None:
    columns = schema(DOCUMENT_COLUMNS)
    full: list[Any] = [7 if kind == "int64" else ["a", "\u00e9"] if kind.startswith("list") else "\u00e9" for kind in map(str, columns.types)]
    empty = [None] * len(full)
    rows = [full, empty, full, *[empty] * 9, full]
    found = batch(DOCUMENT_COLUMNS, rows)
    found.validate(full=True)
    assert found.schema == columns
    assert [list(row.values()) for row in found.to_pylist()] == rows
    assert batch(DOCUMENT_COLUMNS, []).num_rows == 0


@pytest.mark.parametrize(("column", "cell"), [("title", 5), ("charset", b"x"), ("status", "x"), ("status", 1 << 63), ("anchors", [5])])
def test_a_cell_of_another_type_is_an_error(column: str, cell: Any) -> None:
    with pytest.raises((TypeError, OverflowError)):
        batch([column], [[cell]])


def test_rows_of_other_types_are_as_pyarrow_makes_them() -> None:
    columns: dict[str, list[Any]] = {
        "bool": [True, None, False] * 7, "double": [0.5, None, float("inf")] * 7, "int64": [1, None, -1] * 7,
        "string": ["", None, "\u00e9"] * 7,
    }
    fields = [Field(name, kind) for name, kind in zip(columns, (BOOL, DOUBLE, NUMBER, TEXT), strict=True)]
    found = pa.table(batches.stream([batches.typed(fields, zip(*columns.values(), strict=True))]))
    found.validate(full=True)
    assert found.schema == pa.schema([(name, pa.array(cells, name).type) for name, cells in columns.items()])
    assert found.to_pydict() == columns


def test_nothing_imports_pandas(tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("print('imported')")
    (tmp_path / "x.html").write_text(PAGE)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    words = ("links x.html -o x.parquet -q", "links x.html -o x.duckdb -q", "audit x.html --url http://h/ -o x.jsonl")
    program = f"import sys; from absolve.cli import main; print({{main(words.split()) for words in {words}}} <= {{0, 1}})"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert (b"True" in done.stdout, b"imported" in done.stdout) == (True, False)


def test_tables_of_large_rows_are_limited_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arrow, batches_of_pyarrow):
        monkeypatch.setattr(module, "MOST_BYTES", 10_000)
    document = absolve.Document(b"".join(b"<a href='%d%s'>" % (number, b"x" * 1000) for number in range(40)), name="a")
    rows = [list(row) for row in absolve.links(document)]
    found = list(arrow.batches([document]))
    assert [batch.num_rows for batch in found] == [10] * 4
    assert [[*row.values()] for batch in found for row in batch.to_pylist()] == rows
    columns = [arrow.batch(("reference",), [[row[COLUMNS.index("reference")]]]) for row in rows]
    tables = list(gathered(columns, arrow.schema(["reference"]), 1000))
    assert [table.num_rows for table in tables] == [10] * 4
    assert [row["reference"] for table in tables for row in table.to_pylist()] == [row[11] for row in rows]


@pytest.mark.parametrize("format_", [name for name, form in FORMATS.items() if form.columns and name != "table"])
def test_sinks_that_accept_columns_write_them_among_encoded_rows(format_: str, tmp_path: Path) -> None:
    encode = by_name(format_).encode
    names = ("target", "line", "problems", "document", "kind")
    places = [COLUMNS.index(name) for name in names]
    rows = [[row[place] for place in places] for row in ROWS]
    columns = api.columns(PAGE, name="é.html")
    written: list[list[tuple[Any, ...]]] = []
    for chunks in ([columns, encode(names, rows), columns.taken()], [encode(names, rows * 3)]):
        path = tmp_path / f"{len(written)}.{format_}"
        if FORMATS[format_].stream:
            with path.open("wb") as file:
                write_chunks(format_, names, chunks, file)
        else:
            write_chunks(format_, names, chunks, path)
        written.append(read(path, format_))
    assert written[0] == written[1] == [tuple(row) for row in rows * 3]


def test_a_worker_that_does_not_write_loads_no_package_of_the_sink(tmp_path: Path) -> None:
    formats = [name for name, form in FORMATS.items() if form.columns]
    (tmp_path / "x.html").write_text(PAGE)
    program = f"""
import sys
from absolve.run.links_task import ListOptions, listed
from absolve.run.results import RowChunk
from absolve.run.load import ReadOptions
from absolve.run.inputs import Input
from absolve.document.settings import Settings
for name in {formats}:
    found = listed(ListOptions(ReadOptions(Settings()), format=name), Input({str(tmp_path / "x.html")!r}, "x"))
    print(sum(piece.number for piece in found if isinstance(piece, RowChunk)), "pyarrow" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == f"{len(ROWS)} False\n" * len(formats)


def read(path: Path, format_: str) -> list[tuple[Any, ...]]:
    if format_ == "parquet":
        return [tuple(row.values()) for row in parquet.read_table(path).to_pylist()]
    with closing(duckdb.connect(str(path))) as database:
        return database.execute("SELECT * FROM links").fetchall()


def test_parquet_is_compressed_in_row_groups_and_uses_dictionaries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def file() -> io.BytesIO:
        made = io.BytesIO()
        write("parquet", made)
        made.seek(0)  # it is not closed
        return made

    assert [tuple(row.values()) for row in parquet.read_table(file()).to_pylist()] == [tuple(row) for row in ROWS]
    column = parquet.ParquetFile(file()).metadata.row_group(0).column(COLUMNS.index("base"))
    assert (column.compression, column.has_dictionary_page) == ("ZSTD", True)
    write_chunks("parquet", COLUMNS, [], empty := io.BytesIO())
    assert parquet.read_table(empty).shape == (0, len(COLUMNS))
    path = tmp_path / "x.parquet"
    path.write_bytes(file().getvalue())
    import pandas as pd  # here: each worker imports all modules of tests
    assert list(pd.read_parquet(path)["reference"]) == [row.reference for row in ROWS]
    with duckdb.connect() as database:
        assert database.execute("SELECT target FROM read_parquet(?)", [str(path)]).fetchall() == [(row.target,) for row in ROWS]
    monkeypatch.setattr("absolve.tables.parquet.ROW_GROUP", 2)
    assert parquet.ParquetFile(file()).metadata.num_row_groups > 1


def test_duckdb_has_the_rows_and_views_for_common_questions(tmp_path: Path) -> None:
    write("duckdb", tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    with duckdb.connect(str(tmp_path / "x"), read_only=True) as database:
        assert database.execute("SELECT * FROM links").fetchall() == [tuple(row) for row in ROWS]
        assert database.execute("SELECT reference FROM broken").fetchall() == [("http://[",)]
        assert database.execute("SELECT * FROM by_host").fetchall() == HOSTS
        assert database.execute("SELECT * FROM by_base_layer").fetchall() == LAYERS


def test_a_missing_package_is_an_error_that_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "absolve.tables.parquet", raising=False)
    with pytest.raises(absolve.UsageError, match=r"pip install 'absolve\[parquet\]'"):
        by_name("parquet")


# --- XLSX -------------------------------------------------------------------------------------------------------------


def sheets(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(openpyxl.load_workbook(path)) as book:
        return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}


@pytest.mark.parametrize(("count", "expected"), [(0, [0]), (2, [2]), (3, [2, 1]), (4, [2, 2]), (5, [2, 2, 1])])
def test_rows_that_a_sheet_has_no_room_for_are_on_the_next_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int, expected: list[int]
) -> None:
    monkeypatch.setattr("absolve.tables.xlsx.MOST_ROWS", 2)
    rows = [(f"{number}", "http://h/") for number in range(count)]
    tables = [typed_table("links", ("document", "target")), typed_table("other", ("text",))]
    chunks = [("other", [("x",)]), ("links", rows[:3]), ("links", rows[3:])]
    by_name("xlsx").write(tables, chunks, tmp_path / "x.xlsx")
    found = sheets(tmp_path / "x.xlsx")
    assert [*found] == ["links", *[f"links {number}" for number in range(2, len(expected) + 1)], "other"]
    assert [len(of_sheet) - 1 for of_sheet in found.values()] == [*expected, 1]
    assert [row for title, of_sheet in found.items() if title != "other" for row in of_sheet[1:]] == rows


def test_a_sheet_may_have_more_columns_than_letters(tmp_path: Path) -> None:
    columns = [f"column{number}" for number in range(30)]
    write("xlsx", tmp_path / "x.xlsx", columns, [[f"{number}" for number in range(30)]])
    assert [row[-1] for row in sheets(tmp_path / "x.xlsx")["links"]] == ["column29", "29"]


def test_a_workbook_has_the_rows_and_no_formula(tmp_path: Path) -> None:
    write("xlsx", tmp_path / "x.xlsx", ("text", "line", "problems"), [("=1+1", 7, ["a", "b c"]), ("x\x1b\udcff", 0, []), (None, None, None)])
    assert sheets(tmp_path / "x.xlsx")["links"][1:] == [("=1+1", 7, "a b%20c"), ("x\\x1b\\udcff", 0, None)]
    with closing(openpyxl.load_workbook(tmp_path / "x.xlsx")) as book:
        assert {cell.data_type for row in book["links"].iter_rows() for cell in row} <= {"s", "n", "inlineStr"}


def test_a_workbook_does_not_note_when_it_was_written(tmp_path: Path) -> None:
    by_name("xlsx").write([typed_table("links", ["document"])], [("links", [("a.html",)])], tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        assert {member.date_time for member in book.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert book.read("docProps/core.xml").count(b">1980-01-01T00:00:00Z<") == 2
