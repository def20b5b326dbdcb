"""The fold: from one document's bytes to its events, the base URLs that rule them, and the documents inside.

    Document -> walker(media type) -> Base | Link | Part -> establish (section 3) -> Entity

Every Base is collected before anything is resolved: a base element rules the links before it too.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from absolve import charsets, formats
from absolve.bases import Bases, establish, inherited
from absolve.codings import Raw
from absolve.errors import Diagnostic, DocumentError, UsageError
from absolve.model import DEFAULT, Base, BaseURL, Document, Layer, Link, Notice, Part
from absolve.resolvers import by_name, resolver
from absolve.resolvers.urls import has_scheme, is_malformed

if TYPE_CHECKING:
    from absolve.charsets import Charset
    from absolve.model import Event
    from absolve.typing import Offsets, Resolver

FRAGMENTS = ("keep", "absolute")
BASES = ("keep", "empty")


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
        return self


class Inner(NamedTuple):
    """A document inside an entity: its part, what the part decodes to, where that stands, and what was found in it."""

    part: Part
    entity: Entity
    offsets: Offsets | None


class Entity:
    """One document, walked: its bytes, its events in their order, its bases, and the entities inside it by part.

    `bases.own` is the document's own URL, `bases.base` that of its links. `path` leads here from the outermost
    entity, "" there. `diagnostics` are those of this entity and all inside it.
    """

    __slots__ = (
        "_lines",
        "_ruled",
        "bases",
        "charset",
        "data",
        "diagnostics",
        "events",
        "inner",
        "media_type",
        "name",
        "named",
        "path",
        "settings",
    )

    def __init__(self, data: bytes, charset: Charset, media_type: str, name: str, path: str, settings: Settings) -> None:
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
        self.diagnostics: list[Diagnostic] = []
        self._lines: list[int] | None = None
        self._ruled: dict[int, tuple[BaseURL, Resolver]] = {}

    def line_column(self, position: int) -> tuple[int, int]:
        """Line and column of a byte, 1-based; columns count characters. Lines end at LF, CR LF or CR."""
        if self._lines is None:
            self._lines = line_starts(self.data)
        index = bisect_right(self._lines, position) - 1
        text = self.data[self._lines[index] : position]
        return index + 1, len(self.charset.decode(text)) + 1

    def line(self, position: int) -> int:
        """The line alone: counted, since one is seldom followed by another."""
        returns = self.data.count(b"\r", 0, position)
        if returns:
            returns -= self.data.count(b"\r\n", 0, position)
        return 1 + self.data.count(b"\n", 0, position) + returns

    def ruled(self, link: Link) -> tuple[BaseURL, Resolver]:
        """The base that rules a link and the resolver against it."""
        return self.ruling(link.base, own=link.place.against == "own")

    def ruling(self, scope: Base | None, *, own: bool = False) -> tuple[BaseURL, Resolver]:
        """The base for a scoped claim, for the document's own URL, or for all other links."""
        key = id(scope) if scope is not None else int(own)
        found = self._ruled.get(key)
        if found is None:
            profile = self.settings.profile
            if scope is not None:
                base = establish(self.ruling(scope.scope)[0], [scope], profile, self.line)
            else:
                base = self.bases.own if own else self.bases.base
            found = self._ruled[key] = (base, resolver(profile, base.url, self.charset.name))
        return found


def line_starts(data: bytes) -> list[int]:
    """The offset of the first byte of each line."""
    starts = [0]
    position = 0
    if b"\r" not in data:
        while (position := data.find(b"\n", position) + 1) > 0:
            starts.append(position)
        return starts
    for line in data.splitlines(keepends=True):  # for bytes: LF, CR LF and CR, nothing else
        position += len(line)
        if line[-1:] in b"\r\n":
            starts.append(position)
    return starts


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
        _enter(entity, part, depth=0)
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
    """Walk one entity, establish its bases, and enter its parts."""
    walker = formats.walker(entity.media_type)
    if walker is None:
        return
    entity.events = list(walker(entity.data, entity.charset, entity.settings))
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
            _report(entity, event.code, event.text, event.position)
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


def _enter(entity: Entity, part: Part, depth: int) -> None:
    """Decode a part and walk what is in it; too deep a one is left alone, and that is said."""
    if depth >= entity.settings.max_depth:
        text = f"documents nested more than {entity.settings.max_depth} deep are left as they are (--max-depth)"
        _report(entity, "too-deep", text, part.start)
        return
    value, offsets = part.coding.decode_mapped(entity.data[part.start : part.end])
    path = entity.path
    if part.name:
        entity.named += 1
        step = f"{part.name}[{entity.named}]"
        path = f"{path}/{step}" if path else step
    inner = Entity(value, charsets.UTF_8, part.media_type, entity.name, path, entity.settings)
    base = entity.ruling(part.base)[0]
    if part.name:
        own = inherited(base, part.name)
        around = Bases(own, own)
    else:
        around = entity.bases._replace(base=base)
    if part.claims:
        own = establish(around.own, part.claims, entity.settings.profile)
        around = Bases(own, own)
    _fold(inner, around, depth + 1)
    entity.inner[id(part)] = Inner(part, inner, offsets)
    entity.diagnostics += inner.diagnostics


def _report(entity: Entity, code: str, text: str, position: int) -> None:
    line, column = entity.line_column(position)
    entity.diagnostics.append(Diagnostic(code, text, entity.name, line, column))
