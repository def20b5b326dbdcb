"""The rows of an entity and of all documents inside it: one pass over the events, which appends to `Columns`.

In: the entity of a document. Out: `Columns`, filled in batches, or an iterator of `Row`; DocumentError if the texts of
the rows exceed `max_rows_bytes`. Rows have the link, its base by RFC 1808 section 3 and its target by section 4; on
request also the host of the target, the document's own URL, the language of the target, and the place of
the link in the outermost file.
"""

from __future__ import annotations

import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from absolve.core.byte_scan import cut
from absolve.core.model import PACKAGE_ROOT, RETRIEVAL, Link, Part
from absolve.document.diagnostics import rows_too_large
from absolve.document.resolved import context_key, shown, value_of
from absolve.document.walk import inner_at
from absolve.encodings.codings import CharacterReferences
from absolve.formats.html.row_text import LinkTexts
from absolve.inventory.columns import LAYERS, MOST_TEXT, RULED, Columns, Row
from absolve.inventory.facts import KnownBases, RowFacts
from absolve.urls.identity import site
from absolve.urls.predicates import split_fragment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import cython

    from absolve.document.entity import Entity, Inner
    from absolve.document.resolved import Resolved
    from absolve.encodings.line_index import LineIndex
    from absolve.formats.events import EventList
    from absolve.formats.html.start_tags import Attribute
    from absolve.inventory.columns import Where
    from absolve.inventory.documents import Documents

    Pair = tuple[int, int]
    Cell = str | int | None


_MOST_RULES = 256
_AT_ONCE: Final = 512  # rows that are computed before the first of them is yielded
_TOGETHER = 32  # links whose columns are added one after another: all the code for a row exceeds the first cache


def rows(entity: Entity, document: str | None = None) -> Iterator[Row]:
    """Return an iterator of the rows of an entity and of every document inside it, in document order.

    Raise DocumentError as `fill` does.
    """
    if not entity.count:  # as in half of the XML files
        return iter(())
    columns = Columns(_AT_ONCE, most=MOST_TEXT)
    return _Rows(columns, fill(columns, entity, document))


class _Rows:
    """The rows of columns, one at a time; `filled` fills them again each time all their rows were returned.

    Together they would exceed the data cache, and be a run of the garbage collector.
    """

    def __init__(self, columns: Columns, filled: Iterator[None]) -> None:
        self._columns = columns
        self._filled = filled
        self._at = 0
        self._is_last = False

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        while self._at >= self._columns.size:
            if self._is_last:
                raise StopIteration
            self._is_last = True  # there are no more after an error, either
            self._at = sys.maxsize
            self._is_last = next(self._filled, self) is self
            self._at = 0
        row = self._columns.row(self._at)
        self._at += 1
        if self._at == self._columns.size:
            self._columns.release()
        return row


def fill(
    columns: Columns, entity: Entity, document: str | None = None, documents: Documents | None = None
) -> Iterator[None]:
    """Add the same rows to columns: yield each time these are full, then clear them; the last rows remain.

    Add the rows of the documents to `documents`, in the same pass: yield, too, when those are full.

    Raise DocumentError before the first row if their texts exceed `max_rows_bytes`. If an estimate exceeds it, the rows
    are computed twice: the first pass only measures them.
    """
    name = shown(document if document is not None else entity.name)
    if entity.repeated + len(entity.own_data) > entity.settings.max_rows_bytes:
        for _ in _bounded(Columns(_AT_ONCE, most=MOST_TEXT), entity, name):
            pass
    return _bounded(columns, entity, name, documents)


def _bounded(columns: Columns, entity: Entity, document: str, documents: Documents | None = None) -> Iterator[None]:
    """Add the rows as `fill` does; raise DocumentError as soon as there are too many bytes."""
    most: cython.Py_ssize_t = entity.settings.max_rows_bytes
    size: cython.Py_ssize_t = -columns.texts()  # bytes of other documents, added before
    if documents is not None:
        documents.begin(entity)
    try:
        place = Place(entity) if columns.wanted else None
        for _ in _fill(columns, entity, document, Span(entity), KnownBases(), documents, place):
            size += columns.texts()
            if size > most:
                raise rows_too_large(entity)
            yield
    except OverflowError as error:  # 2 GB of text in columns that are never full
        raise rows_too_large(entity) from error
    if size + columns.texts() > most:
        raise rows_too_large(entity)


def row(resolved: Resolved, document: str, where: Where) -> Row:
    """Return the row of one link."""
    ruled = RowFacts(resolved.entity, resolved.link, document, KnownBases(), resolved.context)
    value = value_of(resolved.reference)
    ruled.find(resolved.link, value, 0, len(value))
    cells: dict[str, Any] = dict(zip(RULED, ruled.words, strict=True)) | where._asdict()
    cells["base_layer"] = LAYERS[cells["base_layer"]]
    cells["reference"] = ruled.reference
    cells["target"] = ruled.target_text(cells["reference"])
    cells["scope"] = ruled.where
    cells["problems"] = list(ruled.codes)
    return Row(**cells)


