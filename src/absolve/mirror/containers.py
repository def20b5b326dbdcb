"""Read the captures in a container: WARC and ARC files, HTTP Archives, messages and mailboxes, packages such as EPUB.

In: an input, or an open file of records, which may be in a WACZ. Out: a `Captured` for each document in it, and its
content; `document.captures` finds them. An entry has the URL of its request, a file in a package its path; a part of a
message its Content-Location, its Content-ID, or a number below `package:///`, for example `package:///a.mht/2/part-2`.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import defaultdict, deque
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from absolve.core.errors import FAULTS, CodingError, Diagnostic, DocumentError, WalkError, fault, in_short
from absolve.core.model import PACKAGE_ROOT, Document, Finding
from absolve.document.captures import Entry, entries, of_record, records
from absolve.document.companions import HostFolders, hosts_among, hosts_named, keeper_of, saver_of
from absolve.document.walk import inners, walk
from absolve.formats import headers, registry
from absolve.formats.compression import ZSTD_FRAME, is_skippable
from absolve.formats.warc.reader import pieces
from absolve.formats.zip.walker import is_record_file
from absolve.mirror import browsers
from absolve.mirror.payloads import SCHEMES, Captured, Payload, Piece, Posted, Where, captured, payload_of, place_of
from absolve.run import buckets, sources
from absolve.run.folders import left_out
from absolve.run.sources import file_of, unreadable
from absolve.urls import whatwg
from absolve.urls.archives import original
from absolve.urls.identity import escaped, normal, percent_decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from absolve.document.entity import Entity
    from absolve.document.settings import Settings
    from absolve.formats.headers import Record
    from absolve.mirror.payloads import Found
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions


_HEAD: Final = 4096
_PATH: Final = "/!$&'()*+,;=@-._~"
_WALKED: Final = frozenset({registry.HTML, registry.XML, registry.CSS})


class ContainerReader:
    """The captures of a container, which are numbered as their places. `data` are its bytes, if known."""

    def __init__(self, input_: Input, number: int, how: ReadOptions, kind: str, data: bytes | None = None) -> None:
        self._input = input_
        self._number = number
        self._how = how
        self._kind = kind
        self._known = data
        own = quote(PurePosixPath(input_.place).name, errors="surrogateescape")
        self._root = f"{PACKAGE_ROOT}{own}/"
        self._is_package = kind in registry.PACKAGES
        if self._is_package and input_.url is not None and input_.url.endswith("/"):
            self._root = input_.url
        self._taken: set[str] = set()  # URLs of relative locations
        self._loaded: list[Entry] = []
        self._hosts: HostFolders | None = None  # a package's
        self._names: _Names | None = None
        self._entities: list[Entity | None] = []
        self._others: dict[str, str] = {}  # web-archive resources whose URL is not http(s)

    def captured(self) -> Iterator[Found]:
        """Yield each document that answers a GET; a Content-ID leads to its part by a redirect."""
        index = 0
        try:
            every = self._every()
            if self._is_package and self._root.startswith(PACKAGE_ROOT):
                every = iter(known := [*every])
                paths = [_path_of(one) for one in known if isinstance(one, Entry)]
                self._hosts = hosts_among(paths)
                if urls := [*filter(None, map(self._hosts.url_of, paths))]:
                    yield hosts_named(urls, self._input.name)
            for one in every:
                if isinstance(one, Finding):
                    yield self._broken(one.code, one.text)
                    continue
                try:
                    yield from self._captured(one, index)
                except CodingError as error:
                    yield self._broken(error.code, error.message, one.scope)
                except FAULTS as error:
                    yield self._broken("unreadable", fault(error), one.scope)
                index += 1
        except WalkError as error:
            code = "broken-zip" if self._kind in registry.IN_ZIP else error.code
            yield Diagnostic(code, error.message, self._input.name, failed=True)
        except DocumentError as error:
            yield error.diagnostic._replace(failed=True)

    def _every(self) -> Iterator[Entry | Finding]:
        return entries(self._data(), self._kind, self._how.settings, self._input.url)

    def _data(self) -> bytes:
        if self._known is not None:
            return self._known
        is_there = buckets.is_bucket(self._input.name) or sources.is_file(self._input.name)
        if self._kind in registry.IN_ZIP and is_there:  # the walker reads a member at a time
            return sources.FileBytes(self._input.name, self._input.root)  # type: ignore[return-value]  # like bytes
        most, root = self._how.settings.max_size, self._input.root
        return bytes(sources.read(self._input.name, max_size=most, root=root).data)

    def _broken(self, code: str, text: str, scope: tuple[int, ...] = ()) -> Diagnostic:
        if self._kind == registry.HAR:
            code, text = "broken-entry", f"entry[{scope[0]}]: {text}" if scope else text
        elif self._is_package and code != "unread-compressed":
            code = "unread-member"
        return Diagnostic(code, text, self._input.name, failed=True)

    def _captured(self, one: Entry, index: int) -> Iterator[Found]:
        facts = one.facts
        if self._is_package:
            file = self._file(one, index)
            yield file
            if isinstance(file, Captured) and registry.is_container(registry.kind_of(file.media_type)):
                text = f"the documents in this file of a package are not read ({in_short(_path_of(one))})"
                yield Diagnostic("package-inside", text, self._input.name)
            if isinstance(file, Captured) and (url := normal(self._recorded(one) or "")):
                yield Captured(url, 302, file.date, "", file.where, file.url)
            return
        urls = self._urls(one, index + 1, self._taken)
        if not urls or facts.method.upper() not in {"", "GET", "HEAD"}:
            return
        where = Where(self._number, index, 0)
        found = captured(one, urls[0], where, self._how.settings)
        yield from [found] if found is not None else []
        if isinstance(found, Captured) and facts.status is None:
            yield from (Captured(other, 302, found.date, "", where, urls[0]) for other in urls[1:])

    def _file(self, one: Entry, index: int) -> Captured | Diagnostic:
        """Return the capture of a file in a package. Raise CodingError for a file that is not read."""
        facts, path = one.facts, _path_of(one)
        mirrored = self._hosts.url_of(path) if self._hosts is not None else None
        url = normal(mirrored or self._root + quote(path, safe=_PATH, errors="surrogateescape"))
        if url is None or not (mirrored or url.startswith(self._root)):
            raise CodingError("unsafe-name", f"its name leads out of the package ({in_short(path)})")
        if facts.length > self._how.settings.max_size:
            raise CodingError("too-large", f"it is larger than --max-size ({in_short(path)})")
        try:
            payload = _file_payload(one)
        except CodingError as error:
            raise CodingError(error.code, f"its data is broken ({in_short(path)})") from error
        if saver := keeper_of(path) or saver_of(path, payload.data[:_HEAD]):
            return left_out(saver, f"{self._input.name}!{path}")
        where = Where(self._number, index, 0)
        looks = browsers.markup(payload.data)
        place, size = place_of(path), len(payload.data)
        return Captured(url, 200, facts.date, payload.media_type, where, size=size, place=place, looks=looks)

    def _urls(self, one: Entry, number: int, taken: set[str]) -> list[str]:
        """Return the URLs of a document, its own one first; none if its URL is not one of the web.

        A page in a web archive may have no URL, or `about:blank`, and is a page all the same. A location relative to
        its message (RFC 2557 5) is added to `taken`, and used once.
        """
        if self._kind not in registry.MAIL:
            url = normal(escaped(original(one.url)))
            if url is not None and _is_usable(url):
                return [url]
            return [f"{self._root}{number}/resource-{number}"] if self._kind == registry.WEB_ARCHIVE else []
        facts = one.facts
        url = normal(escaped(one.url)) if facts.location else None
        if facts.location and url is None and (url := self._in_message(one)) is not None:
            url = url if url not in taken else None
            taken.add(url or "")
        found = [url] if url is not None and (_is_usable(url) or url.startswith(("cid:", PACKAGE_ROOT))) else []
        if facts.name:
            found.append(f"cid:{escaped(percent_decoded(facts.name.removeprefix('cid:')))}")
        if not found or found[0].startswith("cid:"):
            name = quote(_file_name(facts.fields) or f"part-{number}", safe="", errors="surrogateescape")
            found.insert(0, normal(f"{self._root}{number}/{name}") or f"{self._root}{number}")
        return found

    def _in_message(self, one: Entry) -> str | None:
        """Return the URL of a location relative to its message, for example `package:///a.mht/b.png`; or None."""
        numbers = ".".join(map(str, one.scope[: one.message]))
        location = quote(one.facts.location, errors="surrogateescape")
        return normal(f"{self._root}{f'message-{numbers}/' if numbers else ''}{location}")

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the contents of documents, with the entities and names of a message's parts."""
        if not self._loaded:
            self._load()
        for where in places:
            one = self._loaded[where.offset]
            try:
                payload = _file_payload(one, self._recorded(one)) if self._is_package else payload_of(one)
            except CodingError:
                continue
            if self._others:
                payload = payload._replace(names=partial(self._resource_url, normal(escaped(one.url))))
            if self._names is not None:
                payload = self._in_its_message(payload, where.offset, one, self._names)
            yield where, payload

    def _recorded(self, one: Entry) -> str | None:
        """Return the URL that a saver recorded for a page in a package; links that lead to no file resolve by it.

        A URL of the package from the user precedes it.
        """
        claims = one.part.claims if one.part is not None and self._root.startswith(PACKAGE_ROOT) else ()
        return claims[0].reference if claims else None

    def _in_its_message(self, payload: Payload, index: int, one: Entry, names: _Names) -> Payload:
        entity = self._entities[index] if self._entities else None
        if entity is not None and not _is_usable(entity.bases.own.url):
            entity = None  # a style sheet that a browser made of one in the page, as Content-ID: the page's
        base = names.pages.get(one.scope[: one.message]) if entity is None else None
        return payload._replace(entity=entity, base=base, names=partial(names.find, one), title=names.title(one))

    def _resource_url(self, base: str | None, reference: str) -> str | None:
        """Return the URL of the resource that a reference names; None if it is on the web, or does not exist."""
        url = whatwg.parse(escaped(reference), base)
        return self._others.get(url.partition("#")[0]) if url is not None else None

    def _load(self) -> None:
        """Read all documents, and walk a message, whose parts may have bases from each other."""
        try:
            self._loaded = [one for one in self._every() if isinstance(one, Entry)]
        except WalkError as error:  # it has changed
            raise DocumentError(Diagnostic(error.code, error.message, self._input.name)) from error
        if self._kind == registry.WEB_ARCHIVE:
            for index, one in enumerate(self._loaded):
                if (url := normal(escaped(one.url))) is not None and not _is_usable(url):
                    self._others.setdefault(url, self._urls(one, index + 1, self._taken)[0])
        if self._kind not in registry.MAIL:
            return
        taken: set[str] = set()
        urls = [self._urls(one, index + 1, taken) for index, one in enumerate(self._loaded)]
        self._names = _Names(self._loaded, urls, is_mailbox=self._kind == registry.MAILBOX)
        document = Document(self._data(), name=self._input.name, media_type=self._kind, url=self._input.url)
        walked: dict[bytes, deque[Entity]] = defaultdict(deque)
        try:
            _collect(walk(document, self._how.settings), walked)
        except DocumentError:
            return
        for one in self._loaded:
            queue: deque[Entity] | None = None
            with suppress(CodingError):
                queue = walked.get(one.content)
            self._entities.append(queue.popleft() if queue else None)


