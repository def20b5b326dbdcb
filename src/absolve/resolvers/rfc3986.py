"""The rfc3986 profile: RFC 3986 section 5.2, strict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.model import Reference
from absolve.resolvers.appending import Appending
from absolve.resolvers.references import NEVER_RELATIVE, STRICT_SCHEME, hierarchical, unsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.typing import Resolver


_AT_ONCE: Final = 1 << 14  # characters
DOTS = (".", "..")  # 3.3: the dot-segments


def split(text: str) -> Reference:
    """Parse a reference (str) as the grammar of RFC 3986 does; it has no params, they are path. Raises nothing."""
    # 3.5: the fragment, from the first number sign; 3.4: the query, from the first question mark before it
    text, mark, rest = text.partition("#")
    fragment = rest if mark else None
    text, mark, rest = text.partition("?")
    query = rest if mark else None
    # 3.1: the scheme
    scheme = authority = None
    if match := STRICT_SCHEME.match(text):
        scheme = match[1]
        text = text[match.end() :]
    # 3.2: the authority, from a double slash to the next slash, question mark or number sign
    if text.startswith("//"):
        authority, slash, rest = text[2:].partition("/")
        text = slash + rest
    # 3.3: the path
    return Reference(scheme, authority, text, None, query, fragment)


def profile(base: str, _charset: str = "utf-8", /) -> Resolver:
    """The resolver of RFC 3986 section 5.2 for a base URL (str; "" where none is known).

    It gives the absolute URL, dot segments removed, otherwise not normalized; None for a relative reference where the
    base is unknown, not absolute, opaque, or of a scheme without relative references (RFC 1808 2.3). Raises nothing.
    """
    parts = split(base)
    return Appending(lambda reference: transform(parts, reference))


def transform(base: Reference, text: str) -> str | None:
    """Resolve a reference by 5.2.2, the strict branch; `base` is `split(base)` (5.2.1)."""
    scheme, authority, path, _, query, fragment = split(text)
    if scheme is not None:
        if scheme.lower() in NEVER_RELATIVE and authority is None:
            return text  # their path is no hierarchy: `data:,a/../b` has no dot segments
        path = remove_dot_segments(path)
    elif not hierarchical(base):
        # The empty reference is the base itself, without its fragment; no other one can be resolved.
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
                path = remove_dot_segments(merge(base, path))
    # 5.3: recomposed; the fragment is the reference's own.
    return unsplit(Reference(scheme, authority, path, None, query, fragment))


def merge(base: Reference, path: str) -> str:
    """5.2.3: a relative path in the place of the last segment of the base's path."""
    if base.net_loc is not None and not base.path:
        return f"/{path}"
    return base.path[: base.path.rfind("/") + 1] + path


def segments(path: str) -> Iterator[str]:
    """What stands between the slashes of a path (3.3), some thousands at a time: there may be millions."""
    start = 0
    while (end := path.find("/", start + _AT_ONCE)) >= 0:
        yield from path[start:end].split("/")
        start = end + 1
    yield from path[start:].split("/")


def remove_dot_segments(path: str) -> str:
    """5.2.4, with the output buffer kept as a list of segments; all but the very first have a slash before them."""
    if "/." not in path and not path.startswith("."):
        return path
    between = path.split("/")
    # 2A and 2D: "../", "./", ".." and "." at the very start are removed.
    start = next((at for at, segment in enumerate(between) if segment not in DOTS), len(between))
    if start == len(between):
        return ""
    first, rest = between[start], between[start + 1 :]
    # 2E: the first segment goes to the output.
    output = [first] if first else []
    begun = bool(first)
    for segment in rest:
        # 2C: "/../" or a final "/.." removes the last segment of the output
        if segment == "..":
            if output:
                output.pop()
                begun = begun and bool(output)
        # 2B: "/./" or a final "/." is a slash; 2E: any other segment goes to the output
        elif segment != ".":
            output.append(segment)
    # 2B and 2C leave a slash of a dot segment at the end.
    if rest and rest[-1] in DOTS:
        output.append("")
    return "/".join(output) if begun or not output else "/" + "/".join(output)
