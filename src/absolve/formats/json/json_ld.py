"""Find the IRI references in JSON-LD 1.1, and the bases that its contexts state (section 4.1.3, `@base`).

In: the bytes of a JSON-LD document. Out: an EventList of links, with scoped base claims; or a single Finding for
malformed JSON or too many terms. References are the values of `@id`, of terms that a context declares as references
(`"@type": "@id"`), and of properties whose range is URL in schema.org's vocabulary: for example, `/a` in
`{"@context": "https://schema.org", "url": "/a", "name": "/b"}`. Keywords, blank nodes, compact IRIs with a declared
prefix, and text are excluded. Section numbers in code refer to the JSON-LD 1.1 Processing Algorithms.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import BaseClaim, Finding, Layer, Link, LinkSite
from absolve.formats.events import EventList
from absolve.formats.grammars import likely, url
from absolve.formats.json.tokens import STRING, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
    from absolve.formats.json.tokens import Path, Value
    _Reference = tuple[LinkSite, Callable[[str], object] | None]  # the site of a property, and a test of its values


_SCHEMA: Final = re.compile(r"(?:(?:https?:)?//)?(?:www\.)?schema\.(?:org|googleapis\.com)(?:/|\Z)", re.IGNORECASE)
_SMALL: Final = 1 << 16  # bytes; the values of a shorter document are kept in a list instead of parsed twice
_MOST_TERMS: Final = 10_000  # in scope at one node; schema.org has 3,000
_NESTED: Final = 100  # nested @base: every link reports the whole chain
_KEPT: Final = 1000  # property names in the cache of one context
_SAID: Final = frozenset({"string", "word"})  # kinds of values in a context that declare something
_CONTAINERS: Final = frozenset({"@list", "@set"})  # their items are values of the enclosing property
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_KEYWORD: Final = re.compile(r"@[A-Za-z]+")  # 1.7: a value of this form is ignored
# Characters that RFC 3987 2.2 excludes from an IRI; text and URL templates contain them.
_NO_IRI: Final = re.compile(r"[\x00-\x20<>\"{}|\\^`]")


class _Term(NamedTuple):
    """A term definition of a context: the IRI of the term ("" if it has none) and the type of its values."""

    iri: str
    type: str = ""


_NO_TERM: Final = _Term("")
_UNKNOWN: Final[_Reference | None] = (LinkSite("", ""), None)  # cache miss: distinct from None


class _Context:
    """The active context of a node and its descendants (JSON-LD 1.1 Processing Algorithms 4.1).

    `base` is the active base claim; `based` is false under `"@base": null`, where relative references are left
    unresolved. `known`: undeclared names belong to schema.org, also by default without any context (not `declared`).
    `claims` are the base claims of this node's contexts. `size` counts the terms that this node and its ancestors
    declare, `nested` the claims from the outermost one to `base`.
    """

    __slots__ = ("base", "based", "claims", "declared", "known", "nested", "outer", "sites", "size", "start", "terms")

    def __init__(self, outer: _Context | None = None, start: int = -1) -> None:
        self.outer = outer
        self.start = start  # byte offset of the object
        self.base: BaseClaim | None = outer.base if outer else None
        self.nested: int = outer.nested if outer else 0
        self.based: bool = outer.based if outer else True
        self.known: bool = outer.known if outer else True
        self.declared: bool = outer.declared if outer else False
        self.size: int = outer.size if outer else 0
        self.terms: dict[str, _Term] = {}
        self.sites: dict[str, _Reference | None] = {}  # cache of `_Walk._reference` by property name
        self.claims: list[BaseClaim] = []

    def term(self, name: str) -> _Term | None:
        """Return the definition of a term by the innermost context that has one, or None."""
        context: _Context | None = self
        while context is not None:
            if name in context.terms:
                return context.terms[name]
            context = context.outer
        return None

    def know(self, vocabulary: str) -> None:
        self.known = self.known or bool(_SCHEMA.match(vocabulary))


@cache
def _place(name: str, kind: str = "metadata", empty: str = "nothing", *, stays: bool) -> LinkSite:
    return LinkSite("json-ld", name, "iri", kind, empty=empty, stays="always" if stays else "")


def walk(data: bytes, charset: Charset, options: WalkOptions) -> Iterable[Event]:  # noqa: ARG001 - JSON is UTF-8
    """Return all references; without the option `json_ld` their sites are never rewritten.

    A context also governs members before it in its object, so a first pass finds the contexts.
    """
    known = list(values(data)) if len(data) <= _SMALL else None
    contexts = _Contexts()
    for value in values(data) if known is None else known:
        if isinstance(value, Finding):
            return [value]  # the meaning of malformed JSON is uncertain: report no link
        if "@context" in value.path:
            contexts.see(value)
    contexts.sort()
    return _Walk(data, contexts, stays=not options.json_ld).events(values(data) if known is None else known)


class _Contexts:
    """An index from the offset of an object to the spans of its contexts; in arrays, because there may be very many."""

    def __init__(self) -> None:
        self._objects = array("q")
        self._starts = array("q")
        self._ends = array("q")

    def see(self, value: Value) -> None:
        """Add a value if it is the context of a node; one inside another context (4.1.8) is not."""
        path = value.path
        if path[-1] == "@context" and value.kind != "key" and "@context" not in path[:-1]:
            quotes = value.kind == "string"
            self._objects.append(value.inside)
            self._starts.append(value.start - quotes)
            self._ends.append(value.end + quotes)

    def sort(self) -> None:
        """Sort by the offsets of the objects: contexts that are objects or arrays were added at their end."""
        objects = self._objects
        if any(first > second for first, second in pairwise(objects)):
            order = sorted(range(len(objects)), key=objects.__getitem__)
            for name in ("_objects", "_starts", "_ends"):
                setattr(self, name, array("q", map(getattr(self, name).__getitem__, order)))

    def spans(self, start: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of the contexts of the object at this offset; more than one only if it repeats the key."""
        at = bisect_left(self._objects, start)
        while at < len(self._objects) and self._objects[at] == start:
            yield self._starts[at], self._ends[at]
            at += 1


