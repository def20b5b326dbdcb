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

    Codes = tuple[str, ...]  # of problems
    Seen = tuple[str, bool]  # the scope of what is on a host, and whether it is insecure to go there
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.codings import CharacterReferences
    from cython.cimports.absolve.resolved import Rule, text
    from cython.cimports.absolve.resolvers.appending import DOTS, FRAGMENT, NETWORK, OPAQUE, Appending, is_name, shape
else:
    from absolve.codings import CharacterReferences
    from absolve.resolved import Rule, text
    from absolve.resolvers.appending import DOTS, FRAGMENT, NETWORK, OPAQUE, Appending, is_name, shape


_is_plain = lru_cache(maxsize=1024)(is_plain)

# Of what is told by its bytes.
_NONE = cython.declare(tuple, ())
_INSECURE = cython.declare(tuple, ("insecure",))
_SCHEME_RELATIVE = cython.declare(tuple, ("scheme-relative",))

_MOST_KNOWN: Final = 10_000  # references, or hosts, of which what was found out is remembered


@cython.final
@cython.cclass
class Facts:
    """What a row says of a reference, wherever it stands under one rule; attributes are the fields of `Row`.

    `reference` and `target` are in UTF-8. `spaceable`: white space around it is a problem that is not among these yet.
    """

    def __init__(
        self, reference: bytes, target: bytes | None, scope: str, problems: Codes, spaceable: cython.bint
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
            codes = (*self.problems, WHITE_SPACE)
            self._spaced = Facts(self.reference, self.target, self.scope, codes, spaceable=False)
        return self._spaced


class Known:
    """What was found out under the bases of one entity, and of hosts that it links to: all of its rules share it."""

    __slots__ = ("bases", "hosts")

    def __init__(self) -> None:
        self.bases: dict[int, _Under] = {}
        self.hosts: dict[bytes, Seen | None] = {}


@cython.final
@cython.cclass
class _Under:
    """What references have in common that are resolved against one base in an entity.

    `words` are what their rows say of it: base, base_layer, base_source. `appending` is the resolver, where most of
    them only get something of the base before them, whatever they are.
    """

    def __init__(self, entity: Entity, rule: Rule) -> None:
        url = rule.base.url
        own = rule.own.url
        self.url = url
        self.words = (shown(url), rule.base.layer.label, rule.base.source)
        self.site = site_of(own)
        self.site_name = (self.site or "").encode("utf-8", "surrogatepass")
        self.own_page = split_fragment(own)[0].encode("utf-8", "surrogatepass")
        self.secure = own[:6].lower() == "https:"
        self.tidies = rule.settings.profile == "whatwg"
        self.held = entity.held
        self.near = self.seen(url)
        self.appending: Appending | None = None
        if isinstance(rule.resolver, Appending) and rule.resolver.usable and url.isascii() and harmless(url):
            self.appending = rule.resolver
        self._prefixes: dict[int, bytes] = {}
        self._climbing: dict[int, bool] = {}

    @cython.cfunc
    def seen(self, url: str) -> Seen:
        """The scope of what is on the host of a URL, and whether it is insecure to go there."""
        insecure = self.secure and url[:5].lower() == "http:"
        return "internal" if site_of(url) == self.site else "external", insecure

    @cython.cfunc
    def prefix(self, of: cython.int) -> bytes:
        """What a reference of this shape gets."""
        found = self._prefixes.get(of)
        if found is None:
            appending: Appending = self.appending  # type: ignore[assignment]  # else nobody asks
            found = self._prefixes[of] = appending.prefix(of).encode("ascii")
        return found

    @cython.cfunc
    def climbs(self, of: cython.int, reference: bytes) -> cython.bint:
        """Whether references of this shape, as this one is, climb above the root."""
        if of not in self._climbing:
            self._climbing[of] = climbs_above_root(self.url, reference.decode("ascii"))
        return self._climbing[of]


@cython.final
@cython.cclass
class Ruled:
    """The rows of links under one rule: what is found out for a reference holds for the next one that is the same.

    `words` are what all of them say: document, entity, element, attribute, kind, base, base_layer, base_source.
    """

    def __init__(self, entity: Entity, rule: Rule, document: str, known: Known) -> None:
        place = rule.place
        under: _Under | None = known.bases.get(id(rule.base))
        if under is None:
            under = known.bases[id(rule.base)] = _Under(entity, rule)
        self.place = place
        self.scope = rule.scope
        self.words = (document, entity.path, place.element, place.attribute, place.kind, *under.words)
        self._entity = entity
        self._data = entity.data
        self._rule = rule
        self._known: dict[bytes, Facts] = {}
        self._is_url = place.syntax == "url"
        self._hosts = known.hosts
        self._under = under

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
        facts: Facts | None = None
        if self._under.appending is not None and link.claim is None and value.isascii():
            facts = self._told(value)
        if facts is not None:
            return facts
        reference = text(value)
        resolved = Resolved(self._entity, link, self._rule, reference)
        target = resolved.target
        codes = tuple(problems(resolved, target))
        spaceable = self._is_url and WHITE_SPACE not in codes and not is_never(reference)
        seen_target = shown(target).encode() if target is not None else None
        return Facts(shown(reference).encode(), seen_target, scope(resolved, target), codes, spaceable)

    @cython.cfunc
    def _told(self, value: bytes) -> Facts | None:
        """What is to be said of a reference in ASCII where its bytes and its host tell; None where they do not.

        The profiles agree about a shape against a harmless base, and about most of what is absolute.
        """
        found: cython.int
        length: cython.Py_ssize_t
        under: _Under = self._under
        if not under.tidies:
            length = _host_end(value, len(value))
            if length > 0:
                seen = self._host(value, 8 if value[4] == 115 else 7, length)
                return self._known_from(seen, value, value, _NONE) if seen is not None else None
        found = shape(value, 0, len(value))
        if found == NETWORK:
            return self._scheme_relative(value)
        if found >= FRAGMENT:
            if found >> DOTS and under.climbs(found, value):
                return None
            target: bytes = under.prefix(found) + (value[found >> DOTS :] if found >> DOTS else value)
            return self._known_from(under.near, value, target, _NONE)
        if found == OPAQUE and not under.tidies and under.site and not under.held and not _is_place(value):
            return Facts(value, value, "other", _NONE, spaceable=False)
        return None

    @cython.cfunc
    def _scheme_relative(self, value: bytes) -> Facts | None:
        """The same for `//h/x`."""
        url = self._under.url
        start: cython.Py_ssize_t = url.index("/") + 2
        target = url[: start - 2].encode("ascii") + value
        seen = self._host(target, start, target.index(b"/", start))
        return self._known_from(seen, value, target, _SCHEME_RELATIVE) if seen is not None else None

    @cython.cfunc
    def _host(self, target: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Seen | None:
        """What is known of the host of a URL, which stands in this span; None where that is not plain."""
        under: _Under = self._under
        if is_name(target, start, end):  # what `is_plain` says, and `site_of` would
            where = "internal" if target[start:end] == under.site_name else "external"
            return where, under.secure and target.startswith(b"http:")
        url = target[:end]
        if url in self._hosts:
            return self._hosts[url]
        if len(self._hosts) >= _MOST_KNOWN:
            self._hosts.clear()
        host = url.decode("ascii")
        seen = self._hosts[url] = under.seen(host) if _is_plain(host) else None
        return seen

    @cython.cfunc
    def _known_from(self, seen: Seen, reference: bytes, target: bytes, codes: Codes) -> Facts:
        """The same for what is on a host of which that was seen; `codes` are its other problems."""
        where, insecure = seen
        own = self._under.own_page
        if own and target.startswith(own) and (len(target) == len(own) or target[len(own)] == 35):
            where = "same-document"
        elif self._under.held and target.partition(b"#")[0].decode("ascii") in self._under.held:
            where = "internal"
        if insecure:
            codes = ("insecure", *codes) if codes else _INSECURE
        return Facts(reference, target, where, codes, self._is_url)


@cython.cfunc
def _is_place(reference: bytes) -> cython.bint:
    """Whether a reference with a scheme is a place in a hierarchy, as far as its scheme tells (2.3)."""
    name, _, rest = reference.partition(b":")
    return name.lower().decode("ascii") not in NEVER_RELATIVE or rest.startswith(b"//")


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
    coding = link.coding
    if type(coding) is CharacterReferences:
        references: CharacterReferences = coding
        slot = references.slot
    else:
        slot = coding.slot
    if slot is None:  # in quotes: what is next to it is one of them, or white space
        return not (_is_quote(data[link.start - 1]) and _is_quote(data[link.end]))
    return slot != (link.start, link.end)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_quote(byte: cython.int) -> cython.bint:
    return byte == 34 or byte == 39  # noqa: PLR1714 - a set would be looked up
