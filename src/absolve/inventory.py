"""The inventory: one row a link, the columns declared once; it is kept by columns, of which rows are a view.

What all links under one rule say stands there once (`Ruled`), what they say of a reference once a reference (`Facts`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.formats import html_names as names
from absolve.model import Layer, Link, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.entity import Entity, Inner
    from absolve.positions import Positions
    from absolve.resolved import Resolved
    from absolve.ruled import Seen

    Pair = tuple[int, int]
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.codings import CharacterReferences
    from cython.cimports.absolve.formats.html_text import anchor_text, rel_and_alt
    from cython.cimports.absolve.resolved import Rule, value_of
    from cython.cimports.absolve.ruled import Facts, Ruled, shown
else:
    from absolve.codings import CharacterReferences
    from absolve.formats.html_text import anchor_text, rel_and_alt
    from absolve.resolved import Rule, value_of
    from absolve.ruled import Facts, Ruled, shown

_CLASSES = cython.declare(bytes, names.CLASSES)
_NAME_END = cython.declare(cython.int, names.NAME_END)
AT_ONCE: Final = 512  # rows that are made before the first of them is given


class Row(NamedTuple):
    """One link, as design.md section 6 lists it; the fields are the columns, in their order."""

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
RULED: Final = ("document", "entity", "element", "attribute", "kind", "base", "base_layer", "base_source")


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
    """Rows, column by column, `at_once` of them at most; iterating gives each `Row`, or only these `names` of it.

    `ruled` has for each what it shares with others, the columns of RULED.
    """

    def __init__(self, at_once: int = sys.maxsize, columns: tuple[str, ...] = COLUMNS) -> None:
        self.at_once = at_once
        self.names = columns
        self.clear()

    def clear(self) -> None:
        self.ruled: list[tuple[str, ...]] = []
        self.line: list[int] = []
        self.column: list[int] = []
        self.start: list[int] = []
        self.end: list[int] = []
        self.rel: list[str] = []
        self.text: list[str] = []
        self.reference: list[str] = []
        self.target: list[str | None] = []
        self.scope: list[str] = []
        self.problems: list[list[str]] = []

    def __len__(self) -> int:
        return len(self.ruled)

    def __iter__(self) -> Iterator[Any]:
        places = [COLUMNS.index(name) for name in self.names] if self.names != COLUMNS else None
        for at in range(len(self.ruled)):
            row = self._row(at)
            yield row if places is None else [row[place] for place in places]

    @cython.ccall
    def add(self, ruled: Ruled, facts: Facts, where: Where | None = None) -> object:
        """What rows say of a reference, and, where it is given, of the place where it stands."""
        self.ruled.append(ruled.words)  # itself it would hold the document
        self.reference.append(facts.reference)
        self.target.append(facts.target)
        self.scope.append(facts.scope)
        self.problems.append(facts.problems)
        if where is not None:
            columns: tuple[list[Any], ...] = (self.line, self.column, self.start, self.end, self.rel, self.text)
            for column, cell in zip(columns, where, strict=True):
                column.append(cell)
        return None

    @cython.cfunc
    def _row(self, at: cython.Py_ssize_t) -> Row:
        document, entity, element, attribute, kind, base, layer, source = self.ruled[at]
        # Its own constructor is a function in Python, which takes several times as long.
        return tuple.__new__(
            Row,
            (
                document,
                entity,
                self.line[at],
                self.column[at],
                self.start[at],
                self.end[at],
                element,
                attribute,
                kind,
                self.rel[at],
                self.text[at],
                self.reference[at],
                base,
                layer,
                source,
                self.target[at],
                self.scope[at],
                self.problems[at][:],
            ),
        )


def rows(entity: Entity, document: str | None = None) -> Iterator[Row]:
    """The rows of an entity and of every document inside it, in the order in which they stand."""
    columns = Columns(AT_ONCE)
    for _ in fill(columns, entity, document):
        yield from columns
    yield from columns


def fill(columns: Columns, entity: Entity, document: str | None = None) -> Iterator[None]:
    """Put those rows into columns: stops each time these are full, and then empties them; the last ones stay."""
    yield from _fill(columns, entity, shown(document if document is not None else entity.name), _Span(entity))


def row(resolved: Resolved, document: str, where: Where) -> Row:
    """The row of one link."""
    ruled = Ruled(resolved.entity, resolved.rule, document, {})
    facts = ruled.facts(resolved.link, value_of(resolved.reference))
    found = Columns()
    found.add(ruled, facts, where)
    return found._row(0)  # noqa: SLF001 - a class of this module


@cython.final
@cython.cclass
class _Span:
    """Where spans of an entity stand in the entity that rows speak of: itself, or the one whose part it is."""

    def __init__(self, entity: Entity, outer: _Span | None = None, inner: Inner | None = None) -> None:
        self._transparent = entity.charset.transparent
        self._positions = entity.positions
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
    def placed(self, start: cython.Py_ssize_t) -> Positions:
        """The positions, moved there, of the outermost bytes that hold the lines as they are: UTF-16 does not."""
        if self._outer is None or not self._outer._transparent:  # noqa: SLF001 - of its class
            self._positions.move(start)
            return self._positions
        first: cython.Py_ssize_t = self._offsets.start(start) if self._offsets is not None else 0
        return self._outer.placed(self._start + first)


def _fill(columns: Columns, entity: Entity, document: str, span: _Span) -> Iterator[None]:
    events = _Events(entity, document, span)
    at = 0
    while True:
        at = events.take(columns, at)
        if len(columns) >= columns.at_once:
            yield
            columns.clear()
        elif at < len(entity.events):
            part = entity.events[at]
            inner = entity.inner.get(id(part))
            if inner is not None:
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
        self._data = entity.data
        self._events = entity.events
        self._tag = _Tag(entity)
        self._rules: dict[int | Pair, Ruled] = {}
        self._hosts: dict[str, Seen | None] = {}
        self._ruled: Ruled | None = None

    @cython.ccall
    def take(self, columns: Columns, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Take the links from this event on, up to a part or to where the columns are full; where that is."""
        size: cython.Py_ssize_t = len(self._events)
        while at < size and len(columns.ruled) < columns.at_once:
            event = self._events[at]
            if type(event) is Link:
                self.link(columns, event)
            elif type(event) is Part:
                break
            at += 1
        return at

    @cython.cfunc
    def link(self, columns: Columns, link: Link) -> object:
        ruled = self._ruled
        if ruled is None or link.place is not ruled.place or link.base is not ruled.scope:
            ruled = self._ruled = self.ruled(link)
        p: cython.p_const_uchar = self._data
        raw: bytes = p[link.start : link.end]
        coding = link.coding
        if isinstance(coding, CharacterReferences):
            references: CharacterReferences = coding
            raw = references.decode(raw)
        else:
            raw = coding.decode(raw)
        columns.add(ruled, ruled.facts(link, raw))
        positions = self._span.placed(link.start)
        columns.line.append(positions.line)
        columns.column.append(positions.column)
        if self._span._outer is None:  # noqa: SLF001 - a class of this module
            columns.start.append(link.start)
            columns.end.append(link.end)
        else:
            start, end = self._span.of(link.start, link.end)
            columns.start.append(start)
            columns.end.append(end)
        tag = self._tag
        tag.see(link)
        columns.rel.append(tag.rel)
        columns.text.append(tag.text)
        return None

    @cython.cfunc
    def ruled(self, link: Link) -> Ruled:
        """What rules a link."""
        key = id(link.place) if link.base is None else (id(link.place), id(link.base))
        ruled: Ruled | None = self._rules.get(key)
        if ruled is None:
            ruled = Ruled(self._entity, Rule(self._entity, link), self._document, self._hosts)
            self._rules[key] = ruled
        return ruled


