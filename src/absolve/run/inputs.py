"""Find the inputs of a run: files, folders, lists of names, tables of URLs, mirrors.

Input: names and the options about them. Output: an `Input` for each document, with its retrieval URL (RFC 1808 section
3.3) and its relative path in an output folder.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
import sys
from collections import deque
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote_from_bytes

from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.core.lazy_regex import pattern
from absolve.document.base_layers import FILE_PATH, HOST_FOLDER, retrieval_claim
from absolve.document.companions import (
    NODE_MODULES,
    PAGES,
    PATH_CHARACTERS,
    HostFolders,
    escaped,
    hosts_among,
    hosts_named,
    keeper_of,
)
from absolve.document.settings import FILE
from absolve.run import buckets, companion_files, folders, sources
from absolve.run.folders import Globs
from absolve.run.sources import STDIN, unreadable
from absolve.urls import identity
from absolve.urls.base import is_useless
from absolve.urls.predicates import has_scheme, is_malformed, runs_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.core.model import BaseClaim
    from absolve.run.buckets import State
    from absolve.run.sources import Around
    from absolve.run.web.exchange import Answer

    Notify = Callable[[Diagnostic], None]

_HEAD: Final = 1 << 16  # bytes that identify a document


class ArchiveRange(NamedTuple):
    """The records of a WARC or ARC file that begin at byte offsets from `start` to `end` (exclusive).

    The first begins at `start`, and `before` documents are before it.
    """

    start: int = 0
    end: int = sys.maxsize
    before: int = 0


END: Final = sys.maxsize  # offset behind the last record
WHOLE: Final = ArchiveRange()


class Input(NamedTuple):
    """One document to work on.

    `name` is the path to open, and the name in messages and rows. `place` is its path below an output folder, with `/`
    as separator: for example, `site/a.html` has the place `a.html`. `url` is the retrieval URL that the user gives,
    `url_source` the option. `claim` counts after the document's own records: by --url for several, or by a folder with
    the name of a host. `found`: found in a folder, not named by the user, so it need not be a document. `within` is the
    range of an archive to work on. `shares`: the user's URL is for several.
    `root` is the user's folder in which it was found, or ""; `around` are names beside it.
    `stored` is the state of a file in a store when it was listed.
    `held` describes a file that is only a target of links, such as a package in a site: it is copied, and not read.
    If `name` is a URL of http, `asked` is the same URL with user and password, and `answer` the response to it.
    """

    name: str
    place: str
    url: str | None = None
    url_source: str = "--url"
    claim: BaseClaim | None = None
    found: bool = False
    within: ArchiveRange = WHOLE
    shares: bool = False
    root: str = ""
    around: Around | None = None
    asked: str = ""
    answer: Answer | None = None
    stored: State | None = None
    held: str = ""

    @property
    def size(self) -> int:
        """Bytes of the file, or of its range; 0 if unknown."""
        if self.answer is not None:
            return len(self.answer.body)
        try:
            known = self.stored
            size = os.stat(self.name).st_size if known is None else known.size  # noqa: PTH116 - faster, for very many
        except (OSError, ValueError):
            return 0
        return min(self.within.end, size) - self.within.start


class Origins(NamedTuple):
    """Retrieval URLs that the user gives.

    `url`, given by the option or argument `source`, is the URL of a document, or of a folder's root; `by_path` has the
    URLs of single documents, by the `key` of their path. A URL for several documents is for the ones that record none,
    unless they are a site there (`is_site`). Keys of `by_path` that named an input are added to `met`.
    """

    url: str | None = None
    by_path: dict[str, str] = {}  # noqa: RUF012 - never modified
    is_site: bool = False
    met: set[str] | None = None
    by_ranges: bool = False
    source: str = "--url"


def key(path: str) -> str:
    """Return a canonical form of a path (absolute, normalized case), without following symbolic links."""
    return os.path.normcase(os.path.abspath(path))  # noqa: PTH100 - without links


def named(
    names: Sequence[str], origins: Origins, globs: Globs, notify: Notify, *, follow: bool = True
) -> Iterator[Input]:
    """Yield the inputs for names on a command line; for a folder its files, sorted.

    The files of a single folder have their relative paths as `place`, for example `a.html` for `site/a.html`; with
    other inputs the folder's name precedes. `notify` is called with a diagnostic for each skipped file. Unless
    `follow`, symbolic links in folders are skipped, and reported if they lead out of the folder.
    """
    unmet = {*globs.include, *globs.exclude}
    for name in names:
        if is_url(name) and not (origins.by_ranges and buckets.is_web(name) and buckets.gives_ranges(name)):
            yield url_input(name, origins, alone=len(names) == 1)
        elif buckets.is_bucket(name) and len(names) > _MANY and not buckets.has_glob(name):
            yield from listed([name], origins, notify)
        elif buckets.is_bucket(name):
            yield from _in_bucket(name, origins, globs, notify, alone=len(names) == 1)
        elif not folders.is_folder(name):
            yield alone(name, origins, shares=len(names) > 1)
        else:
            last = Path(os.path.abspath(name)).name  # noqa: PTH100 - so that `.` has a name; only the root has none
            above = f"{last}/" if last and len(names) > 1 else ""
            below = _Below(origins, companion_files.hosts_in(name))
            for path, place, around, held in folders.files_in(name, globs, notify, follow=follow, unmet=unmet):
                yield below.input(path, place, above + place)._replace(root=name, around=around, held=held)
            below.report(name, notify)
            below.report_empty(name, notify, globs, alone=len(names) == 1)
    if unmet.issuperset(globs.include):  # no-input has named them
        unmet -= set(globs.include)
    if all(map(folders.is_folder, names)):
        globs.report_unmet(unmet, notify)


def alone(name: str, origins: Origins, *, shares: bool = False) -> Input:
    """Return the input for a file that is named itself."""
    return Input(name, Path(name).name)._replace(**_input_fields(name, origins.url, origins, shares=shares))


_MANY: Final = 1000  # URLs of stores: above that number they are taken for files without a request for each
_MOST_PLACES: Final = 10_000  # files of a store that are listed before the first one is read


def _in_bucket(url: str, origins: Origins, globs: Globs, notify: Notify, *, alone: bool) -> Iterator[Input]:
    """Yield the inputs for a URL of a bucket: a file, or the files below a prefix, or the matches of a glob.

    For example, `s3://b/site/` gives `s3://b/site/a/b.html` with the place `a/b.html`; unless the URL is `alone`, the
    place begins with the name of the folder: `site/a/b.html`.
    """
    try:
        if not buckets.is_many(url):
            known = _input_fields(url, origins.url, origins, shares=not alone)
            yield Input(url, url.rpartition("/")[2], stored=buckets.state(url))._replace(**known)
            return
        above = "" if alone else f"{url.rstrip('/').rpartition('/')[2]}/"
        every = iter(buckets.found(url))
        first = list(islice(every, _MOST_PLACES))  # they show which folders are hosts
        below = _Below(origins, hosts_among(place for _, place, _ in first))
        for name, place, state in chain(first, every):
            if not globs.reaches(place):
                continue
            if not globs.hidden and (keeper := keeper_of(place)):
                notify(folders.left_out(keeper, name))
                continue
            held = f"in {NODE_MODULES}" if f"/{NODE_MODULES}/" in f"/{place}" and not globs.hidden else ""
            yield below.input(name, place, above + place)._replace(stored=state, held=held)
        below.report(url, notify)
        below.report_empty(url, notify, globs, alone=alone)
    except OSError as error:
        notify(unreadable(url, error).diagnostic._replace(failed=True))


def is_url(name: str) -> bool:
    """Return whether the name of an input is an http(s) URL, and no file has that name."""
    return name[:8].lower().startswith(("http://", "https://")) and not os.path.lexists(name)


def url_input(url: str, origins: Origins, *, alone: bool = False) -> Input:
    """Return the input for a URL; its place is `h.org/a` for `http://h.org/a`, as for wget, or `a` if it is `alone`."""
    found = _PARTS.match(url)
    scheme, host, path, query = found.groups("") if found is not None else ("", "", "", "")
    name = f"{scheme}{url[found.start(2) :]}" if found is not None else url
    path = f"{path or '/'}{'' if path[-1:] not in {'', '/'} else 'index.html'}"
    file = path + query.replace("/", "%2F")
    steps = [quote_from_bytes(os.fsencode(step), _OF_NAMES) for step in f"{host}{file}".split("/")]
    place = "/".join(step if step.strip(".") else step.replace(".", "%2E") for step in steps if step)
    place = place.rpartition("/")[2] if alone else place
    claimed = name if origins.url in {None, FILE} else origins.url
    return Input(name, place, asked=url)._replace(**_input_fields(name, claimed, origins))


_URL_MAPS: Final = {"--url": "--url-map", "url=": "url_map="}
_PARTS: Final = pattern(r"(https?://)(?:[^/\\?#]*@)?([^/\\?#]*)([^?#]*)(\?[^#]*)?", re.IGNORECASE)
_OF_NAMES: Final = f"{PATH_CHARACTERS}?%"


def is_many(name: str) -> bool:
    """Return whether a name on the command line is a folder, or a prefix or a glob in a store."""
    return buckets.is_many(name) if buckets.is_bucket(name) else folders.is_folder(name)


def listed(paths: Iterable[str], origins: Origins, notify: Notify, name: str = "--from") -> Iterator[Input]:
    """Yield the inputs of a list: files, each with its path as `place`; paths above the working folder are skipped."""
    below = _Below(origins, companion_files.hosts_in(""))
    for path in paths:
        below.is_empty = False
        if is_url(path):
            yield url_input(path, origins)
            continue
        if buckets.is_bucket(path):
            place = path.partition("://")[2]
            yield below.input(path, place, place)._replace(found=False)
            continue
        place = os.path.normpath(path).lstrip("/" if os.sep == "/" else "/\\")
        place = PurePosixPath(*Path(place).parts[bool(Path(place).drive) :]).as_posix()
        wrong = None
        with suppress(OSError, ValueError):  # reported when the file is read
            wrong = folders.special(path, os.stat(path).st_mode)  # noqa: PTH116 - for each of very many
        if wrong is not None:  # a list made from a folder may contain special files
            notify(wrong._replace(failed=True))
        elif place == ".." or place.startswith("../"):
            notify(Diagnostic("outside", "skipped: its output would be outside the output folder", path, failed=True))
        else:
            yield below.input(path, place, place)._replace(found=False)
    below.report("--from", notify)
    below.report_empty(name, notify, Globs(), alone=True)


class _Below:
    """The inputs below one root, whose URLs come from its own URL or from folders with the names of hosts.

    If the root's URL is on the host of such a folder, then this folder is the site, and the root is around it.
    """

    def __init__(self, origins: Origins, hosts: HostFolders) -> None:
        site = identity.site(origins.url or "")
        self._site = hosts.named_as(site) if site else ""  # the folder of the site that the root's URL names
        self._origin = identity.origin(origins.url or "")
        self._origins = origins._replace(url=None) if self._site else origins
        self._hosts = hosts
        self._met: dict[str, str] = {}  # the first URL of each host
        self.is_empty = True

    def input(self, path: str, place: str, below: str) -> Input:
        """Return the input for a file: `place` is its path below the root, `below` its path in the output folder."""
        self.is_empty = False
        root = self._origins.url
        url = root and f"{root.rstrip('/')}/{escaped(place)}"
        found = Input(path, below, found=True)._replace(**_input_fields(path, url, self._origins, shares=True))
        if root or found.url is not None or (url := self._hosts.url_of(place)) is None:
            return found
        if self._site and identity.site(url) == self._site:
            url = self._origin + url.removeprefix(identity.origin(url))  # with the scheme and port that the user knows
        self._met.setdefault(url.split("/", 3)[2], url)
        return found._replace(claim=retrieval_claim(url, HOST_FOLDER))

    def report(self, name: str, notify: Notify) -> None:
        """Report the hosts whose folders gave documents their URLs."""
        if self._met:
            notify(hosts_named(self._met.values(), name))

    def report_empty(self, name: str, notify: Notify, globs: Globs, *, alone: bool) -> None:
        """Report a root without an input. One of several has failed, unless `globs` choose among its files."""
        if self.is_empty:
            from shlex import quote  # few folders are empty

            given = " ".join(f"--{one} {quote(glob)}" for one in ("include", "exclude") for glob in getattr(globs, one))
            text = f"no file in it is selected by {given}" if given else "it holds no input"
            notify(Diagnostic("no-input", text, name, failed=not (alone or given)))


def _input_fields(path: str, url: str | None, origins: Origins, *, shares: bool = False) -> dict[str, Any]:
    """Return the fields of an input that has this URL by --url, if --url-map has no other."""
    found = key(path) if origins.by_path else ""
    if found in origins.by_path:
        if origins.met is not None:
            origins.met.add(found)
        return {"url": origins.by_path[found], "url_source": _URL_MAPS[origins.source], "shares": shares}
    if origins.url == FILE and not is_url(path):
        return {"claim": _path_claim(path), "shares": shares}
    if url is None or origins.is_site or not shares:
        return {"url": url, "url_source": origins.source, "shares": shares}
    return {"claim": retrieval_claim(url, origins.source), "shares": shares}


def _path_claim(path: str) -> BaseClaim | None:
    """Return the claim of --url file: for a path, for example `file:///tmp/a`; None for the standard input."""
    if path == STDIN:
        return None
    is_stored = buckets.is_bucket(path)
    url = escaped(path) if is_stored else Path(os.path.abspath(path)).as_uri()  # noqa: PTH100 - without links
    return retrieval_claim(url, FILE_PATH)


# --- folders ----------------------------------------------------------------------------------------------------------


def parts_of(page: Input, notify: Notify) -> Iterator[Input]:
    """Yield the files in the part folders beside a named page, for example in `Soup_files` beside `Soup.html`."""
    above, name = os.path.split(page.name)
    if page.found or not os.path.isfile(page.name) or posixpath.splitext(name)[1].lower() not in PAGES:  # noqa: PTH113
        return
    root, at = above or os.curdir, companion_files.placed(page)
    for one in at.folders if not at.page else ():
        below, parts = posixpath.join(posixpath.dirname(page.place), one), os.path.join(above, one.rstrip("/"))  # noqa: PTH118
        for path, place, around, _ in folders.files_in(parts, Globs(), notify, within=root):
            yield Input(path, below + place, found=True, around=around, root=root)


def led_out(page: Input) -> list[Diagnostic]:
    """Return the notes about links that lead out of the folder of a named page: their targets are not read."""
    notes: list[Diagnostic] = []
    deque(parts_of(page, notes.append), maxlen=0)
    return [note for note in notes if note.code == "outside"]


# --- lists ------------------------------------------------------------------------------------------------------------


def read_list(name: str) -> Iterator[str]:
    """Yield the paths in a file or on the standard input (`-`): one per line, or each followed by NUL.

    Names need not be UTF-8. Raise DocumentError if the list cannot be read, or has no end.
    """
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise DocumentError(Diagnostic("unreadable", "there is no standard input", STDIN))
            yield from _split(sys.stdin.buffer)
            return
        with sources.attended(name) as (first, file):
            yield from _split(file, first)
    except OSError as error:
        raise unreadable(name, error) from error


_PIECE: Final = 65_536
_LONGEST: Final = 1 << 20  # bytes of a name: of a path 4096, of a URL 2 MB in Chromium


def _split(file: IO[bytes], first: bytes = b"") -> Iterator[str]:
    """Yield the names in lines, for example `a` and `b`; or between NULs, if the first 64 KiB have one.

    `first` are bytes that are read already. Raise OSError for a device such as /dev/zero, for a list of more than
    `sources.LARGEST` bytes, and for a name of more than `_LONGEST`.
    """
    rest = first + file.read(_PIECE)
    if rest and _is_device(file):
        raise OSError("a device is no list of inputs")
    end = b"\0" if b"\0" in rest else b"\n"
    names = re.compile(b"[^%b]+" % end)  # no name is empty
    size = len(rest)
    while piece := file.read(_PIECE):
        whole, _, rest = (rest + piece).rpartition(end)
        yield from filter(None, (_path(name, end) for name in names.findall(whole)))
        size += len(piece)
        if size > sources.LARGEST:
            raise OSError(f"this list has more than {sources.LARGEST:,} bytes")
        if len(rest) > _LONGEST:
            raise OSError(f"a line of this list has more than {_LONGEST:,} bytes")
    yield from filter(None, (_path(name, end) for name in names.findall(rest)))


def _is_device(file: IO[bytes]) -> bool:
    """Return whether an open file is a device other than a terminal."""
    with suppress(OSError, ValueError):  # it is in memory
        return stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty()
    return False


def _path(name: bytes, end: bytes) -> str:
    return os.fsdecode(name if end == b"\0" else name.rstrip(b"\r"))


class UrlMap(NamedTuple):
    """The URLs of a table, and the lines of its rows, by the `key` of the path."""

    urls: dict[str, str]
    lines: dict[str, int]


def read_url_map(name: str) -> UrlMap:
    """Return the URLs in a table (path, URL, optional header row), for example with a row `a.html,http://h/a`.

    It is CSV, or a workbook. Paths are relative to the working folder. Below a header, rows without a URL are skipped.
    Raise UsageError for a malformed row, and for a URL that cannot be a base; DocumentError if the file cannot be read.
    """
    from absolve.rules import (
        cells,
        columns,  # few runs need them
    )

    table = cells.table(name, sources.of_option(name), legacy=False)  # names of files may have any bytes
    head, rows = cells.peek(table.rows)
    chosen = columns.choose_columns(head, _roles(columns), tuple(_URL_MAP))
    places = {"path": 0, "url": 1, **chosen.places}
    header = chosen.header.first if chosen.header is not None and chosen.by_words else 0
    found = UrlMap({}, {})
    for row in rows:
        if not row.cells or row.first <= header:
            continue
        if row.problem is not None or (not header and len(row.cells) != 2):
            text = row.problem or f"a row has 2 columns (path, URL), not {len(row.cells)}"
            raise UsageError(f"{name}:{row.first}: {text}")
        path, url = (row.cell(places[role]) for role in _URL_MAP)
        if header and not url:
            continue  # a page without a URL in a table of `documents`
        _check_url(url, f"{name}:{row.first}")
        if found.urls.get(key(path), url) != url:
            text = f"line {found.lines[key(path)]} has another URL for {in_short(path)!r}"
            raise UsageError(f"{name}:{row.first}: {text}")
        found.urls[key(path)] = url
        found.lines[key(path)] = row.first
    if not found.urls:
        raise UsageError(f"{name}: no row has a URL")
    return found


_URL_MAP: Final = {
    "path": "path file filename datei fichier name document input local",
    "url": "url uri address canonical",
}


def _roles(columns: Any) -> dict[str, Any]:
    return {
        role: columns.Role(frozenset(words.split()), columns.is_url if role == "url" else bool)
        for role, words in reversed(_URL_MAP.items())
    }


def _check_url(url: str, place: str) -> None:
    """Raise UsageError for a URL that cannot be a base."""
    if not has_scheme(url) or is_malformed(url):
        raise UsageError(f"{place}: {in_short(url)!r} is not an absolute URL")
    if runs_code(url) or is_useless(url):
        raise UsageError(f"{place}: nothing can be resolved against {in_short(url)!r}")
