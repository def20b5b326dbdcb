"""Survey the inputs of a mirror: every capture in them, and which one is held for each URL.

In: the captures of all sources, which are read once. Out: for each URL the capture that counts, with the place of its
payload, or the end of its redirects. Linear in the number of captures, whatever they are.
"""

from __future__ import annotations

import sqlite3
from heapq import nsmallest
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import Diagnostic
from absolve.document.companions import as_saved, index_rank
from absolve.document.resolved import shown
from absolve.mirror.lookup import ADD_FORM, LOOSE, Equivalences
from absolve.mirror.payloads import CUT, JOINED, PARTIAL, PIECE, Captured, Part, Piece, Pieces, Posted, Where
from absolve.run.folders import Globs
from absolve.urls.chain import follow
from absolve.urls.identity import normal, percent_decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from absolve.mirror.payloads import Found

    Notify = Callable[[Diagnostic], None]

_NOT_MODIFIED: Final = 304
_ANY: Final = 1 << 62  # no limit for redirects: there are no more than captures
_MOST_CONTRADICTIONS: Final = 1000  # reported contradictions
_LATEST: Final = 10**14 - 1  # a date of 14 digits
_NUMBER: Final = 12  # digits of the number of a capture, at the end of its rank
_PIECES: Final = "only pieces of it were captured (206), and they do not make the whole: it counts as missing"
_NO_BODY: Final = "its body was not captured: it counts as missing"
_CUT: Final = "the capture has only the beginning of it"

_TABLES: Final = """\
CREATE TABLE captured (url TEXT, rank TEXT, status INTEGER, date TEXT, media_type TEXT, source INTEGER,
  "offset" INTEGER, number INTEGER, location TEXT, digest TEXT, size INTEGER, is_revisit INTEGER, refers_to TEXT,
  refers_date TEXT, place BLOB, lack TEXT, shown TEXT, looks TEXT, fields TEXT, ids TEXT, PRIMARY KEY (url, rank))
  WITHOUT ROWID;
CREATE TABLE forms (form TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID;
"""
_PUT: Final = f"INSERT INTO captured VALUES ({', '.join('?' * 20)})"  # noqa: S608 - only marks
_BEST: Final = "SELECT *, max(rank) FROM captured GROUP BY url"  # SQLite takes the other columns of that row
# Captures that have a payload to which a revisit may refer.
_IS_WHOLE: Final = "NOT is_revisit AND location IS NULL AND status < 300 AND lack = ''"


class Choice(NamedTuple):
    """The choice of captures.

    `at`: the newest capture not later than this date counts, else the oldest after it. `keep_errors`: error pages are
    held, too, if there is nothing else. `globs` select documents by URL, and files also by path; those that match one
    are taken out of `unmet`. `only` are the URLs to hold among them; None for all.
    """

    at: str | None = None
    keep_errors: bool = False
    same: Equivalences = Equivalences()
    globs: Globs = Globs()
    only: frozenset[str] | None = None
    unmet: set[str] = set()  # noqa: RUF012 - of one run

    def wants(self, one: Captured) -> bool:
        """Return whether a capture is selected."""
        if self.only is not None and one.url not in self.only:
            return False
        names = [] if self.globs == _ALL else [*_names(one)]
        self.unmet.difference_update([glob for glob in self.unmet if Globs((glob,)).chosen(names)])
        return self.globs == _ALL or self.globs.chosen(names)

    def holds(self, one: Captured) -> bool:
        """Return whether its URL gets a document by this capture."""
        return one.location is None and (_is_success(one) or (self.keep_errors and one.status >= 400))

    def rank(self, one: Captured) -> str:
        """Return the rank of a capture for its URL, as text to compare: for example, "40202001020304051".

        Completeness precedes the date: first whole documents, then beginnings, redirects, the rest.
        """
        if _is_success(one):
            kind = 3 if one.lack == CUT else 4
        else:
            kind = 2 if one.location is not None else int(one.lack == PIECE or self.holds(one))
        is_early = self.at is not None and one.date <= self.at
        date = int(one.date or 0)
        date = _LATEST - date if self.at is not None and not is_early else date
        return f"{kind}{is_early:d}{date:014}{one.lack != JOINED:d}"


