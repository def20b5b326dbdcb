"""The rfc1808 profile: section 4 of RFC 1808, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.resolvers.appending import Appending
from absolve.resolvers.references import SCHEME, split

if TYPE_CHECKING:
    import cython

    from absolve.model import Reference
    from absolve.typing import Resolver
else:
    from absolve import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.resolvers.references import components, hierarchical, unsplit
else:
    from absolve.resolvers.references import components, hierarchical, unsplit


def profile(base: str, _charset: str = "utf-8", /) -> Resolver:
    """The resolver of RFC 1808 section 4 for a base URL (str; "" where none is known).

    It gives the absolute URL, not encoded, lower-cased or tidied in any way; None for a relative reference where the
    base is unknown, not absolute, opaque, or of a scheme that 2.3 never uses with relative URLs. Raises nothing.
    """
    parts = split(base)
    return Appending(lambda reference: steps(base, parts, reference))


@cython.ccall
def steps(base: str, parts: Reference, text: str) -> str | None:
    """Resolve a reference by the numbered steps of section 4; `parts` is `split(base)`."""
    # Step 1: the base is established. Unknown, or itself relative: only an absolute reference is one.
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
    # Step 7: what there is is recombined, with the delimiters that the reference had.
    return unsplit((parts.scheme, net_loc, path, params, query, fragment))


@cython.cfunc
def _is_absolute(text: str) -> bool:
    """Whether it starts with a scheme name (2.4.2)."""
    return ":" in text and SCHEME.match(text) is not None


@cython.cfunc
def _inherited(base: str | None, own: str | None) -> str | None:
    return own if base is None else base


@cython.ccall
def merge(base: str, path: str) -> str:
    """Step 6: a relative path in the place of the last segment of the base's path, dot segments removed.

    A base without a path (`http://h`) has its root there, so what is returned always starts with a slash.
    """
    joined = (base[: base.rfind("/") + 1] or "/") + path
    if "/." not in joined:  # nor any segment that begins with a dot
        return joined
    _, *segments = joined.split("/")
    last = segments.pop()
    kept: list[str] = []
    for segment in segments:
        # 6a: "./" is removed, where "." is a complete segment.
        if segment == ".":
            continue
        # 6c: "<segment>/../" is removed, leftmost first, where <segment> is not "..".
        if segment == ".." and kept and kept[-1] != "..":
            kept.pop()
        else:
            kept.append(segment)
    # 6b: "." is removed at the end.
    if last == ".":
        last = ""
    # 6d: so is "<segment>/.." there, where <segment> is not "..".
    elif last == ".." and kept and kept[-1] != "..":
        kept.pop()
        last = ""
    return "/".join(("", *kept, last))
