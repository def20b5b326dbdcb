"""One file in place of a folder: a page with everything it needs as HTML or MHTML, a site as ZIP or ZIM.

In: the folder of a finished mirror, the URL of its first page. Out: an HTML page with its requisites as `data:` URLs
(RFC 2397), for example `<img src="data:image/png;base64,...">`; a message that a browser opens (RFC 2557); an archive
for Kiwix (openzim.org). Links to other pages lead to the web.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import sqlite3
import struct
import sys
import zipfile
from base64 import b64encode, encodebytes
from contextlib import closing, contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from time import gmtime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, unquote

from absolve import api
from absolve.core.errors import DocumentError, MissingPackageError, UsageError
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.formats.html.start_tags import MARKER
from absolve.mirror import edits
from absolve.mirror import map as maps
from absolve.mirror.browsers import OTHER, by_name, content_type
from absolve.mirror.lookup import Equivalences, Lookup
from absolve.mirror.paths import INDEX_PAGE, MAP
from absolve.mirror.payloads import seconds_of
from absolve.run import outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.document.resolved import Resolved
    from absolve.mirror.map import Working

_ROOT: Final = "http://mirror.invalid/"
_NEEDED: Final = frozenset({"image", "media", "script", "stylesheet", "frame", "font"})
_MOST: Final = 512 << 20  # bytes of a file: a requisite is repeated for each use
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
_MOST_FRAMED: Final = 64  # pages to read in search of the one that is in no frame
_DEEPEST: Final = 8  # style sheets and frames in each other
_MEDIA_TYPE: Final = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)  # RFC 6838 4.2
_CHANGED: Final = ("html", "css", "svg", "xml")
_ICON: Final = bytes.fromhex(  # a PNG of one transparent pixel: an archive must have a picture
    "89504e470d0a1a0a0000000d49484452000000300000003008060000005702f987000000174944415478daedc1010d000000c2a0f74f6d0e37a0000000"
    "0000000000be0d2100000114c2d1a50000000049454e44ae426082"
)


class File(NamedTuple):
    """A file of a mirror: its path, its URL, its media type and its title."""

    path: str
    url: str
    media_type: str
    title: str | None


class Mirror:
    """The folder of a mirror with its map."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with closing(sqlite3.connect(folder / MAP)) as database:
            query = "SELECT r.path, url, media_type, title FROM resources r LEFT JOIN pages p ON p.path = r.path"
            rows = [File(*row) for row in database.execute(f"{query} WHERE r.path IS NOT NULL ORDER BY r.path")]
        self.files = {one.path: one._replace(media_type=_type_of(one)) for one in rows}

    def data(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def first(self, url: str | None) -> File:
        """Return the page at a URL, or the only page. Raise UsageError if there is none, or several."""
        if url is not None:
            with closing(maps.opened(self.folder / MAP, "resources")) as database:
                found = Lookup(database, Equivalences(), is_normal=False, is_finished=True)(url.partition("#")[0])
            if found is None:
                raise UsageError(f"{url}: the mirror has no such page")
            return self.files[found.path]
        pages = [one for one in self.files.values() if one.media_type in _PAGES]
        if 1 < len(pages) <= _MOST_FRAMED:
            framed = {path for page in pages for path in self._framed(page)}
            pages = [one for one in pages if one.path not in framed] or pages
        if len(pages) != 1:
            raise UsageError(f"one page becomes one file, and there are {len(pages):,}: --start URL names the page")
        return pages[0]

    def _framed(self, page: File) -> list[str]:
        """Return the paths of the documents in a page's frames, which are parts of it."""
        found = []

        def target(held: File, link: Resolved) -> None:
            if link.kind == "frame" and held.path != page.path:
                found.append(held.path)

        self.rewritten(page, target)
        return found

    def rewritten(self, file: File, new: Callable[[File, Resolved], str | None]) -> bytes:
        """Return a file, with what `new` returns for each link to a file of the mirror."""

        def policy(link: Resolved) -> str | None:
            is_base = link.link.claim is not None  # which is empty, so that `#name` leads to a place in the page
            target = link.target or ""
            if is_base or not target.startswith(_ROOT) or link.reference.startswith("#"):
                return None
            path, _, fragment = target.removeprefix(_ROOT).partition("#")
            held = self.files.get(unquote(path.partition("?")[0]))
            found = new(held, link) if held is not None else None
            return f"{found}#{fragment}" if found is not None and fragment else found

        if not any(word in file.media_type for word in _CHANGED):
            return self.data(file.path)
        try:
            url = _ROOT + quote(file.path)
            how: dict[str, Any] = {"profile": "whatwg", "on_diagnostic": lambda _: None}
            return api.rewrite(self.data(file.path), url=url, media_type=file.media_type, policy=policy, **how)
        except DocumentError:  # it was reported when the mirror was made
            return self.data(file.path)


def _type_of(file: File) -> str:
    """Return the media type of a file for a URL and a header: a declared type may be any text.

    A file that the capture did not let run gets no type that runs, as for `--serve`.
    """
    declared = content_type(file.path, file.media_type or "").partition(";")[0]
    return declared if _MEDIA_TYPE.fullmatch(declared) else OTHER


def form_of(name: str) -> Callable[[Mirror, Path, str | None], None] | None:
    """Return the function that writes a file of this name; None for a folder's name. Raise MissingPackageError."""
    found = _FORMS.get(posixpath.splitext(name)[1].lower()) if not Path(name).is_dir() else None
    if found is _zim and find_spec("libzim") is None:
        raise MissingPackageError("ZIM needs absolve[zim]: pip install 'absolve[zim]'")
    return found


def is_page(name: str) -> bool:
    """Return whether a file of this name, for example `a.html`, holds one page with its requisites."""
    return form_of(name) in {_html, _mhtml}


# --- one page ---------------------------------------------------------------------------------------------------------


class _Inlined:
    """Inline the requisites of a page."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._data_urls: dict[str, str] = {}  # the URL of each requisite, by its path
        self._inside: list[str] = []
        self._left = _MOST  # bytes that all uses of these URLs may still have

    def inlined(self, file: File) -> bytes:
        self._inside.append(file.path)
        found = self._mirror.rewritten(file, self._target)
        self._inside.pop()
        if file.media_type in _PAGES and MARKER in found.lower():
            charset = walk(Document(found, media_type=file.media_type), Settings()).charset
            return edits.for_one_file(found, charset)
        return found

    def _target(self, held: File, link: Resolved) -> str:
        if held.path == self._inside[-1] and "#" in (link.target or "").rstrip("#"):
            return ""  # a place in this page
        if link.kind not in _NEEDED:
            return held.url
        if held.path in self._inside or len(self._inside) > _DEEPEST:
            return "data:,"
        if held.path not in self._data_urls:
            self._data_urls[held.path] = f"data:{held.media_type};base64,{b64encode(self.inlined(held)).decode()}"
        self._left -= len(self._data_urls[held.path])
        if self._left < 0:
            text = f"the page would have more than {_MOST >> 20} MB: -o FILE.zip keeps its files apart"
            raise UsageError(f"{held.url}: {text}")
        return self._data_urls[held.path]


def _html(mirror: Mirror, path: Path, start: str | None) -> None:
    outputs.write(path, _Inlined(mirror).inlined(mirror.first(start)))


def _mhtml(mirror: Mirror, path: Path, start: str | None) -> None:
    from email.mime.base import MIMEBase  # here, because few mirrors are messages
    from email.mime.multipart import MIMEMultipart
    from email.policy import compat32

    first = mirror.first(start)
    found = MIMEMultipart("related", boundary="----=_absolve", type=first.media_type)
    found["Snapshot-Content-Location"] = first.url
    found["Subject"] = " ".join((first.title or first.url).split())
    for file, data in _with_needs(mirror, first):
        part = MIMEBase(*file.media_type.split("/", 1))
        part["Content-Transfer-Encoding"] = "base64"
        part["Content-Location"] = file.url
        part.set_payload(encodebytes(data).decode().replace("\n", "\r\n"))
        found.attach(part)
    outputs.write(path, found.as_bytes(policy=compat32.clone(max_line_length=None, linesep="\r\n")))


def _with_needs(mirror: Mirror, first: File) -> Iterator[tuple[File, bytes]]:
    """Yield a page and its requisites, each once, with their links as they were on the web.

    No frame leads back to an earlier page: in a message a browser would open frames in each other without end.
    """
    waiting, place = [first], {first.path: 0}

    def target(number: int, held: File, link: Resolved) -> str:
        if link.kind in _NEEDED and held.path not in place:
            place[held.path] = len(waiting)
            waiting.append(held)
        return "data:," if link.kind == "frame" and place[held.path] <= number else held.url

    for number, one in enumerate(waiting):  # it grows
        yield one, mirror.rewritten(one, partial(target, number))


# --- one ZIP ----------------------------------------------------------------------------------------------------------

_FIRST: Final = (1980, 1, 1, 0, 0, 0)  # the first date that a ZIP can have
_LAST: Final = (2106, 1, 1, 0, 0, 0)  # the last one that fits the seconds in an entry
_MODE: Final = 0o100644 << 16
_UNIX: Final = 3  # "version made by" (APPNOTE.TXT 4.4.2)
# Media types whose files are compressed already.
_COMPRESSED: Final = (
    *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "video/", "audio/", "font/woff"),
)
_ARCHIVES: Final = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".pdf", ".epub", ".docx", ".xlsx", ".pptx", ".jar")


def zip_of(working: Working, folder: Path, output: str) -> None:
    """Write a ZIP: the documents in the order of their payloads, the entry page and the map."""
    order = 'SELECT path, date FROM plan WHERE path IS NOT NULL ORDER BY source, "offset", number, url'
    newest = next(working.rows("SELECT max(date) FROM plan WHERE path IS NOT NULL"))[0] or ""
    with outputs.opened(output) as file, zipfile.ZipFile(file, "w", allowZip64=True) as package:
        for path, date in chain(working.rows(order), [(INDEX_PAGE, newest)]):
            package.writestr(_entry(path, date or ""), (folder / path).read_bytes())
        with (folder / MAP).open("rb") as one, package.open(_entry(MAP, newest), "w", force_zip64=True) as other:
            shutil.copyfileobj(one, other)  # as large as all URLs together


def _entry(path: str, date: str) -> zipfile.ZipInfo:
    """Return the entry of a file with its date of capture, in UTC, and also as seconds (0x5455)."""
    seconds = seconds_of(date)
    info = zipfile.ZipInfo(path, _FIRST)
    if seconds is not None and _FIRST <= (when := gmtime(seconds)[:6]) < _LAST:
        info.date_time = when
        info.extra = struct.pack("<HHBI", 0x5455, 5, 1, seconds)
    info.create_system = _UNIX
    info.external_attr = _MODE
    is_compressed = by_name(path).startswith(_COMPRESSED) or path.lower().endswith(_ARCHIVES)
    info.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    return info


# --- a site -----------------------------------------------------------------------------------------------------------


def _zim(mirror: Mirror, path: Path, start: str | None) -> None:
    from libzim import writer  # type: ignore[import-untyped]

    class Item(writer.Item):  # type: ignore[misc]  # it has no types
        def __init__(self, file: File) -> None:
            super().__init__()
            self._file = file

        def get_path(self) -> str:
            return self._file.path

        def get_title(self) -> str:
            return self._file.title or ""

        def get_mimetype(self) -> str:
            return self._file.media_type

        def get_contentprovider(self) -> Any:
            return writer.FileProvider(mirror.folder / self._file.path)

        def get_hints(self) -> dict[Any, Any]:
            return {writer.Hint.FRONT_ARTICLE: self._file.title is not None}

    entry = File("index.html", "", "text/html", "Index")
    first = mirror.first(start) if start is not None else entry
    archive = mirror.folder.with_name("made.zim")
    with _silent(), writer.Creator(archive).config_indexing(True, "eng").set_mainpath(first.path) as creator:
        for name, value in _metadata(first).items():
            creator.add_metadata(name, value)
        creator.add_illustration(48, _ICON)
        for file in (*mirror.files.values(), entry, File(MAP, "", "application/vnd.sqlite3", None)):
            creator.add_item(Item(file))
    with archive.open("rb") as complete, outputs.writing(path) as out:
        shutil.copyfileobj(complete, out)


@contextmanager
def _silent() -> Iterator[None]:
    """Redirect the messages that libzim prints away from the standard output."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def _metadata(first: File) -> dict[str, str]:
    from datetime import UTC, datetime

    title = " ".join((first.title or first.url).split())[:30] or "Mirror"
    return {
        "Title": title,
        "Description": f"A copy of {first.url}"[:80] if first.url else "A copy of pages",
        "Name": "absolve_mirror",
        "Language": "eng",
        "Creator": "unknown",
        "Publisher": "absolve",
        "Date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


_FORMS: Final = {
    **dict.fromkeys((".html", ".htm"), _html),
    **dict.fromkeys((".mhtml", ".mht"), _mhtml),
    ".zim": _zim,
}
