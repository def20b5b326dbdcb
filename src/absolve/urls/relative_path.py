"""Relative references (RFC 3986 4.2): from a folder to a file, and in the form that an older reference has.

In: two paths below the same root; or a reference, its base URL, the new target (all str). Out: a path with `..` for
each folder to leave; the reference to write. Only `reference_to` escapes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from absolve.urls import PROFILES, resolver, whatwg
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

def relative_path(folder: str, path: str) -> str:
    """Return the path from a folder to `path`, both below the root: for example, `a/b` and `a/c/d` give `../c/d`.

    The root is "" as a folder. The result is "" where `path` is the folder with a slash at its end.
    """
    above = folder.split("/") if folder else []
    parts = path.split("/")
    same = 0
    while same < min(len(above), len(parts) - 1) and above[same] == parts[same]:
        same += 1
    return "../" * (len(above) - same) + "/".join(parts[same:])


def reference_to(folder: str, path: str) -> str:
    """Return the reference from a folder to a file, on any disk: for example, `a` to `a/x:y` gives `./x:y`."""
    found = quote(relative_path(folder, path), safe=_QUOTED, errors="surrogateescape")
    return f"./{found}" if ":" in found.partition("/")[0] else found  # RFC 3986 4.2: it would begin with a scheme


_QUOTED: Final = "/!$&*+,;=:@-._~"  # characters of a path that need no escape in any place of a link
# The scheme with its colon, `//` and the host, the path, the rest.
_PARTS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)(//[^/?#]*)([^?#]*)((?:\?[^#]*)?(?:#.*)?)", re.DOTALL)


def in_browsers(form: str, base: str, target: str) -> bool:
    """Return whether a reference leads to a target URL by the URL Standard."""
    return whatwg.parse(form, base) == target


def in_every_profile(charset: str, form: str, base: str, target: str) -> bool:
    """Return whether a reference leads to what the target URL means, by each profile, in a document of a charset."""
    for profile in PROFILES:
        lead = resolver(profile, base, charset)
        led, meant = lead(form), lead(target)
        if led != meant and (led is None or meant is None or whatwg.parse(led) != whatwg.parse(meant)):
            return False
    return True


def in_form(reference: str, base: str, target: str, leads: Callable[[str, str, str], bool] = in_browsers) -> str:
    """Return the reference to write for an absolute target URL: in the form of another one, if that `leads` there."""
    for form in _forms(reference, base, target):
        if form and leads(form, base, target):
            return form
    return target


def _forms(reference: str, base: str, target: str) -> Iterator[str]:
    """Yield the target in the form of the reference, then in forms that need less of the base.

    For example, `x` in `http://h/a/b` for `http://h/a/c?q` gives `c?q` and `/a/c?q`. An absolute reference gives
    nothing; a reference to another host does so, too, unless it begins with `//`.
    """
    parts = _PARTS.fullmatch(target)
    if parts is None or has_scheme(reference.strip()):
        return
    scheme, authority, path, rest = parts.groups()
    path = path or "/"
    own = _PARTS.match(base)
    written = reference.strip().replace("\\", "/")
    if written.startswith("//"):
        yield authority + path + rest
        return
    if own is None or (own[1] + own[2]).lower() != (scheme + authority).lower():
        return
    if not written.startswith("/"):
        yield relative(own[3], path, is_dotted=written.startswith("./")) + rest
    yield path + rest


def relative(base: str, path: str, *, is_dotted: bool = False) -> str:
    """Return the relative reference from one absolute path to another: for example, `../x` from `/a/b` to `/x`."""
    found = relative_path(base.rpartition("/")[0][1:], path[1:])
    if not found or found[0] in "/;" or ":" in found.partition("/")[0] or (is_dotted and found[:3] != "../"):
        return f"./{found}"
    return found