class _Names:
    """The parts of messages by Content-ID and by relative location, for each multipart of their message around them.

    A name is looked up in the innermost multipart first, then in those around it, a Content-ID also in the messages
    around (RFC 2557 7 and 8). `pages` has the first URL on the web of each message, by its scope.
    """

    def __init__(self, every: Sequence[Entry], urls: Sequence[list[str]], *, is_mailbox: bool) -> None:
        self._outermost = int(is_mailbox)  # a mailbox is no message
        self._urls: dict[tuple[tuple[int, ...], str], str] = {}
        self.pages: dict[tuple[int, ...], str] = {}
        for one, own in zip(every, urls, strict=True):
            if _is_usable(own[0]):
                self.pages.setdefault(one.scope[: one.message], own[0])
            for end in range(one.message, len(one.scope) + 1):
                for name in (*own[1:], _location(one)):
                    self._urls.setdefault((one.scope[:end], name), own[0])

        self._bodies: dict[tuple[int, ...], tuple[int, ...]] = {}  # the page of each message, which its subject names
        for kind in (registry.HTML, "text/plain"):
            for one in every:
                if registry.kind_of(one.media_type) == kind and _file_name(one.facts.fields) is None:
                    self._bodies.setdefault(one.scope[: one.message], one.scope)

    def title(self, one: Entry) -> str | None:
        """Return a message's subject for its first page, or for its first text if it has no page; None for others."""
        return one.facts.title if self._bodies.get(one.scope[: one.message]) == one.scope else None

    def find(self, one: Entry, reference: str) -> str | None:
        """Return the URL of the part that a reference in a document names; None if there is none."""
        if reference[:4].lower() == "cid:":
            name, outermost = f"cid:{escaped(percent_decoded(reference[4:].partition('#')[0]))}", self._outermost
        else:
            name, outermost = _location(one, reference), one.message
        every = (self._urls.get((one.scope[:end], name)) for end in range(len(one.scope), outermost - 1, -1))
        return next(filter(None, every), None) if name else None


