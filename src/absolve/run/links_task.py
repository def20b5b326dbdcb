"""Task of `absolve links`: from one input to rows.

Input: an `Input` and `ListOptions`. Output: `RowChunk`s as the sink needs them, diagnostics, a failure, the bytes read.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from absolve.core.digest import fingerprint
from absolve.core.errors import FAULTS, DocumentError
from absolve.inventory import columns as inventory
from absolve.inventory import sinks
from absolve.run import sources
from absolve.run.archive_ranges import WHOLE, Progress
from absolve.run.archive_turns import in_turn
from absolve.run.filters import Selection
from absolve.run.load import is_document
from absolve.run.results import BytesRead, RowChunk, guarded
from absolve.run.safe_cells import Cells
from absolve.run.segment_inputs import each, left

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.document.entity import Entity
    from absolve.run.archive_turns import Found
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.pool.handoff import HandoffPort
    from absolve.run.results import TaskResult

AT_ONCE = 10_000  # rows in a RowChunk


class ListOptions(NamedTuple):
    """How inputs are listed: selection of links, condition on rows (`where`), columns, format of the sink.

    `unique`: drop rows equal in all columns to an earlier one of the same input; the parent process drops those equal
    to rows of other inputs (`Unique`). `cells`: changes to the text of rows.
    """

    reading: ReadOptions
    columns: tuple[str, ...] = inventory.COLUMNS
    format: str = "jsonl"
    selection: Selection = Selection()
    where: str | None = None
    unique: bool = False
    cells: Cells = Cells()


def listed(how: ListOptions, input_: Input, port: HandoffPort | None = None) -> Iterator[TaskResult]:
    """Yield the rows of one input; none for a file found in a folder that is not a document.

    A range of an archive with unknown start needs the port.
    """
    return guarded(input_.name, _listed(how, input_, port), strict=sys.flags.dev_mode)


def _listed(how: ListOptions, input_: Input, port: HandoffPort | None) -> Iterator[TaskResult]:
    head = sources.head(input_.name) if input_.found and input_.within == WHOLE else None
    if head is not None and not is_document(input_.name, head, how.reading):
        return
    unique = Unique()
    for found in in_turn(partial(_found, how, head), input_, how.reading, port):
        if isinstance(found, inventory.Columns):
            yield from _pieces(how, found, unique, input_.name)
        else:
            yield found


def _found(how: ListOptions, head: bytes | None, input_: Input) -> Iterator[Found]:
    """Yield rows as columns, which are cleared and reused for the next rows, and the other results.

    `head` are the first bytes of the input, if they are read already.
    """
    asks = any(how.selection) or how.where is not None  # whether all columns are needed to select rows
    # Filled across records: many records of an archive have only a few rows.
    waiting = inventory.Columns(AT_ONCE, inventory.COLUMNS if asks else how.columns, inventory.MOST_TEXT)
    size = 0
    course = Progress()
    for stretch in each(input_, how.reading, course, head=head):
        yield from stretch.diagnostics
        size += len(stretch.raw)
        if stretch.entity is not None:
            faults: list[Exception] = []
            for _ in _faultless(waiting, stretch.entity, input_.name, faults):
                yield waiting
            for fault in faults:
                yield left(stretch, fault)
    yield course
    if len(waiting):
        yield waiting
    yield BytesRead(size)


def _faultless(
    columns: inventory.Columns, entity: Entity, name: str, faults: list[Exception]
) -> Iterator[None]:
    """Fill the columns, yielding when they are full; a DocumentError or internal error ends this and is stored."""
    try:
        yield from inventory.fill(columns, entity, name)
    except (DocumentError, *FAULTS) as error:
        faults.append(error)


def _pieces(how: ListOptions, found: inventory.Columns, unique: Unique, name: str) -> Iterator[RowChunk]:
    if not any(how.selection) and how.where is None:
        yield _rows(how, found, unique)
        return
    rows = [row for row in found if how.selection.wants(row)]
    for kept in (rows,) if how.where is None else _where(how.where, rows, name):
        yield _rows(how, _columns(kept, how.columns), unique)


def _rows(how: ListOptions, cells: inventory.Columns | Sequence[Sequence[Any]], unique: Unique) -> RowChunk:
    cells = how.cells.of(how.columns, cells)
    if how.unique:
        cells = unique.of(cells)
        return RowChunk(cells, len(cells))
    if isinstance(cells, inventory.Columns) and sinks.takes_columns(how.format):
        return RowChunk(cells.taken(), len(cells))  # only the writing process imports the packages of the format
    return RowChunk(sinks.by_name(how.format).encode(how.columns, cells), len(cells))


def _where(condition: str, rows: Sequence[inventory.Row], name: str) -> Iterator[list[inventory.Row]]:
    from absolve.run import where as conditions  # imports DuckDB

    return conditions.kept(condition, rows, name)


def _columns(rows: Sequence[inventory.Row], columns: Sequence[str]) -> Sequence[Sequence[Any]]:
    """Return only these columns of the rows, in this order."""
    if columns == inventory.COLUMNS:
        return rows
    places = [inventory.COLUMNS.index(name) for name in columns]
    return [[row[place] for place in places] for row in rows]


class Unique:
    """Drop repeated rows, by a digest of 16 bytes of each: once within an input, then over the whole run."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def of(self, rows: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
        fresh = []
        for row in rows:
            key = fingerprint(repr(row))
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(row)
        return fresh
