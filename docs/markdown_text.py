"""Markdown from Python values: tables, code spans and code blocks.

In: text of any kind. Out: Markdown that shows it literally.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def escaped(text: str) -> str:
    """Return text of a help message as Markdown that shows it literally."""
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>#$~|" else character for character in text)
