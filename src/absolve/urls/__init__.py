"""The resolvers of section 4: one table, a row for each profile."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from absolve.core import arguments
from absolve.core.errors import UsageError, in_short
from absolve.urls import rfc1808, rfc3986, whatwg
from absolve.urls.cache import LONGEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from absolve.core.protocols import Profile, Resolver, URLObject

PROFILES: Mapping[str, Profile] = {
    "rfc1808": rfc1808.profile,  # the default: the text to the letter
    "rfc3986": rfc3986.profile,  # its successor, strict
    "whatwg": whatwg.profile,  # what browsers do; loads ada-url when first used
}


def by_name(name: str) -> Profile:
    """The profile of this name (a key of PROFILES); raises UsageError with the choices for any other."""
    try:
        return PROFILES[name]
    except KeyError:
        raise UsageError(f"unknown profile {in_short(repr(name))}: choose from {', '.join(PROFILES)}") from None


def resolve(base: str | URLObject, reference: str | URLObject, profile: str = "rfc1808") -> str | None:
    """Resolve one reference (as the document's decoded value has it) against a base URL.

    Both are str, or objects that are URLs (`core.protocols.URLObject`). Return the absolute URL, or None where there is
    none: a relative reference and a base that no relative reference can use (RFC 1808 2.3), or something that the URL
    Standard cannot parse. Raise UsageError for an unknown profile, TypeError for a value of another type.
    """
    if type(base) is not str:
        base = arguments.url_of(base, "base")
    if type(reference) is not str:
        reference = arguments.url_of(reference, "reference")
    return resolver(profile, base)(reference)


def resolver(profile: str, base: str, charset: str = "utf-8") -> Resolver:
    """The resolver of a profile (by name) for a base, kept: documents share bases. Raises UsageError as `by_name`."""
    if len(base) > LONGEST:
        return by_name(profile)(base, charset)
    return _kept(profile, base, charset)


@lru_cache(maxsize=1024)  # more than most feeds have entries, of which each may have a base
def _kept(profile: str, base: str, charset: str) -> Resolver:
    return by_name(profile)(base, charset)
