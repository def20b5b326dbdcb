"""Questions about a reference and its base together: does it climb above the root, do the profiles differ."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from absolve.resolvers import PROFILES, references, rfc3986, whatwg
from absolve.resolvers.remembering import LONGEST, remembered

if TYPE_CHECKING:
    from absolve.model import Reference
    from absolve.typing import Resolver

# What may not stand somewhere is looked for ahead: a group that repeats takes memory each time, one character does not.

# A base whose directory is the same in every profile: no params, no backslash, no dot segment in any spelling.
HARMLESS_BASE = re.compile(
    r"(?:https?|ftp)://(?:[^\x00-\x20/?#\\@]*+@)?[A-Za-z0-9.-]+(?::[0-9]+)?"
    r"(?:/(?!\.|[^?#]*?(?:/\.|%2[Ee]))[^\x00-\x20;\\?#]*(?:\?[^\x00-\x20;\\#]*)?)?"
)

# A reference that every profile takes alike against such a base: an empty one; one with a scheme and an authority (but
# for dot segments, which only some remove, and which backslashes may hide); a plain host alone; a path that is not
# empty, without colons and without `..;` (dots that have params); a query; a fragment. A space before a path one takes
# away.
HARMLESS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*+://(?!.*?/\.)[^\x00-\x1f\\]*+"
    r"|//[A-Za-z0-9.-]++"
    r"|(?://[A-Za-z0-9.-]+(?=/)|(?!//|[; ]))(?![^?#]*?(?:\.;|%2[Ee]))[^\x00-\x1f\\?#:]++"
    r"(?:\?[^\x00-\x1f#]*+)?(?:\#[^\x00-\x1f]*+)?"
    r"|\?[^\x00-\x1f#]++(?:\#[^\x00-\x1f]*+)?"
    r"|(?:\#[^\x00-\x1f]*+)?)"
)


def climbs_above_root(base: str, reference: str) -> bool:
    """Whether the `..` segments of a reference (str) climb above the root of the base (str), or of its own path.

    Where a semicolon starts params in RFC 1808 and is path in RFC 3986, climbing in one of them is enough.
    """
    if ".." not in reference:
        return False
    if _climbs(rfc3986.split(base), rfc3986.split(reference)):
        return True
    return ";" in base + reference and _climbs(references.split(base), references.split(reference))


def _climbs(base: Reference, reference: Reference) -> bool:
    if reference.scheme is not None:
        if reference.net_loc is None:
            return False
    elif not references.hierarchical(base):
        return False
    path = reference.path
    if reference.scheme is None and not reference.net_loc and not path.startswith("/"):
        path = base.path[: base.path.rfind("/") + 1] + path
    depth = 0
    for segment in rfc3986.segments(path.removeprefix("/")):
        if segment == "..":
            depth -= 1
            if depth < 0:
                return True
        elif segment != ".":
            depth += 1
    return False


def divergent(base: str, reference: str, charset: str = "utf-8") -> bool:
    """Whether the profiles take a reference (str) to different URLs from a base (str), all parsed by the URL Standard.

    So mere spelling does not count; False where a profile has no target, or the URL Standard cannot parse one.
    Raises UsageError for an unknown charset.
    """
    if HARMLESS.fullmatch(reference) and harmless(base):
        return False
    *others, standard = _resolvers(base, charset)
    browser = _sign(standard(reference))
    if browser is None:
        return False
    normalize = _normalizer(charset)
    differ = False
    target = None
    for resolve in others:  # one after the other: each may take megabytes
        last, target = target, resolve(reference)
        if target is None:
            return False
        if target != last:
            del last
            found = _sign(normalize(target))
            if found is None:
                return False
            differ = differ or found != browser
    return differ


def _sign(url: str | None) -> str | bytes | None:
    """What stands for a URL: itself, or if it is long 32 bytes of it."""
    if url is None or len(url) <= LONGEST:
        return url
    from hashlib import blake2b  # with it comes OpenSSL, 4 MB that few documents need

    return blake2b(url.encode(), digest_size=32).digest()


@remembered(64)
def harmless(base: str) -> bool:
    """Whether a base (str) has the same directory in every profile."""
    return HARMLESS_BASE.fullmatch(base) is not None


@lru_cache(maxsize=16)
def _normalizer(charset: str) -> Resolver:
    """What the URL Standard makes of a URL."""
    return whatwg.profile("", charset)


@remembered(16)
def _resolvers(base: str, charset: str) -> list[Resolver]:
    """The resolvers of all profiles, that of the URL Standard last."""
    return [PROFILES[name](base, charset) for name in ("rfc1808", "rfc3986", "whatwg")]
