"""Sinks: the choice by suffix, and the output for every kind of value."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from absolve import UsageError, api
from absolve.core.printable import literal, original
from absolve.inventory import columns as inventory
from absolve.rules import cells
from absolve.tables import FORMATS, by_name, format_name, typed_table

COLUMNS = ("name", "number", "nothing", "list")
ROWS: list[tuple[Any, ...]] = [("", 0, None, []), ('é,"\n', 1, None, ["one", "two"]), ("\u2028 \0", -1, "x", ["one"])]


STREAMS = [name for name, form in FORMATS.items() if form.text and not form.source]  # graphs and sitemaps are no tables
FOR_PEOPLE = {"md", "html", "table"}  # in which what is invisible is escaped


def write(format_: str, chunks: Iterable[Any], file: io.BytesIO) -> None:
    by_name(format_).write([typed_table("links", COLUMNS)], (("links", chunk) for chunk in chunks), file)


def written(format_: str, rows: list[tuple[Any, ...]]) -> bytes:
    file = io.BytesIO()
    write(format_, [by_name(format_).encode(COLUMNS, rows)], file)
    return file.getvalue()


def test_json_lines_of_no_rows_are_empty() -> None:
    assert written("jsonl", []) == b""


def test_csv_of_no_rows_has_only_the_header() -> None:
    assert written("csv", []) == b"name,number,nothing,list\n"


def test_json_lines_keep_null_numbers_and_lists() -> None:
    lines = written("jsonl", ROWS).decode().split("\n")
    assert lines.pop() == ""
    assert [tuple(json.loads(line).values()) for line in lines] == ROWS
    assert list(json.loads(lines[0])) == list(COLUMNS)
    assert "é" in lines[1]


def test_csv_has_empty_cells_for_none_and_joins_lists_by_blanks() -> None:
    text = written("csv", ROWS).decode()
    assert text.startswith('name,number,nothing,list\n,0,,\n"é,""\n",1,,one two\n')
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [
        ["", "0", "", ""],
        ['é,"\n', "1", "", "one two"],
        ["\u2028 \0", "-1", "x", "one"],
    ]


@pytest.mark.parametrize("cell", ["a\rb", "\r", "a\nb", "a,b", 'a"b', "a\r\nb"])
def test_a_cell_cannot_begin_a_row_of_csv(cell: str) -> None:
    text = written("csv", [(cell, 0, None, [])]).decode()
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [[literal(cell), "0", "", ""]]


def test_an_empty_cell_alone_is_a_row_of_csv() -> None:
    encode = by_name("csv").encode
    assert encode(("name",), [[""], [None], ["a"]]) == b'""\n""\na\n'


@pytest.mark.parametrize("format_", STREAMS)
def test_sinks_replace_lone_surrogates(format_: str) -> None:
    shown = b"a\\udcffb" if format_ in FOR_PEOPLE else b"a?b"
    assert shown in written(format_, [("a\udcffb", 0, None, [])])


def test_the_database_replaces_lone_surrogates_also_in_lists() -> None:
    encode = by_name("sqlite").encode
    assert encode(COLUMNS, [("a\udcffb", 0, None, ["\udcff", "\u00e9"])]) == [("a?b", 0, None, "? \u00e9")]


@pytest.mark.parametrize("format_", [name for name in STREAMS if name != "table"])  # its first rows decide the widths
def test_sinks_write_each_chunk_at_once_and_leave_the_file_open(format_: str) -> None:
    file = io.BytesIO()
    sink = by_name(format_)
    seen: list[int] = []

    def chunks() -> Any:
        for _ in range(2):
            yield sink.encode(COLUMNS, ROWS)
            seen.append(len(file.getvalue()))

    write(format_, chunks(), file)
    assert seen[1] > seen[0] > 0
    assert not file.closed


@pytest.mark.parametrize("format_", [name for name in STREAMS if name != "table"])
def test_sinks_write_chunks_that_are_views_of_a_message(format_: str) -> None:
    sink = by_name(format_)
    chunks = [sink.encode(COLUMNS, ROWS), sink.encode(COLUMNS, []), sink.encode(COLUMNS, ROWS[:1])]
    files = io.BytesIO(), io.BytesIO()
    write(format_, chunks, files[0])
    write(format_, [memoryview(chunk) for chunk in chunks], files[1])
    assert files[0].getvalue() == files[1].getvalue() != b""


@pytest.mark.parametrize(("path", "name"), [
    ("a.jsonl", "jsonl"),
    ("a.JSONL", "jsonl"),
    ("folder.csv/a.b.jsonl", "jsonl"),
    ("a.ndjson", "jsonl"),
    ("a.db", "sqlite"),
    ("a.parquet", "parquet"),
])
def test_the_suffix_selects_the_sink(path: str, name: str) -> None:
    assert format_name(path) == name


@pytest.mark.parametrize(("find", "name"), [(format_name, "a.xls"), (format_name, "csv"), (by_name, "xls")])
def test_an_unknown_suffix_is_an_error_with_the_choices(find: Callable[[str], object], name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}.*jsonl.*csv"):
        find(name)


PAGE = """<base href="http://h.example/100%/é/"><a href='"x\\n%s'>a "quoted"	text\n%d</a><a href=mailto:x> \u2028\x7f</a>
<img src=" //other/%zz" alt="\U0001f600\x01"><a href="">empty</a><iframe srcdoc="<a href=x%>"></iframe><a href=http://[>bad</a>
<a href="a&#13;b">c&#13;d</a><a href="a&#10;b">1</a><a href="a&#9;b">2</a><a href="a,b">3</a><a href="x|y,z">`w`</a><a href="http://u:p@h.example/">_www.x</a>"""


