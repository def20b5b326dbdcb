"""Read files and the standard input as Documents, with the retrieval URLs that the file system records for them.

Input: a path or `-`. Output: a `Document`, with a `BaseClaim` (RFC 1808 section 3.3) for the extended attribute
user.xdg.origin.url, the Zone.Identifier of Windows, and optionally the path itself.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.lazy_regex import pattern
from absolve.core.model import BaseClaim, Document, Layer
from absolve.document.diagnostics import too_large
from absolve.encodings.charsets import for_any

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN: Final = "-"

_HEAD: Final = 4096  # bytes by which the format of a file is detected
_PIECE: Final = 1 << 20  # bytes per read if the size is unknown

# Shared MIME and freedesktop.org, "CommonExtendedAttributes"; curl --xattr, wget --xattr and browsers write it.
_ORIGIN: Final = "user.xdg.origin.url"

# Windows' mark of the web: an INI file in an alternate data stream, or beside the file on other file systems.
_ZONE_IDENTIFIER: Final = ":Zone.Identifier"
_HOST_URL: Final = pattern(r"^[\t ]*HostUrl[\t ]*=[\t ]*(\S+)", re.IGNORECASE | re.MULTILINE)
_LONGEST: Final = 65_536  # bytes of a Zone.Identifier that are read

# Programs write such URLs for files that were not retrieved from the web: ignored.
_NOWHERE: Final = ("about:", "blob:")


def read(
    name: str,
    *,
    media_type: str | None = None,
    charset: str | None = None,
    url: str | None = None,
    file_urls: bool = False,
    max_size: int = sys.maxsize,
) -> Document:
    """Return the document at a path or on the standard input (`-`); media type, charset and `url` are the user's.

    A document of more than `max_size` bytes is not read into memory, and is an error.

    Its `claims` are retrieval URLs in the order in which they count (docs/decisions.md, B13): the extended attribute,
    the Zone.Identifier file, and with `file_urls` the path itself. Raises DocumentError, which names the input.
    """
    if name == STDIN:
        return Document(_stdin(max_size), name=name, media_type=media_type, charset=charset, url=url)
    data = _contents(name, max_size)
    claims = tuple(_claims(name, file_urls=file_urls))
    return Document(data, name=name, media_type=media_type, charset=charset, url=url, claims=claims)


def head(name: str, *, found: bool = False) -> bytes:
    """Return the first bytes of an input, without consuming them; empty for a pipe other than the standard input.

    `found`: it was a regular file when its folder was read. Raise DocumentError if it is none now: a pipe, for which a
    read would wait for ever.
    """
    try:
        if name == STDIN:
            peek = getattr(_buffer(), "peek", None)
            return peek(_HEAD)[:_HEAD] if peek is not None else b""
        if not found and not os.path.isfile(name):  # noqa: PTH113 - faster, for very many
            return b""
        with open(name, "rb", buffering=0, opener=_at_once) as file:
            if found and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DocumentError(Diagnostic("special-file", "this is no longer a regular file", name))
            return file.read(_HEAD)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def _at_once(name: str, flags: int) -> int:
    """Open a file; a pipe without waiting for its writer."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """Yield an input as an open binary file. Raise DocumentError for errors in opening and reading it."""
    try:
        file = nullcontext(_buffer()) if name == STDIN else Path(name).open("rb")  # noqa: SIM115 - below
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error
    with file as stream:
        try:
            yield stream
        except OSError as error:
            raise unreadable(name, error) from error


def _buffer() -> IO[bytes]:
    if sys.stdin is None:  # closed, or a program without console
        raise DocumentError(Diagnostic("unreadable", "there is no standard input", STDIN))
    return sys.stdin.buffer


def _stdin(max_size: int) -> bytes:
    try:
        return _limited(_buffer(), STDIN, max_size)
    except OSError as error:  # for example a directory
        raise unreadable(STDIN, error) from error


def _contents(name: str, max_size: int) -> bytes:
    if not name:
        raise DocumentError(Diagnostic("not-found", "the name of the file is empty", "''"))
    try:
        state = os.stat(name)  # noqa: PTH116 - faster, for very many
        if stat.S_ISDIR(state.st_mode):  # Windows reports a permission error for it
            raise DocumentError(Diagnostic("directory", "this is a directory, not a file", name))
        is_file = stat.S_ISREG(state.st_mode)
        if is_file and state.st_size > max_size:
            raise too_large(max_size, name)
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123
            return file.readall() if is_file else _limited(file, name, max_size)  # for example a pipe, of unknown size
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def _limited(file: IO[bytes], name: str, max_size: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(_PIECE):
        size += len(piece)
        if size > max_size:
            raise too_large(max_size, name)
        pieces.append(piece)
    return b"".join(pieces)


DIGITS: Final = "%Y%m%d%H%M%S"


def modified(name: str) -> str:
    """Return the time when a regular file was last changed, as YYYYMMDDhhmmss in UTC; "" for anything else."""
    try:
        state = os.stat(name)  # noqa: PTH116 - a name, perhaps `-`
    except (OSError, ValueError):
        return ""
    return time.strftime(DIGITS, time.gmtime(state.st_mtime)) if stat.S_ISREG(state.st_mode) else ""


class FileBytes:
    """The bytes of a regular file, of which only those are read that are asked for: for readers of large packages.

    Its methods are those of bytes. They raise DocumentError for a file that can no longer be read.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        try:
            self._file = open(name, "rb")  # noqa: PTH123, SIM115 - closed at its end
            self._size = os.fstat(self._file.fileno()).st_size
        except (OSError, ValueError) as error:
            raise unreadable(name, error) from error

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, span: slice) -> bytes:
        start, end, _ = span.indices(self._size)
        try:
            self._file.seek(start)
            found = self._file.read(max(end - start, 0))
        except OSError as error:
            raise unreadable(self._name, error) from error
        if start + len(found) < end:
            raise DocumentError(Diagnostic("unreadable", "it became shorter while it was read", self._name))
        return found

    def startswith(self, prefix: bytes, start: int = 0) -> bool:
        return self[start : start + len(prefix)] == prefix

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def unreadable(name: str, error: Exception) -> DocumentError:
    code = "not-found" if isinstance(error, FileNotFoundError) else "unreadable"
    return DocumentError(Diagnostic(code, getattr(error, "strerror", None) or str(error), name))


