"""Read files and the standard input as Documents, with the retrieval URLs that the file system records for them.

Input: a path or `-`. Output: a `Document`, with a `BaseClaim` (RFC 1808 section 3.3) for the extended attribute
user.xdg.origin.url, the Zone.Identifier of Windows, a shortcut beside a page, and optionally the path itself.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache, partial
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.lazy_regex import pattern
from absolve.core.model import BaseClaim, Document, Layer
from absolve.document.companions import fold, page_of
from absolve.document.diagnostics import too_large
from absolve.encodings.charsets import for_any
from absolve.formats import registry, sniffing
from absolve.run import buckets, leftovers
from absolve.run.output_folder import LinkError, opened_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN: Final = "-"

_HEAD: Final = 4096  # bytes by which the format of a file is detected
_PIECE: Final = 1 << 20  # bytes per read if the size is unknown

# Shared MIME and freedesktop.org, "CommonExtendedAttributes"; curl --xattr, wget --xattr and browsers write it.
_ORIGIN: Final = "user.xdg.origin.url"

# Windows' mark of the web: an INI file in an alternate data stream, or beside the file on other file systems.
_ZONE_IDENTIFIER: Final = ":Zone.Identifier"
_RECORDED: Final = pattern(r"^(?:source\t|[\t ]*HostUrl[\t ]*=[\t ]*)(\S+)", re.IGNORECASE | re.MULTILINE)
_LONGEST: Final = 65_536  # maximum bytes of a Zone.Identifier

SHORTCUTS: Final = (*(end for kind in registry.SHORTCUTS for end in registry.WALKERS[kind].suffixes), ".URL")
BESIDE: Final = " beside it"  # ends the source of a URL in a file beside its page
# Files in which savers record the URL of the page beside them, and the names of such pages: ScrapBook's, ArchiveBox's.
_RECORDS: Final = {"index.dat": ("index",), "index.json": ("output", "singlefile")}
_PAGES: Final = frozenset({registry.HTML, registry.XML})

# Programs write such URLs for files that were not retrieved from the web: ignored.
_NOWHERE: Final = ("about:", "blob:")


def read(
    name: str,
    *,
    media_type: str | None = None,
    charset: str | None = None,
    url: str | None = None,
    max_size: int = sys.maxsize,
    around: Around | None = None,
    root: str = "",
) -> Document:
    """Return the document at a path or on the standard input (`-`); media type, charset and `url` are the user's.

    A document of more than `max_size` bytes is not read into memory, and is an error. `around` is the result of
    `around_file` for it, if known. `root`: the folder in which it was found; links out of it are not followed.

    Its `claims` are retrieval URLs in order of preference (docs/decisions.md, B13): the extended attribute, the
    Zone.Identifier file, a shortcut of its name. Raises DocumentError, which names the input.
    """
    if local(name) == STDIN:
        with opened(name) as file:
            data = _limited(file, STDIN, max_size)
    else:
        data = _contents(name, max_size, root)
    found = tuple(claims(name, around)) if name != STDIN else ()
    return Document(data, name=name, media_type=media_type, charset=charset, url=url, claims=found)


def head(name: str, *, root: str = "", size: int = _HEAD) -> bytes:
    """Return the first bytes of an input, without consuming them; empty for a pipe other than the standard input.

    `root`: the folder in which it was a regular file when the folder was read. Raise DocumentError if it is another
    kind now, for example a pipe, for which a read would wait for ever.
    """
    try:
        if (path := local(name)) == STDIN:
            peek = getattr(_buffer(), "peek", None)
            return peek(size)[:size] if peek is not None else b""
        if buckets.is_bucket(name):
            return buckets.head(name)[:size]
        if not root and not is_file(name):
            return b""
        with open(path, "rb", buffering=0, opener=_below(root) or _at_once) as file:
            if root and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DocumentError(Diagnostic("special-file", "this is no longer a regular file", name))
            return file.read(size)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def tail(name: str, size: int) -> bytes:
    """Return the last bytes of a regular file in a folder; empty if it cannot be read, which its task reports."""
    with suppress(OSError, ValueError), open(name, "rb", buffering=0, opener=_at_once) as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read(size)
    return b""


def _at_once(name: str, flags: int) -> int:
    """Open a file; a pipe without waiting for its writer."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _below(root: str) -> Callable[[str, int], int] | None:
    """Return the function that opens the files of a folder; None for a file that the user named."""
    return partial(opened_below, root) if root else None


