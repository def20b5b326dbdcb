"""CSV sink (RFC 4180, but with LF as line end): a header line, then a line for each row, in UTF-8.

None is an empty field; lists are joined by spaces.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from absolve.inventory.sinks.rows import Layout, text_of, write_lines
from absolve.inventory.sinks.spreadsheets import field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.inventory.columns import Columns


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    """Return rows as CSV lines in UTF-8; lone surrogates become question marks."""
    layout = Layout(lambda _: _cell, between=",", changed=b',"\r\n')
    if len(columns) == 1:
        layout = Layout(lambda _: _only)
    return layout.encode(columns, rows)


def _cell(cell: Any) -> str:
    return field(cell if isinstance(cell, str) else text_of(cell))


def _only(cell: Any) -> str:
    """Return the only cell of a line, quoted if it is empty: a blank line is no row."""
    return _cell(cell) or '""'


write = partial(write_lines, encode)
