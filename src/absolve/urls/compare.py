"""Compare the profiles for one base: does a reference climb above the root, do the profiles resolve it differently.

In: base URL and reference as str, and the document's charset. Out: bool. Used by the inventory for the problems
`above-root` and `divergent`. Profiles are RFC 1808 section 4, RFC 3986 section 5.2 and the URL Standard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.core.model import PACKAGE_ROOT
from absolve.urls import resolver, rfc1808, rfc3986, whatwg

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.core.model import Reference
    from absolve.core.protocols import Resolver

    Split = Callable[[str], Reference]


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
        """Return whether every profile resolves each shape (`prefixing`) by the same prefix; False if in doubt."""
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
        target, *others = (resolve(reference) for resolve in self._resolvers)
        return any((None if url is None else self._normalize(url)) != target for url in set(others))

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
    """Return the depth below some depth to which a path leads; -1 if one of its segments climbs above the root."""
    for segment in rfc3986.segments(path, path.startswith("/")) if path and depth >= 0 else ():
        if segment == "..":
            depth -= 1
            if depth < 0:
                break
        elif segment != ".":
            depth += 1
    return depth
