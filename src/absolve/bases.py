"""RFC 1808 section 3: which of the claims found in and around a document is its base URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.model import BY_DEFAULT, DEFAULT, ENCAPSULATING, Base, BaseURL, Claim, new
from absolve.resolvers import resolver
from absolve.resolvers.urls import has_scheme, is_malformed, split_fragment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import cython

    from absolve.typing import Resolver
else:
    from absolve import _cython as cython

# HTML Standard 4.2.3: such a URL is not taken for the base of a document.
NO_BASE = frozenset({"javascript", "data"})


@cython.ccall
def establish(
    outer: BaseURL, claims: Iterable[Base], profile: str, line_of: Callable[[int], int] | None = None
) -> BaseURL:
    """The base URL one layer further in than `outer`, by the claims of that layer in order of preference.

    The first claim that can be a base rules; a relative one is resolved against `outer`. Where none can, `outer` goes
    on ruling. The chain keeps every claim, innermost first. `line_of` turns a claim's position into a line,
    0 where there are none.
    """
    fates: list[Claim] = []
    ruling: Claim | None = None
    for claim in claims:
        line = line_of(claim.position) or None if line_of and claim.position is not None else None
        url = claimed_url(claim, outer, profile)
        if ruling is not None:
            fates.append(new(Claim, (claim, url, "ignored", line)))
        elif not url:
            fates.append(new(Claim, (claim, None, "unsuitable", line)))
        else:
            ruling = new(Claim, (claim, url, "won", line))
            fates.append(ruling)
    if ruling is None:
        return outer._replace(chain=(*fates, *outer.chain)) if fates else outer
    if outer.chain:
        overruled = "overruled" if has_scheme(ruling.base.reference) else "resolved against"
        fates += [_fated(fate, overruled) if fate.verdict == "won" else fate for fate in outer.chain]
    source = ruling.base.source if ruling.line is None else f"{ruling.base.source}, line {ruling.line}"
    return new(BaseURL, (ruling.url or "", ruling.base.layer, source, tuple(fates)))


@cython.ccall
def claimed_url(claim: Base, outer: BaseURL, profile: str) -> str | None:
    """The URL that a claim gives inside `outer`: None for no base; "" where an empty one has nothing outside."""
    reference: str = claim.reference.strip("\t\n\f\r ")
    if not reference:
        return outer.url
    before, colon, _ = reference.partition(":")
    if colon and before.lower() in NO_BASE:
        return None
    url = resolver(profile, outer.url)(reference)
    return None if url is None or is_malformed(url) else url


def inherited(base: BaseURL, source: str) -> BaseURL:
    """3.2: what an inner document gets from the entity around it, whichever layer gave it there."""
    if base.layer is BY_DEFAULT:
        return base
    words = f"{source} ({base.source})" if base.source else source
    won = new(Claim, (new(Base, (ENCAPSULATING, base.url, words, None, None)), base.url, "won", None))
    chain = [_fated(fate, "resolved against") if fate.verdict == "won" else fate for fate in base.chain]
    return new(BaseURL, (base.url, ENCAPSULATING, words, (won, *chain)))


@cython.cfunc
def _fated(fate: Claim, verdict: str) -> Claim:
    """A claim of another fate."""
    return new(Claim, (fate.base, fate.url, verdict, fate.line))


def same_document(one: str, other: str) -> bool:
    """Whether two URLs differ in nothing but a fragment."""
    return one == other or split_fragment(one)[0] == split_fragment(other)[0]


def found_as(url: str) -> str:
    """What the URLs of one document in a message have in common; for a Content-ID see RFC 2392."""
    if url[:4].lower() != "cid:":
        return split_fragment(url)[0]
    from urllib.parse import unquote

    return unquote(url).lower()


class Ruling(NamedTuple):
    """A base, the resolver against it, and whether it leads elsewhere than the document's own URL."""

    base: BaseURL
    resolver: Resolver
    elsewhere: bool


@cython.final
@cython.cclass
class Bases:
    """The two base URLs of a document: `own`, its own URL (what the layers give without 3.1), and `base`, with it.

    `beside` are claims of 3.3 that count after those that the document itself makes: what is kept beside a file.
    Its style sheets and style attributes have these very bases, so that what is worked out of them is so only once.
    """

    def __init__(self, own: BaseURL = DEFAULT, base: BaseURL = DEFAULT, beside: tuple[Base, ...] = ()) -> None:
        self.own = own
        self.base = base
        self.beside = beside
        self._rulings: dict[tuple[bool, str, str], Ruling] = {}

    @cython.ccall
    def ruling(self, own: cython.bint, profile: str, charset: str) -> Ruling:
        """What rules the links that are resolved against the document's own URL, or all others."""
        key = (own, profile, charset)
        found = self._rulings.get(key)
        if found is None:
            found = self._rulings[key] = self.ruled_by(self.own if own else self.base, profile, charset)
        return found

    @cython.ccall
    def ruled_by(self, base: BaseURL, profile: str, charset: str) -> Ruling:
        """The same for those of this base."""
        elsewhere = base is not self.own and not same_document(base.url, self.own.url)
        return new(Ruling, (base, resolver(profile, base.url, charset), elsewhere))
