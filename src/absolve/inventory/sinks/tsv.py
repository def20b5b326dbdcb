r"""TSV sink: a header line, then a line for each row, cells separated by tabs, in UTF-8.

The format has no quotes: a tab, line end or backslash in a cell is `\t`, `\n`, `\r` or `\\`, as jq's @tsv writes it.
None is an empty cell; lists are joined by spaces.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from absolve.inventory.sinks.rows import joined, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.inventory.columns import Columns

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    """Return rows as lines in UTF-8; lone surrogates become question marks."""
    lines = ["\t".join(map(_cell, row)) for row in joined(columns, rows)]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _cell(cell: Any) -> str:
    return "" if cell is None else str(cell).translate(_ESCAPES)


write = partial(write_lines, encode)
