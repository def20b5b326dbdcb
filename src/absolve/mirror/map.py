"""The map of a mirror: mirror.sqlite, and the working copy of it while a run is under way.

In: what is held of a capture, and what became of each document. Out: two SQLite files. `Working` grows with the run, so
that a killed one can go on; the map itself is made of it at the end, the same bytes for the same mirror.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.mirror.paths import MAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.mirror.survey import Surveyed

WORKING: Final = f"{MAP}.part"
BESIDE: Final = ("", "-wal", "-shm", "-journal")  # suffixes of what SQLite writes beside a file

_TABLES: Final = """\
CREATE TABLE resources (url TEXT PRIMARY KEY, path TEXT, status INTEGER, media_type TEXT, digest TEXT, date TEXT,
  source TEXT, redirect TEXT) WITHOUT ROWID;
CREATE TABLE missing (url TEXT, kind TEXT, count INTEGER, first TEXT, PRIMARY KEY (url, kind)) WITHOUT ROWID;
CREATE TABLE notes (path TEXT, line INTEGER, "column" INTEGER, code TEXT, text TEXT);
CREATE TABLE same (url TEXT PRIMARY KEY, held TEXT, rule TEXT) WITHOUT ROWID;
CREATE TABLE pages (path TEXT PRIMARY KEY, title TEXT, linked INTEGER) WITHOUT ROWID;
"""
_MORE: Final = """\
CREATE TABLE forms (form TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID;
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE foreign_files (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE tokens (token TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_INSERT: Final = {
    "resources": "INSERT OR REPLACE INTO resources VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "missing": "INSERT INTO missing VALUES (?, ?, 1, ?) ON CONFLICT DO UPDATE SET count = count + 1",
    "notes": "INSERT INTO notes VALUES (?, ?, ?, ?, ?)",
    "same": "INSERT OR IGNORE INTO same VALUES (?, ?, ?)",
    "pages": "INSERT INTO pages VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET title = excluded.title",
    "linked": "INSERT INTO pages VALUES (?, NULL, 1) ON CONFLICT DO UPDATE SET linked = linked + 1",
}
_ORDER: Final = {
    "resources": "url",
    "missing": "url, kind",
    "notes": 'path, line, "column", code, text',
    "same": "url",
    "pages": "path",
}


class Finished(NamedTuple):
    """What became of one document: all that the map says of it.

    `notes` are line, column, code and text; `missing` URL and kind; `same` URL, held URL and rule; `linked` paths.
    """

    url: str
    path: str
    digest: str
    title: str | None
    notes: tuple[tuple[int | None, int | None, str, str], ...]
    missing: tuple[tuple[str, str], ...]
    same: tuple[tuple[str, str, str], ...]
    linked: tuple[str, ...]


class Working:
    """The working copy of a map; only the parent process writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")  # a crash of the system loses no document: it is made again
        self._db.execute("BEGIN")
        self._pending = 0

    def create(self, state: dict[str, str]) -> None:
        """Create the tables, with what tells one run from another."""
        for statement in (_TABLES + _MORE).split(";\n"):
            self._db.execute(statement)
        self._db.executemany("INSERT INTO state VALUES (?, ?)", sorted(state.items()))

    def is_of(self, state: dict[str, str]) -> bool:
        """Return whether this is the working copy of a run with the same state, and its plan is complete."""
        with suppress(sqlite3.Error):
            found = dict(self._db.execute("SELECT name, value FROM state"))
            return found == state | {"planned": "1"}
        return False

    def plan(self, surveyed: Surveyed, sources: list[str]) -> None:
        """Write a row for every URL of the capture, and the forms under which held URLs are found."""
        path_of = {held.url: held.path for held in surveyed.held}
        capture = surveyed.capture

        def rows() -> Iterator[tuple[Any, ...]]:
            for url, one in capture.by_url.items():
                redirect = None
                if one.location is not None and url not in path_of:
                    end = capture.end(url)
                    redirect = one.location if end.url is None else end.url
                    if end.url is not None and end.fragment is not None:
                        redirect += f"#{end.fragment}"
                yield (
                    *(url, path_of.get(url), one.status, one.media_type or None, None, iso(one.date)),
                    *(sources[one.where.source], redirect),
                )

        self._db.executemany(_INSERT["resources"], rows())
        self._db.executemany("INSERT INTO forms VALUES (?, ?)", capture.forms())
        self._db.execute("INSERT INTO state VALUES ('planned', '1')")
        self.commit()

    def mark_foreign(self, paths: Iterable[str]) -> None:
        """Note files that are in the way and were not made by a mirror."""
        self._db.executemany("INSERT OR IGNORE INTO foreign_files VALUES (?)", ((path,) for path in paths))
        self.commit()

    def add_tokens(self, tokens: Iterable[str]) -> None:
        """Note the tokens in the names of temporary files, of this run and of those that were killed."""
        self._db.executemany("INSERT OR IGNORE INTO tokens VALUES (?)", ((token,) for token in tokens))
        self.commit()

    def tokens(self) -> set[str]:
        return {token for (token,) in self._db.execute("SELECT token FROM tokens")}

    def foreign(self) -> set[str]:
        return {path for (path,) in self._db.execute("SELECT path FROM foreign_files")}

    def paths(self) -> set[str]:
        """Return the paths of all documents."""
        return {path for (path,) in self._db.execute("SELECT path FROM resources WHERE path IS NOT NULL")}

    def done(self) -> set[str]:
        """Return the URLs of the documents that are written."""
        return {url for (url,) in self._db.execute("SELECT url FROM resources WHERE digest IS NOT NULL")}

    def finish(self, one: Finished) -> None:
        """Note what became of one document."""
        db = self._db
        db.execute("UPDATE resources SET digest = ? WHERE url = ?", (one.digest, one.url))
        if one.title is not None:
            db.execute(_INSERT["pages"], (one.path, one.title))
        if one.linked:
            db.executemany(_INSERT["linked"], ((path,) for path in one.linked))
        if one.missing:
            db.executemany(_INSERT["missing"], ((url, kind, one.path) for url, kind in one.missing))
        if one.notes:
            db.executemany(_INSERT["notes"], ((one.path, *note) for note in one.notes))
        if one.same:
            db.executemany(_INSERT["same"], one.same)
        self._pending += 1
        if self._pending >= _TOGETHER:
            self.commit()

    def commit(self) -> None:
        """Make what was written visible to other processes, and keep it if this one is killed."""
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")
        self._pending = 0

    def rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query."""
        yield from self._db.execute(query, values)

    def write(self, target: Path) -> None:
        """Write the map as a new file: the tables in a fixed order."""
        with closing(sqlite3.connect(target, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("BEGIN")
            for statement in _TABLES.split(";\n"):
                db.execute(statement)
            for table, order in _ORDER.items():
                where = " WHERE title IS NOT NULL" if table == "pages" else ""
                rows = self._db.execute(f"SELECT * FROM {table}{where} ORDER BY {order}")  # noqa: S608 - our own words
                marks = ", ".join("?" * len(rows.description))
                db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - likewise
            db.execute("COMMIT")

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._db.execute("COMMIT")
        self._db.close()


_TOGETHER: Final = 200  # documents that are committed at once


def opened(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads a map. Raise sqlite3.Error."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def paths_in(path: Path) -> set[str]:
    """Return the paths of the files that a map knows; none if it cannot be read."""
    if not path.is_file():
        return set()
    with suppress(sqlite3.Error), closing(opened(path)) as db:
        return {row for (row,) in db.execute("SELECT path FROM resources WHERE path IS NOT NULL")}
    return set()


def removed(folder: Path) -> None:
    """Remove the working copy in a folder."""
    for suffix in BESIDE:
        (folder / f"{WORKING}{suffix}").unlink(missing_ok=True)


def iso(date: str) -> str | None:
    """Return 14 digits as a date of ISO 8601."""
    if not date:
        return None
    return f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:14]}Z"
