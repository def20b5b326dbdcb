"""XLSX: a workbook with a sheet a table. No cell is a formula. Lists are joined by spaces.

A sheet has at most 1,048,576 rows, so further rows are on further sheets. Control characters, which XML does not allow,
are escaped, and texts longer than a cell are cut.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from absolve.core.errors import MissingPackageError
from absolve.core.printable import literal, printable
from absolve.tables import Sink
from absolve.tables.plain import joined

try:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font, PatternFill
    from openpyxl.utils import get_column_letter
    from openpyxl.writer.excel import ExcelWriter
except ImportError as error:
    raise MissingPackageError("XLSX needs openpyxl: pip install openpyxl") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from absolve.inventory.columns import Columns
    from absolve.tables import Table

MOST_ROWS: Final = 1_048_575  # below the header
MOST_TEXT: Final = 32_767  # characters of a cell
WIDE: Final = frozenset(
    "document reference target final fix suggestion url rule text title cause example_document detail".split()
)
_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the first date that a ZIP can have
_HEADER: Final = {"font": Font(bold=True, color="FFFFFF"), "fill": PatternFill("solid", fgColor="33475B")}


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> list[tuple[Any, ...]]:
    """Return rows as tuples of cells: for example `("a", 1, None)` for `("a", 1, "")`; long texts are cut."""
    return [tuple([_value(cell) for cell in row]) for row in joined(columns, rows)]


def _value(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"{text[: MOST_TEXT - 1]}…" if len(text) > MOST_TEXT else text or None


def write(tables: Sequence[Table], chunks: Iterable[tuple[str, Iterable[Sequence[Any]]]], path: Path) -> None:
    """Write the workbook."""
    book = Workbook(write_only=True)
    sheets = {table.name: _Sheets(book, table) for table in tables}
    for name, rows in chunks:
        for row in rows:
            sheets[name].append(row)
    for group in sheets.values():
        group.end()
    book.properties.created = book.properties.modified = datetime(*_NO_DATE)  # noqa: DTZ001 - openpyxl takes UTC without a zone
    with _Undated(path, "w", ZIP_DEFLATED) as archive:
        ExcelWriter(book, archive).write_data()


class _Undated(ZipFile):
    """A ZIP without dates, so that the same rows give the same bytes."""

    def open(self, name: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(name, ZipInfo):
            name.date_time = _NO_DATE
        return super().open(name, *rest, **options)


class _Sheets:
    """The sheets of one table; a new sheet begins when the last one is full."""

    def __init__(self, book: Any, table: Table) -> None:
        self._book = book
        self._table = table
        self._number = 1
        self._begin(book.create_sheet(table.name))

    def _begin(self, sheet: Any) -> None:
        self._sheet = sheet
        self._rows = 0
        sheet.freeze_panes = "A2"
        for place, name in enumerate(self._table.columns, 1):
            sheet.column_dimensions[get_column_letter(place)].width = 50 if name in WIDE else 14
        sheet.append([_header(sheet, name) for name in self._table.columns])

    def append(self, row: Sequence[Any]) -> None:
        if self._rows == MOST_ROWS:
            self.end()
            self._number += 1
            after = self._book.index(self._sheet) + 1
            self._begin(self._book.create_sheet(f"{self._table.name} {self._number}", after))
        self._sheet.append([_cell(self._sheet, value) for value in row])
        self._rows += 1

    def end(self) -> None:
        if self._rows:
            self._sheet.auto_filter.ref = f"A1:{get_column_letter(len(self._table.columns))}{self._rows + 1}"


def _header(sheet: Any, name: str) -> Any:
    cell = WriteOnlyCell(sheet, name)
    cell.data_type = "s"  # as in `_cell`: a query may name a column "=1+1"
    cell.font, cell.fill = _HEADER["font"], _HEADER["fill"]
    return cell


def _cell(sheet: Any, value: Any) -> Any:
    if not isinstance(value, str) or (literal(value) is value and not value.startswith("#")):  # errors, such as #N/A
        return value
    cell = WriteOnlyCell(sheet, value)
    cell.data_type = "s"  # openpyxl takes a text with "=" at its start for a formula
    cell.quotePrefix = True  # it stays text after somebody has edited the cell
    return cell


XLSX: Final = Sink(encode, write)
