"""CSV with a header, in UTF-8: RFC 4180 but for line ends, which are LF; None is empty, lists are joined by blanks."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

from absolve.inventory.sinks.rows import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.inventory.columns import Columns


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(joined(columns, rows))
    return text.getvalue().encode("utf-8", "replace")


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    file.write(encode((), [columns]))
    file.writelines(chunks)
