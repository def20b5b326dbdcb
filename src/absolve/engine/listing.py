"""The task of `absolve links`: one input becomes rows, as the sink wants them."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from absolve import inventory, sinks
from absolve.engine.documents import is_document, walked
from absolve.engine.pieces import Rows, Size, guarded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.engine.documents import Reading
    from absolve.engine.pieces import Piece
    from absolve.inputs import Input

AT_ONCE = 10_000  # rows in a piece


class Listing(NamedTuple):
    """How inputs are listed. `format` is the sink's name; without it rows stay as they are, for the run to see them."""

    reading: Reading
    columns: tuple[str, ...] = inventory.COLUMNS
    format: str | None = "jsonl"


def listed(how: Listing, input_: Input) -> Iterator[Piece]:
    """The rows of one input; a file in a folder that is no document has none."""
    return guarded(input_.name, _listed(how, input_), strict=sys.flags.dev_mode)


def _listed(how: Listing, input_: Input) -> Iterator[Piece]:
    if input_.found and not is_document(input_.name, how.reading):
        return
    document, entity, diagnostics = walked(input_, how.reading)
    yield from diagnostics
    encode = sinks.by_name(how.format).encode if how.format else None
    rows = _columns(inventory.rows(entity, input_.name), how.columns)
    while some := list(islice(rows, AT_ONCE)):
        yield Rows(encode(how.columns, some) if encode else some, len(some))
    yield Size(len(document.data))


def _columns(rows: Iterator[inventory.Row], columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Only these columns of the rows, in this order."""
    if columns == inventory.COLUMNS:
        return rows
    places = [inventory.COLUMNS.index(name) for name in columns]
    return (tuple([row[place] for place in places]) for row in rows)
