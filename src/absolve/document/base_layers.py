"""Establish the bases of one entity (RFC 1808 section 3), from the entities around it and from its own claims.

In: an entity or part with its claims. Out: `Bases`, and findings about unsuitable claims. Section 3.1 is the EMBEDDED
layer, 3.2 ENCAPSULATING, 3.3 RETRIEVAL, 3.4 DEFAULT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.caching import remembered
from absolve.core.errors import UsageError, in_short
from absolve.core.model import (
    BEFORE_BASE,
    BY_DEFAULT,
    DATA,
    DEFAULT,
    EMBEDDED,
    PACKAGE_ROOT,
    RETRIEVAL,
    BaseClaim,
    BaseURL,
    ClaimOutcome,
    Finding,
    Link,
    Part,
    new,
)
from absolve.encodings.charsets import UTF_8, for_any
from absolve.formats.registry import HTML, WALKERS, XML
from absolve.urls import PROFILES
from absolve.urls.base import FORBIDDEN, SWITCHED_OFF, BaseContext, Bases, claimed_url, establish, inherited
from absolve.urls.predicates import CONTROL, has_scheme, is_malformed, is_plain, parsed_scheme, runs_code
from absolve.urls.whatwg import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.document.entity import Entity
    from absolve.document.settings import Settings

    LineOf = Callable[[int], int]



_PAGES: Final = frozenset({HTML, XML})
HOST_FOLDER: Final = "host folder"  # the place of a file in a folder that is named as a host
FILE_PATH: Final = "path of the file"  # as --url file: has it
ASSUMED: Final = "assumed"  # in the place of --url, by an audit
GIVEN_FOR_ALL: Final = frozenset({"--url", "url=", ASSUMED})  # sources of a URL that is one for several documents


def retrieval_claim(url: str, option: str = "--url") -> BaseClaim:
    """Return the claim of the user's URL, given by `option`; raise UsageError if it is not absolute."""
    if not is_plain(url) and (not has_scheme(url) or is_malformed(url)):
        raise UsageError(f"the retrieval URL must be an absolute URL, not {in_short(url)!r}")
    return new(BaseClaim, (RETRIEVAL, for_any(url), option, None, None))


@remembered(64)  # many documents share one, and with it the resolver
def retrieved(url: str, option: str, profile: str, longest: int) -> Bases:
    """Return the bases of a document with a retrieval URL given by `option`."""
    own = establish(DEFAULT, [retrieval_claim(url, option)], profile, None, longest)
    return Bases(own, own)


def doubts(claims: Iterable[BaseClaim], position: int = 0) -> Iterator[Finding]:
    """Yield a finding for each claim whose reference is unsuitable, or changed before it is written into links.

    `position`, a byte offset, is used for claims without a position of their own.
    """
    for claim in claims:
        reference = claim.reference
        if runs_code(reference) and claim.layer is not EMBEDDED:  # a base element has a row with this problem
            text = f"{claim.source}: a {parsed_scheme(reference)} URL is no base"
            yield Finding("unsuitable-base", text, claim.position or position)
        elif not reference.isprintable() and CONTROL.search(reference.strip(_WHITE_SPACE)):
            text = f"{claim.source}: control characters of this base are percent-escaped in the links that it rules"
            yield Finding("control-character", text, claim.position or position)


_WHITE_SPACE: Final = "\t\n\f\r "  # stripped around a reference in HTML


def around_part(entity: Entity, part: Part, media_type: str) -> Bases:
    """Return the bases of a part from outside: from the outer entity, and from the claims of its container."""
    if part.name == DATA or (part.name and WALKERS[media_type].archive):
        return Bases()  # the outer entity has no base for an archive's members, nor for a data: URL
    if part.base is BEFORE_BASE and not part.name:
        return entity.bases.before  # type: ignore[return-value]  # set with the scope of any part
    base_context: BaseContext | None = entity.base_context(part.base) if part.base is not None else None
    base = entity.bases.base if base_context is None else base_context.base
    if not part.name:
        around = entity.bases if part.base is None else Bases(entity.bases.own, base, entity.bases.beside, base_context)
    elif part.base is None and not part.claims and entity.enclosed[:2] == (part.name, part.encloses):
        return entity.enclosed[2]  # one chain of claims for thousands of sibling documents
    else:
        own = inherited(base, part.name) if part.encloses or base.layer is EMBEDDED else base
        other = base_context.other if base_context is not None else None
        around = Bases(own, own, entity.bases.beside, base_context, other.base if other is not None else None)
    if part.claims:
        own = around.own
        if part.claims[0].layer is RETRIEVAL:
            own = _retrieved(own, part.claims, entity.settings, None)
        else:
            settings = entity.settings
            own = establish(own, part.claims, settings.profile, None, settings.max_url, settings.ignored)
        return Bases(own, own)
    if part.name and part.base is None:
        entity.enclosed = (part.name, part.encloses, around)
    return around