@contextmanager
def opened(name: str, root: str = "") -> Iterator[IO[bytes]]:
    """Yield an input as an open binary file. Raise DocumentError for errors in opening and reading it."""
    try:
        file = nullcontext(_buffer()) if local(name) == STDIN else file_of(name, root=root)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error
    with file as stream:
        try:
            yield stream
        except OSError as error:
            raise unreadable(name, error) from error


def file_of(name: str, *, root: str = "", streams: bool = True) -> IO[bytes]:
    """Return a file of a disk or a store, open; without `streams` for reads at several offsets. Raise OSError."""
    if buckets.is_bucket(name):
        return buckets.opened(name, streams=streams)
    return open(local(name), "rb", opener=_below(root))


# --- files that options name ---

LARGEST: Final = 256 << 20  # bytes of a file that is read as a whole
PATIENCE: Final = 5.0  # seconds until a program has opened a pipe


def of_option(name: str, max_size: int = LARGEST) -> bytes:
    """Return the bytes of a file that an option names: rules, patterns, a map. Raise DocumentError as `attended`.

    Also for a file of more than `max_size` or `LARGEST` bytes.
    """
    most = min(max_size, LARGEST)
    with attended(name) as (first, file):
        data = _up_to(file, most - len(first))
    if data is None:
        text = f"this file has more than {most:,} bytes{' (--max-size)' if most < LARGEST else ''}"
        raise DocumentError(Diagnostic("too-large", text, name))
    return first + data


@contextmanager
def attended(name: str) -> Iterator[tuple[bytes, IO[bytes]]]:
    """Yield what is read already of a file that an option names, and the file. Raise DocumentError as `opened`.

    Also for a pipe to which no program writes: a read would wait for ever.
    """
    try:
        with open(name, "rb", opener=_at_once) as file:
            first = _wait_for_writer(file, name) if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode) else b""
            if hasattr(os, "O_NONBLOCK"):
                os.set_blocking(file.fileno(), True)
            yield first, file
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def _wait_for_writer(pipe: IO[bytes], name: str) -> bytes:
    """Wait for the writer of a pipe that is not blocking, and return the byte that is read for that, if any."""
    from select import select  # few options name pipes

    if select([pipe], [], [], PATIENCE)[0]:
        return b""
    try:
        if first := os.read(pipe.fileno(), 1):  # b"" without a writer
            return first
    except BlockingIOError:  # of a writer that has written nothing so far
        return b""
    raise DocumentError(Diagnostic("unreadable", f"no program writes to this pipe ({PATIENCE:g} s)", name))


# --- inputs that can be read only once ---

_SPOOLED: Final[dict[str, str]] = {}  # temporary files with their bytes, by their names
_IN_PIECES: Final = frozenset({registry.WARC, *registry.PACKAGES})  # may be larger than what is read into memory


def is_read_once(name: str) -> bool:
    """Return whether an input is the standard input, a pipe or a device: a second read finds nothing, or waits."""
    try:
        return name == STDIN or stat.S_IFMT(os.stat(name).st_mode) not in {stat.S_IFREG, stat.S_IFDIR}  # noqa: PTH116
    except (OSError, ValueError):
        return False


def local(name: str) -> str:
    """Return the path to open for an input: its copy while `spooled` has one."""
    return _SPOOLED.get(name, name)


def is_file(name: str) -> bool:
    """Return whether an input is a regular file, or has a copy."""
    return os.path.isfile(local(name))  # noqa: PTH113 - faster, for very many


@contextmanager
def spooled(names: Iterable[str], max_size: int) -> Iterator[None]:
    """Copy inputs that can be read only once to temporary files, for a command that reads its inputs several times.

    They keep their names. Raise DocumentError for an input that cannot be read, or exceeds `max_size`; archives may.
    """
    once = [name for name in dict.fromkeys(names) if is_read_once(name)]
    with leftovers.temporary_folder() if once else nullcontext("") as folder:
        try:
            for number, name in enumerate(once):
                path = f"{folder}/{number}"
                _copy(name, path, max_size)
                _SPOOLED[name] = path
            yield
        finally:
            _SPOOLED.clear()


