"""The sources of a mirror: one for each archive among the inputs, and one for all plain files.

In: the inputs of a run. Out: `Source`s, which can be passed to other processes, and their readers. A file without a
known URL gets one below `package:///`, for example `package:///_/a.html`, which is never written.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urljoin

from absolve.core.errors import FAULTS, Diagnostic, DocumentError, in_short
from absolve.core.model import PACKAGE_ROOT, Link
from absolve.document.companions import escaped, fold, named_by, pages_around, saver_of
from absolve.document.reporting import differing, names_itself
from absolve.document.walk import walk
from absolve.formats import registry, sniffing
from absolve.mirror import browsers
from absolve.mirror.containers import ContainerReader, WarcReader, opened_member, record_files
from absolve.mirror.payloads import Captured, Payload, Where, is_walked, place_of
from absolve.rewriting import rewriter
from absolve.run import sources as files
from absolve.run.folders import left_out
from absolve.run.inputs import parts_of
from absolve.run.load import is_document, not_read, read, unsupported
from absolve.run.load import kind_of as suffix_of
from absolve.run.sources import modified
from absolve.urls.archives import of_base
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from absolve.core.model import Document
    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.mirror.payloads import Found, Reader
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions


FILES: Final = "files"
_PAGES: Final = frozenset({registry.HTML, registry.XML})
_NAMED: Final = 5  # files of a source whose names are shown


class Source(NamedTuple):
    """One source: its kind, a media type of archives or `files`, its inputs, and its member if it is part of a WACZ."""

    kind: str
    inputs: tuple[Input, ...]
    member: str = ""

    @property
    def name(self) -> str:
        """The name in the map: the archive's, "" for plain files."""
        if self.kind == FILES:
            return ""
        return f"{self.inputs[0].name}!{self.member}" if self.member else self.inputs[0].name

    @property
    def label(self) -> str:
        """The name for people: the name of the file, or of the folder with the files, without the path to it."""
        named_inputs = [one for one in self.inputs if one.shares or not one.found]
        names = list(dict.fromkeys(map(_label, named_inputs or self.inputs)))
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        return f"{', '.join(names[:_NAMED])}{more}"


def _label(input_: Input) -> str:
    name = input_.root or input_.name
    if "://" in name:
        name = name.partition("?")[0].rstrip("/")  # a query may be a signature
        return name.rpartition("/")[2]
    return os.path.basename(os.path.abspath(name))  # noqa: PTH100, PTH119 - any text


def sources_of(inputs: Iterable[Input], how: ReadOptions, notify: Callable[[Diagnostic], None]) -> list[Source]:
    """Return the sources of the inputs, in their order; plain files are one source, the last one.

    An archive in the folder of a site is one of the site's files, if the user gives the URL of a folder that has a
    page, or if a page in it links to the archive.
    """
    found: list[Source] = []
    plain: list[Input] = []
    pages: list[Input] = []
    archives: list[tuple[Input, str]] = []
    for input_ in _with_parts(inputs, notify):
        try:
            head = files.head(input_.name, root=input_.root)
            kind = kind_of(input_.name, head, how.media_type, partial(files.FileBytes, input_.name, input_.root))
        except DocumentError as error:
            notify(error.diagnostic._replace(failed=True))
            continue
        if input_.found and (saver := saver_of(input_.place, head)):
            notify(left_out(saver, input_.name))
            continue
        kind = FILES if input_.held else kind
        if kind == FILES:
            plain.append(input_)
            pages += [input_] if input_.found and sniffing.recognised(head, input_.name) in _PAGES else []
            if input_.found and not is_document(input_, head, how):
                notify(not_read(input_, head, advice=""))  # it is held unchanged
            elif not input_.found and how.media_type is None and sniffing.is_other(head, input_.name):
                unread = unsupported(input_, head)
                if unread.failed:  # a picture is held, too
                    notify(unread)
        else:
            archives.append((input_, kind))
    of_sites = _site_archives([input_ for input_, _ in archives if input_.found], pages, how)
    for input_, kind in archives:
        if input_.name in of_sites:
            plain.append(input_._replace(held=suffix_of(input_.name)))
            notify(not_read(plain[-1]))
        else:
            members = record_files(input_.name, input_.root) if kind in registry.IN_ZIP else []
            found += [Source(registry.WARC, (input_,), member) for member in members] or [Source(kind, (input_,))]
    if plain:
        found.append(Source(FILES, tuple(plain)))
    return found


