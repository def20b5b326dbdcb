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


def test_json_lines_keep_null_numbers_and_lists() -> None:
    assert written("jsonl", []) == b""
    lines = written("jsonl", ROWS).decode().split("\n")
    assert lines.pop() == ""
    assert [tuple(json.loads(line).values()) for line in lines] == ROWS
    assert list(json.loads(lines[0])) == list(COLUMNS)
    assert "é" in lines[1]


def test_csv_has_empty_cells_for_none_and_joins_lists_by_blanks() -> None:
    assert written("csv", []) == b"name,number,nothing,list\n"
    assert by_name("csv").encode(("name",), [[""], [None], ["a"]]) == b'""\n""\na\n'
    text = written("csv", ROWS).decode()
    assert text.startswith('name,number,nothing,list\n,0,,\n"é,""\n",1,,one two\n')
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [["", "0", "", ""], ['é,"\n', "1", "", "one two"], ["\u2028 \0", "-1", "x", "one"]]


def test_a_cell_cannot_begin_a_row_of_csv() -> None:
    for cell in ("a\rb", "\r", "a\nb", "a,b", 'a"b', "a\r\nb"):
        text = written("csv", [(cell, 0, None, [])]).decode()
        assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [[literal(cell), "0", "", ""]]


def test_sinks_replace_lone_surrogates_also_in_lists() -> None:
    for format_ in STREAMS:
        shown = b"a\\udcffb" if format_ in FOR_PEOPLE else b"a?b"
        assert shown in written(format_, [("a\udcffb", 0, None, [])]), format_
    assert by_name("sqlite").encode(COLUMNS, [("a\udcffb", 0, None, ["\udcff", "\u00e9"])]) == [("a?b", 0, None, "? \u00e9")]


@pytest.mark.parametrize("format_", [name for name in STREAMS if name != "table"])  # its first rows decide the widths
def test_sinks_write_each_chunk_or_view_at_once_and_leave_the_file_open(format_: str) -> None:
    file = io.BytesIO()
    sink = by_name(format_)
    seen: list[int] = []

    def chunks() -> Any:
        for _ in range(2):
            yield sink.encode(COLUMNS, ROWS)
            seen.append(len(file.getvalue()))

    write(format_, chunks(), file)
    assert seen[1] > seen[0] > 0
    views = io.BytesIO()
    write(format_, [memoryview(sink.encode(COLUMNS, ROWS))] * 2, views)
    assert views.getvalue() == file.getvalue()  # which is not closed


def test_the_suffix_selects_the_sink_and_an_unknown_one_is_an_error_with_the_choices() -> None:
    for path in ("a.jsonl", "a.JSONL", "folder.csv/a.b.jsonl", "a.ndjson"):
        assert format_name(path) == "jsonl"
    assert (format_name("a.db"), format_name("a.parquet")) == ("sqlite", "parquet")
    unknown: list[tuple[Callable[[str], object], str]] = [(format_name, "a.xls"), (format_name, "csv"), (by_name, "xls")]
    for find, name in unknown:
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


def test_a_formula_gets_an_apostrophe_which_a_reader_takes_away_and_other_cells_are_unchanged() -> None:
    for text in ("", "a=b", "'", "http://h/", " =1", "#x", "/x", "-", "'a", "-1", "+1:2", "+49 (0) 30", "1;-2"):
        assert literal(text) == text
    for first in ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"):
        assert literal(f"{first}x") == f"'{first}x"
        for text in (f"{first}x", f"'{first}x", f"''{first}", f"a;{first}x\n'{first}y", first, "-", "'-", "''-", "it's"):
            assert original(literal(text)) == text


def test_a_list_of_ours_is_read_again_as_it_was() -> None:
    row = ["-x.html", "'=y.html", "http://h/a;=b"]
    for suffix, sign in (("csv", b","), ("tsv", b"\t")):
        data = by_name(suffix).encode(("path", "title", "url"), [row])
        assert [one.cells for one in cells.table(f"a.{suffix}", b"path%burl\n" % sign + data).rows][1:2] == [row]


def test_a_formula_behind_a_separator_or_a_line_break_gets_an_apostrophe() -> None:
    assert literal("a;''=1;\"\"=1") == "a;'''=1;'\"\"=1"  # LibreOffice takes quotes off the cell
    assert literal("a;=1\n-b\r\n+c\t@4\n\n\uff1d5\n+6") == "a;'=1\n'-b\r\n'+c\t'@4\n\n'\uff1d5\n+6"
    assert literal("\t=1") == "'\t'=1"
    assert literal("a=b;c a,-b ; =c") == "a=b;c a,-b ; =c"
