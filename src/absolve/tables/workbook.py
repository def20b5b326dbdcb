"""Read a sheet of a workbook (.xlsx, .xlsm) as rows of texts.

In: the bytes of the file. Out: the rows of the first sheet that is shown and has a URL, and its name. openpyxl reads
it: the package that writes workbooks already; it reads row by row, where python-calamine, which also reads .ods and
.xls, makes a grid that reaches to the last cell. What the file declares beyond `MOST` bytes, columns and rows is not
decompressed.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError, UsageError
from absolve.tables.columns import is_url
from absolve.tables.reading import MOST_COLUMNS, Row, Table, trimmed

try:
    import openpyxl
except ImportError as error:
    raise MissingPackageError("a workbook needs openpyxl: pip install 'absolve[xlsx]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST: Final = 128 << 20  # bytes of all members, decompressed
_ROWS: Final = 1 << 20
_LOOKED_AT: Final = 200  # rows of a sheet
_ROW: Final = re.compile(rb"<(?:\w+:)?row\s[^<>]*>")
_IS_HIDDEN: Final = re.compile(rb"\shidden=[\"'](?:1|true)[\"']")
_NUMBER: Final = re.compile(rb"\sr=[\"'](\d{1,7})[\"']")


def table(name: str, data: bytes) -> Table:
    """Return the table of a workbook. Raise UsageError if it cannot be read."""
    _check(name, data)
    try:
        with warnings.catch_warnings():  # about what openpyxl does not keep
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"] or book.worksheets
            found = {sheet.title: _has_url(sheet) for sheet in sheets}
    except Exception as error:  # of many kinds: openpyxl checks little
        raise _unreadable(name, error) from error
    chosen = next((sheet for sheet in sheets if found[sheet.title]), sheets[0] if sheets else None)
    if chosen is None:
        raise UsageError(f"{name}: this workbook has no sheet with cells")
    others = [sheet for sheet in sheets if found[sheet.title] and sheet is not chosen]
    heads = {f'"{sheet.title}"': list(islice(_rows(name, sheet), _LOOKED_AT)) for sheet in others}
    unread = f" (not read: {', '.join(heads)})" if others else ""
    return Table(_rows(name, chosen), f'the sheet "{chosen.title}" of a workbook{unread}', others=heads)


def _check(name: str, data: bytes) -> None:
    """Raise UsageError for a workbook that is larger than MOST: a member has no more bytes than it declares."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            size = sum(one.file_size for one in members.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise _unreadable(name, error) from error
    if size > MOST:
        raise UsageError(f"{name}: this workbook has more than {MOST >> 20} MiB, decompressed")


def _unreadable(name: str, error: Exception) -> UsageError:
    return UsageError(f"{name}: this workbook cannot be read ({type(error).__name__}): save it as .xlsx or CSV again")


def _has_url(sheet: Any) -> bool:
    return any(is_url(cell) for row in islice(_values(sheet), _LOOKED_AT) for cell in row)


def _rows(name: str, sheet: Any) -> Iterator[Row]:
    """Yield the rows. Raise UsageError where the sheet is damaged: a part of a table is none."""
    try:
        hidden = _hidden(sheet)
        for number, cells in enumerate(_values(sheet), start=1):
            if cells:
                yield Row(number, number, cells, is_hidden=number in hidden)
    except Exception as error:
        raise _unreadable(name, error) from error


def _hidden(sheet: Any) -> set[int]:
    """Return the numbers of rows that are not shown, of which openpyxl has nothing where it reads row by row."""
    with sheet._get_source() as file:  # noqa: SLF001
        rows = [found[0] for found in _ROW.finditer(file.read()) if _IS_HIDDEN.search(found[0])]
    return {int(number[1]) for row in rows if (number := _NUMBER.search(row)) is not None}


def _values(sheet: Any) -> Iterator[list[str]]:
    sheet.reset_dimensions()  # what a file declares may be wrong
    for row in sheet.iter_rows(max_row=_ROWS, max_col=MOST_COLUMNS, values_only=True):
        yield trimmed([_text(cell) for cell in row]) if any(row) else []  # a file may have a million empty ones


def _text(value: Any) -> str:
    """Return a cell as text: a status is often a number with a fraction of zero."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
