"""Find the rules for a URL or path without looking at each rule: exact ones, and prefixes that end with a URL part.

In: numbers of rules, texts. Out: the numbers of those that may apply. Maps compare the paths of requests; a rewrite
compares whole URLs, in the spelling of `parted` and `compared`, and appends what follows a prefix (`joined`).

    >>> index = Index()
    >>> index.prefix_list("http://h", "/docs/").append(7)
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
    """Numbers of rules by the text that they compare, on a place such as a host; a prefix is a text up to `/?&#`."""

    def __init__(self) -> None:
        self._exact: dict[str, list[int]] = {}
        self._prefixes: dict[str, list[int]] = {}
        self._deepest = 0  # parts of a prefix

    def exact_list(self, key: str) -> list[int]:
        """Return the list of rules for one text, to add another one."""
        return self._exact.setdefault(key, [])

    def prefix_list(self, place: str, prefix: str) -> list[int]:
        """Return the list of rules for a prefix, with or without `/?&#` at its end, to add another one."""
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


_DRIVE: Final = re.compile(r"(?i)\Afile:///([a-z])(?:[:|]|%7c)(?=/)")


def with_drive(url: str) -> str:
    """Return a URL with its drive of Windows in one spelling: for example, `file:///D:/a` for `file:///d|/a`."""
    return _DRIVE.sub(lambda drive: f"file:///{drive[1].upper()}:", url)


def parted(url: str) -> tuple[str, str] | None:
    """Return the place and the rest of a URL; the rest has a path if there is a host. None for a relative reference.

    The place is compared exactly: scheme, user information, host in lower case with a non-default port.

    >>> parted("HTTP://u@H:80?b")
    ('http://u@h', '/?b')
    """
    found = _URL.fullmatch(with_drive(url))
    if found is None:
        return None
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    if authority is None:
        return f"{scheme}:", rest
    user = authority.rpartition("@")[0]
    return f"{scheme}://{user}@{site(url) or ''}", rest if rest.startswith("/") else f"/{rest}"


def compared(rest: str) -> str:
    """Return the rest of a URL for comparison, with a decoded path: for example `/abc?%62` for `/a%62c?%62`."""
    if "%" not in rest:
        return rest
    path = _PATH.match(rest)[0]  # type: ignore[index]  # it matches the empty text
    return decoded(path).replace("#", "%23") + rest[len(path) :]


def begins(prefix: str, text: str) -> bool:
    """Return whether a text begins with a prefix that ends there with a path segment, the path, or a parameter.

    >>> begins("/a", "/a/b"), begins("/a", "/ab"), begins("/a?x", "/a?x&y")
    (True, False, True)
    """
    if not text.startswith(prefix):
        return False
    following = text[len(prefix) : len(prefix) + 1]
    if not following or prefix[-1:] in {"/", "?"} or (prefix[-1:] == "&" and "?" in prefix):
        return True
    return "#" not in prefix and following in ("&#" if "?" in prefix else "/?#")


def after(rest: str, same: str, length: int) -> str:
    """Return the end of `rest` behind the first `length` characters of `same`, which is `rest` as it is compared.

    >>> after("/%61/b%63", "/a/bc", len("/a"))
    '/b%63'
    """
    path = _PATH.match(same)[0]  # type: ignore[index]
    if rest is same or length >= len(path):
        return same[length:]
    left = rest.split("/", same.count("/", 0, length))[-1]  # no slash is escaped or unescaped
    return left if same[length - 1] == "/" else left[left.index("/") :]


def joined(old: str, new: str, rest: str) -> str:
    """Return `new` and the rest of the old URL, with one slash between if either had one: for example `http://n/b`.

    Further slashes at the beginning of the rest stay: empty segments of the path.
    """
    found = parted(new)
    if found is not None and found[1] == "/" and not new.endswith("/"):
        new += "/"
    if not old.endswith("/"):
        return new + (rest[1:] if rest.startswith("/") and new.endswith("/") else rest)
    return f"{new}/{rest}" if rest and not new.endswith("/") and rest[0] not in "?#" else new + rest


def lowered(url: str) -> str:
    """Return a URL with its scheme and host in lower case."""
    found = _URL.fullmatch(url)
    if found is None or found[2] is None:
        return url
    user, at, host = found[2].rpartition("@")
    return f"{found[1].lower()}://{user}{at}{host.lower()}{found[3]}"
