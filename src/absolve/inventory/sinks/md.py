"""Markdown sink: a table of GitHub Flavored Markdown (4.10), for pull requests and notes.

A cell with any mark of Markdown or HTML is a code span, in which nothing of a document is markup. Invisible characters
are escaped: the format is for people.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core.printable import printable
from absolve.inventory.sinks.rows import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.inventory.columns import Columns

_PLAIN: Final = re.compile(r"[\w ,;/-]*(?:[.:](?!//)[\w ,;/-]+)*\.?")  # neither marks nor a URL that becomes a link
_WORD: Final = re.compile(r"(?<!\w)[\w]*(?:_|www\.)", re.IGNORECASE)
_TICKS: Final = re.compile("`+")


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    """Return rows as lines of a table in UTF-8; lone surrogates are escaped."""
    lines = [f"| {' | '.join(map(_cell, row))} |\n" for row in joined(columns, rows)]
    return "".join(lines).encode("utf-8", "replace")


def _cell(cell: Any) -> str:
    text = "" if cell is None else printable(str(cell)).strip()
    if not text or (_PLAIN.fullmatch(text) and not _WORD.search(text)):
        return text
    ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("|", "\\|")


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the header, then the encoded chunks."""
    file.write(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n".encode())
    file.writelines(chunks)
