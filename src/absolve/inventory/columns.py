"""The inventory: one row a link, the columns declared once; it is kept by columns, of which rows are a view.

Values that are the same for all links in one context are kept once (`RowFacts`), those that depend on the reference
once for each reference (`ReferenceFacts`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.model import Layer, Link, Part
from absolve.document.diagnostics import rows_too_large
from absolve.document.walk import inner_at
from absolve.inventory.facts import KnownBases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import cython

    from absolve.document.entity import Entity, Inner
    from absolve.document.resolved import Resolved
    from absolve.encodings.line_index import LineIndex

    Pair = tuple[int, int]
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
    from cython.cimports.absolve.core.model import made as new
    from cython.cimports.absolve.document.resolved import shown, value_of
    from cython.cimports.absolve.encodings.codings import CharacterReferences
    from cython.cimports.absolve.encodings.line_index import LineIndex  # noqa: TC002 - the type of a C variable
    from cython.cimports.absolve.formats.events.event_list import EventList
    from cython.cimports.absolve.inventory.facts import ReferenceFacts, RowFacts
    from cython.cimports.absolve.inventory.tag_text import Tag
else:
    from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
    from absolve.core.model import new
    from absolve.document.resolved import shown, value_of
    from absolve.encodings.codings import CharacterReferences
    from absolve.formats.events.event_list import EventList  # noqa: TC001 - the type of a C field
    from absolve.inventory.facts import ReferenceFacts, RowFacts
    from absolve.inventory.tag_text import Tag

RULED: Final = ("document", "entity", "element", "attribute", "kind", "base", "base_layer", "base_source")
_MOST_RULES = cython.declare(cython.Py_ssize_t, 256)
AT_ONCE: Final = 512  # rows that are made before the first of them is given
MOST_TEXT: Final = 4 << 20  # bytes of references, targets and shared words behind which no more are made before that


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
    kind: str
    rel: str
    text: str  # anchor text or alt, white space folded
    reference: str  # as decoded and stripped
    base: str
    base_layer: str
    base_source: str
    target: str | None
    scope: str
    problems: list[str]


COLUMNS: Final = Row._fields
NUMBERS: Final = frozenset({"line", "column", "start", "end"})


class Where(NamedTuple):
    """What a row says of the place where a link stands; fields are those of `Row`."""

    line: int
    column: int
    start: int
    end: int
    rel: str
    text: str


@cython.final
@cython.cclass
class Columns:
    """Rows, column by column; iterating gives each `Row`, or only these `names` of it.

    They are `full` where there are `at_once` of them, or their references, targets and words take `most` bytes: a base
    is here once, but in each row as soon as they are written. `ruled` has for each what it shares with others, the
    columns of RULED.
    """

    def __init__(
        self, at_once: int = sys.maxsize, columns: tuple[str, ...] = COLUMNS, most: int = sys.maxsize
    ) -> None:
        self.at_once = at_once
        self.most = most
        self.names = columns
        self._begin(0, None, None, None)

    def clear(self) -> None:
        """Begin anew, with room for as much as there was: what was there may be in other hands."""
        self._begin(len(self), self.text, self.reference, self.target)

    def taken(self) -> Columns:
        """What is there, for who keeps it when this is cleared."""
        return _kept(*self.__reduce__()[1])

    def __reduce__(self) -> tuple[Any, ...]:
        numbers = (self.line, self.column, self.start, self.end)
        texts = (self.text, self.reference, self.target)
        words = (self.ruled, self.rel, self.scope, self.problems)
        return _kept, (self.at_once, self.names, numbers, texts, words)

    def weight(self) -> int:
        """About how many bytes of memory the rows take."""
        rows: cython.Py_ssize_t = len(self)
        texts: cython.Py_ssize_t = self.text.ends.at(rows) + self.reference.ends.at(rows) + self.target.ends.at(rows)
        return texts + 64 * rows

    def given(self) -> Iterator[Row]:
        """Each row, of which no more is kept than must be: the columns are only to be cleared then."""
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
        """The values of a column, problems as tuples; or what `of` makes of each, which is asked once for a word."""
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
        """What rows say of the place where a reference stands; what they say of the reference is still to come."""
        self.size += 1
        self.words += ruled.size
        self.ruled.add(ruled.words)  # itself it would hold the document
        self.line.add(positions.line)
        self.column.add(positions.column)
        self.start.add(start)
        self.end.add(end)
        self.rel.add(tag.rel)
        return self.text.add_behind(b"", tag.source, tag.text, tag.text_end)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add_told(
        self, ruled: RowFacts, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """What is told of the reference in this span."""
        self.reference.add_behind(b"", data, start, end)
        self.target.add_behind(ruled.target, data, start + ruled.dots, end)
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
        """See whether there is room for one more."""
        texts: cython.Py_ssize_t = self.reference._size + self.target._size + self.words  # noqa: SLF001 - C attributes
        self.full = self.size >= self.at_once or texts >= self.most
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def texts(self) -> cython.Py_ssize_t:
        """Return how many bytes all rows take once they are written, but for numbers and short words."""
        return self.reference._size + self.target._size + self.text._size + self.words  # noqa: SLF001 - C attributes

    @cython.cfunc
    def _row(self, at: cython.Py_ssize_t, is_last: cython.bint) -> Row:
        document, entity, element, attribute, kind, base, layer, source = self.ruled.at(at)
        codes: tuple[str, ...] = self.problems.at(at)
        reference = self.reference.last(at) if is_last else self.reference.at(at)
        target = self.target.last(at) if is_last else self.target.at(at)
        if target == reference:  # as of all that is absolute: one text for both
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
                layer,
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
    """What `Columns.__reduce__` says."""
    found = Columns(at_once, names)
    found.line, found.column, found.start, found.end = numbers
    found.text, found.reference, found.target = texts
    found.ruled, found.rel, found.scope, found.problems = words
    found.size = len(found.line)
    found.fill()
    return found


def rows(entity: Entity, document: str | None = None) -> Iterator[Row]:
    """The rows of an entity and of every document inside it, in the order in which they stand.

    DocumentError as of `fill`.
    """
    if not entity.count:  # as in every other file of XML
        return iter(())
    columns = Columns(AT_ONCE, most=MOST_TEXT)
    return _given(columns, fill(columns, entity, document))


def _given(columns: Columns, filled: Iterator[None]) -> Iterator[Row]:
    for _ in filled:
        yield from columns.given()
    yield from columns.given()


def fill(columns: Columns, entity: Entity, document: str | None = None) -> Iterator[None]:
    """Put those rows into columns: stops each time these are full, and then empties them; the last ones stay.

    DocumentError, before there are any, where their texts would take more bytes than the settings allow. Where that
    might be they are made twice: the first time only to be measured.
    """
    name = shown(document if document is not None else entity.name)
    if entity.repeated + len(entity.own_data) > entity.settings.max_rows_bytes:
        for _ in _bounded(Columns(AT_ONCE, most=MOST_TEXT), entity, name):
            pass
    return _bounded(columns, entity, name)


def _bounded(columns: Columns, entity: Entity, document: str) -> Iterator[None]:
    """The same; DocumentError as soon as there are too many bytes."""
    most: cython.Py_ssize_t = entity.settings.max_rows_bytes
    size: cython.Py_ssize_t = -columns.texts()  # those of other documents
    try:
        for _ in _fill(columns, entity, document, _Span(entity)):
            size += columns.texts()
            if size > most:
                raise rows_too_large(entity)
            yield
    except OverflowError as error:  # in columns that are never full
        raise rows_too_large(entity) from error
    if size + columns.texts() > most:
        raise rows_too_large(entity)


def row(resolved: Resolved, document: str, where: Where) -> Row:
    """The row of one link."""
    ruled = RowFacts(resolved.entity, resolved.link, document, KnownBases(), resolved.rule)
    facts = ruled.facts(resolved.link, value_of(resolved.reference))
    cells: dict[str, Any] = dict(zip(RULED, ruled.words, strict=True)) | where._asdict()
    cells["reference"] = facts.reference.decode()
    cells["target"] = facts.target.decode() if facts.target is not None else None
    return Row(**cells, scope=facts.scope, problems=list(facts.problems))


@cython.final
@cython.cclass
class _Span:
    """Where spans of an entity stand in the entity that rows speak of: itself, or the one whose part it is."""

    def __init__(self, entity: Entity, outer: _Span | None = None, inner: Inner | None = None) -> None:
        self._transparent = entity.charset.transparent
        self._entity = entity
        self._positions: LineIndex | None = None  # until a link is there
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
        """The positions, moved there, of the outermost bytes that hold the lines as they are: UTF-16 does not."""
        if self._outer is None or not self._outer._transparent:  # noqa: SLF001 - of its class
            if self._positions is None:
                self._positions = self._entity.positions
            positions: LineIndex = self._positions
            positions.move(start)
            return positions
        first: cython.Py_ssize_t = self._offsets.start(start) if self._offsets is not None else 0
        return self._outer.placed(self._start + first)


def _fill(columns: Columns, entity: Entity, document: str, span: _Span) -> Iterator[None]:
    events = _Events(entity, document, span)
    at = 0
    while True:
        at = events.take(columns, at)
        if columns.full:
            yield
            columns.clear()
        elif at < len(entity.events):
            inner = inner_at(entity, at)
            if inner is not None and inner.entity.count:
                within = _Span(inner.entity) if inner.part.name else _Span(inner.entity, span, inner)
                yield from _fill(columns, inner.entity, document, within)
            at += 1
        else:
            return


@cython.final
@cython.cclass
class _Events:
    """One walk over the events of an entity."""

    def __init__(self, entity: Entity, document: str, span: _Span) -> None:
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
        """Take the links from this event on, up to a part or to where the columns are full; where that is."""
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
        if ruled is None or link.place is not ruled.place or link.base is not ruled.scope:
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
        # Nothing is added before it is known what: an error would leave columns of several lengths.
        facts: ReferenceFacts | None = None
        if not ruled.tells(link, data, first, last):
            facts = ruled.judged(link, data[first:last])
        start: cython.Py_ssize_t = link.start
        end: cython.Py_ssize_t = link.end
        positions: LineIndex = self._span.placed(start)
        if self._span._outer is not None:  # noqa: SLF001 - a class of this module
            start, end = self._span.of(start, end)
        self._tag.see(link)
        columns.add(ruled, positions, start, end, self._tag)
        return columns.add_facts(facts) if facts is not None else columns.add_told(ruled, data, first, last)

    @cython.cfunc
    def ruled(self, link: Link) -> RowFacts:
        """What rules a link."""
        key = id(link.place) if link.base is None else (id(link.place), id(link.base))
        ruled: RowFacts | None = self._rules.get(key)
        if ruled is None:
            if len(self._rules) >= _MOST_RULES:  # as many bases are in few documents
                self._rules.clear()
                self._known = KnownBases()
            ruled = RowFacts(self._entity, link, self._document, self._known)
            self._rules[key] = ruled
        return ruled


__all__ = ["COLUMNS", "Layer", "Row", "rows"]
