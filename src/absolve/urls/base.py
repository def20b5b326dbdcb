"""Establish the base URL of a document from the claims found in and around it (RFC 1808 section 3).

In: BaseClaim values, in order of preference within each layer. Out: BaseURL values with their chains of claims, and a
BaseContext (a base URL with its resolver) for the links under each base; whether a reference climbs above the root of a
base, and whether the profiles (RFC 1808 section 4, RFC 3986 section 5.2 and the URL Standard) resolve it differently.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from absolve.core import model
from absolve.core.lazy_regex import pattern
from absolve.core.model import (
    BY_DEFAULT,
    DEFAULT,
    EMBEDDED,
    ENCAPSULATING,
    PACKAGE_ROOT,
    RETRIEVAL,
    THIS_MESSAGE,
    BaseClaim,
    BaseURL,
    ClaimOutcome,
)
from absolve.urls import resolver, rfc1808, rfc3986, whatwg
from absolve.urls.archives import archived, resolver_for
from absolve.urls.predicates import (
    has_scheme,
    is_malformed,
    may_have_placeholder,
    runs_code,
    split_fragment,
    without_controls,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

    import cython

    from absolve.core.model import Reference
    from absolve.core.protocols import Resolver

    Split = Callable[[str], Reference]


# Verdicts (`VERDICTS`) on a claim that is the base, but whose URL is too long to be used, or has a placeholder.
TOO_LONG = "too-long"
PLACEHOLDER = "placeholder"
FORBIDDEN = "forbidden"  # the verdict on a base element that a Content-Security-Policy forbids
SWITCHED_OFF = "switched-off"  # the verdict on a claim that the user or the profile leaves out
IGNORABLE = ("saver", "header", "content-base", "xml-base", "feed-link")  # words of --ignore-base
NONE_IGNORED: frozenset[str] = frozenset()
_KINDS = {
    "Base header": ("header", "base"),
    "Content-Base header": ("header", "content-base"),
    "Content-Location header": ("header",),
    "xml:base attribute": ("xml-base",),
    "codebase attribute": ("codebase",),
    **dict.fromkeys(("item link", "item guid", "channel link", "item url", "home_page_url"), ("feed-link",)),
}
_SAVERS = (  # the ends of their claims' sources
    *(" comment", "comment of the package", "-source", " meta element", "WebScrapBook attribute"),
    *(".rdf in the package", "Snapshot-Content-Location header"),
)
_NOBODY_KNOWS = PACKAGE_ROOT.partition("/")[0]


def establish(
    outer: BaseURL,
    claims: Iterable[BaseClaim],
    profile: str,
    line_of: Callable[[int], int] | None = None,
    longest: cython.Py_ssize_t = sys.maxsize,
    ignored: AbstractSet[str] = NONE_IGNORED,
) -> BaseURL:
    """Return the base URL of the layer inside `outer`, from the claims of that layer in order of preference.

    The first claim that can be a base is used; a relative one is resolved against `outer`. If there is no such claim,
    `outer` remains the base. The chain has every claim, innermost first. `line_of` maps a claim's position (a byte
    offset) to a line, 0 in formats without lines.

    A claim whose URL has more than `longest` characters is the base too, but with the URL "", which resolves no
    relative reference: against the next outer layer they would lead elsewhere. So is one in the document with a
    placeholder. Claims of a kind in `ignored` (IGNORABLE, codebase) are only in the chain.
    """
    fates: list[ClaimOutcome] = []
    verdict: str
    base_context: BaseClaim | None = None
    ruling_url = ""
    source = ""
    around: tuple[ClaimOutcome, ...] = outer.chain
    for claim in claims:
        position = claim.position
        line = line_of(position) or None if line_of is not None and position is not None else None
        reference: str = claim.reference
        is_unknown = claim.layer is EMBEDDED and may_have_placeholder(reference) and _has_placeholder(reference)
        url = claimed_url(claim, outer, profile)
        if ignored and is_ignored(claim, ignored):
            fates.append(model.made(ClaimOutcome, (claim, url, SWITCHED_OFF, line)))
        elif base_context is not None:
            fates.append(model.made(ClaimOutcome, (claim, url, "ignored", line)))
        elif not (url or is_unknown):
            fates.append(model.made(ClaimOutcome, (claim, None, "unsuitable", line)))
        else:
            base_context = claim
            ruling_url = url or ""
            verdict = PLACEHOLDER if is_unknown else "won" if len(ruling_url) <= longest else TOO_LONG
            if verdict != "won":
                ruling_url = ""
            source = claim.source if line is None else f"{claim.source}, line {line}"
            if claim.layer is RETRIEVAL and (capture := archived(claim.reference)) is not None:
                source = f"{source}, at {capture.host}"
            fates.append(model.made(ClaimOutcome, (claim, ruling_url or None, verdict, line)))
    if base_context is None:
        return model.made(BaseURL, (outer.url, outer.layer, outer.source, (*fates, *around))) if fates else outer
    if around:
        _lose(fates, around, "overruled" if has_scheme(base_context.reference) else "resolved against")
    return model.made(BaseURL, (ruling_url, base_context.layer, source, tuple(fates)))


def is_ignored(claim: BaseClaim, ignored: AbstractSet[str]) -> bool:
    """Return whether a claim is of one of these kinds."""
    source = claim.source
    if claim.layer is RETRIEVAL and source.endswith(_SAVERS):
        return "saver" in ignored
    return any(kind in ignored for kind in _KINDS.get(source, ()))


def _has_placeholder(reference: str) -> bool:
    from absolve.urls import placeholders  # few documents have one in a base

    return placeholders.is_placeholder(reference) or placeholders.first(reference) < len(reference)


def _is_unknown(base: BaseURL) -> bool:
    return any(fate.verdict == PLACEHOLDER for fate in base.chain)


def claimed_url(claim: BaseClaim, outer: BaseURL, profile: str) -> str | None:
    """Return the URL of a claim inside `outer`, None if it cannot be a base; an empty reference gives `outer.url`.

    Control characters are percent-encoded, because the URL is written into other links. A URL whose scheme runs code
    cannot be a base (HTML Standard 4.2.3).
    """
    reference: str = claim.reference.strip("\t\n\f\r ")
    if not reference:
        return outer.url
    if runs_code(reference):
        return None
    resolve = resolver(profile, outer.url)
    if outer.layer is RETRIEVAL:  # a redirect, or a base that a web archive changed
        resolve = resolver_for(outer, resolve)
    url = resolve(reference)
    if claim.layer is RETRIEVAL and url is not None and (capture := archived(url)) is not None:
        url = resolve(capture.url)
    return None if url is None or is_malformed(url) else without_controls(url)


def inherited(base: BaseURL, source: str) -> BaseURL:
    """Return the base of an encapsulating entity as the base of a document inside it (section 3.2)."""
    if base.layer is BY_DEFAULT:
        return base
    words = f"{source} ({base.source})" if base.source else source
    claim = model.made(BaseClaim, (ENCAPSULATING, base.url, words, None, None))
    verdict = "won" if base.url else PLACEHOLDER if _is_unknown(base) else TOO_LONG
    won = model.made(ClaimOutcome, (claim, base.url or None, verdict, None))
    chain = [won]
    _lose(chain, base.chain, "resolved against")
    return model.made(BaseURL, (base.url, ENCAPSULATING, words, tuple(chain)))


def _lose(fates: list[ClaimOutcome], chain: tuple[ClaimOutcome, ...], verdict: str) -> cython.int:
    """Append the outcomes of the outer layers; the claim that won there gets this verdict."""
    for fate in chain:
        won = fate.verdict == "won"
        fates.append(model.made(ClaimOutcome, (fate.base, fate.url, verdict, fate.line)) if won else fate)
    return 0


def is_useless(url: str | None) -> bool:
    """Return whether a base URL cannot resolve any relative reference (`mailto:`, `about:`), although it applies."""
    return url is not None and not rfc1808.hierarchical(rfc1808.split(url))


def same_document(one: str, other: str) -> bool:
    """Return whether two URLs are equal without their fragments: for example, `http://h/#a` and `http://h/`."""
    end = one.find("#")
    if end < 0:
        end = len(one)
    other_end = other.find("#")
    if other_end < 0:
        other_end = len(other)
    return end == other_end and one[:end] == other[:end]


def found_as(url: str) -> str:
    """Return the key by which a URL identifies a part of a message: percent-decoded, and without fragment.

    For example, `cid:A%40b` gives `cid:a@b`: a cid URL is in lower case (RFC 2392).
    """
    is_id = url[:4].lower() == "cid:"
    key = url.lower() if is_id else split_fragment(url)[0]
    if "%" not in key:
        return key
    from absolve.urls.identity import percent_decoded

    key = percent_decoded(key)
    return key.lower() if is_id else key


# How a part of a message or package is known (`Entity.held`), which decides whether links to it stay (decisions.md, S7)
MOVES = 0  # by a Content-Location relative to a base in the message: both become absolute
MEMBER = 1  # by its path in a package, or its Content-ID
LOCATED = 2  # by an absolute Content-Location
OUTSIDE = 3  # by one relative to a base that the message does not record: a reader of the message has another
RECORDED = 4  # by the URL that a web archive records, which stays


def records(base: BaseURL) -> bool:
    """Return whether a base follows from a header of the message, not only from outside (`--url`)."""
    return any(fate.base.layer is EMBEDDED and fate.verdict in {"won", "resolved against"} for fate in base.chain)


class BaseContext:
    """A base URL with its resolver, for one profile and charset.

    `elsewhere`: the base is not the document's own URL. `unknown`: it is in a package whose URL is unknown. The
    resolver is shared with the outer context `around` if the URL, profile and charset are equal. `other`: see `Bases`.
    """

    def __init__(
        self, base: BaseURL, profile: str, charset: str, elsewhere: cython.bint, around: BaseContext | None
    ) -> None:
        self.base = base
        self.profile = profile
        self.charset = charset
        self.elsewhere = elsewhere
        url: str = base.url
        self.unknown = url.startswith(_NOBODY_KNOWS)
        self._compared: Compared | None = None
        self._inside: Resolver | None = None
        self.other: BaseContext | None = None
        if around is not None and around.base.url == url and around.profile == profile and around.charset == charset:
            self.resolver: Resolver = around.resolver
        else:
            self.resolver = resolver(profile, url, charset)
            if base.layer is RETRIEVAL or base.layer is EMBEDDED:
                self.resolver = resolver_for(base, self.resolver)

    def compared(self) -> Compared:
        """Return the comparison of the profiles for this base: one object for all links under it."""
        if self._compared is None:
            self._compared = Compared(self.base.url, self.charset)
        return self._compared

    def in_message(self, reference: str) -> str | None:
        """Return the URL of a reference in a message without a base URL (RFC 2557 5); None where there is one."""
        if self.base.layer is not BY_DEFAULT:
            return None
        if self._inside is None:
            url = THIS_MESSAGE
            for fate in reversed(self.base.chain):  # relative claims: nothing was around them
                if not has_scheme(fate.base.reference):
                    url = resolver(self.profile, url)(fate.base.reference) or url
            self._inside = resolver(self.profile, url, self.charset)
        return self._inside(reference)


class Bases:
    """The two base URLs of a document: `own`, its own URL (section 3 without 3.1), and `base`, including 3.1.

    `beside` are retrieval claims (3.3) recorded beside a file; those in the document itself precede them. Style sheets
    and style attributes of a document share this object, and so its contexts. `around` is the context of the place
    where the document is inside another one, or None.

    `before` are the bases of links that browsers fetch before the base element, None without any; its `other`
    is the base that would apply to that in the other order.
    """

    def __init__(
        self,
        own: BaseURL = DEFAULT,
        base: BaseURL = DEFAULT,
        beside: tuple[BaseClaim, ...] = (),
        around: BaseContext | None = None,
        other: BaseURL | None = None,
        before: Bases | None = None,
    ) -> None:
        self.other = other
        self.before = before
        self.own = own
        self.base = base
        self.beside = beside
        self._around = around
        self._base_contexts: list[BaseContext] = []

    def base_context(self, own: cython.bint, profile: str, charset: str) -> BaseContext:
        """Return the context of the document's own URL if `own`, else of its base; cached."""
        found: BaseContext
        base = self.own if own else self.base
        for found in self._base_contexts:  # mostly one or two
            if found.base is base and found.profile == profile and found.charset == charset:
                return found
        found = self.base_context_for(base, profile, charset)
        self._base_contexts.append(found)
        return found

    def base_context_for(self, base: BaseURL, profile: str, charset: str) -> BaseContext:
        """Return a new context for any base, such as a scoped claim's."""
        elsewhere = base is not self.own and not same_document(base.url, self.own.url)
        found = BaseContext(base, profile, charset, elsewhere, self._around)
        if self.other is not None and base is self.base:
            found.other = BaseContext(self.other, profile, charset, True, None)
        return found


