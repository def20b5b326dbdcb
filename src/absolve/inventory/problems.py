"""Compute two columns of the inventory: the scope of a target, and the problem codes of a reference.

In: a `Resolved` link and its target. Out: one of `model.SCOPES`, and codes as text (`unresolved`, `malformed`, ...).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.model import PACKAGE_ROOT
from absolve.document.resolved import fixed, is_placeholder
from absolve.inventory import BEFORE_BASE, COMPANION
from absolve.urls import PROFILES
from absolve.urls.base import FORBIDDEN, PLACEHOLDER, TOO_LONG, claimed_url, found_as, is_useless, same_document
from absolve.urls.identity import site
from absolve.urls.predicates import has_scheme, scheme
from absolve.urls.rfc1808 import NEVER_RELATIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import BaseClaim, ClaimOutcome
    from absolve.document.resolved import Resolved

WHITE_SPACE: Final = "whitespace"
_CLICKED: Final = frozenset({"navigation", "form"})
_BEGINNING: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:(?://[^/?#]*+)?")
_GROWTH: Final = 4 * max(row.growth for row in PROFILES.values())  # per character: four bytes of UTF-8
_INNER_SPACE: Final = re.compile(r"[\t\n\f\r ]")
_SCHEME_RELATIVE: Final = re.compile(r"//|[\\/]{2}")


def scope(resolved: Resolved, target: str | None) -> str:
    """Return same-document, internal, external or other, for a target relative to the document's own URL.

    A target in the same message or package is internal, too, and so is a file that was saved with the document.
    """
    own = resolved.own.url
    if resolved.is_companion:
        return "internal"
    if target is None:
        is_fragment = resolved.reference.startswith("#") and not is_placeholder(resolved.reference)
        return "same-document" if is_fragment else "other"
    if own and same_document(target, own):
        return "same-document"
    if resolved.entity.held and found_as(target) in resolved.entity.held:
        return "internal"
    host = site(target)
    if not host:
        return _hostless_scope(scheme(target), scheme(own))
    return "internal" if host == site(own) else "external"


def _hostless_scope(target: str | None, own: str | None) -> str:
    """Return the scope of a target without a host: all files are one site, and so are the members of a package."""
    if target not in _HOSTLESS:
        return "other"
    return "internal" if target == own else "external"


_HOSTLESS: Final = frozenset({"file", scheme(PACKAGE_ROOT)})


def beginning(url: str) -> str:
    """Return the scheme and the authority of a URL: for example, `http://h:80/a` gives `http://h:80`."""
    found = _BEGINNING.match(url)
    return found[0] if found is not None else ""


def target_problems(target: str, own: str) -> tuple[str, ...]:
    """Return the problem codes by the schemes: for example, `insecure` for `http://h/` in `https://h/a`."""
    is_insecure = target[:5].lower() == "http:" and own[:6].lower() == "https:"
    return ("insecure",) if is_insecure else ()


def problems(resolved: Resolved, target: str | None) -> Iterator[str]:
    """Yield the problem codes of a reference in the order of `inventory.PROBLEMS` (docs/decisions.md, I2).

    White space around it is `_spaced`.

    The `beginning` of the target, or None, is enough.
    """
    reference = resolved.reference
    if resolved.is_companion:
        yield COMPANION
        return
    if is_placeholder(reference) or reference.startswith(resolved.context.filled_in):
        yield PLACEHOLDER
        return
    reference = fixed(reference)
    never = is_never(reference)
    fetches_nothing = not reference and resolved.link.place.empty == "nothing"
    fails = target is None and not fetches_nothing and _could_resolve(resolved)
    too_long = fails and resolved.context.is_too_long(reference)
    malformed = fails and not too_long
    if target is None and not fetches_nothing and not fails:
        yield "unresolved"
    if resolved.link.claim is not None:
        yield from _claim_problems(resolved, resolved.link.claim)
    if malformed:
        yield "malformed"
    if too_long or (resolved.link.claim is not None and _is_too_long(resolved, resolved.link.claim)):
        yield TOO_LONG
    is_joined = not resolved.names_file  # with the base, by the profile
    if is_joined and resolved.context.base_context.compared().climbs_above_root(reference):
        yield "above-root"
    if is_joined and not (never or fetches_nothing) and resolved.context.base_context.compared().divergent(reference):
        yield "divergent"
    if not reference and resolved.link.place.empty != "own" and resolved.link.claim is None:
        yield "empty"
    if target is not None:
        yield from target_problems(target, resolved.own.url)
    if _SCHEME_RELATIVE.match(reference):
        yield "scheme-relative"
    if "\\" in reference and not never:
        yield "backslash"
    if not never and _INNER_SPACE.search(reference):
        yield WHITE_SPACE
    if resolved.otherwise and resolved.kind not in _CLICKED and not PROFILES[resolved.entity.settings.profile].in_order:
        yield BEFORE_BASE


def is_never(reference: str) -> bool:
    """Return whether a reference has a scheme that is never used with relative URLs (RFC 1808 2.3)."""
    return ":" in reference and scheme(reference) in NEVER_RELATIVE


def _could_resolve(resolved: Resolved) -> bool:
    """Return whether a reference without a target is itself at fault: its base is usable, or it needs no base."""
    if has_scheme(resolved.reference):
        return True
    return resolved.resolves and not (resolved.reference.startswith("#") and resolved.context.is_local)


def _claim_problems(resolved: Resolved, claim: BaseClaim) -> Iterator[str]:
    """Yield the problem codes of a base, for the row of its claim."""
    if resolved.element not in OF_DOCUMENTS:  # a base for its own element only, may be relative (HTML 4.01 13.3)
        url = claimed_url(claim, resolved.base, resolved.entity.settings.profile)
        if url is None or is_useless(url) or len(url) > resolved.context.longest:
            yield "unsuitable-base"
        return
    established = resolved.entity.bases.base
    fate = next((fate for fate in established.chain if fate.base is claim), None)
    yield from fate_problems(fate, resolved.reference) if fate is not None else ("ignored-base",)


def fate_problems(fate: ClaimOutcome, reference: str) -> Iterator[str]:
    """Yield the problem codes that follow from the outcome of a claim with this reference."""
    if fate.verdict in {"ignored", FORBIDDEN}:
        yield "ignored-base"
        return
    if fate.verdict in {"unsuitable", TOO_LONG, PLACEHOLDER} or is_useless(fate.url):
        yield "unsuitable-base"
    if reference and not has_scheme(reference):
        yield "relative-base"


def _is_too_long(resolved: Resolved, claim: BaseClaim) -> bool:
    """Return whether the URL of a claim has too many characters, so that it cannot be used as a base."""
    if resolved.element in OF_DOCUMENTS:
        return any(fate.base is claim and fate.verdict == TOO_LONG for fate in resolved.entity.bases.base.chain)
    if _GROWTH * len(resolved.reference) <= resolved.context.room:
        return False
    url = claimed_url(claim, resolved.base, resolved.entity.settings.profile)
    return url is not None and len(url) > resolved.context.longest


OF_DOCUMENTS: Final = frozenset({"base", "header"})  # elements whose claims apply to the whole document
