"""Check a mirror that any tool made: links that lead to no file, files that differ from the map; in a browser, too.

In: a folder. Out: a `Diagnostic` for each fault. References are resolved as a browser does from file://. A folder
without a map (of wget, HTTrack, a browser) gets all checks that need no map.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections import defaultdict
from contextlib import closing
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from absolve.core import model
from absolve.core.errors import FAULTS, Diagnostic, DocumentError
from absolve.core.model import Document, Layer
from absolve.document.companions import SOURCES, fold, named_by
from absolve.document.reporting import Places
from absolve.document.walk import walk
from absolve.formats import registry
from absolve.formats.grammars import ABSOLUTE
from absolve.mirror import browsers, words
from absolve.mirror import map as maps
from absolve.mirror.lookup import Equivalences, Lookup, twin
from absolve.mirror.making import existing
from absolve.mirror.paths import INDEX_PAGE, MAP, refused
from absolve.mirror.payloads import is_walked
from absolve.mirror.policy import ON_WEB, UNSEVERED, fetches, is_identity, is_in_data_url, is_lazy
from absolve.rewriting import rewriter
from absolve.run.state import BESIDE
from absolve.urls import whatwg
from absolve.urls.identity import is_name, normal, percent_decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from playwright import async_api as playwright

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.document.settings import Settings
    from absolve.mirror.words import Lacking

DEAD: Final = "dead"
FRAGMENT: Final = "fragment"
WEB: Final = "web"
UNREACHED: Final = "unreached"
CHANGED: Final = "changed"
NAME: Final = "name"
CASE: Final = "case"
UNREADABLE: Final = "unreadable"
MISSING: Final = "missing"  # this and the next two: in a browser
BLOCKED: Final = "blocked"
ASKED: Final = "asked"
WRONG: Final = frozenset({DEAD, FRAGMENT, WEB, CHANGED, MISSING, BLOCKED})  # codes that make the exit status 1

_NO_DOCUMENT: Final = frozenset({"form", "metadata"})  # kinds of links that no browser follows to a file
_SHOWN: Final = 200
_NAMED: Final = 2  # targets of the faults that share a line
_REMARK: Final = re.compile(r" leads to no file| is in this mirror, |: .* has no ", re.DOTALL)  # behind a target


def _by_place(fault: Diagnostic) -> tuple[str, int, int]:
    return fault.name or "", fault.line or 0, fault.column or 0


_UNSEVERED: Final = """\
SELECT path, line, "column", text FROM notes WHERE code = 'unsevered' AND typeof(path) = 'text'
AND typeof(line) IN ('integer', 'null') AND typeof("column") IN ('integer', 'null') AND typeof(text) = 'text'
ORDER BY path, line, "column", text"""


class _Known(NamedTuple):
    """The facts in the map about one file."""

    digest: str | None
    media_type: str | None
    url: str


class _Leads(NamedTuple):
    """A link with a fragment to a file; it is judged when the anchors in that file are known."""

    path: str
    line: int | None
    column: int | None
    fragment: str
    reference: str


class Checker:
    """One pass over a mirror. `links` and `files` count what was checked, `pages` are its pages, by path."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder.absolute()
        ignored = f"{settings.ignore_base},feed-link".lstrip(",")  # in a mirror the place of a feed counts
        self._settings = settings._replace(documents=True, data_urls=True, ignore_base=ignored)
        self._root = self._folder.as_uri().rstrip("/") + "/"
        self._files = {path: None for path in existing(str(folder)) if not _is_of_map(path)}
        self._folded: dict[str, list[str]] = defaultdict(list)
        self._known: dict[str, _Known] = {}
        self._lookup: Lookup | None = None
        self._is_severed = False  # the mirror promises to ask for nothing
        self._unsevered: list[Diagnostic] = []
        self._unread = ""  # why the map cannot be read
        self._reached: set[str] = set()
        self._read: set[str] = set()  # files that were read: regular ones
        self._fragments: dict[str, list[_Leads]] = defaultdict(list)
        self._web: dict[str, list[tuple[str, int | None, int | None]]] = defaultdict(list)  # by URL, without a map
        self._recorded: dict[str, str] = {}  # files by the URL that each one records
        self.links = 0
        self.pages: list[str] = []
        self.files = len(self._files)
        self.lacking: Lacking | None = None  # what the mirror lacks by its map
        self._read_map()

    def _read_map(self) -> None:
        path = self._folder / MAP
        if not os.path.lexists(path):
            return
        query = """\
SELECT path, digest, media_type, url FROM resources WHERE typeof(path) = 'text' AND typeof(url) = 'text'
AND typeof(media_type) IN ('text', 'null') AND typeof(digest) IN ('text', 'null')"""
        try:
            with closing(maps.opened(path, "resources", "pages", "missing", "notes")) as db:
                self.lacking = words.lacking_in(db.execute)
                known = {row[0]: _Known(*row[1:]) for row in db.execute(query)}
                self._unsevered = [Diagnostic(UNSEVERED, row[3], *row[:3]) for row in db.execute(_UNSEVERED)]
                severed = "SELECT 1 FROM notes WHERE code = 'severed'"
                self._is_severed = bool(self._unsevered) or db.execute(severed).fetchone() is not None
            self._lookup = Lookup(maps.opened(path, "resources"), Equivalences(), is_normal=True, is_finished=True)
            self._known = known
        except sqlite3.Error as error:
            self._unread = str(error)

    def faults(self) -> Iterator[Diagnostic]:
        """Yield all faults: first of names, then of each file, then of several files together."""
        if self._unread:
            yield Diagnostic(CHANGED, f"the map cannot be read: {self._unread}", MAP)
        yield from self._unsevered
        yield from self._names()
        for path in self._files:
            yield from self._file(path)
        for path in self._known:
            if path not in self._files:
                yield Diagnostic(CHANGED, "the map has this file, and it is not there", path)
        yield from self._anchors()
        yield from self._on_web()
        for path in self._files:
            if path not in self._reached and path != INDEX_PAGE:
                yield Diagnostic(UNREACHED, "no link leads here", path)

    def causes(self, faults: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield one fault for each page and code, for example `3 links to missing files: 'x', 'y' and 1 more`."""
        for path, of_page in groupby(faults, attrgetter("name")):
            by_code: dict[str, list[Diagnostic]] = defaultdict(list)
            for fault in of_page:
                by_code[fault.code].append(fault)
            is_unknown = path in self._known and self._known[path].url.startswith(model.PACKAGE_ROOT)
            why = " (no URL is known for the page)" if is_unknown else ""
            for code, same in by_code.items():
                named = list(dict.fromkeys(_REMARK.split(fault.text)[0] for fault in same))
                more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
                text = f"{words.count_faults(code, len(same))}{why}: {', '.join(named[:_NAMED])}{more}"
                yield same[0] if len(same) == 1 else Diagnostic(code, text, path)

    # --- names ------------------------------------------------------------------------------------------------------

    def _names(self) -> Iterator[Diagnostic]:
        seen: dict[str, str] = {}
        done: set[str] = set()
        for path in self._files:
            parts = path.split("/")
            for number in range(len(parts)):
                name = "/".join(parts[: number + 1])
                if name in done:
                    continue
                done.add(name)
                other = seen.setdefault(fold(name), name)
                if other != name:
                    yield Diagnostic(CASE, f"one name with {other!r} where case is folded", path)
                if (why := refused(parts[number])) is not None:
                    yield Diagnostic(NAME, f"another system refuses {parts[number]!r}: {why}", path)
            self._folded[fold(path)].append(path)

    # --- one file ---------------------------------------------------------------------------------------------------

    def _file(self, path: str) -> Iterator[Diagnostic]:
        file = self._folder / path
        try:
            if file.is_symlink():
                yield Diagnostic(UNREADABLE, "a symbolic link, which is not followed", path)
                return
            if not stat.S_ISREG(file.lstat().st_mode):
                yield Diagnostic(UNREADABLE, "no regular file", path)
                return
            data = file.read_bytes()
            self._read.add(path)
        except OSError as error:
            yield Diagnostic(UNREADABLE, error.strerror or str(error), path)
            return
        known = self._known.get(path)
        if known is not None and known.digest not in {None, f"sha256:{sha256(data).hexdigest()}"}:
            yield Diagnostic(CHANGED, "its digest is not that of the map", path)
        entity = self._walked(path, data, known)
        if isinstance(entity, Diagnostic):
            yield entity
        elif entity is not None:
            self._note_record(path, entity)
            if entity.media_type == registry.HTML:
                self.pages.append(path)
            found: list[Diagnostic] = []
            self._places = Places(entity)
            rewriter.edits(entity, lambda resolved: self._link(path, resolved, found))
            yield from found

    def _walked(self, path: str, data: bytes, known: _Known | None) -> Entity | Diagnostic | None:
        media_type = registry.essence_of(known.media_type or "")[0] if known is not None else ""
        if not is_walked(media_type):
            media_type = browsers.by_name(path) or browsers.by_content(data)
        before, is_source, _ = f"/{path}".partition(f"/{SOURCES}/")
        if not is_walked(media_type) or (is_source and f"{before}/index.html"[1:] in self._files):
            return None
        url = self._root + quote(path, errors="surrogateescape")
        document = Document(data, name=path, media_type=media_type, url=url)
        try:
            return walk(document, self._settings)
        except DocumentError as error:
            return error.diagnostic._replace(code=UNREADABLE, name=path)
        except FAULTS as error:
            return Diagnostic(UNREADABLE, str(error), path)

    def _link(self, path: str, resolved: Resolved, found: list[Diagnostic]) -> None:
        """Add the fault of a link to `found`; return None, so that the link stays."""
        place = resolved.link.place
        in_data_url = is_in_data_url(resolved.entity)
        if self._is_severed and fetches(resolved):
            self._may_ask(path, resolved, found, resolved.base.url if in_data_url else self._root)
        if in_data_url:
            return
        if resolved.link.claim is not None or resolved.kind in _NO_DOCUMENT or place.stays == "always":
            return
        target = resolved.target
        if target is None:
            return
        if target.startswith("file:"):
            self.links += 1
            self._local(path, resolved, target, found)
        elif target.startswith(("http:", "https:")) and not is_identity(resolved) and place.syntax not in ABSOLUTE:
            url = target.partition("#")[0]
            if self._lookup is None:
                self._web[url].append((path, *self._place(resolved)))
                return
            self.links += 1
            held = self._lookup(url)
            if held is not None:
                found.append(self._fault(path, resolved, WEB, _held_at(url, held.path)))

    def _may_ask(self, path: str, resolved: Resolved, found: list[Diagnostic], base: str) -> None:
        target = whatwg.parse(resolved.reference, base or "about:blank")
        if target is not None and target.startswith(ON_WEB):
            found.append(self._fault(path, resolved, ASKED, target))

    def _local(self, path: str, resolved: Resolved, target: str, found: list[Diagnostic]) -> None:
        url, crosshatch, fragment = target.partition("#")
        url = url.partition("?")[0]
        inside = percent_decoded(url[len(self._root) :]) if url.startswith(self._root) else None
        if inside is None or inside not in self._files:
            is_of_map = inside is not None and _is_of_map(inside)
            if is_lazy(resolved) or is_of_map or resolved.attribute == "sourcemappingurl":
                return  # what only a script reads may be no link; no reader misses a source map
            text = f"{resolved.reference[:_SHOWN]!r} leads to no file"
            if inside is None:
                text += " of this folder"
            elif (folded := self._folded.get(fold(inside))) is not None:
                text += f"; {folded[0]!r} differs from it by case only"
            found.append(self._fault(path, resolved, DEAD, text))
            return
        if inside != path:
            self._reached.add(inside)
        if crosshatch and fragment and resolved.kind in {"navigation", "frame"}:
            place = self._place(resolved)
            self._fragments[inside].append(_Leads(path, *place, fragment, resolved.reference))

    def _fault(self, path: str, resolved: Resolved, code: str, text: str) -> Diagnostic:
        return Diagnostic(code, text, path, *self._place(resolved))

    def _place(self, resolved: Resolved) -> tuple[int | None, int | None]:
        return self._places.line_column(resolved.entity, resolved.link.start)

    # --- a copy without a map -----------------------------------------------------------------------------------------

    def _note_record(self, path: str, entity: Entity) -> None:
        """Note the URL that a page records for itself, as HTTrack and browsers write it."""
        recorded = (one.base.reference for one in entity.bases.own.chain if one.base.layer is Layer.RETRIEVAL)
        url = next((url for url in map(normal, recorded) if url is not None and url.startswith("http")), None)
        if url is not None:
            self._recorded.setdefault(url.partition("#")[0], path)

    def _on_web(self) -> Iterator[Diagnostic]:
        """Yield a fault for each link to the web whose target the copy has: by its record, or by host and path."""
        found: list[Diagnostic] = []
        for url, places in self._web.items():
            path = self._recorded.get(url) or self._recorded.get(twin(url) or "") or self._by_layout(url)
            found += (Diagnostic(WEB, _held_at(url, path), *place) for place in places if path is not None)
        yield from sorted(found, key=_by_place)

    def _by_layout(self, url: str) -> str | None:
        """Return the file of a URL in a folder of its host, for example `h/a` or `h/a.html` (wget -E); or None."""
        authority, slash, path = url.partition("://")[2].partition("/")
        path = path.replace("?", "%3F")  # in the name, or nowhere
        hosts = [authority.replace(":", mark) for mark in ":+_"] if ":" in authority else [authority]
        references = (f"./{host}/{path}{end}" for host in hosts if slash for end in ("", ".html"))
        return next(filter(None, (named_by(one, "", self._files.__contains__) for one in references)), None)

    # --- fragments ----------------------------------------------------------------------------------------------------

    def _anchors(self) -> Iterator[Diagnostic]:
        """Yield a fault for each fragment without an anchor in its file."""
        found: list[Diagnostic] = []
        for path, links in self._fragments.items():
            there = self._anchors_of(path)
            if there is None:
                continue
            for link in links:
                if not _is_there(link.fragment, there):
                    text = f"{link.reference[:_SHOWN]!r}: {path} has no {percent_decoded(link.fragment)[:_SHOWN]!r}"
                    found.append(Diagnostic(FRAGMENT, text, link.path, link.line, link.column))
        yield from sorted(found, key=_by_place)

    def _anchors_of(self, path: str) -> set[str] | None:
        """Return the anchors in a file; None for a format without anchors."""
        if path not in self._read:
            return None
        try:
            data = (self._folder / path).read_bytes()
        except OSError:
            return None
        entity = self._walked(path, data, self._known.get(path))
        if entity is None or isinstance(entity, Diagnostic):
            return None
        return set(entity.facts.anchors) if entity.facts is not None else None


def _held_at(url: str, path: str) -> str:
    return f"{url} is in this mirror, at {path}"


def _is_there(fragment: str, there: set[str]) -> bool:
    """Return whether a fragment leads somewhere (HTML Standard 7.4.6.4): as it is, or decoded; "top" always does."""
    fragment = fragment.partition(":~:")[0]
    decoded = percent_decoded(fragment)
    return not fragment or fragment in there or decoded in there or decoded.lower() == "top" or not is_name(decoded)


# The map, its working copies, and the files that SQLite makes beside them.
_OF_MAP: Final = frozenset(f"{name}{suffix}" for name in (MAP, maps.WORKING) for suffix in BESIDE)


def _is_of_map(path: str) -> bool:
    return path in _OF_MAP or path.rpartition("/")[2].startswith(".absolve-")


# --- in a browser -----------------------------------------------------------------------------------------------------

_SECONDS: Final = 30.0  # for a page
_MOST: Final = 100  # faults of a page: a script may ask without end
_REFUSED: Final = ("blocked by", "Refused to", "Not allowed to load", "violates the following", "Unsafe attempt")


def opened(folder: Path, pages: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield the faults of each page, opened in a headless Chromium without a network.

    Raise NoBrowserError and MissingPackageError if there is no browser.
    """
    from absolve.verifying import chromium  # here, because most checks have no browser

    with chromium.Chromium(chromium.find()) as browser:
        for path in pages:
            seen = _Seen(folder, path)
            try:
                browser.run(seen.open, _SECONDS)
            except chromium.BrowserError as error:
                yield Diagnostic(UNREADABLE, f"the browser does not show it: {error}", path)
            yield from (Diagnostic(code, text, path) for code, text in seen.found)


class _Seen:
    """The faults of one page, each once."""

    def __init__(self, folder: Path, path: str) -> None:
        self._root = folder.absolute().as_uri().rstrip("/") + "/"
        self._url = (folder.absolute() / path).as_uri()
        self.found: dict[tuple[str, str], None] = {}

    async def open(self, browser: playwright.Browser) -> None:
        context = await browser.new_context(accept_downloads=False, service_workers="block")
        try:
            page = await context.new_page()
            page.on("request", self._asks)
            page.on("requestfailed", self._fails)
            page.on("websocket", lambda socket: self._add(ASKED, socket.url))
            page.on("console", self._says)
            await page.goto(self._url, wait_until="load")
        finally:
            await context.close()

    def _asks(self, request: playwright.Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:", "about:", "chrome-error:")):
            self._add(ASKED, request.url)

    def _fails(self, request: playwright.Request) -> None:
        if request.url.startswith("file:"):
            code = MISSING if request.failure == "net::ERR_FILE_NOT_FOUND" else BLOCKED
            self._add(code, percent_decoded(request.url.removeprefix(self._root)))

    def _says(self, message: playwright.ConsoleMessage) -> None:
        if message.type == "error" and any(word in message.text for word in _REFUSED):
            self._add(BLOCKED, message.text.replace(self._root, ""))

    def _add(self, code: str, text: str) -> None:
        if len(self.found) < _MOST:
            self.found.setdefault((code, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."))
