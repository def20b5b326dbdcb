"""Rows for sinks of formats without lists (CSV, SQLite)."""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from absolve.inventory.columns import Columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def joined(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> Iterator[Sequence[Any]]:
    """Yield the rows with lists joined to text by spaces."""
    if isinstance(rows, Columns):
        yield from zip(*[rows.cells(name, " ".join if name == "problems" else None) for name in columns], strict=True)
    else:
        for row in rows:
            yield [" ".join(map(_word, cell)) if isinstance(cell, list) else cell for cell in row]


LINKED: Final = frozenset({"target", "url", "base", "canonical"})  # columns whose URLs are hyperlinks for people
_SPACE: Final = re.compile(r"\s")


def _word(item: str) -> str:
    """Return an item of a list, in which white space is percent-escaped, as it is in a URL."""
    return _SPACE.sub(lambda found: quote(found[0]), item) if _SPACE.search(item) else item


def write_lines(
    encode: Callable[[Sequence[str], Iterable[Sequence[Any]]], bytes],
    columns: Sequence[str],
    chunks: Iterable[bytes],
    file: IO[bytes],
) -> None:
    """Write a header line, encoded like a row, then the encoded chunks."""
    file.write(encode((), [columns]))
    file.writelines(chunks)