_THIS: Final = "http://this.message/"  # in place of thismessage:/, which no parser of URLs knows as hierarchical


def _location(one: Entry, reference: str = "") -> str:
    """Return a location below thismessage:/ (RFC 2557 5): for example, `http://this.message/a` for `a`; or ""."""
    found = whatwg.parse(escaped(one.url), _THIS)
    if reference and found is not None:
        found = whatwg.parse(escaped(reference), found)
    elif not one.facts.location:
        return ""
    return found.partition("#")[0] if found is not None and found.startswith(_THIS) and found != _THIS else ""


def _is_usable(url: str) -> bool:
    return url.startswith(SCHEMES)


def _file_name(fields: tuple[tuple[str, str], ...]) -> str | None:
    """Return the file name of a message's part (RFC 2183 2.3, RFC 2231; RFC 2047 inside of quotes)."""
    from email.message import Message  # here, because no other container needs it

    message = Message()
    for name, value in fields:
        if name in {"content-disposition", "content-type"} and name not in message:
            message[name] = value
    found = message.get_filename()
    return headers.words(found) if found is not None else None


def _collect(entity: Entity, found: dict[bytes, deque[Entity]]) -> None:
    for inner in inners(entity):
        if inner.part.own_charset and inner.entity.media_type in _WALKED:
            found[inner.entity.own_data].append(inner.entity)
        else:
            _collect(inner.entity, found)