def _copy(name: str, path: str, max_size: int) -> None:
    with opened(name) as stream, open(path, "xb") as file:  # noqa: PTH123
        piece = stream.read(_PIECE)
        most = sys.maxsize if sniffing.sniff(piece[:_HEAD], name) in _IN_PIECES else max_size
        while piece and file.tell() + len(piece) <= most:
            file.write(piece)
            piece = stream.read(_PIECE)
        if piece:
            raise too_large(max_size, name)


def _buffer() -> IO[bytes]:
    if sys.stdin is None:  # closed, or a program without console
        raise DocumentError(Diagnostic("unreadable", "there is no standard input", STDIN))
    return sys.stdin.buffer


def _contents(name: str, max_size: int, root: str) -> bytes:
    if not name:
        raise DocumentError(Diagnostic("not-found", "the name of the file is empty", "''"))
    try:
        if buckets.is_bucket(name):
            if (data := buckets.contents(name, max_size)) is None:
                raise too_large(max_size, name)
            return data
        state = os.stat(local(name))  # noqa: PTH116 - faster, for very many
        if stat.S_ISDIR(state.st_mode):  # Windows reports a permission error for it
            raise DocumentError(Diagnostic("directory", "this is a directory, not a file", name))
        is_file = stat.S_ISREG(state.st_mode)
        if is_file and state.st_size > max_size:
            raise too_large(max_size, name)
        with open(local(name), "rb", buffering=0, opener=_below(root)) as file:
            return file.readall() if is_file else _limited(file, name, max_size)  # for example a pipe, of unknown size
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def _limited(file: IO[bytes], name: str, max_size: int) -> bytes:
    if (data := _up_to(file, max_size)) is None:
        raise too_large(max_size, name)
    return data


def _up_to(file: IO[bytes], most: int) -> bytes | None:
    """Return what is left in a file; None if that is more than this number of bytes."""
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(_PIECE):
        size += len(piece)
        if size > most:
            return None
        pieces.append(piece)
    return b"".join(pieces)


DIGITS: Final = "%Y%m%d%H%M%S"


def modified(name: str) -> str:
    """Return when a regular file was last changed, for example "20200102030405" in UTC; "" for any other input."""
    try:
        if buckets.is_bucket(name):
            found = buckets.state(name)
            return "" if found is None else "".join(filter(str.isdecimal, found.modified))[:14]
        state = os.stat(name)  # noqa: PTH116 - a name, perhaps `-`
    except (OSError, ValueError):
        return ""
    return time.strftime(DIGITS, time.gmtime(state.st_mtime)) if stat.S_ISREG(state.st_mode) else ""


class FileBytes:
    """The bytes of a regular file, read from it as they are requested, for readers of large packages.

    It has methods of bytes. They raise DocumentError for a file that is no longer readable.
    """

    def __init__(self, name: str, root: str = "") -> None:
        self._name = name
        try:
            self._file = file_of(name, root=root, streams=False)  # closed at its end
            self._size = self._file.seek(0, os.SEEK_END)
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


class Until:
    """An open file that ends at an offset: a member of a package, which is read forward from the offset in `seek`."""

    def __init__(self, file: IO[bytes], end: int) -> None:
        self._file = file
        self._end = end
        self._left = 0

    def seek(self, offset: int) -> int:
        self._left = self._end - offset
        return self._file.seek(offset)

    def read(self, size: int) -> bytes:
        found = self._file.read(min(size, self._left))
        self._left -= len(found)
        return found


def unreadable(name: str, error: Exception) -> DocumentError:
    is_missing, is_outside = isinstance(error, FileNotFoundError), isinstance(error, LinkError)
    code = "not-found" if is_missing else "outside" if is_outside else "unreadable"
    return DocumentError(Diagnostic(code, getattr(error, "strerror", None) or str(error), name))


