"""Read the tables that people have: CSV, TSV, with semicolons, in any charset that spreadsheets write, and workbooks.

In: the bytes of a file. Out: rows of cells with the numbers of their lines, and a few words on how the table is
written. Which column means what is the matter of `columns`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import contextmanager
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.tables.plain import original
from absolve.tables.text import Charset, charset_of, cut, decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# What a spreadsheet leaves where it found nothing, in any language: #N/A, #NV, #REF!, #NAME?, #DIV/0!
SHEET_ERROR: Final = r"#(?:\w/?\w{1,2}|[^\sa-z,;]+[!?])"
_LARGEST_JSON: Final = 64 << 20
_SNIFFED: Final = 1 << 16
_ROWS: Final = 50  # at the beginning, that decide the separator
MOST_COLUMNS: Final = 64  # of a table in which a row takes less room than its cells
# Comments and quoted cells, whose characters separate nothing.
_NO_SEPARATORS: Final = re.compile(r'(?<![^\r\n])[ \t]*#[^\r\n]*|(?<![^,;\t\r\n])"(?>(?:[^"]|"")*)"?')
_NAMES: Final = {",": "commas", ";": "semicolons", "\t": "tabs"}
_END: Final = "\0end"  # a line after the last one; no text has a NUL
_SEPARATOR: Final = re.compile(r"\ufeff?\"?sep=([,;\t])\"?\r?\n", re.IGNORECASE)  # a first line that Excel writes


class Row(NamedTuple):
    """A row: the numbers of its first and last line, its cells, and why it cannot be read, or None.

    Its cells have no white space around them, and no empty one is at the end. A spreadsheet does not show it if it
    `is_hidden`, as by a filter.
    """

    first: int
    last: int
    cells: list[str]
    problem: str | None = None
    is_hidden: bool = False

    @property
    def is_comment(self) -> bool:
        """Whether a row is empty or a comment.

        None is `#N/A` in a cell before others, which a spreadsheet left, and `#` as the title of a column of numbers.
        """
        if self.problem is not None:
            return False
        first, *others = self.cells or ("#",)
        is_title = first == "#" and not any("/" in cell for cell in others)
        return first.startswith("#") and not (others and (is_title or re.fullmatch(SHEET_ERROR, first)))

    def cell(self, place: int | None) -> str:
        """Return the cell of a column, empty where the row has none."""
        return self.cells[place] if place is not None and place < len(self.cells) else ""


class Table(NamedTuple):
    """A table as it is: its rows, comments and empty ones too, and how it is written, in words.

    `others`: the first rows of the other sheets of a workbook, by their names.
    """

    rows: Iterator[Row]
    words: str
    delimiter: str = ","
    others: Mapping[str, Sequence[Row]] = MappingProxyType({})


# What people have in place of a table, by its first bytes.
_BINARY: Final = (
    (b"PK\x03\x04", "a ZIP archive, and no .xlsx"),
    (b"\xd0\xcf\x11\xe0", "an old workbook, or one with a password: save it as .xlsx"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"(\xb5/\xfd", "compressed by zstd"),
    (b"SQLite format 3\0", "a database"),
    (b"WARC/", "a WARC archive"),
)


@contextmanager
def long_cells(most: int) -> Iterator[None]:
    """Let cells of CSV have up to this number of characters in the block: Python has one limit for a process."""
    before = csv.field_size_limit(most)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def is_workbook(data: bytes) -> bool:
    """Return whether a file is a workbook, by its first bytes and the names of its members."""
    return data.startswith(b"PK\x03\x04") and b"xl/workbook" in data


def table(name: str, data: bytes, *, legacy: bool = True) -> Table:
    """Return the table of a file. Bytes that are no UTF-8 are windows-1252 if `legacy`, otherwise surrogates.

    Raise UsageError for a file that is no text, for a workbook that cannot be read, or without openpyxl.
    """
    if is_workbook(data):
        from absolve.tables import workbook

        return workbook.table(name, data)
    if (of_json := _of_json(data)) is not None:
        return of_json
    charset = charset_of(data, legacy=legacy)
    text = decoded(data, legacy=legacy)
    if (binary := binary_form(data, text[:_SNIFFED])) is not None:
        raise UsageError(f"{name}:1: this is {binary}")
    delimiter = delimiter_of(text)
    return Table(rows(text, delimiter), f"CSV with {_NAMES[delimiter]}{_in_words(charset)}", delimiter)


def binary_form(data: bytes, text: str) -> str | None:
    """Return what a file is, in words, if it is no text; `text` is its beginning, decoded."""
    binary = "binary data" if "\0" in text else None
    return next((words for start, words in _BINARY if data.startswith(start)), binary)


def _of_json(data: bytes) -> Table | None:
    """Return the table of a JSON array of arrays, objects or texts, or of an object of texts or objects."""
    if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"[", b"{"} or len(data) > _LARGEST_JSON:
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and value and all(isinstance(one, str) for one in value.values()):
        value = [list(pair) for pair in value.items()]
    elif isinstance(value, dict) and value and all(map(_is_flat, value.values())):
        value = [{"source": key, **one} for key, one in value.items()]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = [[one] for one in value]
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        keys = list(dict.fromkeys(key for one in value[:_ROWS] for key in one))[:MOST_COLUMNS]
        value = chain([keys], ([one.get(key) for key in keys] for one in value))
    elif not isinstance(value, list) or not value or not all(isinstance(one, list) for one in value):
        return None
    found = (Row(number, number, trimmed(list(map(_cell, one)))) for number, one in enumerate(value, start=1))
    return Table(found, "rows of JSON")


def _is_flat(value: object) -> bool:
    """Return whether a value is an object whose values are no objects or arrays, which a row has no cells for."""
    return isinstance(value, dict) and not any(isinstance(one, dict | list) for one in value.values())


def _cell(value: object) -> str:
    """Return a value as the cell of a table; one that is no text and no number is empty."""
    if isinstance(value, bool):
        return str(value).upper()
    return str(value) if isinstance(value, str | int | float) else ""


def _in_words(charset: Charset) -> str:
    return {"cp1252": ", taken for windows-1252", "utf-8": ""}.get(charset.name, ", UTF-16")


def rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[Row]:
    """Yield the rows of a text. `strict`: a quote that is not closed makes a row that cannot be read.

    So does one that takes more lines, up to the end, in any case.
    """
    lines = io.StringIO(text, newline="") if "\r" in text else (f"{one}\n" for one in cut(text))
    reader = csv.reader(chain(lines, [_END]), delimiter=delimiter, strict=strict)
    while True:
        first = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(first, reader.line_num, [], f"it is no CSV: {error}")
            continue
        if cells and cells[-1].endswith(_END):
            if cells == [_END]:
                return
            if reader.line_num > first + 1:
                yield Row(first, reader.line_num - 1, [], "it is no CSV: a quote in it is not closed")
                return
            cells[-1] = cells[-1].removesuffix(_END)
        is_separator = first == 1 and _SEPARATOR.match(text) is not None
        yield Row(first, reader.line_num, [] if is_separator else trimmed(map(original, cells)))


def trimmed(cells: Iterable[str]) -> list[str]:
    """Return cells without white space around them, and without empty ones at the end."""
    cells = [cell.strip() for cell in cells]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def looked_at(found: Iterator[Row], most: int = _ROWS) -> tuple[list[Row], Iterator[Row]]:
    """Return the first rows, and an iterator over all."""
    head = list(islice(found, most))
    return head, chain(head, found)


def delimiter_of(text: str) -> str:
    """Return the separator of the first rows: that of which most have the same number, outside comments and quotes."""
    if (named := _SEPARATOR.match(text)) is not None:
        return named[1]
    head = _NO_SEPARATORS.sub("", text[:_SNIFFED])
    lines = [line for line in islice(re.split("[\r\n]+", head), 2 * _ROWS) if line.strip(" ")][:_ROWS]
    return max(_NAMES, key=lambda one: _regularity(one, lines))


def _regularity(delimiter: str, lines: list[str]) -> tuple[int, int]:
    counts = [count for line in lines if (count := line.count(delimiter))]
    return max(map(counts.count, set(counts)), default=0), sum(counts)
