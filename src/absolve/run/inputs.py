"""Many inputs: folders, lists and tables of URLs become one run of inputs, each with its place below the output."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote_from_bytes

from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.core.lazy_regex import pattern
from absolve.core.model import BaseClaim, Layer
from absolve.run.archive_ranges import WHOLE, ArchiveRange
from absolve.run.sources import STDIN, unreadable
from absolve.urls.predicates import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.run.globs import Globs

    Say = Callable[[Diagnostic], None]

TEMPORARY: Final = pattern(r"\.absolve-[0-9a-f]+(-[0-9a-f]+)?\.tmp")  # outputs.py names its files so
_PATH_CHARACTERS: Final = "!$&'()*+,;=:@/~"  # RFC 3986 3.3: pchar, and the slash between segments


class Input(NamedTuple):
    """One document to work on.

    `name` opens it, and is what messages and rows call it. `place` is its path below an output folder, with `/`
    between its parts. `url` is the retrieval URL that the user gives, `url_source` the option. `claims` are
    bases that its place gives. `found`: in a folder; nobody named it, so it need not be a document.
    `within` is what of an archive is worked on.
    """

    name: str
    place: str
    url: str | None = None
    url_source: str = "--url"
    claims: tuple[BaseClaim, ...] = ()
    found: bool = False
    within: ArchiveRange = WHOLE


class Origins(NamedTuple):
    """What the user knows of where inputs came from.

    `url` is that of a document, or of a folder's root; `by_path` has the URLs of single documents, by path as `key`
    makes it; `mirror`: below a folder stand `host/path`, as wget and HTTrack write.
    """

    url: str | None = None
    by_path: dict[str, str] = {}  # noqa: RUF012 - a default that nobody changes
    mirror: bool = False


def key(path: str) -> str:
    """What is the same for two ways to write a path; links are not followed."""
    return os.path.normcase(os.path.abspath(path))  # noqa: PTH100 - without links


def named(names: Sequence[str], origins: Origins, globs: Globs, say: Say, *, follow: bool = True) -> Iterator[Input]:
    """The inputs that names on a command line stand for: a folder stands for all that is in it, in sorted order.

    The content of the only folder has its place below the root of the output; beside other inputs each folder has its
    own name there. `say` hears what is passed over. Links in folders are passed over unless `follow`.
    """
    for name in names:
        if not is_folder(name):
            yield Input(name, Path(name).name, *_known(name, origins.url, origins))
        else:
            last = Path(os.path.abspath(name)).name  # noqa: PTH100 - `.` has a name, and only the root has none
            above = f"{last}/" if last and len(names) > 1 else ""
            for path, place in folder(name, globs, say, follow=follow):
                yield _within(path, place, above + place, origins)


def is_folder(name: str) -> bool:
    """Whether a name on the command line is that of a folder."""
    return name not in {"", STDIN} and Path(name).is_dir()


def listed(paths: Iterable[str], origins: Origins, say: Say) -> Iterator[Input]:
    """The inputs of a list: files, each with its own path as its place; what leads above it all is passed over."""
    for path in paths:
        place = os.path.normpath(path).lstrip("/" if os.sep == "/" else "/\\")
        place = PurePosixPath(*Path(place).parts[bool(Path(place).drive) :]).as_posix()
        if wrong := _listed_wrong(path):
            say(wrong)
        elif place == ".." or place.startswith("../"):
            say(Diagnostic("outside", "its place would be outside the output folder", path, failed=True))
        else:
            yield _within(path, place, place, origins)._replace(found=False)


def _listed_wrong(path: str) -> Diagnostic | None:
    """Why a file in a list is passed over: who makes a list of all that is in a folder has not named each by itself."""
    with suppress(OSError, ValueError):  # what cannot be read is said when it is its turn
        if wrong := special(path, os.stat(path).st_mode):  # noqa: PTH116 - for each of very many
            return wrong._replace(failed=True)
    return None


def _within(path: str, place: str, below: str, origins: Origins) -> Input:
    """An input by its place in a folder: `place` there, `below` the output."""
    url = None if origins.url is None else f"{origins.url.rstrip('/')}/{escaped(place)}"
    mirrored = mirrored_url(place) if origins.mirror else None
    claims = (BaseClaim(Layer.RETRIEVAL, mirrored, "mirror layout"),) if mirrored else ()
    return Input(path, below, *_known(path, url, origins), claims, found=True)


def _known(path: str, url: str | None, origins: Origins) -> tuple[str | None, str]:
    mapped = origins.by_path.get(key(path)) if origins.by_path else None
    return (mapped, "--url-map") if mapped is not None else (url, "--url")


# --- folders ----------------------------------------------------------------------------------------------------------


def folder(root: str, globs: Globs, say: Say, *, follow: bool = True) -> Iterator[tuple[str, str]]:
    """The files in a folder and below, sorted within each folder: the path of each, and its place in the root.

    A symbolic link is followed where it leads to something inside the root, a folder by one link only and never where
    it holds the link. What cannot be read, is no regular file or leads to nothing is said and passed over.
    """
    real = os.path.realpath(root)
    entered: set[tuple[int, int]] = set()  # folders that a link led to
    levels = [*_level(root, "", frozenset(), say)]  # folders in folders may be deeper than calls in calls
    while levels:
        place, around, entries = levels[-1]
        entry = next(entries, None)
        if entry is None:
            levels.pop()
            continue
        inside = f"{place}{entry.name}"
        if entry.is_symlink() and not follow:
            continue
        if entry.is_symlink() and not _leads_inside(entry.path, real):
            say(Diagnostic("outside", "a link that leads out of the folder is not followed", entry.path))
        elif _is_folder(entry):
            if entry.is_symlink():
                led = entry.stat()
                if (led.st_dev, led.st_ino) in entered | around:
                    continue
                entered.add((led.st_dev, led.st_ino))
            if not globs.excluded(inside):
                levels += _level(entry.path, f"{inside}/", around, say)
        elif globs.wanted(inside) and not TEMPORARY.fullmatch(entry.name):
            if wrong := _no_file(entry):
                say(wrong)
            else:
                yield entry.path, inside


class _Level(NamedTuple):
    """A folder that is walked: its place, itself and those around it, and its entries that are still to come."""

    place: str
    around: frozenset[tuple[int, int]]
    entries: Iterator[os.DirEntry[str]]


def _level(path: str, place: str, around: frozenset[tuple[int, int]], say: Say) -> Iterator[_Level]:
    """Yield the level of a folder, or say why there is none."""
    try:
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        state = os.stat(path)  # noqa: PTH116 - beside scandir
    except OSError as error:
        say(unreadable(path, error).diagnostic._replace(failed=True))
        return
    yield _Level(place, around | {(state.st_dev, state.st_ino)}, iter(found))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is, or leads to, a folder; not where nobody can know."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _no_file(entry: os.DirEntry[str]) -> Diagnostic | None:
    """Why an entry that is no folder is passed over; None for a regular file, and for a link to one."""
    try:
        if entry.is_file():
            return None
        return special(entry.path, entry.stat().st_mode)
    except FileNotFoundError:
        return Diagnostic("not-found", "a link that leads to nothing is passed over", entry.path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Diagnostic("unreadable", "a link that leads to itself is passed over", entry.path)
        return unreadable(entry.path, error).diagnostic._replace(failed=True)


_SPECIAL: Final = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISREG, ""), (stat.S_ISDIR, ""))


def special(path: str, mode: int) -> Diagnostic | None:
    """Why a file of this mode is none to read unless somebody names it; None for regular files, and for folders."""
    kind = next((word for is_kind, word in _SPECIAL if is_kind(mode)), "a device")
    return Diagnostic("special-file", f"this is {kind}, and is passed over", path) if kind else None


def _leads_inside(path: str, root: str) -> bool:
    led = os.path.realpath(path)
    return led == root or led.startswith(root.rstrip(os.sep) + os.sep)


def escaped(place: str) -> str:
    """A path below a root as the path of a URL: what no path may hold is percent-escaped, as the bytes it has."""
    return quote_from_bytes(os.fsencode(place), _PATH_CHARACTERS)


_HOST: Final = pattern(r"(?:(?:[a-z0-9_-]+\.)+[a-z0-9-]+|localhost)(?:[:+][0-9]{1,5})?", re.IGNORECASE)


def mirrored_url(place: str) -> str | None:
    """The URL of `host/path` or `scheme/host/path` (wget --protocol-directories); None where there is no host.

    A `?` in a name is wget's for that of a query. Where no scheme is said it is http.
    """
    scheme, slash, rest = place.partition("/")
    if scheme not in {"http", "https", "ftp"} or not slash:
        scheme, rest = "http", place
    host, slash, path = rest.partition("/")
    if not slash or not _HOST.fullmatch(host):
        return None
    path, mark, query = path.partition("?")
    return f"{scheme}://{host.replace('+', ':')}/{escaped(path)}" + (mark and f"?{_query(query)}")


def _query(text: str) -> str:
    return quote_from_bytes(os.fsencode(text), f"{_PATH_CHARACTERS}?%")


# --- lists ------------------------------------------------------------------------------------------------------------


def read_list(name: str) -> Iterator[str]:
    """The paths in a file, or on the standard input (`-`), as they come: one a line, or with a NUL behind each.

    Names need not be UTF-8. DocumentError where it cannot be read.
    """
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise DocumentError(Diagnostic("unreadable", "there is no standard input", STDIN))
            yield from _split(sys.stdin.buffer)
            return
        with Path(name).open("rb") as file:
            yield from _split(file)
    except OSError as error:
        raise unreadable(name, error) from error


_PIECE: Final = 65_536


def _split(file: IO[bytes]) -> Iterator[str]:
    """NULs end the names where there is one in the first piece; else lines do, and CR before LF is no part of one."""
    rest = file.read(_PIECE)
    end = b"\0" if b"\0" in rest else b"\n"
    while rest:
        *whole, rest = rest.split(end)
        for name in whole:
            if path := _path(name, end):
                yield path
        piece = file.read(_PIECE)
        if not piece:
            break
        rest += piece
    if path := _path(rest, end):
        yield path


def _path(name: bytes, end: bytes) -> str:
    return os.fsdecode(name if end == b"\0" else name.rstrip(b"\r"))


def read_url_map(name: str) -> dict[str, str]:
    """The URLs of a CSV file (path, URL; a first row that says so is passed over), by path as `key` makes it.

    Paths are relative to the working folder. UsageError for a row that is none, DocumentError where it cannot be read.
    """
    found: dict[str, str] = {}
    for line, row in read_table(name):
        if len(row) != 2:
            raise UsageError(f"{name}:{line}: a row has a path and a URL, not {len(row)} columns")
        path, url = row
        if not has_scheme(url) or is_malformed(url):
            raise UsageError(f"{name}:{line}: {in_short(url)!r} is no absolute URL")
        found[key(path)] = url
    return found


def read_table(name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file in UTF-8 with their lines, without a header and empty ones."""
    import csv  # here and elsewhere: what few runs need is imported for those

    try:
        with Path(name).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file)
            for row in reader:
                if row and not (reader.line_num == 1 and row[0].strip().lower() in _HEADERS):
                    yield reader.line_num, [cell.strip() for cell in row]
    except (OSError, csv.Error) as error:
        raise unreadable(name, error) from error


_HEADERS: Final = frozenset({"path", "file", "from"})
