"""Table sink: rows for people, on a terminal or in a text file.

In: rows as lists or `Columns`, and a `Screen`. Out: text. Rows of the inventory with all columns are grouped by
document, with the links of each aligned below it; rows with other columns are a grid. Every text is escaped.
"""

from __future__ import annotations

from itertools import groupby
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core.drawing import Screen
from absolve.inventory.columns import COLUMNS, Row
from absolve.inventory.sinks.grid import grid
from absolve.inventory.sinks.groups import INDENT, Group, Item
from absolve.inventory.sinks.rows import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.inventory.columns import Columns

# Problems of links that lead nowhere; the others are advice.
_SEVERE: Final = frozenset({"unresolved", "malformed", "too-long", "unsuitable-base"})


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> list[tuple[Any, ...]]:
    """Return the rows as tuples, lists joined; only the parent process can draw them: it knows the terminal."""
    return [tuple(row) for row in joined(columns, rows)]


def write(
    columns: Sequence[str],
    chunks: Iterable[Iterable[Sequence[Any]] | Columns],
    file: IO[bytes],
    screen: Screen | None = None,
) -> None:
    """Draw the rows of the chunks as they come."""
    screen = screen or Screen()
    draw = _links(chunks, screen) if tuple(columns) == COLUMNS else grid(columns, chunks, screen)
    for lines in draw:
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8" if screen.unicode else "ascii", "replace"))
        if screen.width is not None:
            file.flush()


def _links(chunks: Iterable[Iterable[Sequence[Any]] | Columns], screen: Screen) -> Iterator[list[str]]:
    """Yield the lines of each chunk, under a heading for each document."""
    shown: tuple[str, str] | None = None
    base = ""
    for chunk in chunks:
        lines: list[str] = []
        rows = map(Row._make, joined(COLUMNS, chunk))
        for where, group in groupby(rows, lambda row: (row.document, row.entity)):
            of_one = list(group)
            drawing = Group([_item(row) for row in of_one], screen)
            if where != shown:
                lines += [""] if shown is not None else []
                lines.append(drawing.heading(" ".join(where).rstrip()))
                shown, base = where, ""
            lines += _lines(of_one, drawing, screen, base)
            base = _last_base(of_one, base)
        yield lines


def _lines(rows: list[Row], group: Group, screen: Screen, base: str) -> Iterator[str]:
    """Yield the lines of links, and one for each base that differs from the one before them."""
    for row in rows:
        if row.element != "base" and (about := _about(row)) != base:  # a claim has the base of the next layer
            base = about
            yield screen.paint(INDENT + group.fit(about, len(INDENT)), "dim")
        yield from group.lines(_item(row))


def _last_base(rows: list[Row], base: str) -> str:
    return next((_about(row) for row in reversed(rows) if row.element != "base"), base)


def _item(row: Row) -> Item:
    problems = str(row.problems or "").split()  # joined, as in each text
    style = "yellow" if _SEVERE.isdisjoint(problems) else "red"
    notes = [(f"! {', '.join(problems)}", style)] if problems else []
    return Item(f"{row.line}:{row.column}", row.kind, row.reference, row.target, notes)


def _about(row: Row) -> str:
    if row.base_layer == "default":
        return "no base URL is known"
    return f"base {row.base} ({row.base_layer})"
