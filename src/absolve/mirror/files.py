"""Read the captures in plain files: pages and their parts in a folder, each with the URL that is known of it.

In: the inputs of a run that are no archives. Out: a `Captured` for each file. A file whose URL nobody knows gets one of
its own, below `package:///`, that is never written.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.core.model import PACKAGE_ROOT, Link
from absolve.document.holdings import escaped, fold, pages_around
from absolve.document.reporting import differing
from absolve.document.walk import walk
from absolve.formats import registry
from absolve.mirror import browsers, extensions
from absolve.mirror.payloads import Broken, Captured, Payload, Where, is_walked, place_of
from absolve.run.load import read
from absolve.run.sources import modified
from absolve.urls.archives import of_base
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.model import Document
    from absolve.document.entity import Entity
    from absolve.mirror.payloads import Posted
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

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

    def captured(self) -> Iterator[Captured | Posted | Broken]:
        """Yield each file with its URL."""
        pages: dict[str, str] = {}
        found: list[tuple[int, str | None, str, str, int]] = []
        for index, input_ in enumerate(self._inputs):
            try:
                document = read(input_, self._how)
                url, media_type, doubts = self._facts(input_, document)
            except DocumentError as error:
                yield Broken(error.diagnostic._replace(failed=True))
                continue
            if url is not None and registry.kind_of(media_type) == registry.HTML:
                pages[input_.place] = url
                pages.setdefault(fold(input_.place), url)
            yield from map(Broken, doubts)
            looks = browsers.markup(bytes(document.data[:4096]))
            found.append((index, url, media_type, looks, len(document.data)))
        urls = {index: url or _beside(self._inputs[index].place, pages) for index, url, *_ in found}
        newest = self._newest(urls)
        for index, _, media_type, looks, size in found:
            input_, url = self._inputs[index], urls[index]
            number = 0
            if url is not None and newest[url] != index:
                other = self._inputs[newest[url]].place
                text = f"{other} has the same URL ({in_short(url)}) and is newer: links to the URL lead to it"
                yield Broken(Diagnostic("same-url", text, input_.name))
                number, url = _TWIN, None
            sent = normal(url or f"{PACKAGE_ROOT}{_FOLDER}{escaped(input_.place)}")
            if sent is not None:
                where = Where(self._number, index, number)
                date, place = modified(input_.name), place_of(input_.place)
                yield Captured(sent, 200, date, media_type, where, size=size, place=place, looks=looks)

    def _newest(self, urls: dict[int, str | None]) -> dict[str, int]:
        """Return the newest file of each URL, of several the last one."""
        found: dict[str, int] = {}
        for index, url in urls.items():
            if url is None:
                continue
            before = found.get(url)
            if before is None or modified(self._inputs[index].name) >= modified(self._inputs[before].name):
                found[url] = index
        return found

    def _facts(self, input_: Input, document: Document) -> tuple[str | None, str, list[Diagnostic]]:
        """Return the URL of a file, if it is known, its media type, and what is doubtful about its URL."""
        entity, media_type = self._walked(input_, document)
        own = entity.bases.own.url
        doubts = differing(entity) if input_.shares else []
        if not entity.bases.base.url and _has_rooted(entity):
            doubts.append(Diagnostic("no-base", _NO_BASE, input_.name))
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
        return extensions.of_file(document.name or "", bytes(document.data[:4096]))

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the contents of files."""
        for where in places:
            document = read(self._inputs[where.offset], self._how)
            media_type = document.media_type or self._media_type(document)
            payload = Payload(bytes(document.data), media_type, document.charset, document.claims)
            input_ = self._inputs[where.offset]
            if input_.held or _ARCHIVED.search(payload.data) is not None:  # whose links lead to captures
                entity, _ = self._walked(input_, document)
                archive = of_base(entity.bases.own)
                payload = payload._replace(base=archive and archive.at, entity=entity if input_.held else None)
            if where.number == _TWIN:
                payload = payload._replace(base=self._facts(self._inputs[where.offset], document)[0])
            yield where, payload


def _has_rooted(entity: Entity) -> bool:
    """Return whether a document has a link that begins with a slash: below which folder is not known without a URL."""
    data = entity.data
    return any(type(event) is Link and data[event.start : event.start + 1] == b"/" for event in entity.events)


def _beside(place: str, pages: dict[str, str]) -> str | None:
    """Return the URL of a part that was saved beside a page: relative to the page's; `pages` by path and its form."""
    for folder, names in reversed([*pages_around(place)]):
        if found := next(filter(pages.__contains__, (*names, *map(fold, names))), None):
            below = place.removeprefix(folder.rpartition("/")[0]).lstrip("/")
            return urljoin(pages[found], f"./{escaped(below)}")  # a colon in it ends no scheme
    return None