class _Walk:
    """The second pass over one document: collect links while contexts open and close."""

    def __init__(self, data: bytes, contexts: _Contexts, *, stays: bool) -> None:
        self._data = data
        self._contexts = contexts
        self._stays = stays
        self._events = EventList()
        self._opened = [_Context()]  # stack: an empty context, then one for each open object with contexts of its own

    def events(self, found: Iterable[Value | Finding]) -> Iterable[Event]:
        """Return all events of the values; only a Finding where too many terms or bases are in scope."""
        inside = -1  # the object of the last key
        for value in found:
            if isinstance(value, Finding):  # cannot occur: `walk` has checked the same values
                break
            kind, path = value.kind, value.path
            if kind == "key":
                if value.inside == inside:  # most keys
                    continue
                inside = value.inside
                if inside != self._opened[-1].start and "@context" not in path[:-1]:
                    self._enter(value.inside)
                    if self._opened[-1].size > _MOST_TERMS:
                        words = f"JSON-LD with more than {_MOST_TERMS} terms in force is left as it is"
                        return [Finding("too-many-terms", words, value.inside)]
                    if self._opened[-1].nested > _NESTED:
                        words = f"JSON-LD with more than {_NESTED} nested @base is left as it is"
                        return [Finding("too-deep", words, value.inside)]
            elif kind == "string":
                if "@context" in path:
                    self._in_context(value)
                else:
                    self._node(value)
            elif kind == "object" and value.start == self._opened[-1].start:
                self._opened.pop()
        return self._events

    def _text(self, value: Value, raw: bytes) -> str:
        return STRING.decode(raw[value.start : value.end]).decode("utf-8", "surrogateescape")

    def _add_link(
        self, place: LinkSite, start: int, end: int, scope: BaseClaim | None, claim: BaseClaim | None = None
    ) -> None:
        self._events.append(Link(place, start, end, STRING, scope, claim=claim))

    # --- contexts -----------------------------------------------------------------------------------------------------

    def _in_context(self, value: Value) -> None:
        """Add the references in a context itself: @base, a remote context (4.1.2, 5.2.1), @import."""
        context = self._opened[-1]
        rest = _without_index(value.path[value.path.index("@context") + 1 :])
        if rest == ("@base",) and context.claims and context.claims[-1].position == value.start:
            claim = context.claims.pop()
            self._add_link(_place("@base", stays=self._stays), value.start, value.end, claim.scope, claim)
        elif rest in ((), ("@import",)) and _is_address(self._text(value, self._data)):
            self._add_link(_place("@context", stays=self._stays), value.start, value.end, None)

    def _enter(self, start: int) -> None:
        """Push the active context of the object at this offset, if it has contexts: they extend the outer in order."""
        context = None
        for first, last in self._contexts.spans(start):
            context = context or _Context(self._opened[-1], start)
            raw = self._data[first:last]
            for value in values(raw):
                if not isinstance(value, Finding) and value.kind in _SAID:
                    self._declare(context, _without_index(value.path), value, raw, first)
        if context is not None:
            context.claims.reverse()  # a stack: `_in_context` pops them in document order
            self._opened.append(context)

    def _declare(self, context: _Context, rest: Path, value: Value, raw: bytes, first: int) -> None:
        """Apply one value of a context to `context`; `first` is the byte offset of `raw` in the document."""
        text = self._text(value, raw) if value.kind == "string" else None
        context.known = context.known and context.declared
        context.declared = True
        if not rest and text is None:  # 5.1: null resets the active context
            context.outer, context.terms, context.size = None, {}, 0
            context.base, context.nested, context.based, context.known = None, 0, True, False
        elif rest in ((), ("@vocab",)):  # 5.2, 5.8
            context.know(text or "")
        elif rest == ("@base",):
            self._rebase(context, text, first + value.start)
        elif rest[1:] in ((), ("@id",), ("@type",)) and not str(rest[0]).startswith("@"):
            name, typed = str(rest[0]), rest[1:]
            term = context.terms.get(name, _NO_TERM) if typed else _NO_TERM
            meaning = text or ""
            context.size += name not in context.terms
            context.terms[name] = _Term(term.iri, meaning) if typed == ("@type",) else _Term(meaning, term.type)

    def _rebase(self, context: _Context, reference: str | None, start: int) -> None:
        """Add the claim of an @base, resolved against the previous base (5.7).

        Null, and a relative reference where there is no base, leave the context without one: then relative references
        are not resolved.
        """
        if reference is None or not (context.based or _SCHEME.match(reference)):
            context.base, context.nested, context.based = None, 0, False
            return
        context.base = self._events.scoped(BaseClaim(Layer.EMBEDDED, reference, "@base", start), context.base)
        context.claims.append(context.base)
        context.nested += 1
        context.based = True

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _node(self, value: Value) -> None:
        """Add the link of a string outside contexts, if its property has references for values."""
        for name in reversed(value.path):
            if isinstance(name, str) and name not in _CONTAINERS:
                break
        else:
            return
        context = self._opened[-1]
        reference = context.sites.get(name, _UNKNOWN)
        if reference is _UNKNOWN:
            reference = self._reference(context, name)
            if len(context.sites) < _KEPT:
                context.sites[name] = reference
        if reference is None:  # most properties
            return
        place, looks = reference
        raw = self._data[value.start : value.end]
        start, end = url(raw)[0]
        text = STRING.decode(raw[start:end]).decode("utf-8", "surrogateescape")
        if not _NO_IRI.search(text) and _is_iri(context, text) and (looks is None or looks(text)):
            self._add_link(place, value.start + start, value.start + end, context.base)

    def _reference(self, context: _Context, name: str) -> _Reference | None:
        """Return the link site of a property and a test for its values; None if its values are not references."""
        term = context.term(name)
        if name == "@id" or (term.iri == "@id" if term else name == "id" and context.known):
            return _place("@id", empty="base", stays=self._stays), None
        if term is not None and term.type:
            return (_place(name, stays=self._stays), None) if term.type == "@id" else None
        local = _local(context, name)
        if local in URLS:
            return _place(local, URLS[local], stays=self._stays), None
        if local in THINGS:
            return _place(local, THINGS[local], stays=self._stays), _is_likely
        return (_place(local, stays=self._stays), _ABSOLUTE.match) if local in TEXTS else None