def _claims(name: str, *, file_urls: bool) -> Iterator[BaseClaim]:
    for source, url in ((f"{_ORIGIN} attribute", _origin(name)), ("Zone.Identifier file", _host_url(name))):
        if url and not url.lower().startswith(_NOWHERE):
            yield BaseClaim(Layer.RETRIEVAL, for_any(url), source)
    if file_urls:
        yield BaseClaim(Layer.RETRIEVAL, Path(os.path.abspath(name)).as_uri(), "--file-urls")  # noqa: PTH100 - without links


def _origin(name: str) -> str | None:
    """Return the extended attribute, or None if it is missing or not supported."""
    if not hasattr(os, "getxattr"):
        return None
    try:
        return os.getxattr(name, _ORIGIN).decode("utf-8", "surrogateescape").strip("\0 \t\r\n")
    except OSError:
        return None


def _host_url(name: str) -> str | None:
    try:
        with open(name + _ZONE_IDENTIFIER, "rb") as file:  # noqa: PTH123 - faster, for very many
            text = _ini_text(file.read(_LONGEST))
    except (OSError, ValueError):
        return None
    found = _HOST_URL.search(text)
    return found[1] if found else None


def _ini_text(data: bytes) -> str:
    """Decode an INI file as Windows does: UTF-16 by its BOM (or zero bytes), else UTF-8, else the ANSI code page."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if data[1:2] == b"\0":
        return data.decode("utf-16-le", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
