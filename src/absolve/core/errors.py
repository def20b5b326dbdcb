"""Errors that say what is wrong, in which file, line and column, and can show the place with a caret."""

from __future__ import annotations

from typing import Final, NamedTuple

from absolve.core import printable


class Diagnostic(NamedTuple):
    """Something that absolve met and says, without stopping: a code, a text, and where (line and column 1-based).

    `code` is a short word with hyphens; the rows' problem codes and these share one vocabulary. `failed`: something
    could not be worked on for this reason, so that the run's exit status is 1. The fields are exact; `str` is a line
    that can be printed: characters that are not visible are escaped, user information in URLs is masked.
    """

    code: str
    text: str
    name: str = "<bytes>"
    line: int | None = None
    column: int | None = None
    failed: bool = False

    def __str__(self) -> str:
        return self.printed()

    def printed(self, *, credentials: bool = False) -> str:
        """Return the line, with user information as it is if `credentials` are to be shown."""
        return printable.message(self.exact(), credentials=credentials)

    def exact(self) -> str:
        """Return the same line with every character as it is."""
        place = "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        return f"{self.name}{place}: {self.code}: {self.text}"


def in_short(text: str, most: int = 200) -> str:
    """Return a text that a message quotes, without its middle if it has more characters than that."""
    if len(text) <= most:
        return text
    end = most // 4
    return f"{text[: most - end - 3]}...{text[-end:]}"


class AbsolveError(Exception):
    """The root of every error of ours."""

    @property
    def message(self) -> str:
        """The text with every character as it is; `str` of an error that a caller sees is escaped and masked."""
        return Exception.__str__(self)


class UsageError(AbsolveError):
    """The call itself is wrong: an unknown profile or charset, a retrieval URL that is none."""

    def __str__(self) -> str:
        return printable.message(self.message)


class WalkError(AbsolveError):
    """What a walker raises for an entity that it cannot read: what is wrong, and the byte at which it is.

    The fold makes it a DocumentError where the entity is the document itself, else a diagnostic: then only the part
    stays as it is.
    """

    def __init__(self, code: str, text: str, position: int = 0) -> None:
        super().__init__(text)
        self.code = code
        self.position = position


class CodingError(AbsolveError):
    """What a coding raises for raw bytes that it cannot decode, or will not: broken, or larger than allowed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class DocumentError(AbsolveError):
    """A document cannot be worked on; it is left as it is.

    `diagnostic` says what and where; `excerpt` is the line that it happened in, for the caret.
    """

    def __init__(self, diagnostic: Diagnostic, excerpt: str = "") -> None:
        super().__init__(diagnostic.exact())
        self.diagnostic = diagnostic
        self.excerpt = excerpt

    def __str__(self) -> str:
        return self.diagnostic.printed()

    def show(self, *, credentials: bool = False) -> str:
        """Return the message and, where the line is known, that line with a caret under the column."""
        column = self.diagnostic.column
        line = self.diagnostic.printed(credentials=credentials)
        if not self.excerpt or column is None:
            return line
        excerpt = self.excerpt.replace("\t", " ").ljust(column - 1)
        before, whole = (printable.message(text, credentials=credentials) for text in (excerpt[: column - 1], excerpt))
        return f"{line}\n    {whole.rstrip()}\n    {' ' * printable.width(before)}^"


# What is raised where a program is wrong, or at the end of its memory: of us it should never be.
FAULTS: Final = (RecursionError, MemoryError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)


def fault(error: Exception) -> str:
    """An error that should not have happened, for a report of it: what, and where in our code."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f" in {frame.tb_frame.f_globals.get('__name__')}, line {frame.tb_lineno}" if frame is not None else ""
    text = str(error).partition("\n")[0][:200]
    return f"a fault of absolve, please report it (python -X dev shows more): {type(error).__name__}{place}: {text}"
