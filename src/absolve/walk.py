"""The fold: from one document's bytes to its events, the base URLs that rule them, and the documents inside.

    Document -> walker(media type) -> Base | Link | Part -> establish (section 3) -> Entity

Every Base is collected before anything is resolved: a base element rules the links before it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve import charsets, formats
from absolve.bases import Bases, establish, inherited, same_document
from absolve.codings import Raw
from absolve.errors import Diagnostic, DocumentError, UsageError
from absolve.model import DEFAULT, Base, BaseURL, Document, Layer, Link, Notice, Part
from absolve.positions import Positions
from absolve.resolvers import by_name, resolver
from absolve.resolvers.urls import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.charsets import Charset
    from absolve.model import Event
    from absolve.typing import Offsets, Resolver

FRAGMENTS = ("keep", "absolute")
BASES = ("keep", "empty")
DEEPEST = 256  # what max_depth may be: a level takes a few frames of Python's stack


class Settings(NamedTuple):
    """What the user may choose; the names are those of the command line's options."""

    profile: str = "rfc1808"
    fragments: str = "keep"
    base: str = "keep"
    lazy: bool = False
    conditional_comments: bool = False
    json_ld: bool = False
    max_depth: int = 32  # documents inside documents

    def checked(self) -> Settings:
        """These settings; UsageError names a value that is none of its choices."""
        by_name(self.profile)
        for option, value, choices in (("fragments", self.fragments, FRAGMENTS), ("base", self.base, BASES)):
            if value not in choices:
                raise UsageError(f"{option} must be one of {', '.join(choices)}, not {value!r}")
        if not 0 <= self.max_depth <= DEEPEST:
            raise UsageError(f"max_depth must be from 0 to {DEEPEST}, not {self.max_depth}")
        return self


class Ruling(NamedTuple):
    """A base, the resolver against it, and whether it leads elsewhere than the document's own URL."""

    base: BaseURL
    resolver: Resolver
    elsewhere: bool


class Inner(NamedTuple):
    """A document inside an entity: its part, what the part decodes to, where that stands, and what was found in it."""

    part: Part
    entity: Entity
    offsets: Offsets | None


class Entity:
    """One document, walked: its bytes, its events in their order, its bases, and the entities inside it by part.

    `bases.own` is the document's own URL, `bases.base` that of its links. `path` leads here from the outermost
    entity, "" there. `notices` are those of this entity and all inside it, by its own offsets.
    """

    __slots__ = (
        "_positions",
        "_ruled",
        "bases",
        "charset",
        "data",
        "events",
        "inner",
        "media_type",
        "name",
        "named",
        "notices",
        "path",
        "settings",
    )

    def __init__(
        self, data: bytes, charset: Charset, media_type: str, name: str, path: str, settings: Settings
    ) -> None:
        self.data = data
        self.charset = charset
        self.media_type = media_type
        self.name = name
        self.path = path
        self.settings = settings
        self.bases = Bases()
        self.events: list[Event] = []
        self.inner: dict[int, Inner] = {}
        self.named = 0  # how many of the parts have a step in the path
        self.notices: list[Notice] = []
        self._positions: Positions | None = None
        self._ruled: dict[int, Ruling] = {}

    def line_column(self, position: int) -> tuple[int, int]:
        """Line and column of a byte, 1-based; columns count characters. Lines end at LF, CR LF or CR."""
        if self._positions is None:
            self._positions = Positions(self.data, self.charset)
        return self._positions.at(position)

    def line(self, position: int) -> int:
        return self.line_column(position)[0]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was met here and in all inside, in the order in which it stands here."""
        if not self.charset.transparent:  # read through a charset coding: the lines are those of what it decodes to
            return [said for inner in self.inner.values() for said in inner.entity.diagnostics]
        notices = sorted(self.notices, key=lambda notice: notice.position)
        return [Diagnostic(code, text, self.name, *self.line_column(at)) for code, text, at in notices]

    def ruled(self, link: Link) -> Ruling:
        """The base that rules a link and the resolver against it."""
        return self.ruling(link.base, own=link.place.against == "own")

    def ruling(self, scope: Base | None, *, own: bool = False) -> Ruling:
        """The base for a scoped claim, for the document's own URL, or for all other links."""
        key = id(scope) if scope is not None else int(own)
        found = self._ruled.get(key)
        if found is None:
            profile = self.settings.profile
            if scope is not None:
                base = establish(self.ruling(scope.scope)[0], [scope], profile, self.line)
            else:
                base = self.bases.own if own else self.bases.base
            elsewhere = base is not self.bases.own and not same_document(base.url, self.bases.own.url)
            found = self._ruled[key] = Ruling(base, resolver(profile, base.url, self.charset.name), elsewhere)
        return found


