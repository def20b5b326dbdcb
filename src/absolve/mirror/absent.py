"""Separate what a mirror lacks: files that are missing, and links to other sites.

In: the rows of a map. Out: an `Absent` for each URL. A file is missing if pages need it, or if it is of a host of which
the mirror has pages.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.caching import remembered
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Rows = Callable[[str], Iterable[Any]]
    _Ranked = tuple[bool, int, str, tuple[str, ...], str | None]

LISTED: Final = 500  # URLs of each sort, on the entry page
_FOLLOWED: Final = frozenset({"navigation", "metadata"})  # kinds of links that a reader follows, or nobody


class Absent(NamedTuple):
    """A URL that the mirror lacks: the kinds of links to it, how many pages have them, and the first such file."""

    url: str
    kinds: tuple[str, ...]
    number: int
    first: str | None


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
    hosts = {host_of(url) for (url,) in rows(_PAGES)} or {host_of(url) for (url,) in rows(_OTHERS)}
    kept: tuple[list[_Ranked], list[_Ranked]] = [], []
    numbers = [0, 0, 0]
    for url, group in groupby(rows(_MISSING), itemgetter(0)):
        found = list(group)
        kinds = tuple([kind for _, kind, _, _ in found])
        is_followed = _FOLLOWED.issuperset(kinds)
        is_elsewhere = is_followed and bool(host := host_of(url)) and host not in hosts
        numbers[2 if is_elsewhere else is_followed] += 1
        sort = kept[is_elsewhere]
        sort.append((is_followed, -max([row[2] for row in found]), url, kinds, found[0][3]))
        if len(sort) > 2 * most:
            sort.sort()
            del sort[most:]
    files, links = map(_absent, kept)
    return Lacking(numbers[0], numbers[1], numbers[2], files[:most], links[:most])


def _absent(found: list[_Ranked]) -> list[Absent]:
    return [Absent(url, kinds, -number, first) for _, number, url, kinds, first in sorted(found)]


_PAGES: Final = """
SELECT url FROM resources JOIN pages USING (path) WHERE title IS NOT NULL AND typeof(url) = 'text'"""
_OTHERS: Final = "SELECT url FROM resources WHERE typeof(url) = 'text'"  # a mirror of feeds has no page
_MISSING: Final = """
SELECT url, kind, count, first FROM missing
WHERE typeof(url) = 'text' AND typeof(kind) = 'text' AND typeof(count) = 'integer' ORDER BY url, kind"""


def host_of(url: str) -> str:
    """Return the host of a URL of the web, without `www.`; "" for a URL of another scheme."""
    return _host(identity.origin(url))


@remembered(1024)
def _host(beginning: str) -> str:
    is_web = beginning.startswith(("http://", "https://", "ftp://"))
    return identity.named(beginning).removeprefix("www.") if is_web else ""
