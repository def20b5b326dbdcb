"""CSV with a header, in UTF-8: RFC 4180 but for line ends, which are LF; None is empty, lists are joined by blanks."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    del columns  # they stand in the header only
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([" ".join(cell) if isinstance(cell, list) else cell for cell in row] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    file.write(encode((), [columns]))
    file.writelines(chunks)
