"""Separate what a mirror lacks: files that are missing, and links to other sites.

In: the rows of a map. Out: an `Absent` for each URL. A file is missing if pages need it, or if it is of a host of which
the mirror has pages.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Rows = Callable[[str], Iterable[Any]]

_FOLLOWED: Final = frozenset({"navigation", "metadata"})  # kinds of links that a reader follows, or nobody


class Absent(NamedTuple):
    """A URL that the mirror lacks: the kinds of links to it, how many pages have them, and the first such file."""

    url: str
    kinds: tuple[str, ...]
    number: int
    first: str | None
    is_elsewhere: bool


class Lacking(NamedTuple):
    """How many files that pages need are missing, how many that they only link to, how many links lead to other sites.

    `files` and `links` are the first of those that are missing, and of those elsewhere: what browsers fetch before what
    readers follow, and of each what most pages have.
    """

    needed: int
    linked: int
    elsewhere: int
    files: list[Absent]
    links: list[Absent]

    @property
    def missing(self) -> int:
        """The number of files that are missing."""
        return self.needed + self.linked


def of(rows: Rows, most: int = 0) -> Lacking:
    """Return what a mirror lacks, with at most so many URLs of each sort; `rows` runs a query on its map."""
    kept: tuple[list[Absent], list[Absent]] = [], []
    numbers = [0, 0, 0]
    for one in _every(rows):
        numbers[2 if one.is_elsewhere else _FOLLOWED.issuperset(one.kinds)] += 1
        kept[one.is_elsewhere].append(one)
        if len(kept[one.is_elsewhere]) > 2 * most:
            _cut(kept[one.is_elsewhere], most)
    for found in kept:
        _cut(found, most)
    return Lacking(numbers[0], numbers[1], numbers[2], *kept)


def _cut(found: list[Absent], most: int) -> None:
    found.sort(key=lambda one: (_FOLLOWED.issuperset(one.kinds), -one.number, one.url))
    del found[most:]


_PAGES: Final = """
SELECT url FROM resources JOIN pages USING (path) WHERE title IS NOT NULL AND typeof(url) = 'text'"""
_MISSING: Final = """
SELECT url, kind, count, first FROM missing
WHERE typeof(url) = 'text' AND typeof(kind) = 'text' AND typeof(count) = 'integer' ORDER BY url, kind"""


def _every(rows: Rows) -> Iterator[Absent]:
    """Yield each URL that the mirror lacks, in the order of the URLs."""
    hosts = {host_of(url) for (url,) in rows(_PAGES)}
    for url, group in groupby(rows(_MISSING), itemgetter(0)):
        found = list(group)
        kinds = tuple(kind for _, kind, _, _ in found)
        is_elsewhere = _FOLLOWED.issuperset(kinds) and bool(host := host_of(url)) and host not in hosts
        yield Absent(url, kinds, max(row[2] for row in found), found[0][3], is_elsewhere)


def host_of(url: str) -> str:
    """Return the host of a URL of the web, without `www.`; "" for a URL of another scheme."""
    scheme = url.partition("://")[0]
    return identity.named(url).removeprefix("www.") if scheme in {"http", "https", "ftp"} else ""
