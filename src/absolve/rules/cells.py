"""Read the files that people have: their text and lines in any charset that spreadsheets write, tables, TOML.

In: the bytes of a file. Out: text, lines, or rows of cells with the numbers of their lines, and a few words on how the
table is written: CSV, TSV, with semicolons, JSON, or a workbook. `columns` finds out what its columns mean.

A byte order mark decides the charset; UTF-16 without one is recognised by its zero bytes. Windows-1252 is tried for
tables that have no character in UTF-8 at all. Of a workbook the first sheet that is shown and has a URL is read, up to
`MOST` bytes, columns and rows.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from contextlib import contextmanager
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import MissingPackageError, UsageError, in_short
from absolve.core.lazy_regex import pattern
from absolve.core.printable import original
from absolve.rules.columns import is_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


# --- text, and its lines ----------------------------------------------------------------------------------------------

NOT_UTF8: Final = "it is not UTF-8: save the file as UTF-8"
_LONGEST: Final = 1 << 16
_LOOKED_AT: Final = 1 << 20  # bytes at the beginning that decide the charset
_LEGACY: Final = "cp1252"
_UNDECODED: Final = re.compile("[\udc80-\udcff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ABOVE_ASCII: Final = re.compile("[^\0-\x7f\udc80-\udcff]")
TOO_LONG: Final = f"it has more than {_LONGEST} characters"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Charset(NamedTuple):
    """The charset of a text: its byte order mark, empty without one, and the name that Python has for the charset."""

    mark: bytes
    name: str

    def encoded(self, text: str) -> bytes:
        """Return the bytes of a text; undecoded bytes are written as they were, other lone surrogates are replaced.

        A text that a legacy charset cannot encode is UTF-8 with a byte order mark.
        """
        try:
            return self.mark + text.encode(self.name, _errors(self.name))
        except UnicodeEncodeError:
            whole = self if self.name != _LEGACY else Charset(codecs.BOM_UTF8, "utf-8")
            return whole.mark + text.encode(whole.name, "replace")


UTF8: Final = Charset(b"", "utf-8")


class Line(NamedTuple):
    """One line with its number (1-based), without its end. `problem`: why it cannot be read, or None."""

    number: int
    text: str
    problem: str | None = None


def detect_charset(data: bytes, *, legacy: bool = False) -> Charset:
    """Return the charset of a text. `legacy`: windows-1252 if it has bytes above ASCII, and none of them is UTF-8."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Charset(mark, name)
    head = data[:512]
    if head.count(b"\0") * 3 > len(head):
        return Charset(b"", "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be")
    return Charset(b"", _LEGACY) if legacy and _is_legacy(data[:_LOOKED_AT]) else UTF8


def _is_legacy(head: bytes) -> bool:
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(head, final=len(head) < _LOOKED_AT)
    return not text.isascii() and bool(_UNDECODED.search(text)) and not _ABOVE_ASCII.search(text)


def decoded(data: bytes, *, legacy: bool = False) -> str:
    """Return the decoded text; bytes that its charset does not have become lone surrogates (PEP 383)."""
    mark, name = detect_charset(data, legacy=legacy)
    return data[len(mark) :].decode(name, _errors(name))


def _errors(charset: str) -> str:
    return "replace" if charset.startswith("utf-16") else "surrogateescape"


def lines(data: bytes) -> Iterator[Line]:
    r"""Yield the lines of a file: for example, lines 1 and 2 for `a\r\nb`."""
    for number, text in enumerate(cut(with_line_feeds(decoded(data)).removesuffix("\n")), start=1):
        yield line(number, text)


def cut(text: str) -> Iterator[str]:
    """Yield the lines of a text without their line feeds; a list of all would take as much memory again."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def with_line_feeds(text: str) -> str:
    """Return a text whose lines all end with a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def line(number: int, text: str) -> Line:
    """Return a line, with a problem if it is too long or not UTF-8."""
    if len(text) > _LONGEST:
        return Line(number, text[:100], TOO_LONG)
    if not text.isascii() and not is_text(text):
        return Line(number, shown(text), NOT_UTF8)
    return Line(number, text)


def shown(text: str) -> str:
    """Return a text with its lone surrogates replaced, which stand for bytes that are not UTF-8 or for JSON escapes."""
    return _SURROGATE.sub("\ufffd", text)


