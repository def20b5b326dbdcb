"""Keep the captures of a survey by URL: in memory, or beyond some thousands in a database.

In: a `Captured` for each URL. Out: the same by URL, or all in the order of their URLs. A capture may have millions.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from absolve.mirror.capture import Captured, Where

if TYPE_CHECKING:
    from collections.abc import Iterator

FRONT: Final = 50_000  # captures in memory, of about half a kilobyte each
_TABLES: Final = """\
CREATE TEMP TABLE captured (url TEXT PRIMARY KEY, status INTEGER, date TEXT, media_type TEXT, source INTEGER,
  "offset" INTEGER, number INTEGER, location TEXT, digest TEXT, size INTEGER, is_revisit INTEGER, refers_to TEXT,
  refers_date TEXT, is_file INTEGER, lack TEXT, shown TEXT, looks TEXT, fields TEXT) WITHOUT ROWID;
CREATE TEMP TABLE captured_forms (form TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID;
"""


class Store:
    """The captures by URL, and the equivalent forms of URLs. `front` is the number of captures kept in memory."""

    def __init__(self, front: int = FRONT) -> None:
        self._front: dict[str, Captured] = {}
        self._forms: dict[str, str] = {}
        self._most = front
        self._db: sqlite3.Connection | None = None

    def get(self, url: str) -> Captured | None:
        """Return the capture of a URL, or None."""
        found = self._front.get(url)
        if found is None and self._db is not None:
            row = self._db.execute("SELECT * FROM captured WHERE url = ?", (url,)).fetchone()
            return _of(row) if row is not None else None
        return found

    def put(self, one: Captured) -> None:
        """Add a capture, or replace that of its URL."""
        self._front[one.url] = one
        if len(self._front) > self._most:
            self._spill()

    def remove(self, url: str) -> None:
        """Remove the capture of a URL."""
        self._front.pop(url, None)
        if self._db is not None:
            self._db.execute("DELETE FROM captured WHERE url = ?", (url,))

    def form(self, form: str) -> str | None:
        """Return the captured URL that is equivalent to a form, or None."""
        found = self._forms.get(form)
        if found is None and self._db is not None:
            row = self._db.execute("SELECT url FROM captured_forms WHERE form = ?", (form,)).fetchone()
            return row[0] if row is not None else None
        return found

    def put_form(self, form: str, url: str) -> None:
        """Add a form; the first URL of a form stays."""
        if self.form(form) is None:
            self._forms[form] = url
            if len(self._forms) > self._most:
                self._spill()

    def forms(self) -> Iterator[tuple[str, str]]:
        """Yield each form with its URL."""
        if self._db is not None:
            self._spill()
            yield from self._db.execute("SELECT form, url FROM captured_forms ORDER BY form")
        else:
            yield from sorted(self._forms.items())

    def __iter__(self) -> Iterator[Captured]:
        """Yield the captures in the order of their URLs."""
        if self._db is None:
            for url in sorted(self._front):
                yield self._front[url]
            return
        self._spill()
        after = ""
        query = "SELECT * FROM captured WHERE url > ? ORDER BY url LIMIT 1000"
        while rows := self._db.execute(query, (after,)).fetchall():
            yield from map(_of, rows)
            after = rows[-1][0]

    def _spill(self) -> None:
        """Move all to the database: a temporary file, which is removed with the process."""
        if self._db is None:
            self._db = sqlite3.connect("", isolation_level=None)  # a file without a name
            self._db.executescript(_TABLES)
            self._db.execute("BEGIN")
        marks = ", ".join("?" * 18)
        rows = ((*one[:4], *one.where, *one[5:]) for one in self._front.values())
        self._db.executemany(f"INSERT OR REPLACE INTO captured VALUES ({marks})", rows)  # noqa: S608 - only marks
        self._db.executemany("INSERT OR IGNORE INTO captured_forms VALUES (?, ?)", self._forms.items())
        self._front.clear()
        self._forms.clear()


def _of(
    row: tuple[str, int, str, str, int, int, int, str | None, str, int, int, str, str, int, str, str, str, str],
) -> Captured:
    return Captured(*row[:4], Where(*row[4:7]), *row[7:10], bool(row[10]), *row[11:13], bool(row[13]), *row[14:])
