"""Parse references (RFC 1808 section 2), and resolve them by section 4, step by step: the rfc1808 profile.

In: a base URL and a reference, as str. Out: a Reference with six components, and back; the absolute URL, or None. Each
step of the algorithms has its number in a comment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.core.caching import LONGEST
from absolve.core.model import Reference, new
from absolve.urls.predicates import PrefixResolver

if TYPE_CHECKING:
    from absolve.core.protocols import Resolver

# Schemes that are never used with relative URLs: section 2.3, and newer ones without hierarchical URLs. For all others
# the base decides.
NEVER_RELATIVE = frozenset("mailto news telnet tel sms javascript vbscript data blob about cid mid".split())

# RFC 1808 2.2: scheme = 1*( alpha | digit | "+" | "-" | "." )
SCHEME = re.compile(r"([A-Za-z0-9+.-]+):")

Components = tuple[str | None, str | None, str, str | None, str | None, str | None]  # the fields of a Reference


def split(text: str) -> Reference:
    """Parse any text by RFC 1808 2.4: for example, `//h/p;a?q#f` into None, `h`, `/p`, `a`, `q`, `f`."""
    return new(Reference, components(text))


def components(text: str) -> Components:
    """Return the components of `split` as a plain tuple, which is faster to create than a Reference."""
    # A URL may have megabytes: only the components are copied.
    start = 0
    end = len(text)
    scheme = net_loc = params = query = fragment = None
    # 2.4.1 the fragment: after the first crosshatch
    at = text.find("#")
    if at >= 0:
        fragment = text[at + 1 :]
        end = at
    # 2.4.2 the scheme: before the first colon, if all characters before it are allowed in a scheme
    if text.find(":", 0, end) >= 0 and (match := SCHEME.match(text, 0, end)):
        scheme = match[1]
        start = match.end()
    # 2.4.3 the network location: from a double slash at the start to the next slash, a question mark included
    if text.startswith("//", start, end):
        at = text.find("/", start + 2, end)
        if at < 0:
            at = end
        net_loc = text[start + 2 : at]
        start = at
    # 2.4.4 the query: after the first question mark
    at = text.find("?", start, end)
    if at >= 0:
        query = text[at + 1 : end]
        end = at
    # 2.4.5 the parameters: after the first semicolon
    at = text.find(";", start, end)
    if at >= 0:
        params = text[at + 1 : end]
        end = at
    # 2.4.6 the path: the rest, with the preceding slash
    return scheme, net_loc, text[start:end], params, query, fragment


def unsplit(reference: Components) -> str:
    """Recombine the components, each with its delimiter (section 4, step 7); `unsplit(split(x)) == x`.

    A path that begins with `//`, without a net_loc, gets the prefix `/.`, as in the URL Standard: it would be parsed as
    a net_loc, and neither RFC 1808 2.2 nor RFC 3986 3.3 allows such a URL.
    """
    scheme, net_loc, path, params, query, fragment = reference
    colon = "" if scheme is None else ":"
    slashes = "//" if net_loc is not None else "/." if path.startswith("//") else ""
    semicolon = "" if params is None else ";"
    mark = "" if query is None else "?"
    crosshatch = "" if fragment is None else "#"
    return (  # in one expression, without intermediate copies: a URL may have megabytes
        f"{scheme or ''}{colon}{slashes}{net_loc or ''}{path}"
        f"{semicolon}{params or ''}{mark}{query or ''}{crosshatch}{fragment or ''}"
    )


def hierarchical(base: Reference) -> bool:
    """Return whether relative references can be used with a base: it has a scheme, not a NEVER one, and a hierarchy.

    A hierarchy is a net_loc, or a path that begins with a slash.
    """
    scheme = base.scheme
    if scheme is None or scheme.lower() in NEVER_RELATIVE:
        return False
    return base.net_loc is not None or base.path.startswith("/")


# --- section 4 --------------------------------------------------------------------------------------------------------


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
    """Return a path without its last segment: for example, `/a/b` gives `/a/`."""
    return base[: base.rfind("/") + 1] or "/"


def merge(base: str, path: str) -> str:
    """Return a relative path below the base's, without dot segments (step 6): for example, `/a/b/c` + `../d`: `/a/d`.

    The result always starts with a slash: a base without a path (`http://h`) counts as `/`.
    """
    joined = _directory(base) + path
    if "/." not in joined:  # no segment begins with a dot
        return joined
    # In place in one buffer: there may be millions of segments.
    kept = bytearray(joined.encode("utf-8", "surrogatepass"))
    del joined
    del kept[_remove_dots(kept, len(kept)) :]
    return kept.decode("utf-8", "surrogatepass")


def _remove_dots(p: bytearray, n: int) -> int:
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