def is_text(text: str) -> bool:
    """Return whether a text has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# The error values of spreadsheets, in any language: #N/A, #NV, #REF!, #NAME?, #DIV/0!
SHEET_ERROR: Final = r"#(?:\w/?\w{1,2}|[^\sa-z,;]+[!?])"
_LARGEST_JSON: Final = 64 << 20
_LARGEST_YAML: Final = 1 << 20  # characters: PyYAML reads 100,000 a second
# The keys of lists of redirects inside objects, and of objects that hold them: Cloudflare, Akamai, MkDocs, GitBook.
_STATUS: Final = re.compile("30[1-8]")  # the keys of Ghost's redirects.yaml, each with old and new URLs
_HOLDERS: Final = frozenset({"redirects", "redirect_maps", "result", "items", "matchRules", "plugins"})
NESTED: Final = "..."  # the cell of an array or object that is not empty
_SNIFFED: Final = 1 << 16
_ROWS: Final = 50  # at the beginning, that decide the separator
MOST_COLUMNS: Final = 64  # of a table in which a row takes less room than its cells
# Comments and quoted cells, whose characters separate nothing.
_NO_SEPARATORS: Final = re.compile(r'(?<![^\r\n])[ \t]*#[^\r\n]*|(?<![^,;|\t\r\n])"(?>(?:[^"]|"")*)"?')
_NAMES: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_END: Final = "\0end"  # a line after the last one; no text has a NUL
_SEPARATOR: Final = re.compile(r"\ufeff?\"?sep=([,;\t])\"?\r?\n", re.IGNORECASE)  # a first line that Excel writes


class Row(NamedTuple):
    """A row: the numbers of its first and last line, its cells, and why it cannot be read, or None.

    Its cells have no white space around them, and no empty one is at the end. `is_hidden`: a spreadsheet does not show
    it, for example because of a filter.
    """

    first: int
    last: int
    cells: list[str]
    problem: str | None = None
    is_hidden: bool = False

    @property
    def is_comment(self) -> bool:
        """Whether a row is empty or begins with `#`.

        Two rows are not comments: one with `#N/A` before other cells, and a header with `#` for a column of numbers.
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
    """A table: its rows, also comments and empty ones, and its notation in words, for example `CSV with tabs`.

    `others`: the first rows of the other sheets of a workbook, by their names. `are_pairs`: the first two columns are
    the old and the new URL.
    """

    rows: Iterator[Row]
    words: str
    delimiter: str = ","
    others: Mapping[str, Sequence[Row]] = MappingProxyType({})
    are_pairs: bool = False


# Other files that people pass as tables, by their first bytes.
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
    r"""Return the table of a file. Bytes that are not UTF-8 are windows-1252 if `legacy`, otherwise surrogates.

    Raise UsageError for a file that is not text, for a workbook that cannot be read, or without openpyxl.

    >>> [row.cells for row in table("map.csv", b"old;new\n/a;/b\n").rows]
    [['old', 'new'], ['/a', '/b'], []]
    """
    if is_workbook(data):
        return _read_workbook(name, data)
    if name.lower().endswith((".yaml", ".yml")):
        if (parsed := _value_table(_parse_yaml(name, decoded(data)), "YAML")) is None:
            raise UsageError(f"{name}:1: this is YAML without a list of redirects (save it as CSV)")
        return parsed
    if (parsed := _parse_json(data)) is not None:
        return parsed
    charset = detect_charset(data, legacy=legacy)
    text = decoded(data, legacy=legacy)
    if (binary := binary_form(data, text[:_SNIFFED])) is not None:
        raise UsageError(f"{name}:1: this is {binary}")
    delimiter = detect_delimiter(text)
    encoded = {"cp1252": ", taken for windows-1252", "utf-8": ""}.get(charset.name, ", UTF-16")
    words = f"CSV with {_NAMES[delimiter]}{encoded}"
    return Table(rows(text, delimiter), words, delimiter, are_pairs=delimiter == "|")


def binary_form(data: bytes, text: str) -> str | None:
    """Return a description of a file that is not text, for example "a PDF"; `text` is its beginning, decoded."""
    binary = "binary data" if "\0" in text else None
    return next((words for start, words in _BINARY if data.startswith(start)), binary)


def _parse_yaml(name: str, text: str) -> Any:
    """Return the value of YAML, whose scalars are texts: for example `[{"from": "/a"}]` for `- from: /a`."""
    if len(text) > _LARGEST_YAML:
        raise UsageError(f"{name}: it has more than {_LARGEST_YAML >> 20} MiB: save it as CSV")
    try:
        import yaml

        class Loader(yaml.BaseLoader):  # type: ignore[misc]  # makes no objects, and merges no keys in memory
            def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT002 - as PyYAML calls it
                _object([(str(key.value), None) for key, _ in node.value])
                return super().construct_mapping(node, deep)

        return yaml.load(text, Loader=Loader)  # noqa: S506
    except ImportError as error:
        raise MissingPackageError("YAML needs PyYAML: pip install 'absolve[yaml]'") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{name}: it is no YAML: {' '.join(str(error).split())[:200]}") from error