def _is_likely(text: str) -> bool:
    return bool(likely(text.encode("utf-8", "surrogateescape")))


def _without_index(path: Path) -> Path:
    """Return a path in a context without the context's own index: for example, `("@vocab",)` for `(0, "@vocab")`."""
    return path[1:] if path and isinstance(path[0], int) else path


def _is_address(context: str) -> bool:
    """Return whether a string names a remote context by URL or path: `ctx.json` does, `schema.org` does not."""
    if not context or _NO_IRI.search(context):
        return False
    return _ABSOLUTE.match(context) is not None or not _SCHEMA.match(context)


def _is_iri(context: _Context, text: str) -> bool:
    """Return whether a text is an IRI reference, not a blank node, keyword or compact IRI (5.2, IRI expansion).

    For example, `a.html` is one, `_:a` is none, and `ex:a` only if no context declares `ex`. Under `"@base": null` a
    relative reference is none.
    """
    if text.startswith("_:") or _KEYWORD.fullmatch(text):
        return False
    prefix, colon, rest = text.partition(":")
    if colon and not rest.startswith("//") and (context.term(prefix) or (prefix == "schema" and context.known)):
        return False
    return context.based or _SCHEME.match(text) is not None


def _local(context: _Context, name: str) -> str:
    """Return a property's name in schema.org, for example "url" for `schema:url`; "" for another vocabulary."""
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


