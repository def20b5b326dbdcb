"""The result of a walk: an entity with its events, its bases, and the documents inside it, nested.

In: bytes with charset, media type and settings; `walk` adds events, bases (RFC 1808 section 3) and inner documents.
Out: the base context of each link, spans of bytes, lines and columns, diagnostics. Budgets bound the memory for
documents inside documents.
"""

from __future__ import annotations

import re
import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from absolve.core import byte_scan
from absolve.core.byte_scan import cut
from absolve.core.column_buffers import IntColumn
from absolve.core.errors import Diagnostic
from absolve.core.model import BEFORE_BASE, DATA, RETRIEVAL, Link, Part
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import IDENTITY, LOOK_AHEAD
from absolve.encodings.line_index import LineIndex
from absolve.formats import registry
from absolve.formats.events import EventList
from absolve.urls.base import (
    LOCATED,
    MEMBER,
    MOVES,
    OUTSIDE,
    RECORDED,
    SWITCHED_OFF,
    BaseContext,
    Bases,
    establish,
    found_as,
    records,
)
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import cython

    from absolve.core.model import BaseClaim, Capture, Finding, MessageIds, PageFacts
    from absolve.core.protocols import CompanionFiles, Offsets, Surroundings
    from absolve.document.settings import Settings
    from absolve.encodings.charsets import Charset


_OPEN_XML: Final = frozenset(registry.OPEN_XML)
_TEXTS: Final = frozenset({registry.HTML, registry.XML})
_NO_BASES: Final = Bases()
_NOTHING: Final = ("", True, _NO_BASES)
_NO_EVENTS: Final = EventList()  # of an entity that is not walked yet
_MOST_SCOPED = 1 << 20  # bytes of cached scoped contexts: most feeds need less
_SCOPED = 200  # bytes of one without its URL (estimate): some thousands fit
_FOLDER: Final = ";type=d"  # the end of an FTP URL of a folder (RFC 1738 3.2.2)
_HEAD = 512  # bytes in which the title of a listing is
# "Index of /pub/x" by Apache and nginx, "Directory listing for /pub/x/" by Python, "host - /pub/x/" by IIS.
_LISTING: Final = re.compile(rb"(?i)<title>[^</]*?(?:(?:of|for|:) \[?(/[^<\]]*?)/?|(/[^<\]]*)/)\]?\s*</title>")
AMBIGUOUS: Final = "ambiguous"  # the code of the finding that a walker adds where it had to guess


def _may_list(data: bytes) -> cython.bint:
    """Return whether a title in the first bytes has a slash. For example, `<title>Index of /x</title>` has one."""
    p: cython.p_const_uchar = data
    end: cython.Py_ssize_t = min(len(data), _HEAD)
    i: cython.Py_ssize_t = byte_scan.find(p, 60, 0, end)
    while i >= 0:
        if i + 7 < end and p[i + 1] | 32 == 116 and p[i + 2] | 32 == 105 and p[i + 6] == 62:  # <title>
            text_end: cython.Py_ssize_t = byte_scan.find(p, 60, i + 7, end)
            if text_end >= 0 and byte_scan.find(p, 47, i + 7, text_end) >= 0:
                return True
        i = byte_scan.find(p, 60, i + 1, end)
    return False


class Inner(NamedTuple):
    """A document inside an entity: its part, the entity of the decoded part, and the offsets of the decoded bytes."""

    part: Part
    entity: Entity
    offsets: Offsets | None


class NestingBudget:
    """A number of documents, or of bytes, that the documents inside an outermost one may still use up together."""

    def __init__(self, left: cython.Py_ssize_t) -> None:
        self._left = left

    def spend(self, amount: cython.Py_ssize_t) -> cython.bint:
        """Subtract an amount; return whether there was as much. After the first refusal all are refused."""
        if self._left >= 0:
            self._left -= amount
        return self._left >= 0

    @property
    def is_exceeded(self) -> bool:
        """Whether an amount was refused."""
        return self._left < 0


