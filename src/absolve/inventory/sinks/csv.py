"""CSV sink (RFC 4180, but with LF as line end): a header line, then a line for each row, in UTF-8.

None is an empty field; lists are joined by spaces.
"""

from __future__ import annotations

import csv
import io
from functools import partial
from typing import TYPE_CHECKING, Any

from absolve.inventory.sinks.rows import joined, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.inventory.columns import Columns


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    """Return rows as CSV lines in UTF-8; lone surrogates become question marks."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(joined(columns, rows))
    return text.getvalue().encode("utf-8", "replace")


write = partial(write_lines, encode)