@pytest.mark.parametrize("format_", [*STREAMS, "sqlite"])
@pytest.mark.parametrize(
    "columns",
    [inventory.COLUMNS, ("target", "problems", "line"), ("document", "kind"), ("problems",), ("text", "base", "entity")],
)
def test_sinks_write_the_same_from_columns_and_from_rows(format_: str, columns: tuple[str, ...]) -> None:
    own = api.columns(PAGE, name='100%"é".html', media_type="text/html")
    rows = [[getattr(row, name) for name in columns] for row in own]
    encode = by_name(format_).encode
    assert len(rows) > 6
    assert encode(columns, own) == encode(columns, rows)


# --- formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "a=b", "'", "http://h/", " =1", "#x", "/x", "-", "'a", "-1", "+1:2", "+49 (0) 30", "1;-2"])
def test_cells_without_formulas_are_unchanged(text: str) -> None:
    assert literal(text) == text


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"])
def test_a_formula_gets_an_apostrophe_which_a_reader_takes_away(first: str) -> None:
    assert literal(f"{first}x") == f"'{first}x"
    for text in (f"{first}x", f"'{first}x", f"''{first}", f"a;{first}x\n'{first}y", first, "-", "'-", "''-", "it's"):
        assert original(literal(text)) == text


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_list_of_ours_is_read_again_as_it_was(suffix: str) -> None:
    row = ["-x.html", "'=y.html", "http://h/a;=b"]
    data = by_name(suffix).encode(("path", "title", "url"), [row])
    assert [one.cells for one in cells.table(f"a.{suffix}", b"path%curl\n" % (b"," if suffix == "csv" else b"\t") + data).rows][1:2] == [row]


def test_a_formula_behind_a_separator_or_a_line_break_gets_an_apostrophe() -> None:
    assert literal("a;''=1;\"\"=1") == "a;'''=1;'\"\"=1"  # LibreOffice takes quotes off the cell
    assert literal("a;=1\n-b\r\n+c\t@4\n\n\uff1d5\n+6") == "a;'=1\n'-b\r\n'+c\t'@4\n\n'\uff1d5\n+6"
    assert literal("\t=1") == "'\t'=1"
    assert literal("a=b;c a,-b ; =c") == "a=b;c a,-b ; =c"
