"""The words for the missing files and the faults of a mirror: in the last line of a run, a check, and the entry page.

In: the rows of a map; the code of a note or of a fault, and a number. Out: an `Absent` for each URL: a file is missing
if pages need it, or if the mirror has pages of its host; text such as `2 forms need the web`, and the reason.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.caching import remembered
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from absolve.mirror.map import Working

LISTED: Final = 500  # URLs of each kind, on the entry page
_FOLLOWED: Final = frozenset({"navigation", "metadata"})  # kinds of links that a reader follows, or nobody


class Absent(NamedTuple):
    """A URL that the mirror lacks: the kinds of links to it, how many pages have them, and the first such file."""

    url: str
    kinds: tuple[str, ...]
    number: int
    first: str | None


class Lacking(NamedTuple):
    """The numbers of missing files that pages need, of missing files that they link to, and of links to other sites.

    `files` and `links` are the first missing files and the first links elsewhere: requisites before links to follow,
    and then by the number of pages.
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


def lacking_in(rows: Callable[[str], Iterable[Any]], most: int = 0) -> Lacking:
    """Return the missing files of a mirror, with at most so many URLs of each kind; `rows` runs a query on its map."""
    hosts = {host_of(url) for (url,) in rows(_PAGES)} or {host_of(url) for (url,) in rows(_OTHERS)}
    kept: tuple[list[tuple[bool, Absent]], list[tuple[bool, Absent]]] = [], []
    numbers = [0, 0, 0]
    for url, group in groupby(rows(_MISSING), itemgetter(0)):
        found = list(group)
        one = Absent(url, tuple([row[1] for row in found]), max([row[2] for row in found]), found[0][3])
        is_followed = _FOLLOWED.issuperset(one.kinds)
        is_elsewhere = is_followed and bool(host := host_of(url)) and host not in hosts
        numbers[2 if is_elsewhere else is_followed] += 1
        sort = kept[is_elsewhere]
        sort.append((is_followed, one))
        if len(sort) > 2 * most:
            sort.sort(key=_rank)
            del sort[most:]
    files, links = ([one for _, one in sorted(sort, key=_rank)[:most]] for sort in kept)
    return Lacking(numbers[0], numbers[1], numbers[2], files, links)


def _rank(ranked: tuple[bool, Absent]) -> tuple[bool, int, str]:
    return ranked[0], -ranked[1].number, ranked[1].url


_PAGES: Final = """
SELECT url FROM resources JOIN pages USING (path) WHERE title IS NOT NULL AND typeof(url) = 'text'"""
_OTHERS: Final = "SELECT url FROM resources WHERE typeof(url) = 'text'"  # a mirror of feeds has no page
_MISSING: Final = """
SELECT url, kind, count, first FROM missing
WHERE typeof(url) = 'text' AND typeof(kind) = 'text' AND typeof(count) = 'integer' ORDER BY url, kind"""


def host_of(url: str) -> str:
    """Return the host in an http(s) URL without `www.`: for example, `h.org` for `http://www.h.org/a`; else ""."""
    return _host(identity.origin(url))


@remembered(1024)
def _host(beginning: str) -> str:
    is_web = beginning.startswith(("http://", "https://", "ftp://"))
    return identity.named(beginning).removeprefix("www.") if is_web else ""


class Words(NamedTuple):
    """The singular, the plural and the reason for a count."""

    one: str
    many: str
    why: str = ""

    def counted(self, number: int) -> str:
        """Return a number with its words: `1 page`, `2,000 pages`."""
        return f"{number:,} {self.one if number == 1 else self.many}"


DOCUMENTS: Final = Words("document", "documents")
PAGES: Final = Words("page", "pages")
FILES: Final = Words("file", "files")
LINKS: Final = Words("link", "links")
OTHERS: Final = Words("other file", "other files")
NOTHING: Final = "nothing missing"
NEEDED: Final = Words("missing file", "missing files")
LINKED: Final = Words("linked page not captured", "linked pages not captured")
MISSING: Final = "Pages need these files, or link to them on their own site, and the capture does not have them."
ELSEWHERE: Final = Words(
    "link to another site",
    "links to other sites",
    "These sites were not captured: such links lead to the web, as they did.",
)

CHANGED: Final = Words("adjustment for offline use", "adjustments for offline use")

