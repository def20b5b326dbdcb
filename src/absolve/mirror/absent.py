"""Separate what a mirror lacks: files that are missing, and links to other sites.

In: the working copy of a map. Out: an `Absent` for each URL. A file is missing if pages need it, or if it is of a host
of which the mirror has pages.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.mirror.map import Working

_FOLLOWED: Final = frozenset({"navigation", "metadata"})  # kinds of links that a reader follows, or nobody


class Absent(NamedTuple):
    """A URL that the mirror lacks: the kinds of links to it, how many pages have them, and the first such file."""

    url: str
    kinds: tuple[str, ...]
    number: int
    first: str | None
    is_elsewhere: bool


class Lacking(NamedTuple):
    """How many files are missing, how many links lead to other sites, and the first of each.

    What browsers fetch comes before what readers follow, and then what most pages have.
    """

    missing: int
    elsewhere: int
    files: list[Absent]
    links: list[Absent]


def of(working: Working, most: int = 0) -> Lacking:
    """Return what a mirror lacks, with at most so many URLs of each sort."""
    kept: tuple[list[Absent], list[Absent]] = [], []
    numbers = [0, 0]
    for one in _every(working):
        numbers[one.is_elsewhere] += 1
        kept[one.is_elsewhere].append(one)
        if len(kept[one.is_elsewhere]) > 2 * most:
            _cut(kept[one.is_elsewhere], most)
    for found in kept:
        _cut(found, most)
    return Lacking(numbers[False], numbers[True], *kept)


def _cut(found: list[Absent], most: int) -> None:
    found.sort(key=lambda one: (_FOLLOWED.issuperset(one.kinds), -one.number, one.url))
    del found[most:]


def _every(working: Working) -> Iterator[Absent]:
    """Yield each URL that the mirror lacks, in the order of the URLs."""
    pages = working.rows("SELECT url FROM resources JOIN pages USING (path) WHERE title IS NOT NULL")
    hosts = {host_of(url) for (url,) in pages}
    rows = working.rows("SELECT url, kind, count, first FROM missing ORDER BY url, kind")
    for url, group in groupby(rows, itemgetter(0)):
        found = list(group)
        kinds = tuple(kind for _, kind, _, _ in found)
        is_elsewhere = _FOLLOWED.issuperset(kinds) and bool(host := host_of(url)) and host not in hosts
        yield Absent(url, kinds, max(row[2] for row in found), found[0][3], is_elsewhere)


def host_of(url: str) -> str:
    """Return the host of a URL of the web, without `www.`; "" for a URL of another scheme."""
    scheme, _, rest = url.partition("://")
    return rest.partition("/")[0].removeprefix("www.") if scheme in {"http", "https", "ftp"} else ""