def established(entity: Entity, around: Bases, claims: list[BaseClaim]) -> Bases:
    """Return the bases of an entity from its bases from outside and its own claims."""
    settings = entity.settings
    own, base = around.own, around.base
    entity.findings += doubts([claim for claim in claims if claim.layer is not BY_DEFAULT])
    found = [claim for claim in (*claims, *around.beside) if claim.layer is RETRIEVAL]
    if found:
        own = base = _retrieved(own, found, settings, entity.line)
    embedded = [claim for claim in claims if claim.layer is EMBEDDED]
    policies = tuple([claim for claim in claims if claim.layer is BY_DEFAULT])  # in the header of a response
    if not embedded:
        return Bases(own, base, policies, None, around.other)
    if embedded[0].source == "base element":
        return _of_element(entity, own, embedded, around.beside)
    base = _embedded(own, embedded, entity)
    return Bases(own, base, policies)


def _embedded(own: BaseURL, claims: list[BaseClaim], entity: Entity) -> BaseURL:
    """Return the base of a document whose own URL and embedded claims these are."""
    settings = entity.settings
    found = scalar_claims(claims, entity)
    return establish(own, found, settings.profile, entity.line, settings.max_url, settings.ignored)


def scalar_claims(claims: list[BaseClaim], entity: Entity) -> list[BaseClaim]:
    """Return claims of a page as browsers decode them: U+FFFD for bytes that its charset cannot decode."""
    if entity.charset.codec == UTF_8.codec or not PROFILES[entity.settings.profile].normalizes:
        return claims
    return [claim._replace(reference=scalar(claim.reference, entity.charset.codec)) for claim in claims]


def _of_element(entity: Entity, own: BaseURL, claims: list[BaseClaim], beside: Sequence[BaseClaim]) -> Bases:
    """Return the bases of a page with a base element: its `own` URL applies to links fetched before it."""
    from absolve.formats.html.rules import is_fetched  # here, because few pages have one

    settings, claim = entity.settings, claims[0]
    is_page = entity.media_type in _PAGES
    in_order = PROFILES[settings.profile].in_order
    if is_page and in_order and (url := _forbidden(entity, own, claim, beside)) is not None:
        text = f"{claim.source}: the Content-Security-Policy of the page forbids {in_short(claim.reference)!r}"
        entity.findings.append(Finding("ignored-base", text, claim.position or 0))
        outcome = ClaimOutcome(claim, url, FORBIDDEN, entity.line(claim.position or 0))
        return Bases(own, own._replace(chain=(outcome, *own.chain)))
    base = _embedded(own, claims, entity)
    before: Bases | None = None
    for event in entity.events if is_page and base.url != own.url else ():
        if event is claim:
            break
        if isinstance(event, (Link, Part)) and event.base is None and is_fetched(entity.own_data, event):
            event.base = BEFORE_BASE
            first, other = (own, base) if in_order else (base, own)
            before = before or Bases(own, first._replace(), other=other)  # a copy: caches know bases by their identity
    return Bases(own, base, before=before)


def _forbidden(entity: Entity, own: BaseURL, claim: BaseClaim, beside: Sequence[BaseClaim]) -> str | None:
    """Return the URL of a base element that a Content-Security-Policy of the response, or before it, forbids."""
    from absolve.formats.html.start_tags import policy_metas  # likewise
    from absolve.urls.source_lists import allow_base

    metas = policy_metas(entity.own_data[: claim.position], entity.charset)
    policies = [one.reference for one in beside if one.layer is BY_DEFAULT]
    policies += [content.text(entity.charset) for _, _, content in metas]
    url = claimed_url(claim, own, entity.settings.profile) if policies else None
    return None if url is None or allow_base(policies, url, own.url) else url


def _retrieved(own: BaseURL, claims: Sequence[BaseClaim], settings: Settings, line_of: LineOf | None) -> BaseURL:
    """Return `own` with the retrieval claims of a container or of the page's saver (docs/decisions.md, B13).

    They count only if `own` is the default or the unknown URL of a package; otherwise they only join the chain.
    """
    if own.layer is BY_DEFAULT or own.url.startswith(PACKAGE_ROOT):
        return establish(own, claims, settings.profile, line_of, settings.max_url, settings.ignored)
    verdict = "ignored" if own.layer is RETRIEVAL else "overruled"
    outcomes = establish(DEFAULT, claims, settings.profile, line_of, settings.max_url, settings.ignored).chain
    fates = (fate if fate.verdict == SWITCHED_OFF else fate._replace(verdict=verdict) for fate in outcomes)
    return own._replace(chain=(*own.chain, *fates))
