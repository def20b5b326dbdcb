"""Resolve references against base URLs: RFC 1808 section 4 in three profiles.

In: a base URL, a reference and a profile's name. Out: an absolute URL, or None. `PROFILES` has one row per profile,
the only place where other packages ask about one; `resolver` caches the resolvers of bases. The package also implements
sections 2 (`parse`) and 3 (`base`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from absolve.core import arguments
from absolve.core.caching import LONGEST
from absolve.core.errors import UsageError, in_short
from absolve.urls import rfc1808, rfc3986, whatwg
from absolve.urls.predicates import is_absolute, is_absolute_in_browsers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from absolve.core.options import Profile as Profiles
    from absolve.core.protocols import Resolver, ResolverFactory, URLObject


class Profile(NamedTuple):
    """A way to resolve references, and its properties.

    `summary` is a few words for the help. `is_absolute(reference, base)`: the reference uses no part of the base, so a
    rewrite keeps its bytes; `any_scheme`: that is so for each reference with a scheme. `normalizes`: an absolute URL is
    serialized in a normal form. `growth` is the greatest number of characters in a URL per byte of a reference (UTF-8).
    `ignored`: the kinds of base claims that do not count (`base.is_ignored`). `scripting`: the content of a noscript
    element is text, as in a browser that runs scripts. `in_order`: a base element does not apply to links fetched
    before it, and a Content-Security-Policy may forbid it.
    """

    resolver: ResolverFactory
    summary: str
    is_absolute: Callable[[str, str], bool] = is_absolute
    any_scheme: bool = True
    normalizes: bool = False
    growth: int = 1
    ignored: frozenset[str] = frozenset()
    scripting: bool = False
    in_order: bool = False


PROFILES: Mapping[str, Profile] = {
    "rfc1808": Profile(rfc1808.profile, "RFC 1808, literally"),  # the default
    "rfc3986": Profile(rfc3986.profile, "RFC 3986, strict"),
    "whatwg": Profile(  # loads ada-url on first use
        whatwg.profile,
        "the URL Standard, as browsers do",
        is_absolute_in_browsers,
        any_scheme=False,
        normalizes=True,
        growth=whatwg.GROWTH,
        in_order=True,
    ),
    "browser": Profile(
        whatwg.profile,
        "the same with the bases that browsers know, and scripts on",
        is_absolute_in_browsers,
        any_scheme=False,
        normalizes=True,
        growth=whatwg.GROWTH,
        in_order=True,
        ignored=frozenset({"content-base", "base", "xml-base", "codebase"}),
        scripting=True,
    ),
}


def by_name(name: str) -> Profile:
    """Return the profile of a name (a key of PROFILES); raise UsageError, listing the choices, for any other."""
    try:
        return PROFILES[name]
    except KeyError:
        raise UsageError(f"unknown profile {in_short(repr(name))}: choose from {', '.join(PROFILES)}") from None


def resolve(base: str | URLObject, reference: str | URLObject, profile: Profiles = "rfc1808") -> str | None:
    """Resolve one reference, given as a decoded value, against a base URL.

    For example, `http://a/b/c` and `../d` give `http://a/d`.

    Both are str or URL objects (`core.protocols.URLObject`). Return the absolute URL; None for a relative reference
    with a base that relative references cannot use (RFC 1808 2.3), and, in the whatwg profile, for a URL that the URL
    Standard cannot parse. Raise UsageError for an unknown profile, TypeError for a value of another type.
    """
    if type(base) is not str:
        base = arguments.url_of(base, "base")
    if type(reference) is not str:
        reference = arguments.url_of(reference, "reference")
    return resolver(profile, base)(reference)


def resolver(profile: str, base: str, charset: str = "utf-8") -> Resolver:
    """Return the resolver of a profile (by name) for a base, from a cache, as documents share bases.

    `charset` is the document's, for queries in the whatwg profile. Raise UsageError for an unknown profile or charset.
    """
    if len(base) > LONGEST:
        return by_name(profile).resolver(base, charset)
    return _cached_resolver(profile, base, charset)


@lru_cache(maxsize=1024)  # each entry of a feed may have a base; most feeds have fewer entries
def _cached_resolver(profile: str, base: str, charset: str) -> Resolver:
    return by_name(profile).resolver(base, charset)
