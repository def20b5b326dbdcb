"""Exceptions and diagnostics, with file, line and column, and a drawing of the place with a caret.

Every exception that absolve raises on purpose is an AbsolveError. A Diagnostic describes a problem that does not stop
the run. Lines and columns are 1-based; `str` of either is printable: invisible characters escaped, user information
masked.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import printable
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable


# Codes of input that by design is not read: files in folders, parts of messages. Kinds are before the colon.
NOT_READ: Final = "not-read"
UNREAD_PART: Final = "unread-part"
OF_SAVER: Final = "of-saver"
READ_APART: Final = "read-apart"  # of documents that keep absolute links by design
RECORDED: Final = "recorded-url"  # of pages for which --url of their folder does not count
UNMET: Final = "unmet"  # of options, patterns and rows of tables
# Codes of actions and omissions by design, which need nothing from the user.
NOTES: Final = frozenset(
    "assumed-url host-folders interrupted left-out not-read of-saver old-host own-map read-apart recorded-url"
    " special-file stays unread-part".split()
)


class Diagnostic(NamedTuple):
    """A problem that does not stop the run: a code, a text, and the place (document name, 1-based line and column).

    `code` is a short word with hyphens, of the same vocabulary as the problem codes of rows. `failed`: something could
    not be processed for this reason, so the exit status of the run is 3. The fields are exact; `str` is a printable
    line: invisible characters are escaped, user information in URLs is masked.
    """

    code: str
    text: str
    name: str = "<bytes>"
    line: int | None = None
    column: int | None = None
    failed: bool = False

    def __str__(self) -> str:
        """Return the printable line; user information is masked."""
        return printable.message(self.exact())

    def exact(self) -> str:
        """Return the line without escaping or masking."""
        place = "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        return f"{self.name}{place}: {self.code}: {self.text}"


class DiagnosticWarning(UserWarning):
    """The warning about a `diagnostic` of a document, for callers that pass no `on_diagnostic`."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return str(self.diagnostic)


def in_short(text: str, most: int = 200) -> str:
    """Return a text for quoting in a message: for example, `abcdefghijklmnop` in 9 characters is `abcd...op`."""
    if len(text) <= most:
        return text
    end = most // 4
    return f"{text[: most - end - 3]}...{text[-end:]}"


def closest(word: str, known: Iterable[str], least: float = 0.65) -> str | None:
    """Return the most similar known word, or None: for example, `remap` for `remp`."""
    from difflib import get_close_matches  # for errors only

    bare = {name.lstrip("-"): name for name in known}  # hyphens that all options have make none of them more alike
    return next((bare[name] for name in get_close_matches(word.lower().lstrip("-"), list(bare), 1, least)), None)


def similar(word: str, known: Iterable[str], least: float = 0.65) -> str:
    """Return the question `did you mean WORD?` with the known word that is most like a given one, or an empty text."""
    found = closest(word, known, least)
    return f"did you mean {found}?" if found is not None else ""


class AbsolveError(Exception):
    """The base class of all exceptions of absolve."""

    @property
    def message(self) -> str:
        """The text without escaping or masking; `str` of UsageError and DocumentError escapes and masks."""
        return Exception.__str__(self)


class UsageError(AbsolveError):
    """The call itself is wrong: an unknown profile or charset, a retrieval URL that is not absolute.

    `hint` is a sentence with the right call, or empty.
    """

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint

    def __str__(self) -> str:
        return printable.message(self.message)


class MissingPackageError(UsageError, ImportError):
    """An optional package is not installed; the message has the extra of absolve that installs it."""


class WalkError(AbsolveError):
    """Raised by a walker for an entity that it cannot read; `position` is a byte offset in the entity.

    `document.walk` turns it into a DocumentError if the entity is the document itself, else into a diagnostic: then
    only the part stays unchanged.
    """

    def __init__(self, code: str, text: str, position: int = 0) -> None:
        super().__init__(text)
        self.code = code
        self.position = position


class CodingError(AbsolveError):
    """Raised by a coding for raw bytes that it cannot decode: malformed, or larger than allowed.

    `value` is the data decoded before the fault, None if that is of no use.
    """

    def __init__(self, code: str, text: str, value: bytes | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.value = value


class DocumentError(AbsolveError):
    """A document that cannot be processed and stays unchanged.

    `diagnostic` has the reason and the place; `excerpt` is the source line, for the caret.
    """

    def __init__(self, diagnostic: Diagnostic, excerpt: str = "") -> None:
        super().__init__(diagnostic.exact())
        self.diagnostic = diagnostic
        self.excerpt = excerpt

    def __str__(self) -> str:
        return str(self.diagnostic)

    def show(self) -> str:
        """Return the message and, if the excerpt and column are set, that line with a caret under the column."""
        column = self.diagnostic.column
        line = str(self.diagnostic)
        if not self.excerpt or column is None:
            return line
        excerpt = self.excerpt.replace("\t", " ").ljust(column - 1)
        before, whole = (printable.message(text) for text in (excerpt[: column - 1], excerpt))
        return f"{line}\n    {whole.rstrip()}\n    {' ' * printable.width(before)}^"


class MissingFileError(DocumentError, FileNotFoundError):
    """A path that was given by name is not there; `filename` has it."""

    def __init__(self, diagnostic: Diagnostic, name: str) -> None:
        super().__init__(diagnostic)
        self.errno, self.filename = errno.ENOENT, name


# Exceptions that only a bug in absolve, or the end of memory, can raise: see `internal`.
FAULTS: Final = (RecursionError, MemoryError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether there is no more memory, by the exceptions that Python, DuckDB, loaders and libraries raise."""
    is_known = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"
    return is_known or _NO_MEMORY.search(str(error)) is not None


_NO_MEMORY: Final = pattern(
    "can.t start new thread|failed to map segment|annot allocate memory|not enough memory|Resource temporarily unavail"
)
OUT_OF_MEMORY: Final = "there is not enough memory for this"


def internal(error: Exception, name: str, at: str = "") -> Diagnostic:
    """Return the diagnostic for one of FAULTS: a fault of absolve, or the end of memory, which is none."""
    if is_out_of_memory(error):
        return Diagnostic("out-of-memory", OUT_OF_MEMORY, name, failed=True)
    return Diagnostic("internal-error", fault(error) + at, name, failed=True)


def fault(error: Exception) -> str:
    """Return a message for an internal error: its type, text, and the module and line that raised it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f" in {frame.tb_frame.f_globals.get('__name__')}, line {frame.tb_lineno}" if frame is not None else ""
    text = str(error).partition("\n")[0][:200]
    return f"a fault of absolve, please report it (python -X dev shows more): {type(error).__name__}{place}: {text}"
