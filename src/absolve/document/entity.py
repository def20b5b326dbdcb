"""What a walk makes of one document: its events, the bases that rule them, and the documents inside it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import Diagnostic
from absolve.core.model import RETRIEVAL
from absolve.formats import registry
from absolve.urls.base import found_as

if TYPE_CHECKING:
    from collections.abc import Callable

    import cython

    from absolve.core.model import BaseClaim, Finding, Link, MessageIds, Part
    from absolve.core.protocols import Offsets
    from absolve.document.settings import Settings
    from absolve.encodings.charsets import Charset
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import cut
    from cython.cimports.absolve.core.column_buffers import IntColumn
    from cython.cimports.absolve.core.model import Link  # noqa: TC002 - the type of a C argument
    from cython.cimports.absolve.encodings.line_index import LineIndex
    from cython.cimports.absolve.formats.events.event_list import EventList
    from cython.cimports.absolve.urls.base import BaseContext, Bases, establish
else:
    from absolve.core.byte_scan import cut
    from absolve.core.column_buffers import IntColumn
    from absolve.encodings.line_index import LineIndex
    from absolve.formats.events.event_list import EventList
    from absolve.urls.base import BaseContext, Bases, establish

_NO_BASES: Final = Bases()
_NOTHING: Final = ("", True, _NO_BASES)
_MOST_SCOPED = cython.declare(cython.Py_ssize_t, 1 << 20)  # for what rules under scoped bases: most feeds have fewer
_SCOPED = cython.declare(cython.Py_ssize_t, 200)  # taken for each of them, with its URL: some thousands
AMBIGUOUS: Final = "ambiguous"  # the code of the notice that a scanner gives where it had to guess


class Inner(NamedTuple):
    """A document inside an entity: its part, what the part decodes to, where that stands, and what was found in it."""

    part: Part
    entity: Entity
    offsets: Offsets | None


@cython.final
@cython.cclass
class NestingBudget:
    """How many more small documents may be kept of all that are inside one; a large one always is."""

    def __init__(self, left: cython.Py_ssize_t) -> None:
        self._left = left

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def takes(self, size: cython.Py_ssize_t) -> cython.bint:
        """Whether one of so many bytes is kept."""
        if size >= _LARGE:
            return True
        self._left -= 1
        return self._left >= 0


_LARGE = cython.declare(cython.Py_ssize_t, 4096)  # bytes: what is found in such takes no more than a few times as many


@cython.final
@cython.cclass
class Deep:
    """How many more bytes the large documents may have that are text in the text of one, more than `ENTERED` deep.

    Each is held, and the same characters may stand in as many of them as there are levels. Small ones, and what is in
    them, do not count: those for which there is no room are walked again, and that must give the same. Behind one that
    is too much no other is entered: then a second rewrite, for which they are longer, enters no others.
    """

    def __init__(self, left: cython.Py_ssize_t) -> None:
        self._left = left

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def takes(self, size: cython.Py_ssize_t) -> cython.bint:
        """Whether one of so many bytes may be entered."""
        if size >= _LARGE:
            self._left -= size
            return self._left >= 0
        return True

    @property
    def is_full(self) -> bool:
        """Whether one was not entered."""
        return self._left < 0


ENTERED: Final = 2  # so many levels of documents whose text is in a text are entered, however large they are,
MOST_DEEP: Final = 16 << 20  # and so many bytes of what is deeper,
_PROVES: Final = 4  # of a rewrite as many times more: what was entered before may be longer
_UNCOUNTED = cython.declare(Deep, Deep(sys.maxsize))
_IS_KEPT = cython.declare(cython.Py_ssize_t, -1)


@cython.final
@cython.cclass
class InnerDocuments:
    """The documents inside an entity: by the numbers of their events those that are kept, and which are not.

    What is found in a small one takes many times its size, and there may be a million of them: when there is no more
    room such a one is walked again each time that it is asked for (`walk.inner_at`). All that is remembered of it is
    `named`: how many of the documents before it have a step in the path.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Inner] = {}
        self._indexes = IntColumn()
        self._named = IntColumn()

    def __len__(self) -> int:
        return len(self._indexes)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def keep(self, index: cython.Py_ssize_t, inner: Inner) -> cython.int:
        """Keep the document inside an event, which stands behind those that came before."""
        self._kept[index] = inner
        self._indexes.add(index)
        return self._named.add(_IS_KEPT)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def let_go(self, index: cython.Py_ssize_t, named: cython.Py_ssize_t) -> cython.int:
        """The same for one that is not kept."""
        self._indexes.add(index)
        return self._named.add(named)

    @cython.ccall
    def kept(self, index: cython.Py_ssize_t) -> Inner | None:
        """The document inside this event, if it is kept."""
        return self._kept.get(index)

    @cython.cfunc
    @cython.exceptval(check=False)
    def index(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The event with the document of this number, from 0."""
        return self._indexes.at(number)

    @cython.cfunc
    @cython.exceptval(check=False)
    def named(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """What is remembered of the document inside this event; -1 where there is none, or it is kept."""
        number: cython.Py_ssize_t = self._indexes.before(index)
        if number == len(self._indexes) or self._indexes.at(number) != index:
            return _IS_KEPT
        return self._named.at(number)


@cython.cclass
class Entity:
    """One document, walked: its bytes, its events in their order, its bases, and the entities inside it.

    Where documents stand in it as they are, as in a message with a message, `own_data` has only the first of its bytes,
    in which all its links are: the others are held by an entity around it, and `data` has to cut them out there.

    `bases.own` is the document's own URL, `bases.base` that of its links. `path` leads here from the outermost
    entity, "" there. `findings` are those of this entity and all inside it, by its own offsets; `count` is how many
    links and parts it has, with those inside; `repeated` is about how many bytes their rows take beside what the
    bytes of the links say, `long_bases` how many characters the long bases of the documents inside have.
    `origin` is that of its Document. `for_rewrite`: the documents
    inside in which nothing changes were not entered; `is_proof`: it is what a rewrite made. `depth` is how many it is
    inside of, and `room` is what there is for the small ones in all of them; `level` is how many it is inside of as
    text, and `deep` counts the bytes of those. `enclosed` has what the bases that a part gets from here depend
    on (its name, whether the entity encloses it), and those of the last one.
    """

    def __init__(
        self, data: bytes, charset: Charset, media_type: str, name: str, path: str, settings: Settings
    ) -> None:
        self.own_data = data
        self._size = len(data)
        self.around: bytes | None = None  # where many of them stand as they are, from this place on
        self._at = 0
        self.charset = charset
        self.media_type = media_type
        self.name = name
        self.path = path
        self.settings = settings
        self.bases = _NO_BASES
        self.events: EventList = EventList()
        self.inside: InnerDocuments | None = None  # None as long as there are none
        self.room: NestingBudget | None = None
        self.deep: Deep | None = None
        self.level = 0
        self.depth = 0
        self.count = 0
        self.repeated = 0
        self.long_bases = 0
        self.for_rewrite = False
        self.is_proof = False
        self.named = 0  # how many of the parts have a step in the path
        self.enclosed = _NOTHING
        self.findings: list[Finding] = []
        self.origin: Callable[[int], int] | None = None
        self.held: set[str] = set()  # what is in the message, by `found_as`: one set for all that is in it
        self.contexts: dict[int | tuple[int, int], Any] = {}  # of its links, by `resolved.link_context`
        self._positions: LineIndex | None = None
        self._scoped: dict[int, BaseContext] | None = None
        self._scoped_size = 0

    @property
    def data(self) -> bytes:
        """Its bytes; a copy of them each time where they were let go."""
        return self.cut(0, self._size)

    @cython.ccall
    def cut(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
        """Its bytes in a span that begins there, or as many as there are."""
        if len(self.own_data) == self._size:
            if start == 0 and end == self._size:
                return self.own_data
            return cut(self.own_data, start, end)
        return cut(self.around, self._at + start, self._at + min(end, self._size))  # type: ignore[arg-type]  # it is there

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def stands_in(self, outer: Entity, at: cython.Py_ssize_t) -> cython.int:
        """Know that its bytes are those of another one from there on, as they stand there."""
        if self._size < _LARGE:
            return 0
        if len(outer.own_data) == outer._size:
            self.around = outer.own_data
            self._at = at
        else:
            self.around = outer.around
            self._at = outer._at + at
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def let_go(self, kept: cython.Py_ssize_t) -> cython.int:
        """Hold no more than so many of its bytes, which are held around it: each level of messages would hold them."""
        if 2 * kept <= self._size:
            self.own_data = cut(self.own_data, 0, kept)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def is_text_in(self, outer: Entity) -> cython.int:
        """Let it be text in the text of another one, as a srcdoc and a conditional comment are."""
        if outer.deep is None:
            outer.deep = Deep(MOST_DEEP * (_PROVES if outer.is_proof else 1))
        self.deep = outer.deep if outer._size >= _LARGE else _UNCOUNTED
        self.level = outer.level + (1 if self.path != outer.path else 0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def may_be_so_deep(self) -> cython.bint:
        """Whether there may be this document so many levels deep as text."""
        return self.level <= ENTERED or self.deep.takes(self._size)  # type: ignore[union-attr]  # as deep as this

    @property
    def positions(self) -> LineIndex:
        """The lines and columns of its own bytes."""
        if self._positions is None:
            self._positions = LineIndex(self.own_data, self.charset)
        return self._positions

    def line_column(self, position: int) -> tuple[int, int]:
        """Line and column of a byte, 1-based; columns count characters. Lines end at LF, CR LF or CR."""
        return self._positions_of(position).at(position)

    def line(self, position: int) -> int:
        positions: LineIndex = self._positions_of(position)
        positions.move(position)
        return positions.line

    def _positions_of(self, position: int) -> LineIndex:
        return self.positions if position <= len(self.own_data) else LineIndex(self.data, self.charset)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was met here and in all inside, in the order in which it stands here."""
        if not self.charset.transparent:  # read through a charset coding: the lines are those of what it decodes to
            inner = self.inside.kept(0) if self.inside is not None else None
            return inner.entity.diagnostics if inner is not None else []
        findings = sorted(self.findings, key=lambda finding: finding.position) if self.findings else self.findings
        return [Diagnostic(code, *self.placed(text, at), failed) for code, text, at, failed in findings]

    def placed(self, text: str, position: int) -> tuple[str, str, int | None, int | None]:
        """What a Diagnostic says of a byte here: the text, the name, and line and column, in an archive the byte."""
        if not registry.WALKERS[self.media_type].archive:
            return text, self.name, *self.line_column(position)
        return f"{text}, at byte {self.origin(position) if self.origin else position}", self.name, None, None

    @property
    def is_ambiguous(self) -> bool:
        """Whether the scanner had to guess somewhere in this document: then a rewrite is verified unasked."""
        return AMBIGUOUS in [finding.code for finding in self.findings]

    @cython.ccall
    def ruled(self, link: Link) -> BaseContext:
        """The base that rules a link and the resolver against it."""
        _, _, _, _, against, _, _ = cython.cast(tuple, link.place)
        if against == "base":  # as most are
            return self.base_context(link.base)
        return self.base_context(link.base, against == "own" or (against == "header" and self._gives_base(link.claim)))

    def _gives_base(self, claim: BaseClaim | None) -> bool:
        """Whether no other claim of its layer came before this one."""
        return any(fate.base is claim and fate.verdict != "ignored" for fate in self.bases.base.chain)

    def hold(self, name: MessageIds) -> None:
        """Let the links of the same message know what is found there."""
        own = name.claim is not None and self._gives_base(name.claim)
        resolver = self.base_context(None, own).resolver
        self.held.update(found_as(url) for url in map(resolver, name.references) if url)

    @cython.ccall
    def base_context(self, scope: BaseClaim | None, own: cython.bint = False) -> BaseContext:  # noqa: FBT002 - of a C function
        """The base for a scoped claim, for the document's own URL, or for all other links."""
        if scope is None:
            return self.bases.base_context(own, self.settings.profile, self.charset.name)
        if self._scoped is None:
            self._scoped = {}
        found = self._scoped.get(id(scope))
        if found is None:
            profile = self.settings.profile
            base = establish(self.base_context(scope.scope).base, [scope], profile, self.line, self.settings.max_url)
            found = self.bases.base_context_for(base, profile, self.charset.name)
            if scope.layer is RETRIEVAL:  # the path of a member of an archive rules that one alone
                return found
            self._scoped_size += _SCOPED + len(base.url)
            if self._scoped_size > _MOST_SCOPED:  # those of one place stand together
                self._scoped.clear()
                self._scoped_size = _SCOPED + len(base.url)
            self._scoped[id(scope)] = found
        return found