_ALL: Final = Globs()


def _is_success(one: Captured) -> bool:
    is_success = 200 <= one.status < 300 or (one.is_revisit and one.status == _NOT_MODIFIED)
    return is_success and one.lack != PIECE


def _names(one: Captured) -> Iterator[str]:
    """Yield the names of a capture for globs, for example `http://h/a?b`, `h/a?b`, `a?b`, `h/a`, `a`; a file's path."""
    rest = one.url.partition("://")[2] or one.url
    yield one.url
    for name in dict.fromkeys((rest, rest.partition("?")[0], percent_decoded(rest))):
        yield name
        yield name.partition("/")[2]
    if one.place:
        yield one.place.decode("utf-8", "surrogatepass")


class End(NamedTuple):
    """The end of a chain of redirects: the held URL, or None, and the fragment of the last Location with one."""

    url: str | None
    fragment: str | None


def _saved(one: Captured) -> Iterator[str]:
    """Yield the URL that a file had by its name: for example, `http://h/a?b` for the file `a%3fb`."""
    saved = as_saved(one.url, one.place.decode("utf-8", "surrogatepass")) if one.place else one.url
    if saved != one.url and (url := normal(saved)) is not None:
        yield url


class Survey:
    """All captures of the sources, in a temporary database. For each URL the capture with the highest rank counts.

    With equal ranks the later one counts. `parts` are the parts of joined documents, by URL.
    """

    def __init__(self, captures: Iterable[Found], choice: Choice, notify: Notify) -> None:
        self._choice = choice
        self._notify = notify
        self._db = sqlite3.connect("", isolation_level=None)  # a file without a name, removed with the process
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")
        self._number = 0
        self._ends: dict[str, End] = {}
        joined = self._read(captures)
        self._report_contradictions()
        self._origins = self._referred()
        self.parts: dict[str, tuple[Part, ...]] = {one.url: parts for one, parts in joined if self.get(one.url) == one}
        usable = ((one, choice.holds(one)) for one in self if one.location is not None or choice.holds(one))
        forms = (
            (form, one.url)
            for one, is_held in usable
            for form in (*choice.same.forms(one.url, is_file=bool(one.place)), *_saved(one))
            if is_held or form[0] != LOOSE  # another session may be led elsewhere
        )
        self._db.executemany(ADD_FORM, forms)

    def _read(self, captures: Iterable[Found]) -> list[tuple[Captured, tuple[Part, ...]]]:
        """Add all captures except answers to a POST; return those that were joined from pieces, with their parts."""
        posted: set[str] = set()
        pieces = Pieces()
        for one in captures:
            if isinstance(one, Piece):
                if self._choice.wants(one.captured):
                    pieces.add(one)
                    self._add(one.captured)
            elif isinstance(one, Captured):
                if self._choice.wants(one):
                    self._add(one)
            elif isinstance(one, Posted):
                posted |= one.ids
            else:
                self._notify(one)
        if posted:
            found = self._db.execute("SELECT url, rank, ids FROM captured WHERE ids <> ''")
            answers = [row[:2] for row in found if not posted.isdisjoint(row[2].split())]
            self._db.executemany("DELETE FROM captured WHERE url = ? AND rank = ?", answers)
        for index in self._indexes():
            self._add(index)
        joined = list(pieces.joined(posted))
        for whole, _ in joined:
            self._add(whole)
        return joined

    def _add(self, one: Captured) -> None:
        rank = f"{self._choice.rank(one)}{self._number:0{_NUMBER}}"
        self._number += 1
        row = (one.url, rank, *one[1:4], *one.where, *one[5:])
        self._db.execute(_PUT, [shown(value) if isinstance(value, str) else value for value in row])

    def _indexes(self) -> list[Captured]:
        """Return a redirect from each folder's URL to its index: a captured document with that URL precedes it."""
        best: dict[str, tuple[int, Where, str]] = {}
        for source, place, number, url in self.places():
            folder, slash, name = url.rpartition("/")
            if (rank := index_rank(name)) is not None and place.endswith(name.encode()):
                found = rank, Where(source, number, 0), url
                best[folder + slash] = min(best.get(folder + slash, found), found)
        return [Captured(folder, 302, "", "", where, url) for folder, (_, where, url) in best.items()]

    def _report_contradictions(self) -> None:
        """Report URLs with two captures in one second that differ in content."""
        found: dict[tuple[str, str], str] = {}
        several = "SELECT url FROM captured GROUP BY url HAVING count(*) > 1"
        query = f"""\
SELECT url, rank, date, digest, size FROM captured WHERE url IN ({several}) AND date <> '' AND lack = ''
ORDER BY url, rank"""  # noqa: S608 - our own words
        for url, group in groupby(self._db.execute(query), itemgetter(0)):
            rows = [row[1:] for row in group]
            counting = [row for row in rows if row[0][:-_NUMBER] == rows[-1][0][:-_NUMBER]]
            for (_, _, *one), (rank, date, *other) in pairwise(counting):
                if one[0] != other[0] if one[0] and other[0] else one[1] != other[1]:
                    found.setdefault((url, date), rank[-_NUMBER:])
        for url, date in nsmallest(_MOST_CONTRADICTIONS, found, found.__getitem__):
            text = f"captured twice at {date} with different contents: the later record counts"
            self._notify(Diagnostic("contradiction", text, url))

    def _referred(self) -> dict[str, Captured]:
        """Return the captures that have the payloads of the held revisits. A revisit without one is not held.

        Then the other captures of its URL count.
        """
        if self._db.execute("SELECT 1 FROM captured WHERE is_revisit LIMIT 1").fetchone() is None:
            return {}
        revisits = [one for one in self if one.is_revisit and self._choice.holds(one)]
        for key in ("url", "digest"):
            self._db.execute(f"CREATE INDEX by_{key} ON captured ({key}, date, rank) WHERE {_IS_WHOLE}")
        found = {one.url: origin for one in revisits if (origin := self._origin(one)) is not None}
        for url in (one.url for one in revisits if one.url not in found):
            text = "the capture lacks the payload that this revisit refers to"
            self._notify(Diagnostic("no-payload", text, url, failed=True))
            self._db.execute("DELETE FROM captured WHERE url = ? AND is_revisit", (url,))
        return found

    def _origin(self, revisit: Captured) -> Captured | None:
        """Return the capture that a revisit refers to: by URL and date, else by digest, else by URL alone.

        The newest capture not later than the revisit counts, else the oldest one; in one second the later record.
        """
        url, date = revisit.refers_to or revisit.url, revisit.date
        found: list[tuple[str, str, tuple[str, ...], str]] = []
        found.append(("url", "url = ? AND date = ?", (url, revisit.refers_date), "DESC"))
        for key, value in (("digest", revisit.digest), ("url", url)):
            if value:
                found.append((key, f"{key} = ? AND date <= ?", (value, date), "DESC"))
                found.append((key, f"{key} = ?", (value,), "ASC"))
        for key, where, values, order in found:
            query = f"""\
SELECT * FROM captured INDEXED BY by_{key} WHERE {where} AND {_IS_WHOLE} ORDER BY date {order}, rank {order} LIMIT 1"""  # noqa: S608
            if row := self._db.execute(query, values).fetchone():
                return _read_row(row)
        return None

    # --- what is found ------------------------------------------------------------------------------------------------

    def get(self, url: str) -> Captured | None:
        """Return the capture that counts for a URL, or None."""
        query = "SELECT * FROM captured WHERE url = ? ORDER BY rank DESC LIMIT 1"
        row = self._db.execute(query, (url,)).fetchone()
        return _read_row(row) if row is not None else None

    def __iter__(self) -> Iterator[Captured]:
        """Yield the captures that count, in the order of their URLs."""
        yield from map(_read_row, self._db.execute(_BEST))

    def places(self) -> Iterator[tuple[int, bytes, int, str]]:
        """Yield the files of folders and packages: source, path, number and URL."""
        query = f"""\
SELECT source, place, "offset", url FROM captured WHERE length(place) > 0 ORDER BY substr(rank, -{_NUMBER})"""  # noqa: S608
        yield from self._db.execute(query)

    def forms(self) -> Iterator[tuple[str, str]]:
        """Yield each form of a URL, other than the URL itself, with the captured URL that is equivalent to it."""
        yield from self._db.execute("SELECT form, url FROM forms WHERE url IS NOT NULL ORDER BY form")

    def rows(self) -> Iterator[tuple[Captured, bool]]:
        """Yield the capture of every URL in the order of the URLs, and whether it is held.

        A held capture has the place of its payload; a redirect has its end as its location.
        """
        for one in self:
            is_held = self._choice.holds(one)
            if is_held and one.lack == CUT:
                self._notify(Diagnostic("truncated", _CUT, one.url))
            elif not is_held and one.location is None and one.lack == PIECE:
                self._notify(Diagnostic("partial", _PIECES if one.status == PARTIAL else _NO_BODY, one.url))
            yield self._with_payload(one) if is_held else self._with_end(one), is_held

    def _with_payload(self, one: Captured) -> Captured:
        """Return a capture with the facts of its payload, which for a revisit is in another record."""
        origin = self._origins.get(one.url, one)
        fields = "\n".join(dict.fromkeys(filter(None, (one.fields, origin.fields))))  # a 304 repeats not all of them
        is_as_before = one.media_type in {"", origin.media_type} and one.fields in {"", origin.fields}
        return one._replace(
            where=origin.where,
            media_type=one.media_type or origin.media_type,
            shown=origin.shown if is_as_before else one.shown,
            looks=origin.looks,
            fields=fields if one.status == _NOT_MODIFIED else one.fields,
        )

    def _with_end(self, one: Captured) -> Captured:
        end = self.end(one.url) if one.location is not None else End(None, None)
        if end.url is None:
            return one
        return one._replace(location=end.url if end.fragment is None else f"{end.url}#{end.fragment}")

    def end(self, url: str) -> End:
        """Return the end of a request for this URL, through equivalent URLs and recorded redirects."""
        found = End(None, None)

        def step(at: str) -> str | None:
            nonlocal found
            one = self._step(at)
            if one is not None and (at in self._ends or one.location is None):
                found = self._ends.get(at) or End(one.url, None)
                return None
            return one.location if one is not None else None

        for one, location in reversed(follow(url, step, _bare, _ANY).steps):
            _, crosshatch, fragment = location.partition("#")
            if found.url is not None and found.fragment is None and crosshatch:
                found = End(found.url, fragment)
            self._ends[one] = found
        return found

    def _step(self, url: str) -> Captured | None:
        """Return the held or redirecting capture of a URL, or of an equivalent URL."""
        others = (other for _, form in self._choice.same.others(url) for other in (form, self._url_by_form(form)))
        found = (self.get(one) for one in chain((url,), others) if one is not None)
        return next((one for one in found if one and (one.location is not None or self._choice.holds(one))), None)

    def _url_by_form(self, form: str) -> str | None:
        row = self._db.execute("SELECT url FROM forms WHERE form = ?", (form,)).fetchone()
        return row[0] if row is not None else None


def _read_row(row: Sequence[Any]) -> Captured:
    """Return the capture in a row of the database."""
    return Captured._make((row[0], *row[2:5], Where(*row[5:8]), *row[8:20]))


def _bare(location: str) -> str:
    return normal(location.partition("#")[0]) or ""
