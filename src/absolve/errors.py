"""Errors that say what is wrong, in which file, line and column, and can show the place with a caret."""

from __future__ import annotations

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """Something that absolve met and says, without stopping: a code, a text, and where (line and column 1-based).

    `code` is a short word with hyphens; the rows' problem codes and these share one vocabulary.
    """

    code: str
    text: str
    name: str = "<bytes>"
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        return f"{self.name}{place}: {self.code}: {self.text}"


class AbsolveError(Exception):
    """The root of every error of ours."""


class UsageError(AbsolveError):
    """The call itself is wrong: an unknown profile or charset, a retrieval URL that is none."""


class DocumentError(AbsolveError):
    """A document cannot be worked on; it is left as it is.

    `diagnostic` says what and where; `excerpt` is the line that it happened in, for the caret.
    """

    def __init__(self, diagnostic: Diagnostic, excerpt: str = "") -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic
        self.excerpt = excerpt

    def show(self) -> str:
        """The message and, where the line is known, that line with a caret under the column."""
        column = self.diagnostic.column
        if not self.excerpt or column is None:
            return str(self)
        return f"{self}\n    {self.excerpt}\n    {' ' * (column - 1)}^"
