"""CSV with a header, in UTF-8: RFC 4180 but for line ends, which are LF; None is empty, lists are joined by blanks."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

from absolve.inventory import Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(joined(columns, rows))
    return text.getvalue().encode("utf-8", "replace")


def joined(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> Iterator[Sequence[Any]]:
    """The rows with text in the place of lists."""
    if isinstance(rows, Columns):
        yield from zip(*[rows.cells(name, " ".join if name == "problems" else None) for name in columns], strict=True)
    else:
        for row in rows:
            yield [" ".join(cell) if isinstance(cell, list) else cell for cell in row]


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    file.write(encode((), [columns]))
    file.writelines(chunks)