@cython.final
@cython.cclass
class _Tag:
    """The `rel` and the `text` of links in HTML: what an anchor holds, or the alternative text of an image.

    Links of one tag stand side by side, and share them.
    """

    def __init__(self, entity: Entity) -> None:
        self._data = entity.data
        self._charset = entity.charset
        self._start = -1
        self.rel = self.text = ""

    @cython.ccall
    def see(self, link: Link) -> object:
        """Let them be those of the tag of a link."""
        if link.tag_start < 0:
            self._start = -1
            self.rel = self.text = ""
        elif link.tag_start != self._start:
            self._start = link.tag_start
            self.rel, self.text = rel_and_alt(self._data, link.tag_start, link.tag_end, self._charset)
            if _is_anchor(self._data, link.tag_start):
                self.text = anchor_text(self._data, link.tag_end, self._charset)
        return None


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _is_anchor(data: bytes, start: cython.Py_ssize_t) -> cython.bint:
    """Whether the tag that begins here is that of an `a`; there is more behind its name."""
    p: cython.p_const_uchar = data
    classes: cython.p_const_uchar = _CLASSES
    return p[start + 1] | 32 == 97 and classes[p[start + 2]] & _NAME_END != 0


__all__ = ["COLUMNS", "Layer", "Row", "rows"]