def _site_archives(archives: Sequence[Input], pages: Sequence[Input], how: ReadOptions) -> set[str]:
    """Return the names of archives that are downloads of a site, for example its `files/a.zip`.

    They are in a folder with pages to which the user gives a URL, or a page there links to them.
    """
    with_pages = {page.root for page in pages}
    found = {one.name for one in archives if one.url and one.url_source == "--url" and one.root in with_pages}
    names = {one.place: one.name for one in archives if one.name not in found}
    urls = {normal(one.claim.reference): one.name for one in archives if one.claim is not None}  # from hosts' folders
    for page in pages if names else ():

        def look(resolved: Resolved, place: str = page.place) -> None:
            path = named_by(resolved.reference, place, names.__contains__)
            name = names[path] if path is not None else urls.get((resolved.target or "").partition("#")[0])
            found.update([] if name is None else [name])

        with suppress(DocumentError, *FAULTS):  # they are reported when the page is written
            rewriter.edits(walk(read(page, how), how.settings), look)  # no edit: `look` keeps every link
    return found


def _with_parts(inputs: Iterable[Input], notify: Callable[[Diagnostic], None]) -> Iterator[Input]:
    """Yield the inputs, and the parts of named pages, which a browser saves in a folder beside the page."""
    pages, known = [], set()
    for input_ in inputs:
        known.add(input_.name)
        if not input_.found:
            pages.append(input_)
        yield input_
    for page in pages:
        yield from (part for part in parts_of(page, notify) if part.name not in known)


def kind_of(name: str, head: bytes, media_type: str | None, whole: Callable[[], Any]) -> str:
    """Return the media type of a container, as the user gives it or by its bytes; FILES for any other file."""
    kind = sniffing.format_of(head, name, media_type, whole) or ""
    return kind if registry.is_container(kind) else FILES


def reader_of(source: Source, number: int, how: ReadOptions, data: bytes | None = None) -> Reader:
    """Return the reader of a source with this number. `data` are the bytes of a container, if known."""
    input_ = source.inputs[0]
    if source.kind == FILES:
        return FilesReader(source.inputs, number, how)
    if source.kind != registry.WARC:
        return ContainerReader(input_, number, how, source.kind, data)

    def opened() -> AbstractContextManager[IO[bytes]]:
        if data is not None:
            return BytesIO(data)
        if source.member:
            return opened_member(input_.name, source.member, input_.root)
        return files.opened(input_.name, input_.root)

    return WarcReader(source.name, number, opened, how.settings)


# --- plain files ------------------------------------------------------------------------------------------------------

_FOLDER: Final = "_/"  # one folder for all files without a URL, so that links between them stay as they are
_NO_BASE: Final = "no URL is known: links that begin with / stay, and lead nowhere from a file (give --url)"
_TWIN: Final = 1
_ARCHIVED: Final = re.compile(rb"/[0-9]{1,14}(?:[a-z]{2}_)?/https?:/")  # in the URLs of web archives


