"""Survey the inputs of a mirror: every capture in them, and which of them is held for each URL.

In: readers of the sources. Out: a `Capture`, and a row for each URL of it. Records are read once, and once more where a
request other than GET describes other records, or a revisit in a large capture.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import Diagnostic
from absolve.document.holdings import INDEXES
from absolve.document.resolved import shown
from absolve.mirror.capture import CUT, PARTIAL, PIECE, Capture, Captured, Part, Piece, Pieces, Where
from absolve.mirror.map import Row
from absolve.mirror.paths import folder_of
from absolve.mirror.payloads import Broken, Posted
from absolve.run.globs import Globs
from absolve.urls.identity import percent_decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from absolve.mirror.payloads import Reader
    from absolve.mirror.urls import Equivalences

    Notify = Callable[[Diagnostic], None]

_TABLES: Final = """\
CREATE TEMP TABLE captured (url TEXT PRIMARY KEY, status INTEGER, date TEXT, media_type TEXT, source INTEGER,
  "offset" INTEGER, number INTEGER, location TEXT, digest TEXT, size INTEGER, is_revisit INTEGER, refers_to TEXT,
  refers_date TEXT, place BLOB, lack TEXT, shown TEXT, looks TEXT, fields TEXT) WITHOUT ROWID;
CREATE TEMP TABLE captured_forms (form TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID;
"""
_PUT: Final = f"INSERT OR REPLACE INTO captured VALUES ({', '.join('?' * 18)})"  # noqa: S608 - only marks


class Store:
    """The captures by URL, and the equivalent forms of URLs, in a temporary database: most stay in its cache."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)  # a file without a name, removed with the process
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")

    def get(self, url: str) -> Captured | None:
        """Return the capture of a URL, or None."""
        row = self._db.execute("SELECT * FROM captured WHERE url = ?", (url,)).fetchone()
        return _of(row) if row is not None else None

    def put(self, one: Captured) -> None:
        """Add a capture, or replace that of its URL."""
        row = (*one[:4], *one.where, *one[5:])
        self._db.execute(_PUT, [shown(value) if isinstance(value, str) else value for value in row])

    def remove(self, url: str) -> None:
        """Remove the capture of a URL."""
        self._db.execute("DELETE FROM captured WHERE url = ?", (url,))

    def form(self, form: str) -> str | None:
        """Return the captured URL that is equivalent to a form, or None."""
        row = self._db.execute("SELECT url FROM captured_forms WHERE form = ?", (form,)).fetchone()
        return row[0] if row is not None else None

    def put_form(self, form: str, url: str) -> None:
        """Add a form; the first URL of a form stays."""
        self._db.execute("INSERT OR IGNORE INTO captured_forms VALUES (?, ?)", (form, url))

    def forms(self) -> Iterator[tuple[str, str]]:
        """Yield each form with its URL."""
        yield from self._db.execute("SELECT form, url FROM captured_forms ORDER BY form")

    def __iter__(self) -> Iterator[Captured]:
        """Yield the captures in the order of their URLs; they may change meanwhile."""
        after = ""
        query = "SELECT * FROM captured WHERE url > ? ORDER BY url LIMIT 1000"
        while rows := self._db.execute(query, (after,)).fetchall():
            yield from map(_of, rows)
            after = rows[-1][0]


def _of(
    row: tuple[str, int, str, str, int, int, int, str | None, str, int, int, str, str, bytes, str, str, str, str],
) -> Captured:
    return Captured(*row[:4], Where(*row[4:7]), *row[7:10], bool(row[10]), *row[11:13], row[13], *row[14:])


# --- the survey -------------------------------------------------------------------------------------------------------

_FEW: Final = 8 << 20  # about the bytes of captures that are kept in memory, for the revisits among them
_ONE: Final = 700  # bytes of a capture without its texts
_PIECES: Final = "only pieces of it were captured (206), and they do not make the whole: it counts as missing"
_NO_BODY: Final = "its body was not captured: it counts as missing"


class Choice(NamedTuple):
    """How it is chosen what is held: see `Capture`.

    `globs` select documents by URL, and files by path, too. `only` are the URLs to hold of those; None for all.
    """

    at: str | None = None
    keep_errors: bool = False
    same: Equivalences | None = None
    globs: Globs = Globs()
    only: frozenset[str] | None = None

    def wants(self, one: Captured) -> bool:
        """Return whether a capture is one of those that are chosen."""
        if self.only is not None and one.url not in self.only:
            return False
        return self.globs == _ALL or self.globs.chosen(_names(one))


_ALL: Final = Globs()


def _names(one: Captured) -> Iterator[str]:
    """Yield the names of a capture for globs: URL, host and path, with its query and without, path alone, place."""
    rest = one.url.partition("://")[2] or one.url
    yield one.url
    for name in dict.fromkeys((rest, rest.partition("?")[0], percent_decoded(rest))):
        yield name
        yield name.partition("/")[2]
    if one.place:
        yield one.place.decode("utf-8", "surrogatepass")


class Survey:
    """What the sources hold, after one or two passes over them."""

    def __init__(self, readers: Sequence[Reader], choice: Choice, notify: Notify) -> None:
        self._readers = readers
        self._choice = choice
        self._notify = notify
        self._posted: set[str] = set()
        self._few: list[Captured] | None = None  # all captures, unless they are many
        self._pieces = Pieces()
        self.parts: dict[str, tuple[Part, ...]] = {}  # of the documents that were joined, by URL
        self.places: dict[tuple[int, bytes], tuple[int, str]] = {}  # of files, with number and URL
        self.store = Store()
        capture = self._captured(notify)
        if self._posted:
            self.store = Store()
            self._pieces = Pieces()
            capture = self._captured(_quiet)
        self.capture = capture
        self._join()
        self._origins = self._referred()
        self._join()
        self._few = None
        for contradiction in capture.contradictions:
            text = f"captured twice at {contradiction.date} with different contents: the later record counts"
            notify(Diagnostic("contradiction", text, contradiction.url))
        capture.complete()

    def rows(self) -> Iterator[Row]:
        """Yield a row for every URL of the capture, in the order of the URLs."""
        for one in self.store:
            if self.capture.is_held(one):
                origin = self._origins.get(one.url, one)
                held = _with_payload(one, origin)
                if one.lack == CUT:
                    self._notify(Diagnostic("truncated", "the capture has only the beginning of it", one.url))
                yield Row(held, origin.where, None, folder_of(one.url))
            elif one.location is None:
                if one.lack == PIECE:
                    text = _PIECES if one.status == PARTIAL else _NO_BODY
                    self._notify(Diagnostic("partial", text, one.url))
                yield Row(one, one.where, None, None)
            else:
                end = self.capture.end(one.url)
                redirect = one.location if end.url is None else end.url
                if end.url is not None and end.fragment is not None:
                    redirect += f"#{end.fragment}"
                yield Row(one, one.where, redirect, None)

    def _captured(self, notify: Notify) -> Capture:
        choice = self._choice
        capture = Capture(self.store, at=choice.at, keep_errors=choice.keep_errors, same=choice.same)
        few: list[Captured] = []
        size = 0
        for one in self._all():
            if isinstance(one, Piece):
                if choice.wants(one.captured):
                    self._pieces.add(one)
                    capture.add(one.captured)
            elif isinstance(one, Captured):
                is_wanted = choice.wants(one)
                if is_wanted:
                    capture.add(one)
                if one.place and is_wanted:
                    self.places[one.where.source, one.place] = one.where.offset, one.url
                if size <= _FEW:
                    size += _ONE + sum(len(text) for text in one if isinstance(text, str))
                    few.append(one)
            elif isinstance(one, Posted):
                self._posted |= one.ids
            else:
                notify(one.diagnostic)
        self._few = few if size <= _FEW else None
        for index in _indexes(self.places):
            capture.add(index)
        return capture

    def _join(self) -> None:
        """Add the documents that were captured in pieces, where these make a whole."""
        for one, parts in self._pieces.joined():
            self.capture.add(one)
            if self.store.get(one.url) == one:
                self.parts[one.url] = parts

    def _all(self) -> Iterator[Captured | Piece | Posted | Broken]:
        for reader in self._readers:
            yield from reader.captured(self._posted)

    def _referred(self) -> dict[str, Captured]:
        """Return the captures whose payloads the revisits have that are held; without one, a revisit is not held.

        Then the other captures of its URL count.
        """
        revisits = [one for one in self.store if one.is_revisit and self.capture.is_held(one)]
        if not revisits:
            return {}
        found = _origins(revisits, self._again())
        lost = {one.url for one in revisits if one.url not in found}
        for url in sorted(lost):
            text = "the capture lacks the payload that this revisit refers to"
            self._notify(Diagnostic("no-payload", text, url, failed=True))
            self.store.remove(url)
        for other in self._again() if lost else ():
            if isinstance(other, Captured) and other.url in lost and not other.is_revisit:
                self.capture.add(other)
        return found

    def _again(self) -> Iterable[Captured | Piece | Posted | Broken]:
        return self._few if self._few is not None else self._all()


def _indexes(places: Mapping[tuple[int, bytes], tuple[int, str]]) -> Iterator[Captured]:
    """Yield a redirect from the URL of each folder to its index: a captured document of that URL counts before it."""
    best: dict[str, tuple[int, Where, str]] = {}
    for (source, place), (number, url) in places.items():
        folder, slash, name = url.rpartition("/")
        if name in INDEXES and place.endswith(name.encode()):
            found = INDEXES.index(name), Where(source, number, 0), url
            best[folder + slash] = min(best.get(folder + slash, found), found)
    for folder, (_, where, url) in best.items():
        yield Captured(folder, 302, "", "", where, url)


def _with_payload(one: Captured, origin: Captured) -> Captured:
    """Return a capture with the facts of its payload, which is that of another record for a revisit."""
    fields = "\n".join(dict.fromkeys(filter(None, (one.fields, origin.fields))))  # a 304 repeats not all of them
    return one._replace(
        media_type=one.media_type or origin.media_type,
        shown=origin.shown if one[3] in {"", origin.media_type} and one.fields in {"", origin.fields} else one.shown,
        looks=origin.looks,
        fields=fields if one.status == 304 else one.fields,
    )


def _quiet(_diagnostic: Diagnostic) -> None:
    """Report nothing: it has been reported before."""


def _origins(revisits: Iterable[Captured], every: Iterable[Captured | Piece | Posted | Broken]) -> dict[str, Captured]:
    """Return the capture that each revisit refers to: by URL and date, else by digest, else by URL alone.

    Of several with a digest or a URL it is the newest one that is not later than the revisit, else the first one.
    """
    revisits = list(revisits)
    wanted: dict[tuple[str, ...], _Candidates] = {}
    for one in revisits:
        for key in _keys(one):
            wanted.setdefault(key, _Candidates())
    for other in every:
        if not isinstance(other, Captured) or other.is_revisit or other.location is not None or other.status >= 300:
            continue
        if other.lack:
            continue
        for key in ((other.url, other.date), (other.digest,), (other.url, "", "")):
            if key in wanted and key != ("",):
                wanted[key].add(other)
    found: dict[str, Captured] = {}
    for one in revisits:
        origin = next((best for key in _keys(one) if (best := wanted[key].best(one.date)) is not None), None)
        if origin is not None:
            found[one.url] = origin
    return found


def _keys(revisit: Captured) -> list[tuple[str, ...]]:
    """Return the keys of the captures that a revisit may refer to, the surest one first."""
    url = revisit.refers_to or revisit.url
    digest: list[tuple[str, ...]] = [(revisit.digest,)] if revisit.digest else []
    return [(url, revisit.refers_date), *digest, (url, "", "")]


class _Candidates:
    """The first capture of each date."""

    def __init__(self) -> None:
        self._by_date: dict[str, Captured] = {}
        self._dates: list[str] | None = None

    def add(self, one: Captured) -> None:
        self._by_date.setdefault(one.date, one)

    def best(self, date: str) -> Captured | None:
        """Return the newest capture that is not later than a date, else the first one that was added."""
        if not self._by_date:
            return None
        if self._dates is None:
            self._dates = sorted(self._by_date)
        number = bisect_right(self._dates, date)
        return self._by_date[self._dates[number - 1]] if number else next(iter(self._by_date.values()))