# --- the profiles compared, for the problems `above-root` and `divergent` of the inventory ----------------------------

# Exclusions are look-aheads before a repeated character class: a repeated group would need memory for each repetition.

# A base whose directory is the same in every profile: no params, no backslash, no dot segment in any spelling.
HARMLESS_BASE = pattern(
    r"(?:https?|ftp)://(?:[^\x00-\x20/?#\\@]*+@)?[A-Za-z0-9.-]+(?::[0-9]+)?"
    r"(?:/(?!\.|[^?#]*?(?:/\.|%2[Ee]))[^\x00-\x20;\\?#]*(?:\?[^\x00-\x20;\\#]*)?)?"
)

# The path of a file in a package whose URL is unknown, likewise; only plain references are the same everywhere, because
# its host is empty: `..//x` is not.
_PACKAGE_BASE = pattern(rf"{PACKAGE_ROOT}(?![./]|[^?#]*?(?:/\.|%2[Ee]))[^\x00-\x20;\\?#]*")

# A reference that every profile resolves equally against such a base: an empty one; one with scheme and authority
# (without dot segments, which only some profiles remove, and without backslashes, which may hide them); a plain host
# alone; a non-empty path without colons and without `..;` (dots with params); a query; a fragment. A path must not
# begin with a space, which the URL Standard strips.
HARMLESS = pattern(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*+://(?!.*?/\.)[^\x00-\x1f\\]*+"
    r"|//[A-Za-z0-9.-]++"
    r"|(?://[A-Za-z0-9.-]+(?=/)|(?!//|[; ]))(?![^?#]*?(?:\.;|%2[Ee]))[^\x00-\x1f\\?#:]++"
    r"(?:\?[^\x00-\x1f#]*+)?(?:\#[^\x00-\x1f]*+)?"
    r"|\?[^\x00-\x1f#]++(?:\#[^\x00-\x1f]*+)?"
    r"|(?:\#[^\x00-\x1f]*+)?)"
)


