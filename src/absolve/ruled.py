"""What rows say under one rule: words that are the same for all of them, and facts found out once a reference."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from absolve.judging import WHITE_SPACE, is_never, problems, scope, site_of
from absolve.resolved import Resolved
from absolve.resolvers.comparison import climbs_above_root, harmless
from absolve.resolvers.references import NEVER_RELATIVE
from absolve.resolvers.urls import is_plain, split_fragment

if TYPE_CHECKING:
    import cython

    from absolve.entity import Entity
    from absolve.model import Link

    Seen = tuple[str, bool]  # the scope of what is on a host, and whether it is insecure to go there
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.resolved import Rule, text
    from cython.cimports.absolve.resolvers.appending import DOTS, FRAGMENT, NETWORK, OPAQUE, Appending, shape
else:
    from absolve.resolved import Rule, text
    from absolve.resolvers.appending import DOTS, FRAGMENT, NETWORK, OPAQUE, Appending, shape


_is_plain = lru_cache(maxsize=1024)(is_plain)

# Of what is told by its bytes; nobody changes them.
_NONE: list[str] = []
_INSECURE = ["insecure"]

_MOST_KNOWN: Final = 10_000  # references, or hosts, of which what was found out is remembered


@cython.final
@cython.cclass
class Facts:
    """What a row says of a reference, wherever it stands under one rule; attributes are the fields of `Row`.

    `spaceable`: white space around it is a problem that is not among these yet.
    """

    def __init__(
        self, reference: str, target: str | None, scope: str, problems: list[str], spaceable: cython.bint
    ) -> None:
        self.reference = reference
        self.target = target
        self.scope = scope
        self.problems = problems
        self.spaceable = spaceable
        self._spaced: Facts | None = None

    @cython.ccall
    def spaced(self) -> Facts:
        """The same for where white space stands around the reference."""
        if self._spaced is None:
            codes = [*self.problems, WHITE_SPACE]
            self._spaced = Facts(self.reference, self.target, self.scope, codes, spaceable=False)
        return self._spaced


@cython.final
@cython.cclass
class Ruled:
    """The rows of links under one rule: what is found out for a reference holds for the next one that is the same.

    `words` are what all of them say: document, entity, element, attribute, kind, base, base_layer, base_source.
    `hosts` is what was found out of hosts in this entity, shared by all of its rules.
    """

    def __init__(self, entity: Entity, rule: Rule, document: str, hosts: dict[str, Seen | None]) -> None:
        place = rule.place
        base = rule.base.url
        own = rule.own.url
        self.place = place
        self.scope = rule.scope
        self.words = (
            *(document, entity.path, place.element, place.attribute, place.kind),
            *(shown(base), rule.base.layer.label, rule.base.source),
        )
        self._entity = entity
        self._data = entity.data
        self._rule = rule
        self._known: dict[bytes, Facts] = {}
        self._is_url = place.syntax == "url"
        # What the references have in common that only get something of the base before them, whatever they are.
        self._appending: Appending | None = None
        if isinstance(rule.resolver, Appending) and rule.resolver.usable and base.isascii() and harmless(base):
            self._appending = rule.resolver
        self._own_page = split_fragment(own)[0]
        self._has_own = bool(own)
        self._held = entity.held
        self._site = site_of(own)
        self._secure = own[:6].lower() == "https:"
        self._tidies = rule.settings.profile == "whatwg"
        self._hosts = hosts
        self._near = self._seen(base)
        self._url = base
        self._climbing: dict[int, bool] = {}

    @cython.ccall
    def facts(self, link: Link, value: bytes) -> Facts:
        """What is to be said of a link that decodes to this value."""
        found: Facts | None = None
        if link.claim is None:  # what is wrong with a claim depends on the claim
            found = self._known.get(value)
        if found is None:
            found = self._found(link, value)
            if link.claim is None:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[value] = found
        return found.spaced() if found.spaceable and _spaced(self._data, link) else found

    @cython.cfunc
    def _found(self, link: Link, value: bytes) -> Facts:
        reference = text(value)
        facts: Facts | None = None
        if self._appending is not None and link.claim is None and value.isascii():
            facts = self._told(self._appending, reference, value)
        if facts is not None:
            return facts
        resolved = Resolved(self._entity, link, self._rule, reference)
        target = resolved.target
        codes = list(problems(resolved, target))
        spaceable = self._is_url and WHITE_SPACE not in codes and not is_never(reference)
        seen_target = shown(target) if target is not None else None
        return Facts(shown(reference), seen_target, scope(resolved, target), codes, spaceable)

    @cython.cfunc
    def _told(self, appending: Appending, reference: str, value: bytes) -> Facts | None:
        """What is to be said of a reference in ASCII where its bytes and its host tell; None where they do not.

        The profiles agree about a shape against a harmless base, and about most of what is absolute.
        """
        found: cython.int
        length: cython.Py_ssize_t
        if not self._tidies:
            length = _host_end(value, len(value))
            if length > 0:
                seen = self._host(reference[:length])
                return self._known_from(seen, reference, reference) if seen is not None else None
        found = shape(value, 0, len(value))
        if found == NETWORK:
            return self._scheme_relative(reference)
        if found >= FRAGMENT:
            if found >> DOTS:
                if found not in self._climbing:
                    self._climbing[found] = climbs_above_root(self._url, reference)
                if self._climbing[found]:
                    return None
            return self._known_from(self._near, reference, appending.prefix(found) + reference[found >> DOTS :])
        if found == OPAQUE and not self._tidies and self._site and not self._held and not self._is_place(reference):
            return Facts(reference, reference, "other", _NONE, spaceable=False)
        return None

    @cython.cfunc
    def _scheme_relative(self, reference: str) -> Facts | None:
        """The same for `//h/x`."""
        scheme = self._url[: self._url.index("/")]
        seen = self._host(scheme + reference[: reference.index("/", 2)])
        if seen is None:
            return None
        facts = self._known_from(seen, reference, scheme + reference)
        facts.problems = [*facts.problems, "scheme-relative"]
        return facts

    @cython.cfunc
    def _host(self, url: str) -> Seen | None:
        """What is known of the host of a URL that ends behind it; None where that is not plain."""
        if url in self._hosts:
            return self._hosts[url]
        if len(self._hosts) >= _MOST_KNOWN:
            self._hosts.clear()
        seen = self._hosts[url] = self._seen(url) if _is_plain(url) else None
        return seen

    @cython.cfunc
    def _is_place(self, reference: str) -> cython.bint:
        """Whether a reference with a scheme is a place in a hierarchy, as far as its scheme tells (2.3)."""
        name, _, rest = reference.partition(":")
        return name.lower() not in NEVER_RELATIVE or rest.startswith("//")

    @cython.cfunc
    def _seen(self, url: str) -> Seen:
        """The scope of what is on the host of a URL, and whether it is insecure to go there."""
        insecure = self._secure and url[:5].lower() == "http:"
        return "internal" if site_of(url) == self._site else "external", insecure

    @cython.cfunc
    def _known_from(self, seen: Seen, reference: str, target: str) -> Facts:
        where, insecure = seen
        if self._has_own and target.startswith(self._own_page) and target.partition("#")[0] == self._own_page:
            where = "same-document"
        elif self._held and target.partition("#")[0] in self._held:
            where = "internal"
        return Facts(reference, target, where, _INSECURE if insecure else _NONE, self._is_url)


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _host_end(raw: bytes, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the authority ends in an absolute URL that every profile takes alike, `HARMLESS` says which; else 0."""
    p: cython.p_const_uchar = raw
    i: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    if end < 8 or p[0] != 104 or p[1] != 116 or p[2] != 116 or p[3] != 112:
        return 0
    i = 5 if p[4] == 115 else 4
    if p[i] != 58 or p[i + 1] != 47 or p[i + 2] != 47:
        return 0
    i += 3
    while i < end:
        if p[i] <= 32 or p[i] == 92 or (p[i] == 47 and i + 1 < end and p[i + 1] == 46):
            return 0
        if not found and (p[i] == 47 or p[i] == 63 or p[i] == 35):
            found = i
        i += 1
    return found or end


@cython.ccall
def shown(text: str) -> str:
    """Text that any sink can write: what was no character becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@cython.cfunc
def _spaced(data: bytes, link: Link) -> cython.bint:
    """White space around a reference that is a whole attribute value, raw or by character references."""
    if link.tag_start < 0:
        return False
    slot = link.coding.slot
    if slot is None:  # in quotes: what is next to it is one of them, or white space
        return not (_is_quote(data[link.start - 1]) and _is_quote(data[link.end]))
    return slot != (link.start, link.end)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_quote(byte: cython.int) -> cython.bint:
    return byte == 34 or byte == 39  # noqa: PLR1714 - a set would be looked up