_LARGE = 4096  # bytes; the events of a document take at most a few times its size
ENTERED: Final = 2  # levels of documents nested as text that are walked regardless of size
MOST_DEEP: Final = 16 << 20  # bytes of the large documents nested deeper, in all
_PROVES: Final = 4  # factor for the output of a rewrite: documents walked before may be longer there
_UNLIMITED = NestingBudget(sys.maxsize)
_IS_KEPT = -1


class InnerDocuments:
    """The documents inside an entity, by the indexes of their events: some are kept, others are walked on each access.

    The events of a small one take many times its size, and there may be a million of them: beyond a NestingBudget
    it is walked again by each call of `walk.inner_at`. All that is stored for it is `named`: the number of documents
    before it that have a step in the entity path.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Inner] = {}
        self._indexes = IntColumn()
        self._named = IntColumn()

    def __len__(self) -> int:
        return len(self._indexes)

    def keep(self, index: cython.Py_ssize_t, inner: Inner) -> cython.int:
        """Add a document to be kept; the index of its event must be greater than those added before."""
        self._kept[index] = inner
        self._indexes.add(index)
        return self._named.add(_IS_KEPT)

    def skip(self, index: cython.Py_ssize_t, named: cython.Py_ssize_t) -> cython.int:
        """Add a document that is not kept, likewise."""
        self._indexes.add(index)
        return self._named.add(named)

    def kept(self, index: cython.Py_ssize_t) -> Inner | None:
        """Return the document inside the event with this index, None if it is not kept."""
        return self._kept.get(index)

    def index(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the index of the event with the document of this number, from 0."""
        return self._indexes.at(number)

    def named(self, index: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return `named` of the document inside the event with this index; -1 without a document, or if it is kept."""
        number: cython.Py_ssize_t = self._indexes.before(index)
        if number == len(self._indexes) or self._indexes.at(number) != index:
            return _IS_KEPT
        return self._named.at(number)


class Entity:
    """One document after its walk: its bytes, its events in document order, its bases, and the entities inside it.

    If documents are inside it verbatim, such as a message in a message, `own_data` may have only its first bytes, with
    all its links: the others are a span in an outer entity, from which `data` copies them.

    `bases.own` is the document's own URL, `bases.base` the base of its links. `path` is the entity path from the
    outermost entity, "" there. `findings` are about this entity and all inside it, with offsets in this one.
    `origin` is its Document's. `for_rewrite`: inner documents that this rewrite does not change were not walked;
    `is_proof`: the document is the output of a rewrite.

    `has_useless`: its base, or one inside it, resolves nothing (`mailto:`).

    `links` counts its own links and the links of its parts without a step in the entity path. `facts` and `capture` are
    None unless the settings ask for `documents`.

    Counted with all entities inside it: `count`, the links and parts; `repeated`, an estimate of the bytes that their
    rows add to the links themselves; `long_bases`, the characters in long bases of inner documents.

    `depth` is the number of documents around it, `documents_left` the budget for keeping small ones. `level` counts
    only those that contain it as text; `text_left` is the budget for the bytes of large ones nested as text more than
    `ENTERED` deep: the same characters may be in one of each level. Small ones do not count there, nor documents inside
    them: they may be walked again, which must give the same result. After the first refusal no other is walked: so a
    second rewrite, in which they are longer, walks no others either. `enclosed` caches the last result of
    `around_part`: the name and `encloses` of the part, which decide, and the bases.
    """

    def __init__(
        self, data: bytes, charset: Charset, media_type: str, name: str, path: str, settings: Settings
    ) -> None:
        self.own_data = data
        self._size = len(data)
        self.around: bytes | None = None  # outer bytes that contain these, from offset `_at` on
        self._at = 0
        self.charset = charset
        self.media_type = media_type
        self.name = name
        self.path = path
        self.settings = settings
        self.bases = _NO_BASES
        self.events: EventList = _NO_EVENTS
        self.inside: InnerDocuments | None = None  # None until one is added
        self.documents_left: NestingBudget | None = None
        self.text_left: NestingBudget | None = None
        self.level = 0
        self.depth = 0
        self.count = 0
        self.links = 0
        self.has_useless = False
        self.facts: PageFacts | None = None
        self.capture: Capture | None = None
        self.repeated = 0
        self.long_bases = 0
        self.for_rewrite = False
        self.is_proof = False
        self.named = 0  # the number of parts so far with a step in the entity path
        self.enclosed = _NOTHING
        self.findings: list[Finding] = []
        self.origin: Callable[[int], int] | None = None
        self.held: dict[str, int] = {}  # the parts of a message by their keys (`found_as`), shared by its entities
        self.beside: Surroundings | None = None  # of its Document, and the files around it for the bases it has:
        self.files: CompanionFiles | None = None
        self.contexts: dict[Any, Any] = {}  # of its links: the cache of `resolved.link_context`
        self._inside: tuple[Bases, Charset, dict[Any, Any]] | None = None  # caches of documents in it
        self._positions: LineIndex | None = None
        self._scoped: dict[int, BaseContext] | None = None
        self._scoped_size = 0

    @property
    def data(self) -> bytes:
        """The bytes of the document; copied on each access if `own_data` has not all of them."""
        return self.cut(0, self._size)

    def cut(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
        """Return the bytes of a span; `end` may be beyond the last byte."""
        if len(self.own_data) == self._size:
            if start == 0 and end == self._size:
                return self.own_data
            return cut(self.own_data, start, end)
        return cut(self.around, self._at + start, self._at + min(end, self._size))  # type: ignore[arg-type]  # set

    def contexts_inside(self, around: Bases, charset: Charset) -> dict:  # type: ignore[type-arg]
        """Return the cache of `resolved.link_context` for inner documents without bases of their own: one for all."""
        if self._inside is None or self._inside[0] is not around or self._inside[1] is not charset:
            self._inside = (around, charset, {})
        return self._inside[2]

    def forget_contexts(self, outer: Entity) -> None:
        """Empty the caches of `resolved.link_context`, but the one that it shares with others inside `outer`.

        They are many; to be called when the links of this entity are done.
        """
        if self._inside is not None:
            self._inside[2].clear()
        if self.contexts is not outer.contexts and (outer._inside is None or self.contexts is not outer._inside[2]):
            self.contexts.clear()

    def share_bytes(self, outer: Entity, at: cython.Py_ssize_t) -> cython.int:
        """Record that its bytes are a part of `outer` from byte offset `at`; only for large ones."""
        if self._size < _LARGE:
            return 0
        if len(outer.own_data) == outer._size:
            self.around = outer.own_data
            self._at = at
        else:
            self.around = outer.around
            self._at = outer._at + at
        return 0

    def truncate(self, events: EventList) -> cython.int:
        """Free the bytes behind the last link, if these are half or more: each level of messages has a copy.

        That is so if all parts are documents in identity coding without derived fields.
        """
        kept: cython.Py_ssize_t = 0
        parts = 0
        for event in events:
            if type(event) is Link:
                kept = max(kept, event.end + LOOK_AHEAD)
            elif type(event) is Part:
                if event.coding is not IDENTITY or event.derived or not event.name:
                    return 0
                parts += 1
        if parts and 2 * kept <= self._size:
            self.own_data = cut(self.own_data, 0, kept)
        return 0

    def for_part(self, part: Part, value: bytes, media_type: str, named: cython.Py_ssize_t) -> Entity:
        """Return a new entity for the decoded value of a part, not walked yet, its charset not detected yet.

        `named` is the number of documents before it that have a step in the entity path.
        """
        path = self.path
        if part.name:
            step = part.name if self.media_type == registry.HAR else f"{part.name}[{named + 1}]"
            path = f"{path}/{step}" if path else step
        media_type = registry.in_zip(media_type, value) if media_type in registry.IN_ZIP else media_type
        settings = self.settings._replace(open_xml=True) if self.media_type in _OPEN_XML else self.settings
        inner = Entity(value, UTF_8, media_type, self.name, path, settings)
        if part.coding is IDENTITY:
            inner.share_bytes(self, part.start)
        inner.for_rewrite = self.for_rewrite
        inner.is_proof = self.is_proof
        if not part.name:
            inner.named = named  # steps are numbered through all parts of one document
        if part.encloses or part.base is not None:
            inner.held = self.held
            inner.beside = self.beside
        inner.documents_left = self.documents_left
        if part.name == DATA or (media_type == registry.HTML and not part.own_charset and self.media_type in _TEXTS):
            inner.is_text_in(self)
        return inner

    def is_text_in(self, outer: Entity) -> cython.int:
        """Set level and budget of a document that is text in the text of `outer`: a srcdoc, a `data:` URL."""
        if outer.text_left is None:
            outer.text_left = NestingBudget(MOST_DEEP * (_PROVES if outer.is_proof else 1))
        self.text_left = outer.text_left if outer._size >= _LARGE else _UNLIMITED
        self.level = outer.level + (1 if self.path != outer.path else 0)
        return 0

    def may_be_so_deep(self) -> cython.bint:
        """Return whether it may be walked at its level; a large one deeper than `ENTERED` reduces the budget."""
        if self.level <= ENTERED or self._size < _LARGE:
            return True
        return self.text_left.spend(self._size)  # type: ignore[union-attr]  # set with `level`

    def may_keep(self, size: cython.Py_ssize_t) -> cython.bint:
        """Return whether an inner document of `size` bytes is kept; a small one reduces the budget."""
        return size >= _LARGE or self.documents_left.spend(1)  # type: ignore[union-attr]  # set for the outermost

    def may_be_reported(self) -> cython.bint:
        """Return whether there may be diagnostics; `reporting` decides. False if one claim rules and nothing was found.

        A document without any markup may be the name of a file, or a style sheet, passed by mistake.
        """
        chain = self.bases.base.chain
        url: str = self.bases.base.url
        may_be_folder: cython.bint = url[-7:] == _FOLDER or (url[-1:] != "/" and _may_list(self.own_data))
        is_folder: cython.bint = may_be_folder and self.folder() is not None
        is_plain: cython.bint = not is_folder and len(chain) == 1 and chain[0].verdict == "won"
        if self.findings or self.has_useless or not is_plain or self.bases.before is not None:
            return True
        return byte_scan.find(self.own_data, 60, 0, len(self.own_data)) < 0

    def folder(self) -> str | None:
        """Return why the base URL names a folder although no slash ends it (RFC 1808 5.3), None if it is not."""
        url = self.bases.base.url
        if url.endswith(_FOLDER):
            return "its type"
        head = self.own_data[:_HEAD]
        written = unquote(url) if "%" in url else url
        if not url or written.rpartition("/")[2].encode("utf-8", "surrogatepass") not in head:
            return None  # nearly always, and soon
        found = _LISTING.search(head)
        is_listed = found is not None and written.endswith((found[1] or found[2]).decode("utf-8", "replace"))
        return "the title of the page, a listing" if is_listed else None

    @property
    def positions(self) -> LineIndex:
        """The lines and columns of `own_data`."""
        if self._positions is None:
            self._positions = LineIndex(self.own_data, self.charset)
        return self._positions

    def line_column(self, position: int) -> tuple[int, int]:
        """Return line and column of a byte offset, 1-based; columns count characters. Lines end at LF, CR LF or CR."""
        return self._positions_of(position).at(position)

    def line(self, position: int) -> int:
        positions: LineIndex = self._positions_of(position)
        positions.move(position)
        return positions.line

    def _positions_of(self, position: int) -> LineIndex:
        return self.positions if position <= len(self.own_data) else LineIndex(self.data, self.charset)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics of this entity and all inside it, in document order."""
        return list(self.each_diagnostic())

    def each_diagnostic(self) -> Iterator[Diagnostic]:
        """Yield the same one by one: a hostile document may have hundreds of thousands, each larger than its cause."""
        if not self.charset.transparent:  # one part with a charset coding: lines are counted in the decoded text
            inner = self.inside.kept(0) if self.inside is not None else None
            if inner is not None:
                yield from inner.entity.each_diagnostic()
            return
        for code, text, position, failed in sorted(self.findings, key=attrgetter("position")):
            yield Diagnostic(code, *self.placed(text, position), failed)

    def placed(self, text: str, position: int) -> tuple[str, str, int | None, int | None]:
        """Return text, name, line and column for a Diagnostic; in an archive the text has the byte offset."""
        if not registry.WALKERS[self.media_type].archive:
            return text, self.name, *self.line_column(position)
        around = f" ({self.path.rpartition('[')[0]})" if self.origin and self.path else ""
        return f"{text}{around}, at byte {self.origin(position) if self.origin else position}", self.name, None, None

    @property
    def is_ambiguous(self) -> bool:
        """Whether the walker had to guess somewhere: then a rewrite is verified even without --verify."""
        return AMBIGUOUS in [finding.code for finding in self.findings]

    def ruled(self, link: Link) -> BaseContext:
        """Return the base URL of a link with its resolver."""
        return self.base_context(link.base, self.rules_by_own_url(link))

    def rules_by_own_url(self, link: Link) -> cython.bint:
        """Return whether the document's own URL is the base of a link, whatever base elements there are."""
        against = link.place.against
        return against == "own" or (against == "header" and self.gives_base(link.claim))

    def gives_base(self, claim: BaseClaim | None) -> bool:
        """Return whether a claim is not ignored: no other claim of its layer precedes it."""
        lost = ("ignored", SWITCHED_OFF)
        return any(fate.base is claim and fate.verdict not in lost for fate in self.bases.base.chain)

    def hold(self, name: MessageIds) -> None:
        """Add the keys of references that identify parts of the message: links to those are internal."""
        context: BaseContext = self.base_context(None, name.claim is not None and self.gives_base(name.claim))
        resolver, held = context.resolver, self.held
        relative = MOVES if records(context.base) else OUTSIDE
        for reference in name.references:
            if url := resolver(reference) or context.in_message(reference):
                if name.claim is None:
                    how = MEMBER if reference[:4] == "cid:" or not has_scheme(reference) else RECORDED
                else:
                    how = LOCATED if has_scheme(reference) else relative
                key = found_as(url)
                held[key] = max(held.get(key, MOVES), how)

    def base_context(self, scope: BaseClaim | None, own: cython.bint = False) -> BaseContext:  # noqa: FBT002 - of a C function
        """Return the context of a scoped claim; without one, of the own URL if `own`, else of the base."""
        if scope is None:
            return self.bases.base_context(own, self.settings.profile, self.charset.name)
        if scope is BEFORE_BASE:
            before: Bases = self.bases.before  # type: ignore[assignment]  # set with the scope of any link
            return before.base_context(False, self.settings.profile, self.charset.name)
        if self._scoped is None:
            self._scoped = {}
        found = self._scoped.get(id(scope))
        if found is None:
            settings = self.settings
            profile = settings.profile
            outer = self.base_context(scope.scope).base
            base = establish(outer, [scope], profile, self.line, settings.max_url, settings.ignored)
            found = self.bases.base_context_for(base, profile, self.charset.name)
            if scope.layer is RETRIEVAL:  # the path of an archive member is the base of that member only
                return found
            self._scoped_size += _SCOPED + len(base.url)
            if self._scoped_size > _MOST_SCOPED:  # links under one claim are consecutive
                self._scoped.clear()
                self._scoped_size = _SCOPED + len(base.url)
            self._scoped[id(scope)] = found
        return found
