"""Markdown sink: a table of GitHub Flavored Markdown (4.10), for pull requests and notes.

A cell with any mark of Markdown or HTML is a code span, in which nothing of a document is markup. Invisible characters
are escaped: the format is for people.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core.printable import printable
from absolve.inventory.sinks.rows import Layout, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PLAIN: Final = re.compile(r"[\w ,;/-]*(?:[.:](?!//)[\w ,;/-]+)*\.?")  # neither marks nor a URL that becomes a link
_WORD: Final = re.compile(r"(?<!\w)[\w]*(?:_|www\.)", re.IGNORECASE)
_TICKS: Final = re.compile("`+")


def _cell(cell: Any) -> str:
    text = printable(text_of(cell)).strip()
    if not text or (_PLAIN.fullmatch(text) and not _WORD.search(text)):
        return text
    ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("|", "\\|")


encode = Layout(lambda _: _cell, "| ", " | ", " |\n").encode


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the header, then the encoded chunks."""
    file.write(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n".encode())
    file.writelines(chunks)