class FilesReader:
    """The captures in files; the place of each is its number among the inputs.

    Of several files with one URL the newest has it. The others, older saves of a page, get a URL of their own, as files
    without a URL do, and _TWIN as the number in their place.
    """

    def __init__(self, inputs: Sequence[Input], number: int, how: ReadOptions) -> None:
        self._inputs = inputs
        self._number = number
        self._how = how
        self._settings = how.settings._replace(documents=False)  # a title is read when its page is made

    def captured(self) -> Iterator[Found]:
        """Yield each file with its URL."""
        pages: dict[str, str] = {}
        found: list[Captured] = []
        for index, input_ in enumerate(self._inputs):
            try:
                document = read(input_, self._how)
                url, media_type, doubts = self._facts(input_, document)
            except DocumentError as error:
                yield error.diagnostic._replace(failed=True)
                continue
            if url is not None and registry.kind_of(media_type) == registry.HTML:
                pages[input_.place] = url
                pages.setdefault(fold(input_.place), url)
            yield from doubts
            where, date, place = Where(self._number, index, 0), modified(input_.name), place_of(input_.place)
            size, looks = len(document.data), browsers.markup(bytes(document.data[:4096]))
            found.append(Captured(url or "", 200, date, media_type, where, size=size, place=place, looks=looks))
        newest: dict[str, Captured] = {}
        for number, one in enumerate(found):
            url = one.url or _beside(self._inputs[one.where.offset].place, pages) or ""
            found[number] = known = one._replace(url=url)
            newest[url] = max(newest.get(url, known), known, key=lambda each: (each.date, each.where))
        for one in found:
            input_ = self._inputs[one.where.offset]
            url, where = one.url, one.where
            if url and newest[url].where != where:
                other = self._inputs[newest[url].where.offset].place
                text = f"{other} has the same URL ({in_short(url)}) and is newer: links to the URL lead to it"
                yield Diagnostic("same-url", text, input_.name)
                url, where = "", where._replace(number=_TWIN)
            sent = normal(url or f"{PACKAGE_ROOT}{_FOLDER}{escaped(input_.place)}")
            if sent is not None:
                yield one._replace(url=sent, where=where)

    def _facts(self, input_: Input, document: Document) -> tuple[str | None, str, list[Diagnostic]]:
        """Return the URL of a file, if it is known, its media type, and the diagnostics about its URL."""
        entity, media_type = self._walked(input_, document)
        own = entity.bases.own.url
        doubts = differing(entity) if input_.shares else []
        if not entity.bases.base.url and _has_rooted(entity):
            doubts.append(Diagnostic("no-base", f"{_NO_BASE}{names_itself(entity)}", input_.name))
        return own or None, media_type, doubts

    def _walked(self, input_: Input, document: Document) -> tuple[Entity, str]:
        """Return the entity of a file, and its media type."""
        media_type = document.media_type or self._media_type(document)
        is_read = not input_.held and registry.kind_of(media_type) in registry.WALKERS and is_walked(media_type)
        document.media_type = media_type if is_read else registry.OTHER
        with suppress(DocumentError):
            return walk(document, self._settings), media_type
        document.media_type = registry.OTHER  # its links are not read; its URL may still be known
        return walk(document, self._settings), media_type

    @staticmethod
    def _media_type(document: Document) -> str:
        return browsers.file_type(document.name or "", bytes(document.data[:4096]))

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the contents of files."""
        for where in places:
            document = read(self._inputs[where.offset], self._how)
            media_type = document.media_type or self._media_type(document)
            payload = Payload(bytes(document.data), media_type, document.charset, document.claims)
            input_ = self._inputs[where.offset]
            if input_.held or _ARCHIVED.search(payload.data) is not None:  # its links lead to captures
                entity, _ = self._walked(input_, document)
                archive = of_base(entity.bases.own)
                payload = payload._replace(base=archive and archive.at, entity=entity if input_.held else None)
            if where.number == _TWIN:
                payload = payload._replace(base=self._facts(self._inputs[where.offset], document)[0])
            yield where, payload


def _has_rooted(entity: Entity) -> bool:
    """Return whether a document has a link that begins with a slash, whose folder is unknown without a URL."""
    data = entity.data
    return any(type(event) is Link and data[event.start : event.start + 1] == b"/" for event in entity.events)


def _beside(place: str, pages: dict[str, str]) -> str | None:
    """Return the URL of a part beside its page, for example `http://h/a_files/b.png`; `pages` by path and its form."""
    for folder, names in reversed([*pages_around(place)]):
        if found := next(filter(pages.__contains__, (*names, *map(fold, names))), None):
            below = place.removeprefix(folder.rpartition("/")[0]).lstrip("/")
            return urljoin(pages[found], f"./{escaped(below)}")  # a colon in it ends no scheme
    return None