def walk(document: Document, settings: Settings) -> Entity:
    """Walk a document and every document inside it.

    DocumentError where it is of no kind that absolve reads; UsageError for a charset or retrieval URL that is none.
    """
    name = document.name or "<bytes>"
    media_type, parameter = _media_type(document, name)
    charset, mark = _charset(document, media_type, parameter)
    profile = settings.profile
    said = [retrieval_claim(document.url)] if document.url is not None else []
    own = establish(DEFAULT, said, profile)
    around = Bases(own, own, document.claims)
    entity = Entity(document.data, charset, media_type, name, "", settings)
    if charset.transparent and (media_type == formats.HTML or charset is charsets.UTF_8):
        _fold(entity, around, depth=0)
    else:  # read through a charset coding: the whole document is a part of itself
        entity.bases = around
        part = Part(media_type, mark, len(document.data), Raw(charset))
        entity.events = [part]
        _enter(entity, part, depth=-1, charset=charsets.inside(charset))
        entity.bases = entity.inner[id(part)].entity.bases
    return entity


def retrieval_claim(url: str) -> Base:
    """What the user said; UsageError where it is no absolute URL."""
    if not has_scheme(url) or is_malformed(url):
        raise UsageError(f"the retrieval URL must be an absolute URL, not {url!r}")
    return Base(Layer.RETRIEVAL, url, "--url")


def _media_type(document: Document, name: str) -> tuple[str, str | None]:
    """The media type without parameters, and its charset parameter."""
    if document.media_type is None:
        found = formats.sniff(document.data, document.name)
        if found is None:
            text = "binary data, no kind of document that absolve reads (--media-type overrides)"
            raise DocumentError(Diagnostic("unknown-media-type", text, name))
        return found, None
    essence, _, parameters = document.media_type.partition(";")
    essence = essence.strip().lower()
    if essence not in formats.WALKERS:
        raise DocumentError(Diagnostic("unknown-media-type", f"absolve does not read {essence or 'this'}", name))
    for parameter in parameters.split(";"):
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "charset":
            return essence, value.strip().strip('"') or None
    return essence, None


def _charset(document: Document, media_type: str, parameter: str | None) -> tuple[Charset, int]:
    detect = charsets.of_html if media_type == formats.HTML else charsets.of_text
    return detect(document.data, document.charset, parameter)


def _fold(entity: Entity, around: Bases, depth: int) -> None:
    """Walk one entity."""
    walker = formats.walker(entity.media_type)
    if walker is None:
        return
    fold(entity, walker(entity.data, entity.charset, entity.settings), around, depth)


def fold(entity: Entity, events: Iterable[Event], around: Bases, depth: int = 0) -> None:
    """Give an entity the events that were found in it: establish its bases, and enter its parts."""
    entity.events = list(events)
    claims: list[Base] = []
    parts: list[Part] = []
    for event in entity.events:
        if type(event) is Link:
            continue
        if type(event) is Part:
            parts.append(event)
        elif type(event) is Base:
            claims.append(event)
        elif type(event) is Notice:
            entity.notices.append(event)
    entity.bases = _established(entity, around, claims) if claims or around.beside else around
    for part in parts:
        _enter(entity, part, depth)


def _established(entity: Entity, around: Bases, claims: list[Base]) -> Bases:
    profile = entity.settings.profile
    own, base, beside = around
    found = [*(claim for claim in claims if claim.layer is Layer.RETRIEVAL), *beside]
    if found:
        own = base = _retrieved(entity, around, found)
    embedded = [claim for claim in claims if claim.layer is Layer.EMBEDDED]
    return Bases(own, establish(own, embedded, profile, entity.line) if embedded else base)


def _retrieved(entity: Entity, around: Bases, claims: list[Base]) -> BaseURL:
    """What the saver wrote, then what is kept beside the file, where nobody else said (section 4, RETRIEVAL)."""
    profile = entity.settings.profile
    if around.own.layer is Layer.DEFAULT:
        return establish(around.own, claims, profile, entity.line)
    said = establish(DEFAULT, claims, profile, entity.line).chain
    return around.own._replace(chain=(*around.own.chain, *(fate._replace(verdict="ignored") for fate in said)))


def _enter(entity: Entity, part: Part, depth: int, charset: Charset = charsets.UTF_8) -> None:
    """Decode a part and walk what is in it; a document too deep in others is left alone, and that is said."""
    if part.name or part.media_type == formats.HTML:  # a style sheet of the document itself has nothing inside
        depth += 1
    if depth > entity.settings.max_depth:
        text = f"documents nested more than {entity.settings.max_depth} deep are left as they are (--max-depth)"
        entity.notices.append(Notice("too-deep", text, part.start))
        return
    value, offsets = part.coding.decode_mapped(entity.data[part.start : part.end])
    path = entity.path
    if part.name:
        entity.named += 1
        step = f"{part.name}[{entity.named}]"
        path = f"{path}/{step}" if path else step
    inner = Entity(value, charset, part.media_type, entity.name, path, entity.settings)
    base = entity.ruling(part.base)[0]
    if part.name:
        own = inherited(base, part.name)
        around = Bases(own, own)
    else:
        around = entity.bases._replace(base=base)
    if part.claims:
        own = establish(around.own, part.claims, entity.settings.profile)
        around = Bases(own, own)
    _fold(inner, around, depth)
    entity.inner[id(part)] = Inner(part, inner, offsets)
    for code, text, at in inner.notices:
        entity.notices.append(Notice(code, text, part.start + (offsets.start(at) if offsets is not None else 0)))
