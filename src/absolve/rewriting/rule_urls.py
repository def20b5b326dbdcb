"""URLs as rules for them are compared: by place and path, a prefix up to the end of a part.

In: URLs as str. Out: their parts, whether one begins with another, one joined to the rest of another.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from absolve.urls.identity import decoded, site

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?(.*)", re.DOTALL)
_PATH: Final = re.compile(r"[^?#]*")


class Place(NamedTuple):
    """The parts of a URL compared exactly: scheme, user information, host in lower case with a non-default port."""

    scheme: str
    user: str
    site: str


def parted(url: str) -> tuple[Place, str] | None:
    """Return the place and the rest of a URL; the rest has a path if there is a host. None for a relative reference."""
    found = _URL.fullmatch(url)
    if found is None:
        return None
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    if authority is None:
        return Place(scheme, "", ""), rest
    place = Place(scheme, authority.rpartition("@")[0], site(url) or "")
    return place, rest if rest.startswith("/") else f"/{rest}"


def compared(rest: str) -> str:
    """Return the rest of a URL as it is compared: the path decoded as servers do, query and fragment as written."""
    if "%" not in rest:
        return rest
    path = _PATH.match(rest)[0]  # type: ignore[index]  # it matches the empty text
    return decoded(path).replace("#", "%23") + rest[len(path) :]


def after(rest: str, same: str, length: int) -> str:
    """Return what of `rest` follows the first `length` characters of it as it is compared (`same`); they end a part."""
    path = _PATH.match(same)[0]  # type: ignore[index]
    if rest is same or length >= len(path):
        return same[length:]
    left = rest.split("/", same.count("/", 0, length))[-1]  # no slash is escaped or unescaped
    return left if same[length - 1] == "/" else left[left.index("/") :]


def is_below(target: str, place: Place, prefix: str) -> bool:
    """Return whether a URL begins with a prefix."""
    found = parted(target)
    if found is None or found[0] != place:
        return False
    rest = compared(found[1])
    return rest.startswith(prefix) and ends_a_part(prefix, rest[len(prefix) : len(prefix) + 1])


def lowered(url: str) -> str:
    """Return a URL with its scheme and host in lower case."""
    found = _URL.fullmatch(url)
    if found is None or found[2] is None:
        return url
    user, at, host = found[2].rpartition("@")
    return f"{found[1].lower()}://{user}{at}{host.lower()}{found[3]}"


def ends_a_part(prefix: str, following: str) -> bool:
    """Return whether a prefix ends at the end of a URL part: a path segment, the path, a query parameter."""
    if not following or prefix[-1:] in {"/", "?"} or (prefix[-1:] == "&" and "?" in prefix):
        return True
    if "#" in prefix:
        return False
    return following in ("&#" if "?" in prefix else "/?#")


def joined(old: str, new: str, rest: str) -> str:
    """Return the new URL with the rest of the old one appended, with one slash between them if either had one."""
    found = parted(new)
    if found is not None and found[1] == "/" and not new.endswith("/"):
        new += "/"
    if rest.startswith("/") and new.endswith("/"):
        return new + rest[1:]
    if old.endswith("/") and rest and not new.endswith("/") and rest[0] not in "?#":
        return f"{new}/{rest}"
    return new + rest