def _path_of(one: Entry) -> str:
    name = one.facts.name or (one.part.name if one.part is not None else "")
    return name.replace("\\", "/").lstrip("/")


def _file_payload(one: Entry, base: str | None = None) -> Payload:
    """Return the content of a file in a package, with its declared or detected media type."""
    content, facts = one.content, one.facts
    return Payload(content, facts.media_type or browsers.file_type(facts.name, content[:4096]), base=base)


# --- WARC and ARC files -----------------------------------------------------------------------------------------------

_CAPTURES: Final = frozenset({"response", "resource", "revisit", "arc"})
_SCHEMES: Final = ("http://", "https://", "ftp://")
_UNSAFE: Final = frozenset(b"POST PUT PATCH DELETE OPTIONS CONNECT TRACE PROPFIND REPORT SEARCH".split())


class WarcReader:
    """The captures of a WARC or ARC file; `number` counts the sources, `opened` opens the file."""

    def __init__(
        self, name: str, number: int, opened: Callable[[], AbstractContextManager[IO[bytes]]], settings: Settings
    ) -> None:
        self._name = name
        self._number = number
        self._opened = opened
        self._settings = settings

    def captured(self) -> Iterator[Found]:
        """Yield each capture, in the order of the file."""
        try:
            yield from self._every()
        except DocumentError as error:  # the file is gone, or the package around it is broken
            yield error.diagnostic._replace(failed=True)

    def _every(self) -> Iterator[Found]:
        with self._opened() as file:
            for piece in pieces(file, self._settings.max_decompressed):
                for finding in piece.findings:
                    text = f"{finding.text}, at byte {finding.position}"
                    yield Diagnostic(finding.code, text, self._name, failed=finding.failed)
                if piece.records is None or piece.findings:
                    continue
                for number, record in records(piece.records):
                    where = Where(self._number, piece.offset, number)
                    try:
                        yield from _captures(piece.records, record, where, self._settings)
                    except (CodingError, WalkError) as error:
                        text = f"{error.message}, at byte {piece.offset} ({in_short(record.url)})"
                        yield Diagnostic(error.code, text, self._name, failed=True)

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the payloads at these places, in order."""
        wanted: dict[int, list[Where]] = {}
        for where in places:
            wanted.setdefault(where.offset, []).append(where)
        last = places[-1].offset
        with self._opened() as file:
            start = 0 if _needs_start(file) else places[0].offset
            file.seek(start)
            for piece in pieces(file, self._settings.max_decompressed, start=start):
                if piece.offset > last:
                    return
                here = wanted.get(piece.offset)
                if here is None or piece.records is None:
                    continue
                found = dict(records(piece.records))
                for where in here:
                    yield where, payload_of(of_record(piece.records, found[where.number], self._settings))


def _needs_start(file: IO[bytes]) -> bool:
    """Return whether a file must be read from its start: a Zstandard dictionary there is needed for all of it."""
    file.seek(0)
    head = file.read(4)
    return head.startswith(ZSTD_FRAME) or (len(head) == 4 and is_skippable(head))


def _captures(data: bytes, record: Record, where: Where, settings: Settings) -> Iterator[Found]:
    if record.kind == "request":
        if bytes(data[record.block : record.block + 64]).split(b" ", 1)[0].upper() in _UNSAFE:
            yield Posted(_ids(data, record))
        return
    if record.kind not in _CAPTURES or not record.url.startswith(_SCHEMES):
        return
    url = normal(original(record.url))
    one = of_record(data, record, settings) if url is not None else None
    if url is None or one is None or (one.facts.status is None and record.kind in {"response", "revisit"}):
        return
    found = captured(one, url, where, settings)
    ids = " ".join(_ids(data, record))
    if isinstance(found, Piece):
        yield found._replace(captured=found.captured._replace(ids=ids))
    elif found is not None:
        yield found._replace(ids=ids)


def _ids(data: bytes, record: Record) -> frozenset[str]:
    """Return the IDs of a record and of its concurrent records."""
    found = [field for field in record.fields if field.name in {"warc-record-id", "warc-concurrent-to"}]
    return frozenset(headers.value(data, field) for field in found)


# --- a file of records in a WACZ --------------------------------------------------------------------------------------

_BROKEN: Final = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, OSError, ValueError, NotImplementedError, RuntimeError),
    *(EOFError, KeyError),
)


def record_files(name: str, root: str) -> list[str]:
    """Return the record files in a WACZ, for example `archive/a.warc.gz`, in their order; none for other packages."""
    try:
        with file_of(name, root=root, streams=False) as file, zipfile.ZipFile(file) as package:
            names = package.namelist()
    except _BROKEN:
        return []
    if "datapackage.json" not in names:
        return []
    return [member for member in names if is_record_file(member)]


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn the errors in a package into DocumentError."""
    try:
        yield
    except OSError as error:
        raise unreadable(name, error) from error
    except _BROKEN as error:
        raise DocumentError(Diagnostic("broken-zip", str(error), name)) from error


@contextmanager
def opened_member(name: str, member: str, root: str = "") -> Iterator[Any]:
    """Yield a file in a package, open. Raise DocumentError."""
    with ExitStack() as opened:
        with _reading(name):
            whole = opened.enter_context(file_of(name, root=root, streams=False))
            package = opened.enter_context(zipfile.ZipFile(whole))
            file = opened.enter_context(package.open(member))
        yield _Seekable(file, name)


class _Seekable(io.RawIOBase):
    """A member of a package, read forward; a seek backward begins again. Its methods raise DocumentError."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int = -1) -> bytes:
        with _reading(self._name):
            return self._file.read(size)

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        with _reading(self._name):
            return self._file.seek(offset, whence)
