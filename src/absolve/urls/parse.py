"""Parse references into components and recombine them (RFC 1808 sections 2.2 to 2.4 and section 4, step 7).

In: a reference as str. Out: a Reference with six components, and back. Also the schemes of section 2.3.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from absolve.core.model import Reference, new

if TYPE_CHECKING:
    from collections.abc import Mapping


class Category(Enum):
    """The use of relative URLs with a scheme (RFC 1808 2.3)."""

    NEVER = "never used with relative URLs"
    SOMETIMES = "used with them whenever the base follows the generic-RL syntax"
    ALWAYS = "can always be parsed using the generic-RL syntax"


SCHEMES: Mapping[str, Category] = {
    # RFC 1808 section 2.3
    **dict.fromkeys(("mailto", "news", "telnet"), Category.NEVER),
    **dict.fromkeys(("gopher", "prospero", "wais"), Category.SOMETIMES),
    **dict.fromkeys(("file", "ftp", "http", "nntp"), Category.ALWAYS),
    # Newer schemes without hierarchical URLs. For all others the base decides, as for SOMETIMES.
    **dict.fromkeys(("tel", "sms", "javascript", "vbscript", "data", "blob", "about", "cid", "mid"), Category.NEVER),
}

NEVER_RELATIVE = frozenset(scheme for scheme, category in SCHEMES.items() if category is Category.NEVER)

# RFC 1808 2.2: scheme = 1*( alpha | digit | "+" | "-" | "." )
SCHEME = re.compile(r"([A-Za-z0-9+.-]+):")

# RFC 3986 3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
STRICT_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


Components = tuple[str | None, str | None, str, str | None, str | None, str | None]  # the fields of a Reference


def split(text: str) -> Reference:
    """Parse a reference (str) into its components, in the order of RFC 1808 section 2.4; any text can be parsed."""
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
