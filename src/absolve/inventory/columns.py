"""The inventory: one row per link, stored as columns; a `Row` is a view of one row (docs/decisions.md, I1).

In: the entity of a document. Out: `Columns`, filled in batches, or an iterator of `Row`; DocumentError if the texts of
the rows exceed `max_rows_bytes`. Rows have the link, its base by RFC 1808 section 3 and its target by section 4. Values
shared by all links of one site under one base are stored once (`RowFacts`), and those that depend on the reference
once per reference (`ReferenceFacts`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.model import Layer, Link, Part
from absolve.document.diagnostics import rows_too_large
from absolve.document.walk import inner_at
from absolve.inventory.base_facts import KnownBases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import cython

    from absolve.core.options import Kind, Problem, Scope
    from absolve.document.entity import Entity, Inner
    from absolve.document.resolved import Resolved
    from absolve.encodings.line_index import LineIndex
    from absolve.inventory.documents import Documents

    Pair = tuple[int, int]
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
    from cython.cimports.absolve.core.model import made as new
    from cython.cimports.absolve.document.resolved import context_key, forget_contexts, shown, value_of
    from cython.cimports.absolve.encodings.codings import CharacterReferences
    from cython.cimports.absolve.encodings.line_index import LineIndex  # noqa: TC002 - the type of a C variable
    from cython.cimports.absolve.formats.events.event_list import EventList
    from cython.cimports.absolve.inventory.facts import ReferenceFacts, RowFacts
    from cython.cimports.absolve.inventory.tag_text import Tag
else:
    from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
    from absolve.core.model import new
    from absolve.document.resolved import context_key, forget_contexts, shown, value_of
    from absolve.encodings.codings import CharacterReferences
    from absolve.formats.events.event_list import EventList  # noqa: TC001 - the type of a C field
    from absolve.inventory.facts import ReferenceFacts, RowFacts
    from absolve.inventory.tag_text import Tag

RULED: Final = ("document", "entity", "element", "attribute", "kind", "base", "base_layer", "base_source")
_MOST_RULES = cython.declare(cython.Py_ssize_t, 256)
AT_ONCE: Final = 512  # rows that are computed before the first of them is yielded
MOST_TEXT: Final = 4 << 20  # bytes of references, targets and shared values after which fewer are computed at once


class Row(NamedTuple):
    """One link; the fields are the columns in their order (docs/decisions.md, I1)."""

    document: str  # path or URL of the outermost input
    entity: str  # path of the inner document inside it, empty at the top
    line: int  # 1-based
    column: int  # 1-based, in characters
    start: int  # byte span in the entity
    end: int
    element: str
    attribute: str
    kind: Kind
    rel: str
    text: str  # anchor text or alt, white space folded
    reference: str  # as decoded and stripped
    base: str
    base_layer: Layer
    base_source: str
    target: str | None
    scope: Scope
    problems: list[Problem]


COLUMNS: Final = Row._fields
_LAYERS = cython.declare(dict, {layer.label: layer for layer in Layer})
NUMBERS: Final = frozenset({"line", "column", "start", "end"})


class Where(NamedTuple):
    """The columns of a row that depend on the position of its link; the fields are those of `Row`."""

    line: int
    column: int
    start: int
    end: int
    rel: str
    text: str


@cython.final
@cython.cclass
class Columns:
    """Rows, stored column by column; iterate for each `Row`, or for lists of the columns `names` only.

    `full`: there are `at_once` rows, or their references, targets and shared values have `most` bytes. A base is stored
    once, but counted in each row, where it is written. `ruled` has a tuple of shared values per row, the columns RULED.
    """

    def __init__(
        self, at_once: int = sys.maxsize, columns: tuple[str, ...] = COLUMNS, most: int = sys.maxsize
    ) -> None:
        self.at_once = at_once
        self.most = most
        self.names = columns
        self._begin(0, None, None, None)

    def clear(self) -> None:
        """Replace the columns by empty ones of the same capacity; the old ones may still be in use (`taken`)."""
        self._begin(len(self), self.text, self.reference, self.target)

    def taken(self) -> Columns:
        """Return an object with the same columns, which stays valid when this one is cleared."""
        return _kept(*self.__reduce__()[1])

    def __reduce__(self) -> tuple[Any, ...]:
        numbers = (self.line, self.column, self.start, self.end)
        texts = (self.text, self.reference, self.target)
        words = (self.ruled, self.rel, self.scope, self.problems)
        return _kept, (self.at_once, self.names, numbers, texts, words)

    def weight(self) -> int:
        """Return an estimate of the memory of the rows, in bytes."""
        rows: cython.Py_ssize_t = len(self)
        texts: cython.Py_ssize_t = self.text.ends.at(rows) + self.reference.ends.at(rows) + self.target.ends.at(rows)
        return texts + 64 * rows

    def given(self) -> Iterator[Row]:
        """Yield each row, and free long texts with the last one: after that the columns can only be cleared."""
        for at in range(self.size):
            yield self._row(at, at + 1 == self.size)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _begin(
        self, rows: cython.Py_ssize_t, text: TextColumn | None, reference: TextColumn | None, target: TextColumn | None
    ) -> cython.int:
        self.size = 0
        self.words = 0
        self.full = False
        self.ruled = DictColumn(rows)
        self.line = IntColumn(room=rows)
        self.column = IntColumn(room=rows)
        self.start = IntColumn(room=rows)
        self.end = IntColumn(room=rows)
        self.rel = DictColumn(rows)
        self.text = TextColumn(text)
        self.reference = TextColumn(reference)
        self.target = TextColumn(target)
        self.scope = DictColumn(rows)
        self.problems = DictColumn(rows)
        return 0

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        places = [COLUMNS.index(name) for name in self.names] if self.names != COLUMNS else None
        for at in range(self.size):
            row = self._row(at, False)
            yield row if places is None else [row[place] for place in places]

    def cells(self, name: str, of: Callable[[Any], Any] | None = None) -> list[Any]:
        """Return the values of a column, problems as tuples, mapped by `of`: one call per distinct value if encoded."""
        column = self.ruled if name in RULED else getattr(self, name)
        if not isinstance(column, DictColumn):
            cells: list[Any] = column.cells()
            return cells if of is None else list(map(of, cells))
        words = column.words
        if name in RULED:
            place = RULED.index(name)
            words = [word[place] for word in words]
        if of is not None:
            words = list(map(of, words))
        return [words[number] for number in column.numbers.cells()]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add(
        self,
        ruled: RowFacts,
        positions: LineIndex,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        tag: Tag,
    ) -> cython.int:
        """Begin a row with the columns of the position; `add_fast` or `add_facts` adds those of the reference."""
        self.size += 1
        self.words += ruled.size
        self.ruled.add(ruled.words)  # a RowFacts would keep the document in memory
        self.line.add(positions.line)
        self.column.add(positions.column)
        self.start.add(start)
        self.end.add(end)
        self.rel.add(tag.rel)
        return self.text.add_behind(b"", tag.source, tag.text, tag.text_end)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add_fast(
        self, ruled: RowFacts, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """End a row with the reference in this span of `data`; `ruled` has its prefix, scope and problems."""
        self.reference.add_behind(b"", data, start, end)
        self.target.add_behind(ruled.target, data, start + ruled.skipped, end)
        self.scope.add(ruled.where)
        self.problems.add(ruled.codes)
        return self.fill()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add_facts(self, facts: ReferenceFacts) -> cython.int:
        self.reference.add(facts.reference)
        self.target.add(facts.target)
        self.scope.add(facts.scope)
        self.problems.add(facts.problems)
        return self.fill()

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def fill(self) -> cython.int:
        """Set `full`."""
        texts: cython.Py_ssize_t = self.reference._size + self.target._size + self.words  # noqa: SLF001 - C attributes
        self.full = self.size >= self.at_once or texts >= self.most
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def texts(self) -> cython.Py_ssize_t:
        """Return the bytes of all rows when they are written, except numbers and short values."""
        return self.reference._size + self.target._size + self.text._size + self.words  # noqa: SLF001 - C attributes

    @cython.cfunc
    def _row(self, at: cython.Py_ssize_t, is_last: cython.bint) -> Row:
        document, entity, element, attribute, kind, base, layer, source = self.ruled.at(at)
        codes: tuple[str, ...] = self.problems.at(at)
        reference = self.reference.last(at) if is_last else self.reference.at(at)
        target = self.target.last(at) if is_last else self.target.at(at)
        if target == reference:  # as for absolute references: one str object for both
            target = reference
        return new(
            Row,
            (
                document,
                entity,
                self.line.at(at),
                self.column.at(at),
                self.start.at(at),
                self.end.at(at),
                element,
                attribute,
                kind,
                self.rel.at(at),
                self.text.at(at),
                reference,
                base,
                _LAYERS[layer],
                source,
                target,
                self.scope.at(at),
                list(codes) if codes else [],
            ),
        )


def _kept(
    at_once: int,
    names: tuple[str, ...],
    numbers: tuple[IntColumn, ...],
    texts: tuple[TextColumn, ...],
    words: tuple[DictColumn, ...],
) -> Columns:
    """Return the Columns that `Columns.__reduce__` describes."""
    found = Columns(at_once, names)
    found.line, found.column, found.start, found.end = numbers
    found.text, found.reference, found.target = texts
    found.ruled, found.rel, found.scope, found.problems = words
    found.size = len(found.line)
    found.fill()
    return found


def rows(entity: Entity, document: str | None = None) -> Iterator[Row]:
    """Return an iterator of the rows of an entity and of every document inside it, in document order.

    Raise DocumentError as `fill` does.
    """
    if not entity.count:  # as in half of the XML files
        return iter(())
    columns = Columns(AT_ONCE, most=MOST_TEXT)
    return _given(columns, fill(columns, entity, document))


def _given(columns: Columns, filled: Iterator[None]) -> Iterator[Row]:
    for _ in filled:
        yield from columns.given()
    yield from columns.given()


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
        for _ in _bounded(Columns(AT_ONCE, most=MOST_TEXT), entity, name):
            pass
    return _bounded(columns, entity, name, documents)


def _bounded(
    columns: Columns, entity: Entity, document: str, documents: Documents | None = None
) -> Iterator[None]:
    """Add the rows as `fill` does; raise DocumentError as soon as there are too many bytes."""
    most: cython.Py_ssize_t = entity.settings.max_rows_bytes
    size: cython.Py_ssize_t = -columns.texts()  # bytes of other documents, added before
    if documents is not None:
        documents.begin(entity)
    try:
        for _ in _fill(columns, entity, document, Span(entity), documents):
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
    facts = ruled.facts(resolved.link, value_of(resolved.reference))
    cells: dict[str, Any] = dict(zip(RULED, ruled.words, strict=True)) | where._asdict()
    cells["base_layer"] = _LAYERS[cells["base_layer"]]
    cells["reference"] = facts.reference.decode()
    cells["target"] = facts.target.decode() if facts.target is not None else None
    cells["scope"] = facts.scope
    cells["problems"] = list(facts.problems)
    return Row(**cells)


@cython.final
@cython.cclass
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

    @cython.ccall
    def of(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Pair:
        if self._outer is None:
            return start, end
        if self._offsets is None:
            return self._outer.of(self._start, self._end)
        first: cython.Py_ssize_t = self._offsets.start(start)
        last: cython.Py_ssize_t = self._offsets.end(end) if end > start else first
        return self._outer.of(self._start + first, self._start + last)

    @cython.ccall
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
    columns: Columns, entity: Entity, document: str, span: Span, documents: Documents | None
) -> Iterator[None]:
    events = _Events(entity, document, span)
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
                yield from _fill(columns, inner.entity, document, within, documents)
                forget_contexts(inner.entity, entity)
            if documents is not None:
                documents.leave()
            at += 1
        else:
            return


@cython.final
@cython.cclass
class _Events:
    """One pass over the events of an entity, which adds a row per link."""

    def __init__(self, entity: Entity, document: str, span: Span) -> None:
        self._entity = entity
        self._document = document
        self._span = span
        self._data = entity.own_data
        self._events: EventList = entity.events
        self._tag = Tag(entity)
        self._rules: dict[int | Pair, RowFacts] = {}
        self._known = KnownBases()
        self._ruled: RowFacts | None = None

    @cython.ccall
    def take(self, columns: Columns, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add the links from index `at` up to a part, or until the columns are full; return the index after them."""
        size: cython.Py_ssize_t = len(self._events)
        link: Link | None
        while at < size and not columns.full:
            link = self._events.link(at)
            if link is not None:
                self.link(columns, link)
            elif type(self._events.at(at)) is Part:
                break
            at += 1
        return at

    @cython.cfunc
    def link(self, columns: Columns, link: Link) -> cython.int:
        ruled = self._ruled
        if ruled is None or link.place is not ruled.place or link.base is not ruled.scope or link.claim is not None:
            ruled = self._ruled = self.ruled(link)
        data = self._data
        first: cython.Py_ssize_t = link.start
        last: cython.Py_ssize_t = link.end
        coding = link.coding
        if not isinstance(coding, CharacterReferences):
            data = coding.decode(data[first:last])
            first = 0
            last = len(data)
        elif not cython.cast(CharacterReferences, coding).is_plain(data, first, last):
            data = cython.cast(CharacterReferences, coding).decode(data[first:last])
            first = 0
            last = len(data)
        # Compute the values before adding any: an error in between would leave columns of different lengths.
        facts: ReferenceFacts | None = None
        if not ruled.find_fast(link, data, first, last):
            facts = ruled.judged(link, data[first:last])
        start: cython.Py_ssize_t = link.start
        end: cython.Py_ssize_t = link.end
        positions: LineIndex = self._span.placed(start)
        if self._span._outer is not None:  # noqa: SLF001 - a class of this module
            start, end = self._span.of(start, end)
        self._tag.see(link)
        columns.add(ruled, positions, start, end, self._tag)
        return columns.add_facts(facts) if facts is not None else columns.add_fast(ruled, data, first, last)

    @cython.cfunc
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


__all__ = ["COLUMNS", "Layer", "Row", "rows"]
