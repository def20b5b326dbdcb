"""Cached row values: constant columns per base and site, and columns computed once per reference.

In: the links of an entity, with their base contexts (RFC 1808 section 3). Out: `BaseFacts`, for the rows of all
references that are resolved against one base; `RowFacts`, shared by all links of one site under it; per reference its
target (section 4), scope and problem codes. On the fast path these follow from the reference's shape
(`urls/predicates.py`) and host, without parsing a URL; otherwise they are a cached `ReferenceFacts`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.caching import remembered
from absolve.document.resolved import ROOM, LinkContext, Resolved, link_context, shown, text
from absolve.encodings.codings import CharacterReferences
from absolve.inventory import COMPANION, PROBLEMS
from absolve.inventory.problems import OF_DOCUMENTS, WHITE_SPACE, beginning, is_never, problems, scope, target_problems
from absolve.urls import PROFILES, predicates
from absolve.urls.base import found_as
from absolve.urls.identity import site
from absolve.urls.predicates import (
    PrefixResolver,
    canonical_host_end,
    http_host,
    is_canonical_opaque,
    is_name,
    is_plain,
    may_have_placeholder,
    shape,
    split_fragment,
)
from absolve.urls.rfc1808 import NEVER_RELATIVE

if TYPE_CHECKING:
    import cython

    from absolve.core.model import Link
    from absolve.document.entity import Entity
    from absolve.urls.base import BaseContext

    Codes = tuple[str, ...]  # problem codes
    Seen = tuple[str, Codes]  # the scope of targets on a host, and the problems of their scheme


_is_plain = remembered(1024)(is_plain)

# Problem codes of references on the fast path.
_NONE = ()
_SCHEME_RELATIVE = ("scheme-relative",)
_SPACED = (WHITE_SPACE,)

_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]++")
# ~ is plain in every profile; each copies & and |, too, but `shape` knows no & that is decoded
_STAND_INS: Final = bytes(ord("~") if byte >= 0x80 or byte in b"&|" else byte for byte in range(256))
_UNDECIDED: Final = frozenset({"same-document", "other"})  # scopes that need the characters themselves
_NO_CHARACTER: Final = re.compile("[\ud800-\udfff]")
_MOST_KNOWN: Final = 10_000  # references, or hosts, in a cache
_SHORT: Final = 1 << 10  # characters of a target that is not freed early
_LONGEST_KNOWN: Final = 1 << 16  # bytes of a cached reference with its target


class KnownBases:
    """Cached facts about the bases of one entity, by id, and about the hosts that it links to; for all its RowFacts.

    Entities inside it that share its contexts share them, too.
    """

    __slots__ = ("bases", "hosts")

    def __init__(self) -> None:
        self.bases: dict[int, BaseFacts] = {}
        self.hosts: dict[bytes, Seen | None] = {}


class BaseFacts:
    """Facts common to all references that are resolved against one base in an entity.

    `words` are the columns base, base_layer and base_source. `appending` is the resolver if every profile resolves
    most references by the same prefix of the base; otherwise it is None. `in_utf_8`: the charset of
    the document, in which the URL Standard encodes queries, is UTF-8.
    """

    def __init__(self, entity: Entity, base_context: BaseContext) -> None:
        base = base_context.base
        resolver = base_context.resolver
        url = base.url
        own = entity.bases.own.url
        self.base = base  # a reference to it: its id is the key in the cache
        self.url = url
        self.words = (shown(url), base.layer.label, base.source)
        self.size = sum(map(len, self.words))
        self.site = site(own)
        self.site_name = (self.site or "").encode("utf-8", "surrogatepass")
        self.own_page = split_fragment(own)[0].encode("utf-8", "surrogatepass")
        self.own = own
        self.normalizes = PROFILES[entity.settings.profile].normalizes
        self.in_utf_8 = base_context.charset == "utf-8"
        self.room = entity.settings.max_url - len(url) - ROOM  # like `LinkContext.room`
        self.held = entity.held
        self.files = entity.files is not None
        self.where, self.codes = self.seen(url)  # of targets on the same host
        self.appending: PrefixResolver | None = None
        if isinstance(resolver, PrefixResolver) and resolver.usable and url.isascii() and base_context.other is None:
            self.appending = resolver if base_context.compared().agrees_on_shapes() else None
        self.scheme = url[: url.find(":") + 1].encode("utf-8", "surrogatepass")
        # Problem codes of references with a host: with the schemes http and https, and without any.
        self.http_codes = target_problems("http:", own)
        self.https_codes = target_problems("https:", own)
        self.relative_codes = (*self.codes, *_SCHEME_RELATIVE)
        self._shape = 0
        self._prefix = b""
        self._prefixes: dict[int, bytes] = {}
        self._levels = -1

    def seen(self, url: str) -> Seen:
        """Return the scope and the problem codes of targets with the scheme and the authority of a URL."""
        codes = target_problems(url, self.own)
        host = self.site if url == self.own else site(url)
        return "internal" if host == self.site else "external", codes

    def prefix(self, of: cython.int) -> bytes:
        """Return the prefix of a reference shape."""
        if of != self._shape:  # most references have the shape of the one before
            found = self._prefixes.get(of)
            if found is None:
                appending: PrefixResolver = self.appending  # type: ignore[assignment]  # callers have checked it
                found = self._prefixes[of] = appending.prefix(of).encode("ascii")
            self._shape = of
            self._prefix = found
        return self._prefix

    def climbs(self, of: cython.int) -> cython.bint:
        """Return whether references of this shape climb above the root: each `../` removes a segment of the path."""
        if self._levels < 0:
            self._levels = self.prefix(predicates.PATH).count(b"/") - 3  # two before the host, one after it
        return (of >> predicates.DOTS) // 3 > self._levels


class ReferenceFacts:
    """The columns of a row that depend on its reference, for one site and base; attributes are fields of `Row`.

    `reference` and `target` are in UTF-8. `spaceable`: white space around it would be a problem not in `problems`.
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

    def spaced(self) -> ReferenceFacts:
        """Return the same with the problem of white space around the reference; cached."""
        if self._spaced is None:
            codes = tuple(sorted((*self.problems, WHITE_SPACE), key=PROBLEMS.index))
            self._spaced = ReferenceFacts(self.reference, self.target, self.scope, codes, spaceable=False)
        return self._spaced