class Compared:
    """The three profiles for one base (str), in a document of this charset (a label); one for all links under a base.

    Resolvers, and the depth of the base's directory, are created on first use: most links need none of them.
    """

    __slots__ = ("_base", "_charset", "_levels", "_normalize", "_resolvers", "is_harmless")

    def __init__(self, base: str, charset: str = "utf-8") -> None:
        self._base = base
        self._charset = charset
        self.is_harmless = HARMLESS_BASE.fullmatch(base) is not None  # False if in doubt
        self._levels: dict[Split, int | None] = {}
        self._resolvers: list[Resolver] = []

    def agrees_on_shapes(self) -> bool:
        """Return whether every profile resolves each shape (`predicates`) by the same prefix; False if in doubt."""
        return self.is_harmless or _PACKAGE_BASE.fullmatch(self._base) is not None

    def divergent(self, reference: str) -> bool:
        """Return whether the profiles resolve a reference (str) to different URLs, or only some do.

        The URLs are compared after parsing by the URL Standard, so different spellings are equal, and one that it
        cannot parse counts as none. Raise UsageError for an unknown charset.
        """
        if (self.is_harmless and HARMLESS.fullmatch(reference)) or not (self._base or ":" in reference):
            return False
        if not self._resolvers:
            self._normalize = whatwg.profile("", self._charset)
            self._resolvers = [resolver(name, self._base, self._charset) for name in ("whatwg", "rfc1808", "rfc3986")]
        target = self._resolvers[0](reference)
        for resolve in self._resolvers[1:]:  # one URL at a time: each may have megabytes
            url = resolve(reference)
            if (None if url is None else self._normalize(url)) != target:
                return True
        return False

    def climbs_above_root(self, reference: str) -> bool:
        """Return whether the `..` segments of a reference (str) climb above the root of the base, or of its own path.

        A semicolon begins params in RFC 1808 and is part of the path in RFC 3986; climbing by either is enough.
        """
        if ".." not in reference:
            return False
        has_params = ";" in self._base or ";" in reference
        return self._climbs(reference, rfc3986.split) or (has_params and self._climbs(reference, rfc1808.split))

    def _climbs(self, text: str, split: Split) -> bool:
        reference = split(text)
        level: int | None = 0 if reference.net_loc is not None else None
        if reference.scheme is None:
            if split not in self._levels:
                self._levels[split] = _level(split(self._base))
            level = self._levels[split]
            if level is not None and (reference.net_loc or reference.path.startswith("/")):
                level = 0
        return level is not None and _depth(reference.path, level) < 0


def _level(base: Reference) -> int | None:
    """Return the depth of a base's directory; None if relative references cannot use the base."""
    return _depth(base.path[: max(0, base.path.rfind("/"))], 0) if rfc1808.hierarchical(base) else None


def _depth(path: str, depth: int) -> int:
    """Return the depth to which a path leads from `depth`, -1 above the root: for example, `../a` from 0 gives -1."""
    for segment in rfc3986.segments(path, path.startswith("/")) if path and depth >= 0 else ():
        if segment == "..":
            depth -= 1
            if depth < 0:
                break
        elif segment != ".":
            depth += 1
    return depth
