"""The abilities of the terminal (`--color`, $NO_COLOR, $FORCE_COLOR, $TERM, $COLUMNS, the encoding), and its output.

Input: a standard stream, and the environment. Output: a `Screen` for drawings. `guard` puts one writer before each
standard stream that is a terminal, so that no control character of any input reaches the terminal.
"""

from __future__ import annotations

import io
import os
import sys
from codecs import getincrementaldecoder
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, TextIO

from absolve.core import printable

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from _typeshed import ReadableBuffer

    from absolve.cli.option_table import Options
    from absolve.core.drawing import Screen
    from absolve.core.errors import Diagnostic

_ERASE: Final = "\r\x1b[K"  # the line of the cursor
WIDTH: Final = 80  # columns if the terminal does not give its width
_chosen = "auto"
_below = ""  # the line below all output


def choose(choice: str) -> None:
    """Set the value of --color for this run."""
    global _chosen  # noqa: PLW0603 - there is one terminal in a process
    _chosen = choice


class Guard(io.BufferedIOBase):
    """Write text to a terminal, with escapes for each invisible character but line ends and tabs.

    `own` are the sequences that may pass, None for none. CR LF is a line end.
    """

    def __init__(self, stream: TextIO, own: re.Pattern[str] | None = None) -> None:
        self.stream = stream
        self._own = own
        self._decoder = getincrementaldecoder(stream.encoding)("surrogateescape")

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes in the encoding of the terminal. Raise OSError."""
        text = self._decoder.decode(bytes(data)).replace("\r\n", "\n")
        shown = text if text.isprintable() else self._shown(text)
        again = _below if shown.endswith("\n") else ""
        self.stream.write(f"{_ERASE}{shown}{again}" if _below else shown)
        self.stream.flush()
        return memoryview(data).nbytes

    def _shown(self, text: str) -> str:
        found = self._own.findall(text) if self._own is not None else []
        others = self._own.split(text) if found and self._own is not None else [text]
        shown = [_escaped(other) + own for other, own in zip_longest(others, found, fillvalue="")]
        return "".join(shown)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        """Return the descriptor of the terminal."""
        return self.stream.fileno()


def guard() -> None:
    """Put a `Guard` before each standard stream that is a terminal; other streams escape unencodable characters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files may contain any bytes
            if is_terminal(stream):
                setattr(sys, name, _text(Guard(stream)))


def _text(guarded: Guard) -> TextIO:
    file: Any = guarded
    return io.TextIOWrapper(file, guarded.stream.encoding, "backslashreplace", line_buffering=True)


def _escaped(text: str) -> str:
    return "\n".join(printable.printable(line, keep="\t") for line in text.split("\n"))


def drawing(file: Any) -> Any:
    """Return a standard stream (binary) to which the escape sequences of `core.drawing` may be written."""
    if not isinstance(file, Guard):
        return file
    from absolve.core.drawing import SEQUENCES

    return Guard(file.stream, SEQUENCES)


def below(line: str) -> None:
    """Show a line below all output in place of the last one; "" removes it. The line has no text of an input."""
    global _below  # noqa: PLW0603 - there is one terminal in a process
    buffer = getattr(sys.stderr, "buffer", None)
    stream = buffer.stream if isinstance(buffer, Guard) else sys.stderr
    _below = line
    stream.write(f"{_ERASE}{line}")
    stream.flush()


def has_below() -> bool:
    """Return whether output may have a line below it: the standard error is a terminal with a `Guard`."""
    return isinstance(getattr(sys.stderr, "buffer", None), Guard) and not is_dumb()


def say(line: str, stream: TextIO | None = None) -> None:
    """Print a line that may have colours: to the standard error, or to another standard stream."""
    stream = stream or sys.stderr
    if isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, Guard):
        stream.flush()
        drawing(stream.buffer).write(f"{line}\n".encode(stream.encoding, "backslashreplace"))
    else:
        print(line, file=stream)


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def is_dumb() -> bool:
    """Return whether the terminal understands no escape sequences."""
    return os.environ.get("TERM") == "dumb"


def colours(stream: TextIO | None) -> bool:
    """Return whether a stream may get escape sequences (no-color.org, force-color.org)."""
    if _chosen != "auto":
        return _chosen == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return is_terminal(stream) and not is_dumb()


def width(stream: TextIO | None) -> int | None:
    """Return the columns of a terminal; None if the stream is a file or a pipe."""
    return columns(stream) if is_terminal(stream) else None


def columns(stream: TextIO | None) -> int:
    """Return $COLUMNS, or the columns of a terminal, or 80: as shutil does, which imports all compression modules."""
    variable = os.environ.get("COLUMNS", "")
    if variable.isdecimal() and int(variable):
        return int(variable)
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDTH if stream is not None else WIDTH
    except (OSError, ValueError):  # not a terminal, or closed
        return WIDTH


def screen(stream: TextIO | None) -> Screen:
    """Return the width, the colours and the characters of a standard stream."""
    from absolve.core.drawing import Screen  # most runs draw nothing

    encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
    return Screen(width(stream), colours(stream), not is_terminal(stream) or encoding.startswith("utf"))


# --- `-f json`: one JSON value on the standard output, with the names of columns --------------------------------------


@contextmanager
def json_array(options: Options) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yield a function that prints an item of an array, one a line, in ASCII; None if -f is not json.

    Tables are written by `tables.json`.
    """
    if options.format != "json":
        yield None
        return
    before = "[\n"

    def add(item: dict[str, Any]) -> None:
        nonlocal before
        print(before, json_text(item), sep="", end="")
        before = ",\n"

    yield add
    print("[]" if before == "[\n" else "\n]")


def json_text(value: Any) -> str:
    """Return a value as JSON in ASCII, with masked user information.

    >>> json_text({"url": "http://me:secret@h/"})
    '{"url": "http://***@h/"}'
    """
    import json  # a run of another format does not need it

    return json.dumps(_masked(value), default=str)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return printable.masked(value)
    if isinstance(value, dict):
        return {name: _masked(one) for name, one in value.items()}
    return [_masked(one) for one in value] if isinstance(value, list) else value


def diagnostic_json(found: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as an object, for example `{"document": "a.html", "line": 3, "code": "no-base", ...}`."""
    place = {"document": found.name, "line": found.line, "column": found.column}
    return {**place, "code": found.code, "text": found.text}