def claims(name: str, around: Around | None = None) -> Iterator[BaseClaim]:
    """Yield the retrieval URLs that are recorded for a file, as `read` describes."""
    if buckets.is_bucket(name):
        return
    found = [(f"{_ORIGIN} attribute", _origin(name)), ("Zone.Identifier file", _recorded(name + _ZONE_IDENTIFIER))]
    shortcuts = (around or around_file(name)).shortcuts
    if shortcuts:
        found += _beside(name, shortcuts)
    for source, url in found:
        if url and not url.lower().startswith(_NOWHERE):
            yield BaseClaim(Layer.RETRIEVAL, for_any(url), source)


class Around(NamedTuple):
    """Names in the folder of a file: files that may record the URL of another file, and folders of parts of pages.

    The folders are keyed by the form (`fold`) of the page's name without its extension.
    """

    shortcuts: frozenset[str]
    parts: dict[str, list[str]]


_NOTHING: Final = Around(frozenset(), {})


def around_file(name: str) -> Around:
    """Return the names in the folder of a file; none if it cannot be read."""
    folder = os.path.dirname(name) or "."  # noqa: PTH120 - faster, for very many
    try:
        return _list_folder(folder, os.stat(folder).st_mtime_ns)  # noqa: PTH116
    except (OSError, ValueError):
        return _NOTHING


@lru_cache(maxsize=64)
def _list_folder(folder: str, _time: int) -> Around:
    with os.scandir(folder) as entries:
        return names_among(entries)


def names_among(entries: Iterable[os.DirEntry[str]]) -> Around:
    """Return the names among the entries of a folder; mostly the same empty object."""
    shortcuts: set[str] = set()
    parts: dict[str, list[str]] = {}
    for entry in entries:
        if entry.name in _RECORDS or entry.name.endswith(SHORTCUTS):
            shortcuts.add(entry.name)
        elif (page := page_of(entry.name)) is not None and is_folder_entry(entry):
            parts.setdefault(fold(page), []).append(entry.name)
    return Around(frozenset(shortcuts), parts) if shortcuts or parts else _NOTHING


def is_folder_entry(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder or a link to one; False on errors, such as a loop of links."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _beside(name: str, names: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    """Yield name and URL of each file beside a page that records its URL: `a.url` beside `a.html`, or of `_RECORDS`."""
    folder, file = os.path.split(name)
    stem, suffix = os.path.splitext(file)  # noqa: PTH122
    if registry.SUFFIXES.get(suffix.lower(), registry.HTML) not in _PAGES:
        return
    for beside in (one + end for one in (stem, file) for end in SHORTCUTS if one + end in names):
        yield f"{beside}{BESIDE}", shortcut_url(os.path.join(folder, beside))  # noqa: PTH118
    for record, stems in _RECORDS.items():
        if stem in stems and record in names:
            yield f"{record}{BESIDE}", _recorded(os.path.join(folder, record))  # noqa: PTH118


def _recorded(path: str) -> str | None:
    """Return the URL in a file: of the zone, of ScrapBook (`source`, a tab, the URL), of ArchiveBox (JSON); or None."""
    text = _ini_text(_begin(path))
    if (found := _RECORDED.search(text)) or not text:
        return found and found[1]
    import json  # few files have such a record
    with suppress(ValueError, RecursionError):
        match json.loads(text):
            case {"url": str(url), "timestamp": _, "base_url": _}:
                return url
    return None


def shortcut_url(path: str) -> str | None:
    """Return the URL in a shortcut, for example `http://h/` in `URL=http://h/`; None without one."""
    from absolve.formats.plist import url_in  # few pages have one

    data = _begin(path)
    return url_in(data if data.startswith(b"bplist") else _ini_text(data).encode("utf-8", "surrogateescape"))


def _begin(path: str) -> bytes:
    """Return the first bytes of a file that records a URL; b"" for pipes, and for links, which may leave the folder."""
    try:
        with open(path, "rb", opener=lambda path, flags: _at_once(path, flags | getattr(os, "O_NOFOLLOW", 0))) as file:
            return file.read(_LONGEST) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except (OSError, ValueError):
        return b""


def _origin(name: str) -> str | None:
    """Return the extended attribute, or None if it is missing or not supported."""
    if not hasattr(os, "getxattr"):
        return None
    try:
        return os.getxattr(name, _ORIGIN).decode("utf-8", "surrogateescape").strip("\0 \t\r\n")
    except OSError:
        return None


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