class RowFacts:
    """The columns of all links of one site under one base; facts are computed once per distinct reference.

    `words` are the constant columns: document, entity, element, attribute, kind, base, base_layer, base_source;
    `size` is their length in characters. After `find`, the reference in UTF-8 is the span of `data`
    from `start` to `end`, the target is `target` plus the reference without its first `skipped` bytes, unless it is
    None, and `where` and `codes` are its scope and its problem codes.
    """

    def __init__(
        self, entity: Entity, link: Link, document: str, known: KnownBases, context: LinkContext | None = None
    ) -> None:
        place = link.place
        base_context = entity.ruled(link)
        base = base_context.base
        base_facts: BaseFacts | None = known.bases.get(id(base))
        if base_facts is None:
            base_facts = known.bases[id(base)] = BaseFacts(entity, base_context)
        self.place = place
        self.scope = link.base
        element, attribute, kind = place.element, place.attribute, place.kind
        path: str = entity.path
        self.words = (document, path, element, attribute, kind, *base_facts.words)
        self.size = base_facts.size + len(document) + len(path) + len(element) + len(attribute) + len(kind)
        self._entity = entity
        self._data = entity.own_data
        self._context = context
        self._known: dict[bytes, ReferenceFacts] = {}
        self._is_url = place.syntax == "url"
        self._of_documents = element in OF_DOCUMENTS
        self._may_be_local = place.stays != "" and base_context.elsewhere
        self._hosts = known.hosts
        self._base_facts = base_facts
        self.data = b""
        self.start = self.end = 0
        self.target: bytes | None = b""
        self.skipped = 0
        self.where = ""
        self.codes: Codes = _NONE
        self._shown: bytes | None = None
        self._text = ""

    def find(self, link: Link, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Find the facts of a link whose decoded value (UTF-8) is this span of `data`."""
        self.data = data
        self.start = start
        self.end = end
        if not self._find_fast(link, data, start, end):
            facts: ReferenceFacts = self._judged(link, byte_scan.cut(data, start, end))
            self.data = facts.reference
            self.start = 0
            self.end = self.skipped = len(facts.reference)
            self.target = facts.target
            self.where = facts.scope
            self.codes = facts.problems
        return 0

    @property
    def reference(self) -> str:
        """The reference, as found."""
        return self.data[self.start : self.end].decode("utf-8")

    def target_text(self, reference: str) -> str | None:
        """Return the target, as found, of the reference with this text."""
        target = self.target
        if target is None:
            return None
        if not target:
            return reference  # one str object for both, as for absolute references
        if target is not self._shown:  # most links have the prefix of the one before
            self._text = target.decode("utf-8")
            self._shown = target
        if not self.skipped:
            return self._text + reference
        if self.skipped == self.end - self.start:
            return self._text
        return self._text + reference[self.skipped :]  # on the fast path, in ASCII

    def _judged(self, link: Link, value: bytes) -> ReferenceFacts:
        """Return the same without the fast path, from the cache if the reference is known."""
        found: ReferenceFacts | None = None
        if link.claim is None:  # the problems of a claim depend on the claim
            found = self._known.get(value)
        if found is None:
            found = self._found(link, value)
            target = found.target
            if link.claim is None and len(value) + (0 if target is None else len(target)) <= _LONGEST_KNOWN:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[value] = found
        return found.spaced() if found.spaceable and _spaced(self._data, link) else found

    def _as_plain(self, link: Link, value: bytes) -> ReferenceFacts | None:
        """Return the facts of a reference with &, | or characters beyond ASCII by the fast path, None if that fails.

        It succeeds if all are in the path, the query or the fragment. There the RFC profiles copy them; the URL
        Standard percent-encodes them, in UTF-8, but a query in the charset of the document (1.3).
        """
        base_facts: BaseFacts = self._base_facts
        like = value.translate(_STAND_INS)
        if like == value or base_facts.held or 3 * len(value) > base_facts.room:
            return None
        if not self._find_fast(link, like, 0, len(like)):
            return None
        reference = text(value)
        if self.where in _UNDECIDED or not _is_characters(reference) or may_have_placeholder(reference):
            return None
        rest = value[self.skipped :]
        if base_facts.normalizes:
            if not base_facts.in_utf_8 and b"?" in rest:
                return None
            rest = _BEYOND_ASCII.sub(_percent_encoded, rest)
        target = (self.target or b"") + rest
        if base_facts.own_page and target.partition(b"#")[0] == base_facts.own_page:
            return None
        codes = self.codes[:-1] if self.codes and self.codes[-1] == WHITE_SPACE else self.codes
        return ReferenceFacts(value, target, self.where, codes, spaceable=self._is_url)

    def _found(self, link: Link, value: bytes) -> ReferenceFacts:
        found = self._as_plain(link, value)
        if found is not None:
            return found
        context = self._context
        if context is None:  # the fast path needs none
            context = self._context = link_context(self._entity, link)
        reference = text(value)
        resolved = Resolved(self._entity, link, context, reference)
        # Long texts are freed as early as possible.
        target = resolved.target
        where = scope(resolved, target)
        begins = target if target is None or len(target) <= _SHORT else beginning(target)
        led = None if target is None else (target if _is_characters(target) else shown(target)).encode()
        del target
        codes = tuple(problems(resolved, begins))
        spaceable = self._is_url and WHITE_SPACE not in codes and COMPANION not in codes and not is_never(reference)
        seen = value if _is_characters(reference) else shown(reference).encode()
        return ReferenceFacts(seen, led, where, codes, spaceable)

    def _find_fast(self, link: Link, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Set the facts of the reference `data[start:end]` from its bytes; return False if this fast path fails.

        All profiles agree on a reference shape against a harmless base, and on most absolute references. The claim of a
        document's base is excluded: its problems depend on the claim. One for an element only has no problems, unless
        its URL has no hierarchy.
        """
        found: cython.int
        host: cython.Py_ssize_t
        host_end: cython.Py_ssize_t
        p: cython.p_const_uchar = data
        base_facts: BaseFacts = self._base_facts
        if (
            base_facts.appending is None
            or end - start > base_facts.room
            or (link.claim is not None and self._of_documents)
        ):
            return False
        self.target = b""
        self.skipped = 0
        host = http_host(p, start, end)
        if host > 0:
            host_end = canonical_host_end(p, host, end) if base_facts.normalizes else _host_end(p, host, end)
            if host_end > 0:
                if base_facts.normalizes and (host_end == end or p[host_end] != 47):  # the URL Standard adds a slash
                    self.target = data[start:host_end] + b"/"
                    self.skipped = host_end - start
                return self._is_seen(data, start, host, host_end) and self._complete(link, data, start, end)
        found = shape(p, start, end)
        host = start + 2
        if found == predicates.NETWORK or (
            not base_facts.normalizes and end > host and p[start] == 47 and p[start + 1] == 47 and is_name(p, host, end)
        ):
            host_end = end if found != predicates.NETWORK else byte_scan.find(p, 47, host, end)
            is_internal = _is(p, host, host_end, base_facts.site_name)
            if is_internal and host_end == end:  # perhaps the own page, whose URL has a slash
                return False
            self.target = base_facts.scheme
            self.where = "internal" if is_internal else "external"
            self.codes = base_facts.relative_codes
            return self._complete(link, data, start, end)
        if found >= predicates.FRAGMENT:
            if found == predicates.FRAGMENT and self._may_be_local:  # perhaps in the document itself
                return False
            if base_facts.files and found & predicates.KIND == predicates.PATH:
                return False
            if found >> predicates.DOTS:
                if base_facts.climbs(found):
                    return False
                self.skipped = found >> predicates.DOTS
            self.target = base_facts.prefix(found)
            self.where = base_facts.where
            self.codes = base_facts.codes
            return self._complete(link, data, start, end)
        if base_facts.held or (base_facts.normalizes and not is_canonical_opaque(p, start, end)):
            return False
        if found == predicates.OPAQUE and link.claim is None and base_facts.site:
            value: bytes = data[start:end]
            self.where = "other"
            self.codes = _NONE
            return value.isascii() and not _is_place(value)
        return False

    def _is_seen(
        self, data: bytes, start: cython.Py_ssize_t, host: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.bint:
        """Set `where` and `codes` from the host of the absolute URL at `start`; return whether the host is plain."""
        base_facts: BaseFacts = self._base_facts
        if is_name(data, host, end):  # then `is_plain` is true, and `identity.site` returns the name
            self.where = "internal" if _is(data, host, end, base_facts.site_name) else "external"
            self.codes = base_facts.http_codes if host == start + 7 else base_facts.https_codes
            return True
        url = data[start:end]
        if url not in self._hosts:
            if len(self._hosts) >= _MOST_KNOWN:
                self._hosts.clear()
            name = url.decode("ascii")
            self._hosts[url] = base_facts.seen(name) if _is_plain(name) else None
        seen = self._hosts[url]
        if seen is not None:
            self.where, self.codes = seen
        return seen is not None

    def _complete(self, link: Link, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Complete the facts of the reference in this span: own page, same message, white space. Return True."""
        base_facts: BaseFacts = self._base_facts
        prefix: bytes = self.target  # type: ignore[assignment]  # set by the caller
        if _is_page(base_facts.own_page, prefix, data, start + self.skipped, end):
            self.where = "same-document"
        elif base_facts.held:
            target = prefix + data[start + self.skipped : end]
            if found_as(target.decode("ascii")) in base_facts.held:
                self.where = "internal"
        if self._is_url and _spaced(self._data, link):
            self.codes = (*self.codes, WHITE_SPACE) if self.codes else _SPACED
        return True


def _percent_encoded(match: re.Match[bytes]) -> bytes:
    return "".join([f"%{byte:02X}" for byte in match[0]]).encode("ascii")


def _is_characters(text: str) -> cython.bint:
    """Return whether a text has no lone surrogates, which represent bytes that are no character."""
    return text.isascii() or _NO_CHARACTER.search(text) is None


def _is(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t, word: bytes) -> cython.bint:
    """Return whether this span equals `word`."""
    return end - start == len(word) and byte_scan.same(p, start, word, 0, end - start)


def _is_page(page: bytes, prefix: bytes, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether `prefix` and this span are the URL `page`, except for a fragment; False if `page` is empty."""
    p: cython.p_const_uchar = data
    q: cython.p_const_uchar = prefix
    size: cython.Py_ssize_t = len(page)
    first: cython.Py_ssize_t = min(len(prefix), size)
    rest: cython.Py_ssize_t = size - first  # bytes of the page after the prefix
    if not size or rest > end - start:
        return False
    if first < len(prefix):
        if q[first] != 35:
            return False
    elif start + rest < end and p[start + rest] != 35:
        return False
    return byte_scan.same(q, 0, page, 0, first) and byte_scan.same(p, start, page, first, rest)


def _is_place(reference: bytes) -> cython.bint:
    """Return whether a reference with a scheme is hierarchical, judging by its scheme (RFC 1808 2.3)."""
    name, _, rest = reference.partition(b":")
    return name.lower().decode("ascii") not in NEVER_RELATIVE or rest.startswith(b"//")


def _host_end(p: cython.p_const_uchar, host: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of the authority in an http(s) URL that the RFC profiles keep, as by `HARMLESS`; else 0.

    A URL in which a placeholder may begin (`{{x}}`, `<?x?>`, `[[x]]`) is none of these.
    """
    i: cython.Py_ssize_t = host
    at: cython.Py_ssize_t
    odd: cython.uchar = 0
    for at in range(i, end - 1):  # no early exit: so the compiler can vectorize the loop
        odd |= (p[at] <= 32) | (p[at] > 127) | (p[at] == 92) | ((p[at] == 47) & (p[at + 1] == 46))
        odd |= (p[at] == 123) | (p[at] == 60) | (p[at] == 91)
    if odd or p[end - 1] <= 32 or p[end - 1] > 127 or p[end - 1] == 92:
        return 0
    while i < end and p[i] != 47 and p[i] != 63 and p[i] != 35:
        i += 1
    return i


def _spaced(data: bytes, link: Link) -> cython.bint:
    """Return whether white space, raw or escaped, is around a reference that is a whole attribute value."""
    if link.tag_start < 0:
        return False
    coding = link.coding
    if type(coding) is CharacterReferences:
        references: CharacterReferences = coding
        slot = references.slot
    else:
        slot = coding.slot
    if slot is None:  # in quotes: each byte next to it is a quote or white space
        return not (_is_quote(data[link.start - 1]) and _is_quote(data[link.end]))
    return slot != (link.start, link.end)


def _is_quote(byte: cython.int) -> cython.bint:
    return byte == 34 or byte == 39  # noqa: PLR1714 - a set would be looked up
