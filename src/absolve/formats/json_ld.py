"""JSON-LD 1.1: the IRI references in a document, and the bases that its contexts state (section 4.1.3, `@base`).

A reference is the value of `@id`, of a term that a context declares as one (`"@type": "@id"`), and of a property that
is one by schema.org's vocabulary. Never: keywords, blank nodes, compact IRIs of a declared prefix, text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.events import Events
from absolve.formats import json_ld_tables as tables
from absolve.formats.grammars import likely, url
from absolve.formats.json_values import JSONString, values
from absolve.model import Base, Layer, Link, Notice, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.charsets import Charset
    from absolve.formats.json_values import Path, Value
    from absolve.model import Event
    from absolve.typing import WalkOptions

    Meant = tuple[Place, Callable[[str], object] | None]  # the place of a reference, and what it must look like

_STRING: Final = JSONString()
_SCHEMA: Final = re.compile(r"(?:(?:https?:)?//)?(?:www\.)?schema\.(?:org|googleapis\.com)(?:/|\Z)", re.IGNORECASE)
_CONTAINERS: Final = frozenset({"@list", "@set"})  # what is in them is a value of the property around them
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_KEYWORD: Final = re.compile(r"@[A-Za-z]+")  # 1.7: what looks like one is ignored
# RFC 3987 2.2 has none of these in an IRI. Text has, and so have URL templates.
_NO_IRI: Final = re.compile(r"[\x00-\x20<>\"{}|\\^`]")


class _Term(NamedTuple):
    """What a context says of a term: the IRI that it stands for ("" for none) and the type of its values."""

    iri: str
    type: str = ""


_NO_TERM: Final = _Term("")


class _Context:
    """What is declared for a node and all inside it (JSON-LD 1.1 Processing Algorithms 4.1).

    `based` is false under `"@base": null`: there a relative reference stays one. `known`: names that no term declares
    are those of schema.org; where no context says anything (not `declared`), they are taken for such, too.
    """

    __slots__ = ("base", "based", "declared", "known", "outer", "terms")

    def __init__(self, outer: _Context | None = None) -> None:
        self.outer = outer
        self.base: Base | None = outer.base if outer else None
        self.based: bool = outer.based if outer else True
        self.known: bool = outer.known if outer else True
        self.declared: bool = outer.declared if outer else False
        self.terms: dict[str, _Term] = {}

    def term(self, name: str) -> _Term | None:
        """What the innermost context that speaks of a term says."""
        context: _Context | None = self
        while context is not None:
            if name in context.terms:
                return context.terms[name]
            context = context.outer
        return None

    def know(self, vocabulary: str) -> None:
        self.known = self.known or bool(_SCHEMA.match(vocabulary))


_OUTSIDE: Final = _Context()


@cache
def _place(name: str, kind: str = "metadata", syntax: str = "url", empty: str = "nothing", *, stays: bool) -> Place:
    return Place("json-ld", name, syntax, kind, empty=empty, stays="always" if stays else "")


def walk(data: bytes, charset: Charset, options: WalkOptions) -> Iterable[Event]:  # noqa: ARG001 - JSON is UTF-8
    """All references; they are rewritten only where that is asked for (`json_ld`)."""
    found: list[Value] = []
    for value in values(data):
        if isinstance(value, Notice):
            return [value]  # nothing in it is known to be what it seems
        if value.kind in {"string", "word"}:
            found.append(value)
    events = Events()
    for link in _Walk(data, found, stays=not options.json_ld).events():
        events.append(link)
    return events


class _Walk:
    """The strings of one document."""

    def __init__(self, data: bytes, found: list[Value], *, stays: bool) -> None:
        self._data = data
        self._found = found
        self._stays = stays
        self._declared: dict[Path, list[Value]] = {}  # what stands in the contexts of a node, by its path
        self._contexts: dict[Path, _Context] = {}
        self._claims: dict[int, Base] = {}  # what an @base claims, by its position
        self._meant: dict[tuple[_Context, str], Meant | None] = {}
        for value in found:
            if "@context" in value.path:
                self._declared.setdefault(value.path[: value.path.index("@context")], []).append(value)

    def events(self) -> Iterator[Link]:
        for value in self._found:
            if value.kind != "string":
                continue
            if "@context" in value.path:
                yield from self._in_context(value)
            elif link := self._link(value):
                yield link

    def _text(self, value: Value) -> str:
        return _STRING.decode(self._data[value.start : value.end]).decode("utf-8", "surrogateescape")

    # --- contexts -----------------------------------------------------------------------------------------------------

    def _in_context(self, value: Value) -> Iterator[Link]:
        """The references that a context itself has: an @base, another context (4.1.2, 5.2.1), and one to import."""
        node = value.path[: value.path.index("@context")]
        rest = _without_index(value.path[len(node) + 1 :])
        self._context(node)
        if rest == ("@base",) and value.start in self._claims:
            claim = self._claims[value.start]
            yield Link(_place("@base", stays=self._stays), value.start, value.end, _STRING, claim.scope, claim=claim)
        elif rest in ((), ("@import",)) and _is_address(self._text(value)):
            yield Link(_place("@context", stays=self._stays), value.start, value.end, _STRING)

    def _context(self, path: Path) -> _Context:
        """What is in force at a node: what is around it, and then its own contexts in their order."""
        found = self._contexts.get(path)
        if found is None:
            found = self._context(path[:-1]) if path else _OUTSIDE
            if path in self._declared:
                found = _Context(found)
                for value in self._declared[path]:
                    self._declare(found, _without_index(value.path[len(path) + 1 :]), value)
            self._contexts[path] = found
        return found

    def _declare(self, context: _Context, rest: Path, value: Value) -> None:
        """Take one thing that a context says."""
        text = self._text(value) if value.kind == "string" else None
        context.known = context.known and context.declared
        context.declared = True
        if not rest and text is None:  # 5.1: null takes all back
            context.outer, context.terms = None, {}
            context.base, context.based, context.known = None, True, False
        elif rest in ((), ("@vocab",)):  # 5.2, 5.8
            context.know(text or "")
        elif rest == ("@base",):
            self._rebase(context, text, value)
        elif rest[1:] in ((), ("@id",), ("@type",)) and not str(rest[0]).startswith("@"):
            name, says = str(rest[0]), rest[1:]
            term = context.terms.get(name, _NO_TERM) if says else _NO_TERM
            meaning = text or ""
            context.terms[name] = _Term(term.iri, meaning) if says == ("@type",) else _Term(meaning, term.type)

    def _rebase(self, context: _Context, reference: str | None, value: Value) -> None:
        """5.7: an @base is resolved against the base so far; null takes it away."""
        if reference is None or not (context.based or _SCHEME.match(reference)):
            context.base, context.based = None, False
            return
        claim = Base(Layer.EMBEDDED, reference, "@base", value.start, context.base)
        self._claims[value.start] = claim
        context.base, context.based = claim, True

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _link(self, value: Value) -> Link | None:
        name = next((step for step in reversed(value.path) if isinstance(step, str) and step not in _CONTAINERS), None)
        if name is None:
            return None
        context = self._context(value.path[:-1])
        if (context, name) not in self._meant:
            self._meant[context, name] = self._of(context, name)
        meant = self._meant[context, name]
        if meant is None:  # as of most properties
            return None
        place, looks = meant
        raw = self._data[value.start : value.end]
        start, end = url(raw)[0]
        text = _STRING.decode(raw[start:end]).decode("utf-8", "surrogateescape")
        if _NO_IRI.search(text) or not _is_iri(context, text) or not (looks is None or looks(text)):
            return None
        return Link(place, value.start + start, value.start + end, _STRING, context.base)

    def _of(self, context: _Context, name: str) -> Meant | None:
        """What the values of this property are; None where they are no references."""
        term = context.term(name)
        if name == "@id" or (term.iri == "@id" if term else name == "id" and context.known):
            return _place("@id", empty="base", stays=self._stays), None
        if term is not None and term.type:
            return (_place(name, stays=self._stays), None) if term.type == "@id" else None
        local = _local(context, name)
        if local in tables.URLS:
            return _place(local, tables.URLS[local], stays=self._stays), None
        if local in tables.THINGS:
            return _place(local, tables.THINGS[local], "likely", stays=self._stays), _is_likely
        return (_place(local, stays=self._stays), _ABSOLUTE.match) if local in tables.TEXTS else None


def _is_likely(text: str) -> bool:
    return bool(likely(text.encode("utf-8", "surrogateescape")))


def _without_index(path: Path) -> Path:
    """A path in a context, which may be one of several."""
    return path[1:] if path and isinstance(path[0], int) else path


def _is_address(context: str) -> bool:
    """Whether a context that stands elsewhere is said by its URL, and not by the mere name of schema.org."""
    if not context or _NO_IRI.search(context):
        return False
    return _ABSOLUTE.match(context) is not None or not _SCHEMA.match(context)


def _is_iri(context: _Context, text: str) -> bool:
    """Whether this is an IRI reference that means something here, and nothing else (5.2, IRI expansion)."""
    if text.startswith("_:") or _KEYWORD.fullmatch(text):
        return False
    prefix, colon, rest = text.partition(":")
    if colon and not rest.startswith("//") and (context.term(prefix) or (prefix == "schema" and context.known)):
        return False
    return context.based or _SCHEME.match(text) is not None


def _local(context: _Context, name: str) -> str:
    """The name that a property has in schema.org's vocabulary; "" for one of another."""
    term = context.term(name)
    iri = term.iri if term is not None else name
    prefix, colon, rest = iri.partition(":")
    if colon and (declared := context.term(prefix)) and not rest.startswith("//"):
        iri = declared.iri + rest
    elif colon and prefix == "schema":
        iri = f"//schema.org/{rest}"
    if found := _SCHEMA.match(iri):
        return iri[found.end() :]
    return iri if context.known and term is None else ""
