"""What rows say under one rule: words that are the same for all of them, and facts found out once a reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.document.resolved import ROOM, Resolved
from absolve.inventory.problems import BEGINNING, OF_DOCUMENTS, WHITE_SPACE, is_never, problems, scope, site_of
from absolve.urls.cache import remembered
from absolve.urls.parse import NEVER_RELATIVE
from absolve.urls.predicates import is_plain, split_fragment

if TYPE_CHECKING:
    import cython

    from absolve.core.model import Link
    from absolve.document.entity import Entity
    from absolve.urls.base import BaseContext

    Codes = tuple[str, ...]  # of problems
    Seen = tuple[str, Codes]  # the scope of what is on a host, and what is wrong with going there
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import find
    from cython.cimports.absolve.document.entity import Entity  # noqa: TC002 - the type of a C argument
    from cython.cimports.absolve.document.resolved import LinkContext, link_context, shown, text
    from cython.cimports.absolve.encodings.codings import CharacterReferences
    from cython.cimports.absolve.urls.base import BaseContext  # noqa: TC002 - the type of a C argument
    from cython.cimports.absolve.urls.prefixing import (
        DOTS,
        FRAGMENT,
        NETWORK,
        OPAQUE,
        PATH,
        PrefixResolver,
        is_name,
        shape,
    )
    from cython.cimports.libc.string import memcmp
else:
    from absolve.core.byte_scan import find
    from absolve.document.resolved import LinkContext, link_context, shown, text
    from absolve.encodings.codings import CharacterReferences
    from absolve.urls.prefixing import DOTS, FRAGMENT, NETWORK, OPAQUE, PATH, PrefixResolver, is_name, shape


_is_plain = remembered(1024)(is_plain)

# Of what is told by its bytes.
_NONE = cython.declare(tuple, ())
_INSECURE = cython.declare(tuple, ("insecure",))
_SCHEME_RELATIVE = cython.declare(tuple, ("scheme-relative",))
_SPACED = cython.declare(tuple, (WHITE_SPACE,))

_NO_CHARACTER: Final = re.compile("[\ud800-\udfff]")
_MOST_KNOWN: Final = 10_000  # references, or hosts, of which what was found out is remembered
_LONGEST_KNOWN: Final = 1 << 16  # bytes of such a reference and its target


@cython.final
@cython.no_gc
@cython.cclass
class ReferenceFacts:
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
        self._spaced: ReferenceFacts | None = None

    @cython.ccall
    def spaced(self) -> ReferenceFacts:
        """The same for where white space stands around the reference."""
        if self._spaced is None:
            codes = (*self.problems, WHITE_SPACE)
            self._spaced = ReferenceFacts(self.reference, self.target, self.scope, codes, spaceable=False)
        return self._spaced


class KnownBases:
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

    def __init__(self, entity: Entity, base_context: BaseContext) -> None:
        base = base_context.base
        resolver = base_context.resolver
        url = base.url
        own = entity.bases.own.url
        self.base = base  # whose identity stands for it
        self.url = url
        self.words = (shown(url), base.layer.label, base.source)
        self.size = sum(map(len, self.words))
        self.site = site_of(own)
        self.site_name = (self.site or "").encode("utf-8", "surrogatepass")
        self.own_page = split_fragment(own)[0].encode("utf-8", "surrogatepass")
        self.secure = own[:6].lower() == "https:"
        self.tidies = entity.settings.profile == "whatwg"
        self.room = entity.settings.max_url - len(url) - ROOM  # as of a `LinkContext`
        self.held = entity.held
        self.where, self.codes = self.seen(url)  # of what is beside it
        self.appending: PrefixResolver | None = None
        if isinstance(resolver, PrefixResolver) and resolver.usable and url.isascii():
            self.appending = resolver if base_context.compared().is_harmless() else None
        self.scheme = url[: url.find(":") + 1].encode("utf-8", "surrogatepass")
        # of a reference without a scheme
        self.beside = (*_INSECURE, *_SCHEME_RELATIVE) if self.secure and self.scheme == b"http:" else _SCHEME_RELATIVE
        self._shape = 0
        self._prefix = b""
        self._prefixes: dict[int, bytes] = {}
        self._levels = -1

    @cython.cfunc
    def seen(self, url: str) -> Seen:
        """The scope of what is on the host of a URL, and what is wrong with going there."""
        insecure = self.secure and url[:5].lower() == "http:"
        return "internal" if site_of(url) == self.site else "external", _INSECURE if insecure else _NONE

    @cython.cfunc
    def prefix(self, of: cython.int) -> bytes:
        """What a reference of this shape gets."""
        if of != self._shape:  # most are like the last
            found = self._prefixes.get(of)
            if found is None:
                appending: PrefixResolver = self.appending  # type: ignore[assignment]  # else nobody asks
                found = self._prefixes[of] = appending.prefix(of).encode("ascii")
            self._shape = of
            self._prefix = found
        return self._prefix

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def climbs(self, of: cython.int) -> cython.bint:
        """Whether references of this shape climb above the root: each `../` takes away a segment of the directory."""
        if self._levels < 0:
            self._levels = self.prefix(PATH).count(b"/") - 3  # two before the host, one behind it
        return (of >> DOTS) // 3 > self._levels


@cython.final
@cython.cclass
class RowFacts:
    """The rows of links under one rule: what is found out for a reference holds for the next one that is the same.

    `words` are what all of them say: document, entity, element, attribute, kind, base, base_layer, base_source;
    `size` is how many characters they have. Where `tells` says so, `target` is what the target of a reference has
    before it, without the `dots` bytes at its beginning, and `where` and `codes` are its scope and its problems.
    """

    def __init__(
        self, entity: Entity, link: Link, document: str, known: KnownBases, rule: LinkContext | None = None
    ) -> None:
        place = link.place
        base_context = entity.ruled(link)
        base = base_context.base
        under: _Under | None = known.bases.get(id(base))
        if under is None:
            under = known.bases[id(base)] = _Under(entity, base_context)
        self.place = place
        self.scope = link.base
        element, attribute, _, kind, _, _, _ = cython.cast(tuple, place)
        path: str = entity.path
        self.words = (document, path, element, attribute, kind, *under.words)
        self.size = under.size + len(document) + len(path) + len(element) + len(attribute) + len(kind)
        self._entity = entity
        self._data = entity.own_data
        self._rule = rule
        self._known: dict[bytes, ReferenceFacts] = {}
        self._is_url = place.syntax == "url"
        self._of_documents = place.element in OF_DOCUMENTS
        self._hosts = known.hosts
        self._under = under
        self.target = b""
        self.dots = 0
        self.where = ""
        self.codes: Codes = _NONE

    @cython.ccall
    def facts(self, link: Link, value: bytes) -> ReferenceFacts:
        """What is to be said of a link that decodes to this value."""
        if self.tells(link, value, 0, len(value)):
            return ReferenceFacts(value, self.target + value[self.dots :], self.where, self.codes, spaceable=False)
        return self.judged(link, value)

    @cython.ccall
    def judged(self, link: Link, value: bytes) -> ReferenceFacts:
        """The same where not all of it is told by the bytes of the reference."""
        found: ReferenceFacts | None = None
        if link.claim is None:  # what is wrong with a claim depends on the claim
            found = self._known.get(value)
        if found is None:
            found = self._found(link, value)
            target = found.target
            if link.claim is None and len(value) + (0 if target is None else len(target)) <= _LONGEST_KNOWN:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[value] = found
        return found.spaced() if found.spaceable and _spaced(self._data, link) else found

    @cython.cfunc
    def _found(self, link: Link, value: bytes) -> ReferenceFacts:
        rule = self._rule
        if rule is None:  # most need none
            rule = self._rule = link_context(self._entity, link)
        reference = text(value)
        resolved = Resolved(self._entity, link, rule, reference)
        # What may be long is held no longer than it must be.
        target = resolved.target
        where = scope(resolved, target)
        beginning = None if target is None else target[:BEGINNING]
        led = None if target is None else (target if _is_characters(target) else shown(target)).encode()
        del target
        codes = tuple(problems(resolved, beginning))
        spaceable = self._is_url and WHITE_SPACE not in codes and not is_never(reference)
        seen = value if _is_characters(reference) else shown(reference).encode()
        return ReferenceFacts(seen, led, where, codes, spaceable)

    @cython.ccall
    def tells(
        self, link: Link, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether the bytes of the reference in this span, and its host, tell what is to be said of it.

        The profiles agree about a shape against a harmless base, and about most of what is absolute. What is wrong with
        a claim is not told, and nothing is with one that rules no more than an element, if it is a place.
        """
        found: cython.int
        host_end: cython.Py_ssize_t
        p: cython.p_const_uchar = data
        under: _Under = self._under
        if under.appending is None or end - start > under.room or (link.claim is not None and self._of_documents):
            return False
        self.target = b""
        self.dots = 0
        if not under.tidies:
            host_end = _host_end(p, start, end)
            if host_end > 0:
                host = start + 8 if p[start + 4] == 115 else start + 7
                return self._is_seen(data, start, host, host_end) and self._told(link, data, start, end)
        found = shape(p, start, end)
        if found == NETWORK:
            host = start + 2
            self.target = under.scheme
            self.where = "internal" if _is(p, host, find(p, 47, host, end), under.site_name) else "external"
            self.codes = under.beside
            return self._told(link, data, start, end)
        if found >= FRAGMENT:
            if found >> DOTS:
                if under.climbs(found):
                    return False
                self.dots = found >> DOTS
            self.target = under.prefix(found)
            self.where = under.where
            self.codes = under.codes
            return self._told(link, data, start, end)
        if found == OPAQUE and link.claim is None and not under.tidies and under.site and not under.held:
            value: bytes = data[start:end]
            self.where = "other"
            self.codes = _NONE
            return value.isascii() and not _is_place(value)
        return False

    @cython.cfunc
    def _is_seen(
        self, data: bytes, start: cython.Py_ssize_t, host: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.bint:
        """See what is known of a host; whether it is plain. A URL begins at `start`."""
        under: _Under = self._under
        if is_name(data, host, end):  # what `is_plain` says, and `site_of` would
            self.where = "internal" if _is(data, host, end, under.site_name) else "external"
            self.codes = _INSECURE if under.secure and host == start + 7 else _NONE
            return True
        url = data[start:end]
        if url not in self._hosts:
            if len(self._hosts) >= _MOST_KNOWN:
                self._hosts.clear()
            name = url.decode("ascii")
            self._hosts[url] = under.seen(name) if _is_plain(name) else None
        seen = self._hosts[url]
        if seen is not None:
            self.where, self.codes = seen
        return seen is not None

    @cython.cfunc
    def _told(
        self, link: Link, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.bint:
        """Say what else there is to be said of the reference in this span; whether it is."""
        under: _Under = self._under
        if _is_page(under.own_page, self.target, data, start + self.dots, end):
            self.where = "same-document"
        elif under.held:
            target = self.target + data[start + self.dots : end]
            if target.partition(b"#")[0].decode("ascii") in under.held:
                self.where = "internal"
        if self._is_url and _spaced(self._data, link):
            self.codes = (*self.codes, WHITE_SPACE) if self.codes else _SPACED
        return True


@cython.cfunc
def _is_characters(text: str) -> cython.bint:
    """Whether nothing in a text stands for bytes that are no character."""
    return text.isascii() or _NO_CHARACTER.search(text) is None


@cython.cfunc
@cython.exceptval(check=False)
def _is(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t, word: bytes) -> cython.bint:
    """Whether this span holds these bytes."""
    return end - start == len(word) and _same(p, start, word, 0, end - start)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _same(
    p: cython.p_const_uchar,
    i: cython.Py_ssize_t,
    q: cython.p_const_uchar,
    j: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.bint:
    """Whether so many bytes are the same."""
    if cython.compiled:
        return memcmp(p + i, q + j, size) == 0
    return p[i : i + size] == q[j : j + size]


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _is_page(
    page: bytes, prefix: bytes, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether `prefix` and this span are the URL of a page, but for a fragment; no page where that is empty."""
    p: cython.p_const_uchar = data
    q: cython.p_const_uchar = prefix
    size: cython.Py_ssize_t = len(page)
    first: cython.Py_ssize_t = min(len(prefix), size)
    rest: cython.Py_ssize_t = size - first  # bytes of the page behind the prefix
    if not size or rest > end - start:
        return False
    if first < len(prefix):
        if q[first] != 35:
            return False
    elif start + rest < end and p[start + rest] != 35:
        return False
    return _same(q, 0, page, 0, first) and _same(p, start, page, first, rest)


@cython.cfunc
def _is_place(reference: bytes) -> cython.bint:
    """Whether a reference with a scheme is a place in a hierarchy, as far as its scheme tells (2.3)."""
    name, _, rest = reference.partition(b":")
    return name.lower().decode("ascii") not in NEVER_RELATIVE or rest.startswith(b"//")


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _host_end(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the authority ends in an absolute URL that every profile takes alike, `HARMLESS` says which; else 0."""
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    odd: cython.uchar = 0
    if end < start + 8 or p[start] != 104 or p[start + 1] != 116 or p[start + 2] != 116 or p[start + 3] != 112:
        return 0
    i = start + 5 if p[start + 4] == 115 else start + 4
    if p[i] != 58 or p[i + 1] != 47 or p[i + 2] != 47:
        return 0
    i += 3
    for at in range(i, end - 1):  # without a way out of it a compiler takes many bytes at once
        odd |= (p[at] <= 32) | (p[at] > 127) | (p[at] == 92) | ((p[at] == 47) & (p[at + 1] == 46))
    if odd or p[end - 1] <= 32 or p[end - 1] > 127 or p[end - 1] == 92:
        return 0
    while i < end and p[i] != 47 and p[i] != 63 and p[i] != 35:
        i += 1
    return i


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
