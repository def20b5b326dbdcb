"""Markdown: a table of GitHub Flavored Markdown (4.10), for pull requests and notes.

A cell with any mark of Markdown or HTML is a code span, in which nothing of a document is markup. For some readers a
pipe behind a backslash ends the cell, even if it is escaped: it is a character reference between two spans. Invisible
characters are escaped: the format is for people.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from absolve.core.printable import printable
from absolve.tables.rows import Layout, lines, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN: Final = re.compile(r"[\w ,;/-]*(?:[.:](?!//)[\w ,;/-]+)*\.?")  # neither marks nor a URL that becomes a link
_WORD: Final = re.compile(r"(?<!\w)[\w]*(?:_|www\.)", re.IGNORECASE)
_TICKS: Final = re.compile("`+")
_AFTER_BACKSLASH: Final = re.compile(r"(?<=\\)\|")


def cell(value: Any) -> str:
    """Return a value as a cell of a table: the same text for all readers, without markup, links and mentions."""
    text = printable(text_of(value)).strip()
    if not text or (_PLAIN.fullmatch(text) and not _WORD.search(text)):
        return text
    return "&#124;".join(_span(part) if part else "" for part in _AFTER_BACKSLASH.split(text))


def _span(text: str) -> str:
    ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("|", "\\|")


def _head(columns: Sequence[str]) -> bytes:
    return f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n".encode()


MARKDOWN: Final = lines(Layout(lambda _: cell, "| ", " | ", " |\n").encode, _head)