def _parse_json(data: bytes) -> Table | None:
    """Return the table of JSON, None for a file without one."""
    if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"[", b"{"} or len(data) > _LARGEST_JSON:
        return None
    try:
        return _value_table(json.loads(data, object_pairs_hook=_object), "JSON")
    except (ValueError, RecursionError):
        return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise UsageError(f"{in_short(name)!r} is there twice in an object, and one of them would be lost")
    return found


def _value_table(value: Any, form: str) -> Table | None:
    """Return the table of an array of arrays, objects or texts, or of an object of texts or objects; None otherwise.

    For example, `{"/a": "/b"}` has one row, `/a` and `/b`, and `[{"old": "/a"}]` has the header `old` and a row `/a`.
    """
    if isinstance(value, dict) and value and all(_STATUS.fullmatch(key) and _is_flat(value[key]) for key in value):
        value = [{"from": old, "to": new, "status": key} for key, one in value.items() for old, new in one.items()]
    whole, value = value, _held(value)
    are_pairs = isinstance(value, dict)
    lists = whole.items() if isinstance(whole, dict) and whole is not value else ()
    others = {f'"{key}"': _head_rows(one) for key, one in lists if one is not value and isinstance(one, list)}
    if isinstance(value, dict) and value and all(isinstance(one, str) for one in value.values()):
        value = [list(pair) for pair in value.items()]
    elif isinstance(value, dict) and value and all(map(_is_flat, value.values())):
        value = [{"source": key, **one} for key, one in value.items()]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = [[one] for one in value]
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        value = _with_header([one | inner if isinstance(inner := one.get("redirect"), dict) else one for one in value])
    elif not isinstance(value, list) or not value or not all(isinstance(one, list) for one in value):
        return None
    return Table(_numbered(value), f"rows of {form}", others=others, are_pairs=are_pairs)


def _with_header(objects: list[dict[str, Any]]) -> Iterator[list[Any]]:
    keys = list(dict.fromkeys(key for one in objects[:_ROWS] for key in one))[:MOST_COLUMNS]
    return chain([keys], ([one.get(key) for key in keys] for one in objects))


def _numbered(lists: Iterable[list[Any]]) -> Iterator[Row]:
    return (Row(number, number, trimmed(list(map(_cell, one)))) for number, one in enumerate(lists, start=1))


def _head_rows(objects: list[Any]) -> list[Row]:
    """Return the first rows of another list, the names of its objects first."""
    return list(_numbered(_with_header([one for one in objects[:_HEAD] if isinstance(one, dict)])))


def _held(value: Any) -> Any:
    """Return the list or object of redirects that objects hold: for example `[]` in `{"redirects": []}`."""
    for _ in range(len(_HOLDERS)):
        every = value if isinstance(value, list) else [value]
        objects = (one for one in every if isinstance(one, dict) and (len(one) == 1 or one is value))
        inner = (one[key] for one in objects for key in one if key in _HOLDERS)
        value = next((one for one in inner if one and isinstance(one, dict | list)), value)
    return value


def _is_flat(value: object) -> bool:
    """Return whether a value is an object without objects or arrays inside, so that its values are cells."""
    return isinstance(value, dict) and not any(isinstance(one, dict | list) for one in value.values())


def _cell(value: object) -> str:
    """Return a JSON value as a cell: for example, `TRUE` for true; null, empty arrays and objects are empty."""
    if isinstance(value, bool):
        return str(value).upper()
    return str(value) if isinstance(value, str | int | float) else NESTED if value else ""


def rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[Row]:
    """Yield the rows of a text.

    A quote that is not closed makes a row that cannot be read if it takes several lines, or in any case if `strict`.

    >>> [row.cells for row in rows('a,"b,c"', ",")]
    [['a', 'b,c']]
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


def peek(found: Iterator[Row], most: int = _ROWS) -> tuple[list[Row], Iterator[Row]]:
    """Return the first rows, and an iterator over all."""
    head = list(islice(found, most))
    return head, chain(head, found)


def detect_delimiter(text: str) -> str:
    r"""Return the separator that occurs equally often in most of the first rows, outside comments and quotes.

    >>> detect_delimiter("old;new\n/a,b;/c\n")
    ';'
    """
    if (named := _SEPARATOR.match(text)) is not None:
        return named[1]
    head = _NO_SEPARATORS.sub("", text[:_SNIFFED])
    lines = [line for line in islice(re.split("[\r\n]+", head), 2 * _ROWS) if line.strip(" ")][:_ROWS]
    if lines and all(_NAMES.keys() & set(line) == {"|"} for line in lines):  # Joomla; elsewhere a pattern has it
        return "|"
    return max(",;\t", key=lambda one: _regularity(one, lines))


def _regularity(delimiter: str, lines: list[str]) -> tuple[int, int]:
    counts = [count for line in lines if (count := line.count(delimiter))]
    return max(map(counts.count, set(counts)), default=0), sum(counts)


# --- TOML -------------------------------------------------------------------------------------------------------------

_MOST_PARTS: Final = 32  # parts of a dotted key; tomllib needs quadratic time and memory for them
_KEY: Final = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP: Final = pattern(rf"(?<![\w-]){_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{_MOST_PARTS}}}", re.ASCII)
_MOST_DIGITS: Final = 1000  # digits of a number; Python writes no number with many
_LONG: Final = pattern(rf"[=,\[\s][+-]?0[xob][0-9A-Fa-f_]{{{_MOST_DIGITS}}}")


def toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text, for example `{"a": 1}` for `a = 1`. Raise ValueError if it cannot be read."""
    import tomllib  # most runs have no such file

    if _DEEP.search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    if _LONG.search(text):
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("the values are nested too deep") from error


