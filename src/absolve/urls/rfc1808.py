"""The rfc1808 profile: resolve references by RFC 1808 section 4, step by step.

In: a base URL and a reference, as str. Out: the absolute URL, or None. Each step of the algorithm has its number in a
comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.core.caching import LONGEST
from absolve.urls.parse import SCHEME, components, hierarchical, split, unsplit
from absolve.urls.prefixing import PrefixResolver

if TYPE_CHECKING:
    from absolve.core.model import Reference
    from absolve.core.protocols import Resolver



def profile(base: str, _charset: str = "utf-8", /) -> Resolver:
    """Return the resolver of RFC 1808 section 4 for a base URL (str; "" for an unknown base).

    The resolver returns the absolute URL, without encoding, lower-casing or other normalization; None for a relative
    reference if the base is unknown, relative, opaque, or of a scheme never used with relative URLs (2.3). It raises no
    error.
    """
    usable = hierarchical(split(base))
    if len(base) > LONGEST:  # split for each reference, to hold no copy of its components
        return PrefixResolver(lambda reference: steps(base, split(base), reference), base, usable=usable)
    parts = split(base)
    return PrefixResolver(lambda reference: steps(base, parts, reference), base, usable=usable)


def steps(base: str, parts: Reference, text: str) -> str | None:
    """Resolve a reference by the numbered steps of section 4; return None if it has no URL.

    `parts` is `split(base)`.
    """
    # Step 1: the base is established. If it is unknown, or relative, only an absolute reference has a URL.
    if parts.scheme is None:
        return text if _is_absolute(text) else None
    # Step 2a: an entirely empty reference inherits the entire base, the fragment included.
    if not text:
        return base
    # Step 2b: one that starts with a scheme name is absolute.
    if _is_absolute(text):
        return text
    if not hierarchical(parts):
        return None
    # Step 2c: otherwise it inherits the scheme.
    _, net_loc, path, params, query, fragment = components(text)
    if net_loc is None and path and path[0] not in "./" and "/." not in path:
        directory = _directory(parts.path)
        if "/." not in directory:  # the result of steps 4 to 7 is a concatenation
            del path, params, query, fragment  # frees memory: they may be long
            directory = unsplit((parts.scheme, parts.net_loc, directory, None, None, None))
            return directory + text
    if not net_loc:
        # Step 3: it inherits the net_loc (if any), unless its own is non-empty.
        net_loc = _inherited(parts.net_loc, net_loc)
        if not path:
            # Step 5: an empty path is inherited, and so are
            path = parts.path
            if not params:
                # 5a: the params, unless its own are non-empty,
                params = _inherited(parts.params, params)
                if not query:
                    # 5b: and then the query, unless its own is non-empty.
                    query = _inherited(parts.query, query)
        elif not path.startswith("/"):
            # Step 4 skips this for a path that is preceded by a slash.
            path = merge(parts.path, path)
    # Step 7: the components are recombined, with the delimiters of the reference.
    return unsplit((parts.scheme, net_loc, path, params, query, fragment))


def _is_absolute(text: str) -> bool:
    """Return whether a reference starts with a scheme name (2.4.2)."""
    return ":" in text and SCHEME.match(text) is not None


def _inherited(base: str | None, own: str | None) -> str | None:
    return own if base is None else base


def _directory(base: str) -> str:
    """Return a path without its last segment."""
    return base[: base.rfind("/") + 1] or "/"


def merge(base: str, path: str) -> str:
    """Return the base's path with a relative path for its last segment, and dot segments removed (step 6).

    The result always starts with a slash: a base without a path (`http://h`) counts as `/`.
    """
    joined = _directory(base) + path
    if "/." not in joined:  # no segment begins with a dot
        return joined
    # In place in one buffer: there may be millions of segments.
    kept = bytearray(joined.encode("utf-8", "surrogatepass"))
    del joined
    del kept[_kept(kept, len(kept)) :]
    return kept.decode("utf-8", "surrogatepass")


def _kept(p: bytearray, n: int) -> int:
    """Remove the dot segments of a path in place (step 6); return the number of bytes kept.

    Output is written from the start of the buffer. The path must contain a slash; bytes before the first are dropped.
    """
    i = p.find(47, 0, n) + 1
    size = 1  # each segment in the output includes the slash behind it
    p[0] = 47
    while i <= n:
        end = p.find(47, i, n)
        if end < 0:
            end = n
        if end == i + 1 and p[i] == 46:
            # 6a: "./" is removed, where "." is a complete segment. 6b: "." is removed at the end.
            i = end + 1
        elif end == i + 2 and p[i] == 46 and p[i + 1] == 46 and size > 1 and not _ends_with_dots(p, size):
            # 6c: "<segment>/../" is removed, leftmost first, unless <segment> is "..". 6d: likewise "<segment>/.." at
            # the end.
            i = end + 1
            size -= 1
            while p[size - 1] != 47:
                size -= 1
        else:
            length = (end + 1 if end < n else n) - i
            p[size : size + length] = p[i : i + length]
            size += length
            i = end + 1
    return size


def _ends_with_dots(p: bytearray, size: int) -> bool:
    """Return whether the last segment of the output is ".."."""
    return size > 3 and p[size - 2] == 46 and p[size - 3] == 46 and p[size - 4] == 47
