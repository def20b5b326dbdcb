"""The rfc3986 profile: resolve references by RFC 3986 section 5.2, strict.

In: a base URL and a reference, as str. Out: the absolute URL, or None. Each step of the algorithm has its number in a
comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.caching import LONGEST
from absolve.core.model import Reference
from absolve.urls.predicates import STRICT_SCHEME, PrefixResolver
from absolve.urls.rfc1808 import NEVER_RELATIVE, hierarchical, unsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.protocols import Resolver


_AT_ONCE: Final = 1 << 14  # characters


def split(text: str) -> Reference:
    """Parse any text by RFC 3986 section 3: for example, `//h/p;a?q` into None, `h`, `/p;a`, None, `q`, None."""
    start = 0
    end = len(text)
    scheme = authority = query = fragment = None
    # 3.5: the fragment, from the first number sign; 3.4: the query, from the first question mark before it
    if (at := text.find("#")) >= 0:
        fragment = text[at + 1 :]
        end = at
    if (at := text.find("?", 0, end)) >= 0:
        query = text[at + 1 : end]
        end = at
    # 3.1: the scheme
    if match := STRICT_SCHEME.match(text, 0, end):
        scheme = match[1]
        start = match.end()
    # 3.2: the authority, from a double slash to the next slash, question mark or number sign
    if text.startswith("//", start, end):
        at = text.find("/", start + 2, end)
        if at < 0:
            at = end
        authority = text[start + 2 : at]
        start = at
    # 3.3: the path
    return Reference(scheme, authority, text[start:end], None, query, fragment)


def profile(base: str, _charset: str = "utf-8", /) -> Resolver:
    """Return the resolver of RFC 3986 section 5.2 for a base URL (str; "" for an unknown base).

    The resolver returns the absolute URL with dot segments removed, otherwise not normalized; None for a relative
    reference if the base is unknown, relative, opaque, or of a scheme never used with relative URLs (RFC 1808 2.3). It
    raises no error.
    """
    usable = hierarchical(split(base))
    if len(base) > LONGEST:  # split for each reference, to hold no copy of its components
        return PrefixResolver(lambda reference: transform(split(base), reference), base, usable=usable)
    parts = split(base)
    return PrefixResolver(lambda reference: transform(parts, reference), base, usable=usable)


def transform(base: Reference, text: str) -> str | None:
    """Resolve a reference by 5.2.2, the strict branch; return None if it has no URL.

    `base` is the base URL, parsed by `split` (5.2.1).
    """
    scheme, authority, path, _, query, fragment = split(text)
    if scheme is not None:
        if scheme.lower() in NEVER_RELATIVE and authority is None:
            return text  # without a hierarchy: `data:,a/../b` has no dot segments
        path = remove_dot_segments(path)
    elif not hierarchical(base):
        # The empty reference is the base without its fragment; no other one can be resolved.
        return unsplit(base._replace(fragment=None)) if not text and base.scheme is not None else None
    else:
        scheme = base.scheme
        if authority is not None:
            path = remove_dot_segments(path)
        else:
            authority = base.net_loc
            if not path:
                path = base.path
                query = base.query if query is None else query
            elif path.startswith("/"):
                path = remove_dot_segments(path)
            else:
                path = merge(base, path)
                path = remove_dot_segments(path)
    # 5.3: the components are recomposed; the fragment is always the reference's.
    return unsplit(Reference(scheme, authority, path, None, query, fragment))


def merge(base: Reference, path: str) -> str:
    """Merge a relative path with the base's (5.2.3): for example, `c` and `/a/b` give `/a/c`."""
    if base.net_loc is not None and not base.path:
        return f"/{path}"
    return base.path[: base.path.rfind("/") + 1] + path


def segments(path: str, start: int) -> Iterator[str]:
    """Yield the segments of a path (3.3) from an offset on; split in chunks, as there may be millions."""
    while (at := path.find("/", start + _AT_ONCE)) >= 0:
        yield from path[start:at].split("/")
        start = at + 1
    yield from path[start:].split("/")


def remove_dot_segments(path: str) -> str:
    """Return a path without dot segments (5.2.4), in linear time: for example, `/a/./b/../c` gives `/a/c`."""
    if "/." not in path and not path.startswith("."):
        return path
    kept = bytearray(path.encode("utf-8", "surrogatepass"))
    del kept[_remove_dots(kept, len(kept)) :]
    return kept.decode("utf-8", "surrogatepass")


def _remove_dots(p: bytearray, n: int) -> int:
    """Remove dot segments in place (5.2.4): output at the start of the buffer; return the number of bytes in it."""
    i = 0
    end = _segment_end(p, 0, n)
    # 2A and 2D: "../", "./", ".." and "." at the very start are removed.
    while _dots(p, i, end):
        if end == n:
            return 0
        i = end + 1
        end = _segment_end(p, i, n)
    # 2E: the first segment goes to the output, alone without a slash before it.
    size = _append_span(p, 0, i, end)
    while end < n:
        i = end
        end = _segment_end(p, i + 1, n)
        dots = _dots(p, i + 1, end)
        if dots == 0:
            # 2E: so does any other segment.
            size = _append_span(p, size, i, end)
            continue
        if dots == 2:
            # 2C: "/../" or a final "/.." removes the last segment of the output and its slash; 2B: "/./" or "/." does
            # not.
            while size and p[size - 1] != 47:
                size -= 1
            size -= size > 0
        if end == n:
            # 2B and 2C replace a final dot segment by a slash.
            p[size] = 47
            size += 1
    return size


def _segment_end(p: bytearray, i: int, n: int) -> int:
    end = p.find(47, i, n)
    return end if end >= 0 else n


def _dots(p: bytearray, i: int, end: int) -> int:
    """Return the length of a dot segment (3.3), 1 or 2; 0 for any other segment."""
    if i == end or end > i + 2 or p[i] != 46 or p[end - 1] != 46:
        return 0
    return 1 if end == i + 1 else 2


def _append_span(p: bytearray, size: int, i: int, end: int) -> int:
    """Append a span of the input to the output; return the new size of the output."""
    p[size : size + end - i] = p[i:end]
    return size + end - i
