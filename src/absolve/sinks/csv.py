"""CSV with a header, in UTF-8: RFC 4180 but for line ends, which are LF; None is empty, lists are joined by blanks."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def write(columns: Sequence[str], rows: Iterable[Sequence[Any]], file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, "utf-8", "replace", newline="")
    try:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([" ".join(cell) if isinstance(cell, list) else cell for cell in row] for row in rows)
    finally:
        text.detach()  # flushes; the file is the caller's to close