class Span:
    """Map the spans of an entity to the entity named in its rows: itself, or the outer one of a part without name."""

    def __init__(self, entity: Entity, outer: Span | None = None, inner: Inner | None = None) -> None:
        self._transparent = entity.charset.transparent
        self._entity = entity
        self._positions: LineIndex | None = None  # None until the first link
        self._outer = outer if inner is not None else None
        self._inner = inner
        if inner is not None:
            self._start = inner.part.start
            self._end = inner.part.end
            self._offsets = inner.offsets

    def of(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Pair:
        if self._outer is None:
            return start, end
        if self._offsets is None:
            return self._outer.of(self._start, self._end)
        first: cython.Py_ssize_t = self._offsets.start(start)
        last: cython.Py_ssize_t = self._offsets.end(end) if end > start else first
        return self._outer.of(self._start + first, self._start + last)

    def placed(self, start: cython.Py_ssize_t) -> LineIndex:
        """Return the line index, moved to `start`, of the outermost entity whose bytes can be lines: not UTF-16."""
        if self._outer is None or not self._outer._transparent:  # noqa: SLF001 - of its class
            if self._positions is None:
                self._positions = self._entity.positions
            positions: LineIndex = self._positions
            positions.move(start)
            return positions
        first: cython.Py_ssize_t = self._offsets.start(start) if self._offsets is not None else 0
        return self._outer.placed(self._start + first)


def _fill(
    columns: Columns,
    entity: Entity,
    document: str,
    span: Span,
    known: KnownBases,
    documents: Documents | None,
    place: Place | None,
) -> Iterator[None]:
    events = _Events(entity, document, span, known, place)
    at = 0
    while True:
        at = events.take(columns, at)
        if columns.full:
            yield
            columns.clear()
        elif at < len(entity.events):
            inner = inner_at(entity, at)
            if documents is not None:
                documents.enter(entity, at, inner)
                if documents.is_full:
                    yield
                    columns.clear()
            if inner is not None and (inner.entity.count or documents is not None):
                within = Span(inner.entity) if inner.part.name else Span(inner.entity, span, inner)
                inside = place.inside(inner) if place is not None else None
                has_same = inner.entity.contexts is entity.contexts  # then its bases are known, too
                yield from _fill(
                    columns, inner.entity, document, within, known if has_same else KnownBases(), documents, inside
                )
                inner.entity.forget_contexts(entity)
            if documents is not None:
                documents.leave()
            at += 1
        else:
            return


class _Events:
    """One pass over the events of an entity, which adds a row per link."""

    def __init__(self, entity: Entity, document: str, span: Span, known: KnownBases, place: Place | None) -> None:
        self._entity = entity
        self._document = document
        self._span = span
        self._data = entity.own_data
        self._events: EventList = entity.events
        self._texts = LinkTexts(entity.own_data, entity.charset)
        self._rules: dict[int | Pair, RowFacts] = {}
        self._known = known
        self._ruled: RowFacts | None = None
        self._place = place

    def take(self, columns: Columns, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add the links from index `at` to the columns, up to a part or until they are full; return the next index.

        32 links at a time, one group of columns after another: all the code for one row exceeds the first cache.
        """
        size: cython.Py_ssize_t = len(self._events)
        link: Link | None
        is_part = False
        while at < size and not columns.full and not is_part:
            links: list[Link] = []
            try:
                while at < size and len(links) < _TOGETHER and not columns.full:
                    link = self._events.link(at)
                    if link is not None:
                        self._add_reference(columns, link)
                        links.append(link)
                    elif type(self._events.at(at)) is Part:
                        is_part = True
                        break
                    at += 1
            finally:  # after an error, too: all columns have the same length
                for link in links:
                    self._add_position(columns, link)
                for link in links:
                    self._texts.see(link)
                    columns.add_tag(self._texts)
        return at

    def _add_reference(self, columns: Columns, link: Link) -> cython.int:
        ruled = self._ruled
        if ruled is None or link.place is not ruled.place or link.base is not ruled.scope or link.claim is not None:
            ruled = self._ruled = self.ruled(link)
        data = self._data
        first: cython.Py_ssize_t = link.start
        last: cython.Py_ssize_t = link.end
        references: CharacterReferences
        if isinstance(link.coding, CharacterReferences):
            references = link.coding
            is_plain = references.is_plain(data, first, last)
            value: bytes = data if is_plain else references.decode(cut(data, first, last))
        else:
            value = link.coding.decode(cut(data, first, last))
        if value is not data:
            first = 0
            last = len(value)
        # Compute the values before adding any: an error in between would leave columns of different lengths.
        ruled.find(link, value, first, last)
        if self._place is None:
            return columns.add_reference(ruled)
        target = ruled.target_text(ruled.reference) if "host" in columns.wanted else None
        cells = self._place.cells(columns.wanted, link, target)
        columns.add_reference(ruled)
        return columns.add_more(cells)

    def _add_position(self, columns: Columns, link: Link) -> cython.int:
        start: cython.Py_ssize_t = link.start
        end: cython.Py_ssize_t = link.end
        positions: LineIndex = self._span.placed(start)
        if self._span._outer is not None:  # noqa: SLF001 - a class of this module
            start, end = self._span.of(start, end)
        return columns.add_position(positions, start, end)

    def ruled(self, link: Link) -> RowFacts:
        """Return the row facts of a link, cached by site and scope."""
        key = context_key(self._entity, link)
        ruled: RowFacts | None = self._rules.get(key)
        if ruled is None:
            if len(self._rules) >= _MOST_RULES:  # few documents have as many bases
                self._rules.clear()
                self._known = KnownBases()
            ruled = RowFacts(self._entity, link, self._document, self._known)
            self._rules[key] = ruled
        return ruled


# --- columns that are computed only where they are asked for (`columns.MORE`) -----------------------------------------

_PARAMETERS: Final = 4096  # bytes behind a URL of the field Link that are read
# RFC 8288 3: the parameters behind a target, up to the comma of the next one
_PARAMETER: Final = re.compile(
    rb";[\t ]*+hreflang[\t ]*+=[\t ]*+(?:\"([^\"\r\n]*+)\"|([^\";, \t\r\n]++))|\"[^\"]*+\"", re.IGNORECASE
)
_OF_ONE: Final = re.compile(rb">((?>(?:[^\",\r\n]++|\"[^\"\r\n]*+\")*))")


class Place:
    """An entity with those around it: the cells of its links."""

    def __init__(self, entity: Entity, outer: Place | None = None, part: Inner | None = None) -> None:
        self._entity = entity
        self._outer = outer
        self._part = part
        self._tag = (-1, -1)
        self._attributes: dict[bytes, Attribute] = {}

    def inside(self, inner: Inner) -> Place:
        """Return the place of a document in this one."""
        return Place(inner.entity, self, inner)

    def cells(self, wanted: Sequence[str], link: Link, target: str | None) -> list[Cell]:
        """Return the values of these columns for a link; `target` is needed for its host."""
        return [self._cell(name, link, target) for name in wanted]

    def _cell(self, name: str, link: Link, target: str | None) -> Cell:
        if name == "host":
            return site(target) if target is not None else None
        if name == "url":
            return self._url
        if name == "hreflang":
            return self._hreflang(link)
        start, end = self._span(link.start, link.end)
        return start if name == "file_start" else end

    @cached_property
    def _url(self) -> str | None:
        """The document's own URL without a fragment; None if it is unknown."""
        own = self._entity.bases.own
        known = own.layer is RETRIEVAL and own.url and not own.url.startswith(PACKAGE_ROOT)
        return shown(split_fragment(own.url)[0]) if known else None

    def _span(self, start: int, end: int) -> tuple[int, int] | tuple[None, None]:
        """Return a span of this entity as one of the outermost file; None where an edit has no place of its own."""
        if self._outer is None or self._part is None:
            return self._in_file(start, end)
        if self._part.offsets is None:
            return None, None
        offsets, around = self._part.offsets, self._part.part.start
        first = around + offsets.start(start)
        return self._outer._span(first, around + offsets.end(end) if end > start else first)  # noqa: SLF001 - its class

    def _in_file(self, start: int, end: int) -> tuple[int, int] | tuple[None, None]:
        """Return a span of the outermost entity, which may be records of a file; a header that was no file has none."""
        origin = self._entity.origin
        if self._entity.path:
            return None, None
        if origin is None:
            return start, end
        return (origin(start), origin(end)) if origin(0) != origin(1) else (None, None)  # compressed: all are the same

    def _hreflang(self, link: Link) -> str | None:
        if link.tag_start < 0:
            return self._parameter(link)
        if self._tag != (link.tag_start, link.tag_end):
            self._tag = (link.tag_start, link.tag_end)
            from absolve.formats.html.start_tags import attributes  # few runs ask for this column

            self._attributes = attributes(self._entity.own_data, *self._tag)
        found = self._attributes.get(b"hreflang")
        return shown(found.text(self._entity.charset)) if found is not None else None

    def _parameter(self, link: Link) -> str | None:
        """Return the language of a URL in the header field Link: for example, `de` of `<a>; hreflang=de`."""
        if link.place.element != "header" or link.place.attribute != "link":
            return None
        rest = _OF_ONE.match(self._entity.own_data, link.end, link.end + _PARAMETERS)
        for found in _PARAMETER.finditer(rest[1]) if rest is not None else ():
            if value := found[1] or found[2]:
                return shown(value.decode("utf-8", "replace"))
        return None
