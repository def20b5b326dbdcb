"""Predicates of a reference together with its base: does it climb above the root, do the profiles diverge.

In: base URL and reference as str, and the document's charset. Out: bool. Used by the inventory for the problems
`above-root` and `divergent`. Profiles are RFC 1808 section 4, RFC 3986 section 5.2 and the URL Standard.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core.caching import LONGEST, fingerprint, remembered
from absolve.core.lazy_regex import pattern
from absolve.core.model import PACKAGE_ROOT
from absolve.urls import parse, resolver, rfc3986, whatwg
from absolve.urls.predicates import is_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.core.model import Reference
    from absolve.core.protocols import Resolver


# Exclusions are look-aheads before a repeated character class: a repeated group would need memory for each repetition.

# A base whose directory is the same in every profile: no params, no backslash, no dot segment in any spelling.
HARMLESS_BASE = re.compile(
    r"(?:https?|ftp)://(?:[^\x00-\x20/?#\\@]*+@)?[A-Za-z0-9.-]+(?::[0-9]+)?"
    r"(?:/(?!\.|[^?#]*?(?:/\.|%2[Ee]))[^\x00-\x20;\\?#]*(?:\?[^\x00-\x20;\\#]*)?)?"
)

# The path of a file in a package whose URL is unknown, likewise; only plain references are the same everywhere, because
# its host is empty: `..//x` is not.
_PACKAGE_BASE = re.compile(rf"{PACKAGE_ROOT}(?![./]|[^?#]*?(?:/\.|%2[Ee]))[^\x00-\x20;\\?#]*")

# A reference that every profile resolves equally against such a base: an empty one; one with scheme and authority
# (without dot segments, which only some profiles remove, and without backslashes, which may hide them); a plain host
# alone; a non-empty path without colons and without `..;` (dots with params); a query; a fragment. A path must not
# begin with a space, which the URL Standard strips.
HARMLESS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*+://(?!.*?/\.)[^\x00-\x1f\\]*+"
    r"|//[A-Za-z0-9.-]++"
    r"|(?://[A-Za-z0-9.-]+(?=/)|(?!//|[; ]))(?![^?#]*?(?:\.;|%2[Ee]))[^\x00-\x1f\\?#:]++"
    r"(?:\?[^\x00-\x1f#]*+)?(?:\#[^\x00-\x1f]*+)?"
    r"|\?[^\x00-\x1f#]++(?:\#[^\x00-\x1f]*+)?"
    r"|(?:\#[^\x00-\x1f]*+)?)"
)


def climbs_above_root(base: str, reference: str) -> bool:
    """Return whether the `..` segments of a reference (str) climb above the root of the base (str) or of its own path.

    A semicolon begins params in RFC 1808 and is part of the path in RFC 3986; climbing by either is enough.
    """
    return Compared(base).climbs_above_root(reference)


class _Levels:
    """The depth of a base's directory, with one function for splitting URLs; computed once per base."""

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
    """Return the depth after some segments; -1 if one of them climbs above the root, or if `depth` is negative."""
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
    """Return whether the profiles resolve a reference (str) against a base (str) to different URLs, or only some do.

    The URLs are compared after parsing by the URL Standard, so different spellings are equal, and one that it cannot
    parse counts as none. Raise UsageError for an unknown charset.
    """
    return Compared(base, charset).divergent(reference)


class Compared:
    """A comparison of the three profiles for one base (str), in a document of this charset (a label).

    Facts about the base are computed lazily and once for all references: a page may have a base of half a megabyte and
    thousands of links.
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
        """Return `harmless(base)`."""
        if self._harmless is None:
            self._harmless = harmless(self._base)
        return self._harmless

    def agrees_on_shapes(self) -> bool:
        """Return whether every profile resolves each shape (`prefixing`) by the same prefix; False if in doubt."""
        return self.is_harmless() or _PACKAGE_BASE.fullmatch(self._base) is not None

    def climbs_above_root(self, reference: str) -> bool:
        """Return the result of the function `climbs_above_root` for this base."""
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
        """Return the result of the function `divergent` for this base."""
        if (HARMLESS.fullmatch(reference) and self.is_harmless()) or not (self._base or ":" in reference):
            return False
        reference = _decisive(reference)
        # In charsets other than UTF-8 the query of the base is encoded differently from that of a reference. Leading
        # spaces of a reference are a segment name, as in the base, in all profiles but the URL Standard's.
        names = not "" < reference[:1] <= " "
        base = self._decisive.get(names)
        if base is None:
            base = self._decisive[names] = _decisive(self._base, queries=self._charset == "utf-8", names=names)
        return _differ(base, reference, self._charset)


def _differ(base: str, reference: str, charset: str) -> bool:
    """Return whether the profiles resolve a reference to different URLs; both texts are shortened by `_decisive`."""
    target = resolver("rfc1808", base, charset)(reference)
    other = resolver("rfc3986", base, charset)(reference)
    if target == other and target == reference and is_alone(reference):
        return False  # the URL Standard's result is the same with any base
    # One URL at a time: each may have megabytes. A target that the URL Standard cannot parse is none for a browser.
    normalize = _normalizer(charset)
    found = {None if target is None else _sign(normalize(target))}
    if target != other:
        found.add(None if other is None else _sign(normalize(other)))
    del target, other
    found.add(_sign(resolver("whatwg", base, charset)(reference)))
    return len(found) > 1


_AUTHORITY: Final = re.compile(rf"(?:{parse.STRICT_SCHEME.pattern})?//([^/?#\\]*+)")
_PATH: Final = re.compile(r"/[^?#]*+")

# A name in the path behind an authority, too long for a dot segment or a drive letter: every profile copies it as a
# whole. Its trailing spaces are excluded if nothing follows: the URL Standard strips them at the end of a URL.
_OPAQUE: Final = r"[^\x00-\x1f/\\?#;:|\ud800-\udfff]"
_LONG: Final = pattern(rf"(?<!{_OPAQUE}){_OPAQUE}{{65,}}+(?:(?<! )|(?=[/\\?#;:|]))")


def _decisive(url: str, *, queries: bool = True, names: bool = True) -> str:
    """Return a shorter base or reference for which the profiles diverge exactly if they diverge for this one.

    Fragment, query and user information are shortened to one character at most: in every profile they begin at the same
    character and are copied as a whole or not at all, so only their presence matters. Long names in a path are replaced
    by fingerprints: different names stay different. `queries` and `names` permit shortening those.
    """
    crosshatch = url.find("#")
    if crosshatch >= 0:
        url = url[: crosshatch + 1]
    mark = url.find("?")
    authority = url.find("//", 0, mark) if mark >= 0 else -1
    if authority >= 0 > url.find("/", authority + 2, mark):
        mark = -1  # part of the net_loc in RFC 1808
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
    """Return a URL, or its 32-byte fingerprint if it is long."""
    if url is None or len(url) <= LONGEST:
        return url
    return fingerprint(url, 32)


@remembered(64)
def harmless(base: str) -> bool:
    """Return whether a base (str) has the same directory in every profile; False if in doubt."""
    return HARMLESS_BASE.fullmatch(base) is not None


@lru_cache(maxsize=16)
def _normalizer(charset: str) -> Resolver:
    """Return a function that parses and serializes an absolute URL by the URL Standard."""
    return whatwg.profile("", charset)