# Notes on what does not work from a disk,
_LIMITS: Final = {
    "needs-server": Words(
        "feature needs a server",
        "features need a server",
        "From a disk browsers run no module scripts, answer no fetch, and show no parts of another SVG file."
        " `absolve mirror --serve FOLDER` shows this copy from a server on your machine, where they work.",
    ),
    "form": Words(
        "form needs the web",
        "forms need the web",
        "A search, a login or any other form (GET or POST) is answered by the server of the site. A copy has none, so"
        " the form is sent to the site.",
    ),
    "refused": Words(
        "script or frame left out",
        "scripts or frames left out",
        "Browsers did not run these on the web either: their type, a header or a policy of the page forbids it.",
    ),
    "severed": Words(
        "request to the web cut off",
        "requests to the web cut off",
        "Pages would ask the web for these, which the capture does not have. `--absent sever` cut them off.",
    ),
    "unsevered": Words(
        "place may still ask the web",
        "places may still ask the web",
        "`--absent sever` changes links. Scripts, and what cannot be read, may ask for more.",
    ),
    "session": Words(
        "URL found with another session or mark against caches",
        "URLs found with another session or mark against caches",
        "The capture lacks these URLs. It has each of them once with another session (`--same buster`: with another"
        " mark against caches), or without one: the links lead there.",
    ),
    "partial": Words(
        "incomplete document left out",
        "incomplete documents left out",
        "The capture has only a part of these, or nothing: they count as missing.",
    ),
    "truncated": Words(
        "document cut off",
        "documents cut off",
        "The capture has only the beginning of these.",
    ),
}
# and on adjustments for offline use.
_CHANGES: Final = {
    "base": Words(
        "base URL emptied", "base URLs emptied", "A base element would lead all links of its page to the web."
    ),
    "charset": Words(
        "charset declared",
        "charsets declared",
        "Only the header of the server stated the character set, and a disk has no headers.",
    ),
    "crossorigin": Words(
        "crossorigin attribute renamed",
        "crossorigin attributes renamed",
        "Browsers load no file from a disk for an element with crossorigin: it is data-crossorigin here.",
    ),
    "integrity": Words(
        "integrity attribute renamed",
        "integrity attributes renamed",
        "Browsers check integrity for no file from a disk, and refuse the file: it is data-integrity here.",
    ),
    "csp": Words(
        "security policy adapted",
        "security policies adapted",
        "The Content-Security-Policy of the page holds here, too; it allows the files of this copy.",
    ),
    "inert": Words(
        "name made harmless",
        "names made harmless",
        "A browser or a shell would run a file of this name, and it was no such file: its name has another ending.",
    ),
}
NOTES: Final = _LIMITS | _CHANGES
LIMITS: Final = tuple(_LIMITS)
CHANGES: Final = tuple(_CHANGES)

_FAULTS: Final = {
    "dead": Words("link to a missing file", "links to missing files"),
    "fragment": Words("link to a missing place in a file", "links to missing places in files"),
    "web": Words("link to the web where a file is here", "links to the web where a file is here"),
    "changed": Words("file changed or lost", "files changed or lost"),
    "missing": Words("file missing, as a browser finds", "files missing, as a browser finds"),
    "blocked": Words("request blocked by the browser", "requests blocked by the browser"),
    "asked": Words("request to the web", "requests to the web"),
    "unsevered": Words("place that may ask the web", "places that may ask the web"),
    "unreached": Words("file without a link to it", "files without a link to them"),
    "name": Words("name that other systems refuse", "names that other systems refuse"),
    "case": Words("name that differs by case only", "names that differ by case only"),
    "unreadable": Words("unreadable file", "unreadable files"),
}


def count_notes(code: str, number: int) -> str:
    """Return the number of notes with a code: for example, `2 forms need the web`; an unknown code is its own word."""
    return NOTES.get(code, Words(code, code)).counted(number)


def count_faults(code: str, number: int) -> str:
    """Return the number of faults with a code, for example `2 unreadable files`."""
    return _FAULTS.get(code, Words(code, code)).counted(number)


def lacking(counts: Lacking) -> Iterator[str]:
    """Yield the counts of missing files that pages need, and of those that they only link to."""
    if counts.needed:
        yield NEEDED.counted(counts.needed)
    if counts.linked:
        yield LINKED.counted(counts.linked)


def summary(working: Working, *, is_page: bool = False) -> Iterator[str]:
    """Yield a mirror's counts in words, for the last line of a run; `is_page`: it is a page with its requisites."""
    yield DOCUMENTS.counted(working.documents()[0])
    if lost := working.unwritten():
        yield f"{lost:,} not written"
    counts = working.lacking
    if is_page:
        counts = counts._replace(linked=0, elsewhere=0)
    noted = dict(working.rows("SELECT code, count(*) FROM notes GROUP BY code"))
    yield from lacking(counts) if counts.missing else [NOTHING] if not (lost or "unsevered" in noted) else []
    if counts.elsewhere:
        yield ELSEWHERE.counted(counts.elsewhere)
    yield from (count_notes(code, noted[code]) for code in LIMITS if code in noted)
    if changed := sum(noted.get(code, 0) for code in CHANGES):
        yield CHANGED.counted(changed)