# --- properties of schema.org that have URLs for values ---------------------------------------------------------------
# From the ranges in schema.org's own vocabulary (version 28), by local name. Every other property has text, numbers, or
# things for values: a string there is no reference.

# The range is only URL: any string is a reference.
URLS: Final[dict[str, str]] = {
    **dict.fromkeys(("thumbnailUrl",), "image"),
    **dict.fromkeys(("contentUrl", "embedUrl"), "media"),
    **dict.fromkeys(
        (
            *("benefitsSummaryUrl", "codeRepository", "discussionUrl", "downloadUrl", "hasGS1DigitalLink"),
            *("healthPlanMarketingUrl", "installUrl", "labelDetails", "map", "maps", "merchantReturnLink"),
            *("paymentUrl", "prescribingInfo", "productReturnLink", "relatedLink", "replyToUrl", "sameAs"),
            *("serviceUrl", "shippingSettingsLink", "significantLink", "significantLinks", "targetUrl"),
            *("tourBookingPage", "trackingUrl", "url"),
        ),
        "metadata",
    ),
}

# The range is URL or a thing. Authors also write the thing's name, so a string is a reference only if it looks like one
# (grammars.likely). From `photo` on, URL is not in the range, but search engines read a string as a URL.
THINGS: Final[dict[str, str]] = {
    **dict.fromkeys(("colorSwatch", "image", "layoutImage", "logo", "screenshot"), "image"),
    **dict.fromkeys(("afterMedia", "beforeMedia", "duringMedia", "originalMediaLink"), "media"),
    **dict.fromkeys(
        (
            *("acquireLicensePage", "actionableFeedbackPolicy", "archivedAt", "associatedDisease", "colleague"),
            *("correctionsPolicy", "diseasePreventionInfo", "diseaseSpreadStatistics", "diversityPolicy"),
            *("diversityStaffingReport", "documentation", "ethicsPolicy", "gameLocation", "gettingTestedInfo"),
            *("hasDigitalProductPassport", "hasMap", "hasMolecularFunction", "inCodeSet", "inDefinedTermSet"),
            *("isBasedOn", "isBasedOnUrl", "isInvolvedInBiologicalProcess", "isLocatedInSubcellularLocation"),
            *("isPartOf", "license", "mainEntityOfPage", "masthead", "missionCoveragePrioritiesPolicy"),
            *("newsUpdatesAndGuidelines", "noBylinesPolicy", "publicTransportClosuresInfo", "publishingPrinciples"),
            *("quarantineGuidelines", "schoolClosuresInfo", "sdLicense", "season", "speakable", "target"),
            *("travelBans", "unnamedSourcesPolicy", "usageInfo", "verificationFactCheckingPolicy", "webFeed"),
        ),
        "metadata",
    ),
    **dict.fromkeys(("photo", "primaryImageOfPage", "thumbnail"), "image"),
    **dict.fromkeys(("audio", "video"), "media"),
    "item": "metadata",
}

# The range is URL or text: a relative reference cannot be distinguished from a word, so only absolute URLs are listed,
# and nothing is changed.
TEXTS: Final = frozenset(
    (
        *("acceptsReservations", "actionPlatform", "additionalType", "applicationCategory", "applicationSubCategory"),
        *("artMedium", "artform", "artworkSurface", "bankAccountType", "bodyType", "category", "childTaxon"),
        *("competencyRequired", "consumerNotice", "correction", "courseMode", "credentialCategory", "editEIDR"),
        *("educationalCredentialAwarded", "educationalLevel", "educationalProgramMode", "encodingFormat", "engineType"),
        *("featureList", "feesAndCommissionsSpecification", "fileFormat", "fuelType", "gamePlatform", "genre", "gtin"),
        *("hasMenu", "hasRepresentation", "identifier", "keywords", "knowsAbout", "legislationIdentifier", "loanType"),
        *("material", "measurementMethod", "measurementTechnique", "meetsEmissionStandard", "memoryRequirements"),
        *("menu", "namedPosition", "occupationalCredentialAwarded", "ownershipFundingInfo", "parentTaxon"),
        *("physicalRequirement", "propertyID", "releaseNotes", "requirements", "roleName", "schemaVersion"),
        *("securityClearanceRequirement", "sensoryRequirement", "softwareRequirements", "sport", "statType"),
        *("storageRequirements", "substanceOfConcern", "surface", "taxonRank", "taxonomicRange", "temporalCoverage"),
        *("termsOfService", "ticketToken", "titleEIDR", "unitCode", "usesHealthPlanIdStandard"),
        *("vehicleTransmission", "warning"),
    )
)
