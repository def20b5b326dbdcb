"""Markdown from Python values: tables, code spans and code blocks.

In: text of any kind. Out: Markdown that shows it literally.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def code(text: str) -> str:
    """Return a code span, with a fence that does not occur in the text."""
    if not text:
        return "(empty)"
    fence = "``" if "`" in text else "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def fenced(language: str, text: str) -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in text.split("\n") if run and set(run) == {"`"}), 3)
    lines = "\n".join(line.rstrip() for line in text.rstrip().splitlines())  # no CR: Git and editors change them
    return f"{fence}{language}\n{lines}\n{fence}\n"


_LITERAL: Final = re.compile(
    r"'[^'\s]+'|(?<![\w-])--?[a-zA-Z][\w-]*|\$[A-Z_]+|\\\d|\b[\w*]+\.(?:toml|csv|html)\b"
)  # quoted words, options, variables, \1, files


def help_text(text: str) -> str:
    """Return text of a help message as Markdown, with options, quoted words and names of files as code."""
    parts, end = [], 0
    for found in _LITERAL.finditer(text):
        parts += [escaped(text[end : found.start()]), code(found[0])]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def escaped(text: str) -> str:
    """Return text as Markdown that shows it literally."""
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>#$~|" else character for character in text)


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[.])\s(?=[A-Z`])", text, maxsplit=1)[0]