# --- sheets of workbooks ----------------------------------------------------------------------------------------------

MOST: Final = 128 << 20  # bytes of all members, decompressed
_MOST_ROWS: Final = 1 << 20
_HEAD: Final = 200  # rows of a sheet
_ROW: Final = re.compile(rb"<(?:\w+:)?row\s[^<>]*>")
_IS_HIDDEN: Final = re.compile(rb"\shidden=[\"'](?:1|true)[\"']")
_NUMBER: Final = re.compile(rb"\sr=[\"'](\d{1,7})[\"']")


def _read_workbook(name: str, data: bytes) -> Table:
    """Return the table of a workbook. Raise UsageError if it cannot be read.

    openpyxl reads it row by row. python-calamine, which also reads .ods and .xls, makes a grid up to the last cell.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise MissingPackageError("a workbook needs openpyxl: pip install openpyxl") from error
    import warnings

    _check(name, data)
    try:
        with warnings.catch_warnings():  # about parts that openpyxl does not keep
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"] or book.worksheets
            cells = ((sheet, chain.from_iterable(islice(_values(sheet), _HEAD))) for sheet in sheets)
            found = {sheet.title: any(map(is_url, texts)) for sheet, texts in cells}
    except Exception as error:  # of many kinds: openpyxl checks little
        raise _unreadable(name, error) from error
    chosen = next((sheet for sheet in sheets if found[sheet.title]), sheets[0] if sheets else None)
    if chosen is None:
        raise UsageError(f"{name}: this workbook has no sheet with cells")
    others = [sheet for sheet in sheets if found[sheet.title] and sheet is not chosen]
    heads = {f'"{sheet.title}"': list(islice(_rows(name, sheet), _HEAD)) for sheet in others}
    unread = f" (not read: {', '.join(heads)})" if others else ""
    return Table(_rows(name, chosen), f'the sheet "{chosen.title}" of a workbook{unread}', others=heads)


def _check(name: str, data: bytes) -> None:
    """Raise UsageError for a workbook larger than MOST by its declared sizes: `zipfile` reads no more of a member."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            size = sum(one.file_size for one in members.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise _unreadable(name, error) from error
    if size > MOST:
        raise UsageError(f"{name}: this workbook has more than {MOST >> 20} MiB, decompressed")


def _unreadable(name: str, error: Exception) -> UsageError:
    return UsageError(f"{name}: this workbook cannot be read ({type(error).__name__}): save it as .xlsx or CSV again")


def _rows(name: str, sheet: Any) -> Iterator[Row]:
    """Yield the rows. Raise UsageError where the sheet is damaged: rules from a part of a table would mislead."""
    try:
        hidden = _hidden(sheet)
        for number, cells in enumerate(_values(sheet), start=1):
            if cells:
                yield Row(number, number, cells, is_hidden=number in hidden)
    except Exception as error:
        raise _unreadable(name, error) from error


def _hidden(sheet: Any) -> set[int]:
    """Return the numbers of hidden rows, which openpyxl does not report when it reads row by row."""
    with sheet._get_source() as file:  # noqa: SLF001
        rows = [found[0] for found in _ROW.finditer(file.read()) if _IS_HIDDEN.search(found[0])]
    return {int(number[1]) for row in rows if (number := _NUMBER.search(row)) is not None}


def _values(sheet: Any) -> Iterator[list[str]]:
    sheet.reset_dimensions()  # what a file declares may be wrong
    for row in sheet.iter_rows(max_row=_MOST_ROWS, max_col=MOST_COLUMNS, values_only=True):
        yield trimmed([_text(cell) for cell in row]) if any(row) else []  # a file may have a million empty rows


def _text(value: Any) -> str:
    """Return a cell as text: for example `301` for 301.0, since a status is often a number with a fraction."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
