"""RFC 1808 section 3: which of the claims found in and around a document is its base URL."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from absolve.core.model import BY_DEFAULT, DEFAULT, ENCAPSULATING, PACKAGE_ROOT, BaseClaim, BaseURL, ClaimOutcome
from absolve.urls import resolver
from absolve.urls.predicates import split_fragment, without_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import cython

    from absolve.core.protocols import Resolver
    from absolve.urls.compare import Compared
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.model import made as new
    from cython.cimports.absolve.urls.predicates import has_scheme, is_malformed, runs_code
else:
    from absolve.core.model import new
    from absolve.urls.predicates import has_scheme, is_malformed, runs_code

TOO_LONG = "too-long"  # the verdict on a claim that rules, of which no URL is made (`VERDICTS`)
_NOBODY_KNOWS = PACKAGE_ROOT.partition("/")[0]


@cython.ccall
def establish(
    outer: BaseURL,
    claims: Iterable[BaseClaim],
    profile: str,
    line_of: Callable[[int], int] | None = None,
    longest: cython.Py_ssize_t = sys.maxsize,
) -> BaseURL:
    """The base URL one layer further in than `outer`, by the claims of that layer in order of preference.

    The first claim that can be a base rules; a relative one is resolved against `outer`. Where none can, `outer` goes
    on ruling. The chain keeps every claim, innermost first. `line_of` turns a claim's position into a line,
    0 where there are none.

    A claim that gives a URL of more than `longest` characters rules too, and its URL is "", which resolves no relative
    reference: against the next layer out they would lead elsewhere.
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
        url = claimed_url(claim, outer, profile)
        if base_context is not None:
            fates.append(new(ClaimOutcome, (claim, url, "ignored", line)))
        elif not url:
            fates.append(new(ClaimOutcome, (claim, None, "unsuitable", line)))
        else:
            base_context = claim
            ruling_url, verdict = (url, "won") if len(url) <= longest else ("", TOO_LONG)
            source = claim.source if line is None else f"{claim.source}, line {line}"
            fates.append(new(ClaimOutcome, (claim, ruling_url or None, verdict, line)))
    if base_context is None:
        return new(BaseURL, (outer.url, outer.layer, outer.source, (*fates, *around))) if fates else outer
    if around:
        _lose(fates, around, "overruled" if has_scheme(base_context.reference) else "resolved against")
    return new(BaseURL, (ruling_url, base_context.layer, source, tuple(fates)))


@cython.ccall
def claimed_url(claim: BaseClaim, outer: BaseURL, profile: str) -> str | None:
    """The URL that a claim gives inside `outer`: None for no base; "" where an empty one has nothing outside.

    Its control characters are percent-escaped: it is written into other links than the one where they are. A base by
    which code could run is none (HTML Standard 4.2.3).
    """
    reference: str = claim.reference.strip("\t\n\f\r ")
    if not reference:
        return outer.url
    if runs_code(reference):
        return None
    url = resolver(profile, outer.url)(reference)
    return None if url is None or is_malformed(url) else without_controls(url)


@cython.ccall
def inherited(base: BaseURL, source: str) -> BaseURL:
    """3.2: what an inner document gets from the entity around it, whichever layer gave it there."""
    if base.layer is BY_DEFAULT:
        return base
    words = f"{source} ({base.source})" if base.source else source
    claim = new(BaseClaim, (ENCAPSULATING, base.url, words, None, None))
    won = new(ClaimOutcome, (claim, base.url, "won", None) if base.url else (claim, None, TOO_LONG, None))
    chain = [won]
    _lose(chain, base.chain, "resolved against")
    return new(BaseURL, (base.url, ENCAPSULATING, words, tuple(chain)))


@cython.cfunc
def _lose(fates: list[ClaimOutcome], chain: tuple[ClaimOutcome, ...], verdict: str) -> cython.int:
    """Add the claims of layers further out, of which the one that won there has this fate here."""
    for fate in chain:
        base, url, found, line = cython.cast(tuple, fate)
        fates.append(new(ClaimOutcome, (base, url, verdict, line)) if found == "won" else fate)
    return 0


def same_document(one: str, other: str) -> bool:
    """Whether two URLs differ in nothing but a fragment."""
    end = one.find("#")
    if end < 0:
        end = len(one)
    other_end = other.find("#")
    if other_end < 0:
        other_end = len(other)
    return end == other_end and one[:end] == other[:end]


def found_as(url: str) -> str:
    """What the URLs of one document in a message have in common; for a Content-ID see RFC 2392."""
    if url[:4].lower() != "cid:":
        return split_fragment(url)[0]
    from urllib.parse import unquote

    return unquote(url).lower()


@cython.final
@cython.cclass
class BaseContext:
    """A base, the resolver against it in a profile and a charset, and whether it leads elsewhere than the own URL.

    `unknown`: it is in a package whose URL nobody knows. The resolver is that of the ruling `around`, where that is of
    the same URL.
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
        self._like: BaseContext | None = None
        if around is not None and around.base.url == url and around.profile == profile and around.charset == charset:
            self.resolver: Resolver = around.resolver
            self._like = around
        else:
            self.resolver = resolver(profile, url, charset)

    @cython.ccall
    def compared(self) -> Compared:
        """Return the profiles side by side for this base: one object for all links that it rules."""
        if self._like is not None:
            return self._like.compared()
        if self._compared is None:
            from absolve.urls.compare import Compared  # only rows ask for it

            self._compared = Compared(self.base.url, self.charset)
        return self._compared


@cython.final
@cython.cclass
class Bases:
    """The two base URLs of a document: `own`, its own URL (what the layers give without 3.1), and `base`, with it.

    `beside` are claims of 3.3 that count after those that the document itself makes: what is kept beside a file.
    Its style sheets and style attributes have these very bases, so that what is worked out of them is so only once.
    `around` is what rules where the document is, if it is inside of another one and that is known.
    """

    def __init__(
        self,
        own: BaseURL = DEFAULT,
        base: BaseURL = DEFAULT,
        beside: tuple[BaseClaim, ...] = (),
        around: BaseContext | None = None,
    ) -> None:
        self.own = own
        self.base = base
        self.beside = beside
        self._around = around
        self._base_contexts: list[BaseContext] = []

    @cython.ccall
    def base_context(self, own: cython.bint, profile: str, charset: str) -> BaseContext:
        """What rules the links that are resolved against the document's own URL, or all others."""
        found: BaseContext
        base = self.own if own else self.base
        for found in self._base_contexts:  # mostly one or two
            if found.base is base and found.profile == profile and found.charset == charset:
                return found
        found = self.base_context_for(base, profile, charset)
        self._base_contexts.append(found)
        return found

    @cython.ccall
    def base_context_for(self, base: BaseURL, profile: str, charset: str) -> BaseContext:
        """The same for those of this base."""
        elsewhere = base is not self.own and not same_document(base.url, self.own.url)
        return BaseContext(base, profile, charset, elsewhere, self._around)
