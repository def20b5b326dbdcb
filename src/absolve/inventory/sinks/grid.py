"""A grid of columns under a header, as wide as its cells or as the terminal; for rows that are not links alone.

In: the names of the columns, rows, and a `Screen`. Out: lines. The first rows decide the widths of the columns, so that
the rows of a long run appear while it goes on.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from absolve.core import printable
from absolve.core.drawing import padded
from absolve.inventory.sinks.rows import LINKED, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.core.drawing import Screen
    from absolve.inventory.columns import Columns

_FIRST: Final = 500  # rows that decide the widths
_LEAST: Final = 8  # columns of a cell that is cut,
_LEAST_URL: Final = 20  # and of one that begins with what all have in common
_GAP: Final = "  "
_URLS: Final = LINKED | {"document", "reference"}


def grid(
    columns: Sequence[str], chunks: Iterable[Iterable[Sequence[Any]] | Columns], screen: Screen
) -> Iterator[list[str]]:
    """Yield the lines of the header and of the rows; where the columns do not fit, a line for each cell of a row."""
    rows = (row for chunk in chunks for row in joined(columns, chunk))
    first = list(islice(rows, _FIRST))
    if not first:
        return
    kept = [place for place in range(len(columns)) if any(row[place] not in {None, ""} for row in first)]
    widths = {place: _widest(columns[place], [row[place] for row in first], screen) for place in kept}
    least = {place: _LEAST_URL if columns[place] in _URLS else _LEAST for place in kept}
    if screen.width is not None and not _fit(widths, least, screen.width - len(_GAP) * (len(kept) - 1)):
        for row in chain(first, rows):
            yield [*_stacked(columns, row, screen), ""]
        return
    yield [screen.paint(_GAP.join(padded(columns[place], widths[place]) for place in kept).rstrip(), "bold")]
    for row in chain(first, rows):
        yield [_GAP.join(_cell(columns[place], row[place], widths[place], screen) for place in kept).rstrip()]


def _widest(name: str, cells: list[Any], screen: Screen) -> int:
    return max(len(name), *(printable.width(screen.visible(_text(cell))) for cell in cells))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _fit(widths: dict[int, int], least: dict[int, int], room: int) -> bool:
    """Reduce the widest columns, none below its `least`, until all fit into `room`; return False if they cannot."""
    while sum(widths.values()) > room:
        shrinkable = [place for place, width in widths.items() if width > least[place]]
        if not shrinkable:
            return False
        widths[max(shrinkable, key=lambda place: widths[place])] -= 1
    return True


def _cell(name: str, cell: Any, width: int, screen: Screen) -> str:
    text = screen.visible(_text(cell))
    if isinstance(cell, int):
        return text.rjust(width)
    cut = text if screen.width is None else screen.cut(text, width)
    space = " " * (width - printable.width(cut))
    if name == "problems":
        return screen.paint(cut, "yellow") + space
    return _linked(name, cut, cell, screen) + space


def _linked(name: str, cut: str, cell: Any, screen: Screen) -> str:
    return screen.linked(cut, cell) if name in LINKED else cut


def _stacked(columns: Sequence[str], row: Sequence[Any], screen: Screen) -> Iterator[str]:
    for name, cell in zip(columns, row, strict=True):
        text = screen.visible(_text(cell))
        if text:
            room = max(_LEAST, (screen.width or 0) - len(name) - len(": "))
            cut = screen.cut(text, room)
            yield f"{screen.paint(name, 'bold')}: {_linked(name, cut, cell, screen)}"
