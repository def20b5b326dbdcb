"""XLSX: a workbook with a sheet a table; of the links only the findings. No cell is a formula.

A sheet has at most 1,048,576 rows, so further rows are on further sheets. Control characters, which XML does not allow,
are escaped, and texts longer than a cell are cut.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font, PatternFill

from absolve.audit.tables import QUIET
from absolve.core.printable import printable
from absolve.inventory.sinks.spreadsheets import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.outputs.source import Source

MOST_ROWS: Final = 1_048_575  # below the header
MOST_TEXT: Final = 32_767  # characters of a cell
ORDER: Final = ("summary", "causes", "links", "urls", "pages", "rules")  # and then the others
WIDE: Final = frozenset(
    "document reference target final fix suggestion url rule text title cause example_document detail".split()
)
_HEADER: Final = {"font": Font(bold=True, color="FFFFFF"), "fill": PatternFill("solid", fgColor="33475B")}


def write(source: Source, file: IO[bytes]) -> None:
    """Write the workbook."""
    book = Workbook(write_only=True)
    for table in sorted(source.tables, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name)):
        rows = iter(source.rows(_select(source, table)))
        number, more = 1, True
        while more:
            more = _fill(book, table if number == 1 else f"{table} {number}", list(source.columns(table)), rows)
            number += 1
    book.save(file)


def _select(source: Source, table: str) -> str:
    where = f" WHERE verdict NOT IN {QUIET}" if table == "links" else ""
    return f"{source.select(table, joined=True)}{where}"


def _fill(book: Any, title: str, columns: list[str], rows: Iterator[tuple[Any, ...]]) -> bool:
    """Write a sheet, and return whether there are more rows than it takes."""
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    for at, name in enumerate(columns):
        sheet.column_dimensions[_letter(at)].width = 50 if name in WIDE else 14
    sheet.append([_header(sheet, name) for name in columns])
    count = 0
    for row in rows:
        sheet.append([_cell(sheet, value) for value in row])
        count += 1
        if count == MOST_ROWS:
            break
    if count:
        sheet.auto_filter.ref = f"A1:{_letter(len(columns) - 1)}{count + 1}"
    return count == MOST_ROWS


def _letter(at: int) -> str:
    return chr(ord("A") + at)  # no table has more than 26 columns


def _header(sheet: Any, name: str) -> Any:
    cell = WriteOnlyCell(sheet, name)
    cell.font, cell.fill = _HEADER["font"], _HEADER["fill"]
    return cell


def _cell(sheet: Any, value: Any) -> Any:
    if not value:  # an empty cell
        return None if value == "" else value
    if not isinstance(value, str):
        return value
    text = printable(value)
    if len(text) > MOST_TEXT:
        text = f"{text[: MOST_TEXT - 1]}…"
    if literal(text) is text and not text.startswith("#"):  # errors, such as #N/A
        return text
    cell = WriteOnlyCell(sheet, text)
    cell.data_type = "s"  # openpyxl takes a text with "=" at its start for a formula
    cell.quotePrefix = True  # nor is it one after somebody has edited the cell
    return cell
