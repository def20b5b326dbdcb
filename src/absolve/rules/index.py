"""Find rules by the URLs or paths that they compare, without a look at each: exact ones, and prefixes of whole parts.

In: numbers of rules, texts. Out: the numbers of those that may apply. Maps compare the paths of requests; a rewrite
compares whole URLs, in the spelling of `parted` and `compared`, and appends what follows a prefix (`joined`).

    >>> index = Index()
    >>> index.of_prefix("http://h", "/docs/").append(7)
    >>> index.above("http://h", "/docs/a?b"), index.above("http://h", "/docsy")
    ([7], ())
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from absolve.urls.identity import decoded, site

if TYPE_CHECKING:
    from collections.abc import Sequence

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?(.*)", re.DOTALL)
_PATH: Final = re.compile(r"[^?#]*")
_CUT: Final = re.compile("[/?&#]")


class Index:
    """Numbers of rules by what they compare: a text on a place, such as a host; a prefix is one up to `/?&#`."""

    def __init__(self) -> None:
        self._exact: dict[str, list[int]] = {}
        self._prefixes: dict[str, list[int]] = {}
        self._deepest = 0  # parts of a prefix

    def of_exact(self, key: str) -> list[int]:
        """Return the list of the rules for one text, to add another one."""
        return self._exact.setdefault(key, [])

    def of_prefix(self, place: str, prefix: str) -> list[int]:
        """Return the list of the rules for a prefix, or one that differs from it at its end alone, to add another."""
        bare = prefix.rstrip("/?&#")
        self._deepest = max(self._deepest, len(_CUT.findall(bare)))
        return self._prefixes.setdefault(place + bare, [])

    def exact(self, key: str) -> Sequence[int]:
        """Return the rules for one text."""
        return self._exact.get(key, ())

    def above(self, place: str, text: str) -> Sequence[int]:
        """Return the rules with a prefix that may begin a text, the longest first, at most as deep as the rules go."""
        found: Sequence[int] = ()
        if self._prefixes:
            ends = [one.start() for one in islice(_CUT.finditer(text), self._deepest + 1)]
            for end in ends if len(ends) > self._deepest else (*ends, len(text)):
                if (numbers := self._prefixes.get(place + text[:end])) is not None:
                    found = [*numbers, *found] if found else numbers
        return found


# --- URLs as a rewrite compares them ----------------------------------------------------------------------------------


def parted(url: str) -> tuple[str, str] | None:
    """Return the place and the rest of a URL; the rest has a path if there is a host. None for a relative reference.

    The place is compared exactly: scheme, user information, host in lower case with a non-default port.
    """
    found = _URL.fullmatch(url)
    if found is None:
        return None
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    if authority is None:
        return f"{scheme}:", rest
    user = authority.rpartition("@")[0]
    return f"{scheme}://{user}@{site(url) or ''}", rest if rest.startswith("/") else f"/{rest}"


def compared(rest: str) -> str:
    """Return the rest of a URL as it is compared: the path decoded as servers do, query and fragment as written."""
    if "%" not in rest:
        return rest
    path = _PATH.match(rest)[0]  # type: ignore[index]  # it matches the empty text
    return decoded(path).replace("#", "%23") + rest[len(path) :]


def begins(prefix: str, text: str) -> bool:
    """Return whether a prefix begins a text, and ends there with a part: a path segment, the path, a parameter."""
    if not text.startswith(prefix):
        return False
    following = text[len(prefix) : len(prefix) + 1]
    if not following or prefix[-1:] in {"/", "?"} or (prefix[-1:] == "&" and "?" in prefix):
        return True
    return "#" not in prefix and following in ("&#" if "?" in prefix else "/?#")


def after(rest: str, same: str, length: int) -> str:
    """Return what of `rest` follows the first `length` characters of it as it is compared (`same`); they end a part."""
    path = _PATH.match(same)[0]  # type: ignore[index]
    if rest is same or length >= len(path):
        return same[length:]
    left = rest.split("/", same.count("/", 0, length))[-1]  # no slash is escaped or unescaped
    return left if same[length - 1] == "/" else left[left.index("/") :]


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


def lowered(url: str) -> str:
    """Return a URL with its scheme and host in lower case."""
    found = _URL.fullmatch(url)
    if found is None or found[2] is None:
        return url
    user, at, host = found[2].rpartition("@")
    return f"{found[1].lower()}://{user}{at}{host.lower()}{found[3]}"
