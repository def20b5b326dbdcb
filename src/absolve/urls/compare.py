"""Questions about a reference and its base together: does it climb above the root, do the profiles differ."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core.digest import fingerprint
from absolve.core.lazy_regex import pattern
from absolve.urls import parse, resolver, rfc3986, whatwg
from absolve.urls.cache import LONGEST, remembered
from absolve.urls.predicates import is_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.core.model import Reference
    from absolve.core.protocols import Resolver


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
    return Compared(base).climbs_above_root(reference)


class _Levels:
    """How deep the directory of a base is, by one way to split URLs; its path is walked once."""

    def __init__(self, base: str, split: Callable[[str], Reference]) -> None:
        parts = split(base)
        self._split = split
        self._hierarchical = parse.hierarchical(parts)
        root = parts.path.startswith("/")
        directory = parts.path.rfind("/")
        self._depth = _depth(rfc3986.segments(parts.path, root, directory)) if directory >= root else 0

    def climbs(self, text: str) -> bool:
        """Return whether a reference (str) climbs above the root."""
        reference = self._split(text)
        if reference.scheme is not None:
            if reference.net_loc is None:
                return False
        elif not self._hierarchical:
            return False
        path = reference.path
        relative = reference.scheme is None and not reference.net_loc and not path.startswith("/")
        return _depth(rfc3986.segments(path, path.startswith("/")), self._depth if relative else 0) < 0


def _depth(segments: Iterator[str], depth: int = 0) -> int:
    """Return how deep segments lead from a depth; -1 where one of them leads above the root, or the depth is."""
    if depth < 0:
        return depth
    for segment in segments:
        if segment == "..":
            depth -= 1
            if depth < 0:
                break
        elif segment != ".":
            depth += 1
    return depth


def divergent(base: str, reference: str, charset: str = "utf-8") -> bool:
    """Whether the profiles take a reference (str) to different URLs from a base (str), all parsed by the URL Standard.

    So mere spelling does not count; False where a profile has no target, or the URL Standard cannot parse one.
    Raises UsageError for an unknown charset.
    """
    return Compared(base, charset).divergent(reference)


class Compared:
    """The three profiles side by side for one base (str), in a document of this charset (a label).

    Questions about a long base are answered once for all references: a page may have a base of half a megabyte and
    thousands of links. Nothing is looked at before it is asked for.
    """

    __slots__ = ("_base", "_charset", "_decisive", "_harmless", "_levels", "_params")

    def __init__(self, base: str, charset: str = "utf-8") -> None:
        self._base = base
        self._charset = charset
        self._harmless: bool | None = None
        self._decisive: dict[bool, str] = {}
        self._levels: _Levels | None = None
        self._params: _Levels | None = None

    def is_harmless(self) -> bool:
        """As `harmless`."""
        if self._harmless is None:
            self._harmless = harmless(self._base)
        return self._harmless

    def climbs_above_root(self, reference: str) -> bool:
        """As the function of this name."""
        if ".." not in reference:
            return False
        if self._levels is None:
            self._levels = _Levels(self._base, rfc3986.split)
        if self._levels.climbs(reference):
            return True
        if ";" not in self._base and ";" not in reference:
            return False
        if self._params is None:
            self._params = _Levels(self._base, parse.split)
        return self._params.climbs(reference)

    def divergent(self, reference: str) -> bool:
        """As the function of this name."""
        if HARMLESS.fullmatch(reference) and self.is_harmless():
            return False
        reference = _decisive(reference)
        # In other charsets a base's own query is written otherwise than theirs. Spaces before a reference may be a
        # name, as it stands in the base, for all but the URL Standard.
        names = not "" < reference[:1] <= " "
        base = self._decisive.get(names)
        if base is None:
            base = self._decisive[names] = _decisive(self._base, queries=self._charset == "utf-8", names=names)
        return _differ(base, reference, self._charset)


def _differ(base: str, reference: str, charset: str) -> bool:
    """Whether the profiles take a reference to different URLs from a base, both without what decides nothing."""
    target = resolver("rfc1808", base, charset)(reference)
    other = resolver("rfc3986", base, charset)(reference)
    if target is None or other is None:
        return False
    if target == other:
        if target == reference and is_alone(reference):
            return False  # the URL Standard makes the same of it, whatever the base
        other = None
    # One after the other: each may take megabytes.
    normalize = _normalizer(charset)
    found = {_sign(normalize(target))}
    del target
    if other is not None:
        found.add(_sign(normalize(other)))
        del other
    if None in found:
        return False
    found.add(_sign(resolver("whatwg", base, charset)(reference)))
    return None not in found and len(found) > 1


_AUTHORITY: Final = re.compile(rf"(?:{parse.STRICT_SCHEME.pattern})?//([^/?#\\]*+)")
_PATH: Final = re.compile(r"/[^?#]*+")

# A name too long for a dot segment or a drive letter, of a path behind an authority: no profile looks into it, and none
# takes it apart. Spaces at its end, if nothing follows, are at that of the URL, where the URL Standard takes them away.
_OPAQUE: Final = r"[^\x00-\x1f/\\?#;:|\ud800-\udfff]"
_LONG: Final = pattern(rf"(?<!{_OPAQUE}){_OPAQUE}{{65,}}+(?:(?<! )|(?=[/\\?#;:|]))")


def _decisive(url: str, *, queries: bool = True, names: bool = True) -> str:
    """A base or a reference of which the profiles make URLs that differ just where those of this one do.

    What may be long and decides nothing is left out: a fragment, a query, user information. Every profile begins them
    at the same character and gives them to a URL whole or not at all, so it is enough that they are there. Long names
    in a path become short ones, others for others. `queries` and `names` say whether those may be left out.
    """
    crosshatch = url.find("#")
    if crosshatch >= 0:
        url = url[: crosshatch + 1]
    mark = url.find("?")
    authority = url.find("//", 0, mark) if mark >= 0 else -1
    if authority >= 0 > url.find("/", authority + 2, mark):
        mark = -1  # of a net_loc, for RFC 1808
    if queries and 0 <= mark < len(url) - 1 and url[mark + 1] > " " and url[mark + 1] != "#":
        end = crosshatch if crosshatch >= 0 else len(url)
        url = f"{url[:mark]}?q{url[len(url[:end].rstrip(whatwg.STRIPPED)) :]}"
    match = _AUTHORITY.match(url)
    if match is not None:
        start = match.start(2)
        at = url.rfind("@", start, match.end())
        if at > start:
            url = f"{url[:start]}u{url[at:]}"
            match = _AUTHORITY.match(url)
    path = _PATH.match(url, match.end()) if names and match is not None and match[2] and len(url) > LONGEST else None
    if path is not None:
        url = f"{url[: path.start()]}{_LONG.sub(_short, path[0])}{url[path.end() :]}"
    return url


def _short(match: re.Match[str]) -> str:
    return fingerprint(match[0]).hex()


def _sign(url: str | None) -> str | bytes | None:
    """What stands for a URL: itself, or if it is long 32 bytes of it."""
    if url is None or len(url) <= LONGEST:
        return url
    return fingerprint(url, 32)


@remembered(64)
def harmless(base: str) -> bool:
    """Whether a base (str) has the same directory in every profile."""
    return HARMLESS_BASE.fullmatch(base) is not None


@lru_cache(maxsize=16)
def _normalizer(charset: str) -> Resolver:
    """What the URL Standard makes of a URL."""
    return whatwg.profile("", charset)
