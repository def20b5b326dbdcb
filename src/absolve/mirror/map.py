"""The map of a mirror: mirror.sqlite, and the working copy of it during a run.

In: the held captures, and the result for each document. Out: two SQLite files. `Working` grows with the run, so that a
killed run can be resumed; the map itself is made from it at the end, the same bytes for the same mirror.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections import Counter
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.document.companions import fold
from absolve.document.resolved import shown
from absolve.formats import registry
from absolve.mirror import paths, words
from absolve.mirror.paths import MAP
from absolve.mirror.payloads import Part, Where, place_of
from absolve.run.state import BESIDE, Database, removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from absolve.mirror.payloads import Captured
    from absolve.mirror.words import Lacking

WORKING: Final = f"{MAP}.part"

_TABLES: Final = """\
CREATE TABLE resources (url TEXT PRIMARY KEY, path TEXT, status INTEGER, media_type TEXT, digest TEXT, date TEXT,
  source TEXT, redirect TEXT, fields TEXT) WITHOUT ROWID;
CREATE TABLE missing (url TEXT, kind TEXT, count INTEGER, first TEXT, PRIMARY KEY (url, kind)) WITHOUT ROWID;
CREATE TABLE notes (path TEXT, line INTEGER, "column" INTEGER, code TEXT, text TEXT);
CREATE TABLE same (url TEXT PRIMARY KEY, held TEXT, rule TEXT) WITHOUT ROWID;
CREATE TABLE pages (path TEXT PRIMARY KEY, title TEXT, linked INTEGER) WITHOUT ROWID;
CREATE TABLE earlier (path TEXT, digest TEXT, PRIMARY KEY (path, digest)) WITHOUT ROWID;
"""
_PLAN: Final = """\
CREATE TABLE plan (url TEXT PRIMARY KEY, path TEXT, status INTEGER, media_type TEXT, digest TEXT, date TEXT,
  source INTEGER, redirect TEXT, "offset" INTEGER, number INTEGER, size INTEGER, folder TEXT, shown TEXT, looks TEXT,
  fields TEXT) WITHOUT ROWID;
CREATE VIEW resources AS SELECT url, path, redirect, media_type, fields FROM plan;
CREATE TABLE sources (number INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ours (path TEXT, digest TEXT, PRIMARY KEY (path, digest)) WITHOUT ROWID;
CREATE TABLE intended (path TEXT, digest TEXT);
CREATE TABLE forms (form TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID;
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE foreign_files (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE places (source INTEGER, place BLOB, "offset" INTEGER, url TEXT, form BLOB, PRIMARY KEY (source, place))
  WITHOUT ROWID;
CREATE TABLE texts (path TEXT PRIMARY KEY, text TEXT);
CREATE TABLE parts (url TEXT, part INTEGER, source INTEGER, "offset" INTEGER, number INTEGER, start INTEGER,
  size INTEGER, PRIMARY KEY (url, part)) WITHOUT ROWID;
"""
_INDEXES: Final = """\
CREATE UNIQUE INDEX by_path ON plan (path) WHERE path IS NOT NULL;
CREATE INDEX by_place ON plan (source, "offset", number, url) WHERE path IS NOT NULL;
CREATE INDEX by_file ON places (source, "offset");
CREATE INDEX by_form ON places (source, form);
CREATE INDEX by_folder ON plan (folder);
"""
_OF_WORKING: Final = f"{_TABLES.partition(';')[2].strip()}\n{_PLAN}"
_STATEMENTS: Final = frozenset(f"{_TABLES}{_PLAN}{_INDEXES}".rstrip(";\n").split(";\n"))
# The files that a killed run made, or may have begun to make; the digest is "" until it is noted.
_SEE_KILLED: Final = """\
INSERT OR IGNORE INTO ours SELECT path, coalesce(CAST(digest AS TEXT), '')
FROM (SELECT path, digest FROM plan UNION ALL SELECT path, digest FROM intended)
WHERE typeof(path) = 'text' AND path NOT IN (SELECT path FROM foreign_files)"""
_INSERT: Final = {
    "plan": "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "missing": "INSERT INTO missing VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
    "notes": "INSERT INTO notes VALUES (?, ?, ?, ?, ?)",
    "same": "INSERT OR IGNORE INTO same VALUES (?, ?, ?)",
    "pages": "INSERT INTO pages VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET title = excluded.title",
    "texts": "INSERT OR REPLACE INTO texts VALUES (?, ?)",
    "linked": "INSERT INTO pages VALUES (?, NULL, ?) ON CONFLICT DO UPDATE SET linked = linked + excluded.linked",
}
_RESOURCES: Final = """\
SELECT url, path, status, media_type, nullif(digest, ''), date, name, redirect, fields FROM working.plan
JOIN working.sources ON sources.number = source ORDER BY url"""
_ORDER: Final = {
    "missing": "url, kind",
    "notes": 'path, line, "column", code, text',
    "same": "url",
    "pages": "path",
    "earlier": "path, digest",
}


class Finished(NamedTuple):
    """The result for one document: all facts of the map about it.

    `notes` are line, column, code and text; `missing` URL and kind; `same` URL, held URL and rule; `linked`
    paths. `text` is for the search of the entry page. `is_there`: the file has these bytes already; otherwise its path
    is in the FilesReady before this.
    """

    url: str
    path: str
    digest: str
    title: str | None
    notes: tuple[tuple[int | None, int | None, str, str], ...]
    missing: tuple[tuple[str, str], ...]
    same: tuple[tuple[str, str, str], ...]
    linked: tuple[str, ...]
    text: str = ""
    is_there: bool = True


class Working(Database):
    """The working copy of a map, from which a killed run is resumed; only the parent process writes it."""

    def __init__(self, path: Path) -> None:
        """Open or create a working copy; ":memory:" is a database in memory. Raise UsageError for another file."""
        try:
            is_begun = is_regular(path) and _is_begun(path)
        except sqlite3.Error as error:
            raise UsageError(f"{path}: this is no working copy of a mirror: remove it ({error})") from error
        super().__init__(path, "" if is_begun else f"BEGIN; {_OF_WORKING} COMMIT;")
        self._pending = 0
        self._linked: Counter[str] = Counter()  # added for many pages at once: see `_add_counts`
        self._missing: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], str] = {}

    def begin(self, state: dict[str, str]) -> None:
        """Empty the tables for a run that this state identifies, except the list of files that a killed run made.

        A kill before the next `keep` leaves everything as before.
        """
        self.connection.execute(_SEE_KILLED)
        for name in re.findall(r"CREATE TABLE (\w+)", _OF_WORKING):
            if name != "ours":
                self.connection.execute(f"DELETE FROM {name}")  # noqa: S608 - our own words
        for name in re.findall(r"INDEX (\w+)", _INDEXES):
            self.connection.execute(f"DROP INDEX IF EXISTS {name}")
        self.connection.executemany("INSERT INTO state VALUES (?, ?)", sorted(state.items()))

    def is_of(self, state: dict[str, str]) -> bool:
        """Return whether this is the working copy of a run with the same state, and its plan is complete."""
        found = dict(self.connection.execute("SELECT name, value FROM state WHERE name <> 'unread'"))
        return found == state | {"planned": "1"}

    def add_notes(self, notes: Iterable[tuple[str, str]]) -> None:
        """Write notes that belong to no file: code and text."""
        self.connection.executemany(_INSERT["notes"], ((None, None, None, *note) for note in notes))

    def plan(
        self,
        rows: Iterable[tuple[Captured, bool]],
        sources: Sequence[str],
        labels: Sequence[str] | None = None,
        *,
        forms: Iterable[tuple[str, str]] = (),
        places: Iterable[tuple[int, bytes, int, str]] = (),
        parts: Mapping[str, Iterable[Part]] | None = None,
    ) -> None:
        """Write a row for every URL of the capture, held or not, and the paths.

        `labels` are the names of sources for people, `forms` the forms under which URLs are found, `places` the files
        of folders and packages, `parts` the parts of joined documents, by URL.
        """
        db = self.connection
        names = zip(map(shown, sources), map(shown, sources if labels is None else labels), strict=True)
        db.executemany("INSERT INTO sources VALUES (?, ?, ?)", ((i, *name) for i, name in enumerate(names)))
        db.executemany(_INSERT["plan"], map(_values, rows))
        db.executemany("INSERT OR IGNORE INTO forms VALUES (?, ?)", forms)
        files = ((*file, _form_of(file[1])) for file in places)
        db.executemany("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?)", files)
        found = ((url, i, *one.where, *one[1:]) for url, every in (parts or {}).items() for i, one in enumerate(every))
        db.executemany("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)", found)
        *indexes, by_folder = _INDEXES.rstrip(";\n").split(";\n")
        db.execute(by_folder)
        counts = dict(db.execute("SELECT folder, count(*) FROM plan WHERE folder IS NOT NULL GROUP BY folder"))
        named = ((path, url) for url, path in paths.named(counts, self._placed))
        db.executemany("UPDATE plan SET path = ? WHERE url = ?", named)
        for statement in indexes:
            db.execute(statement)
        db.execute("INSERT INTO state VALUES ('planned', '1')")
        self.keep()

    def _placed(self, folder: str) -> Iterator[paths.Placed]:
        query = "SELECT url, shown, looks FROM plan WHERE folder = ?"
        yield from (paths.Placed(*row) for row in self.connection.execute(query, (folder,)).fetchall())

    def mark_unread(self) -> None:
        """Note that an input could not be read: then nothing is removed."""
        self.connection.execute("INSERT INTO state VALUES ('unread', '1')")

    def is_unread(self) -> bool:
        return self.connection.execute("SELECT 1 FROM state WHERE name = 'unread'").fetchone() is not None

    def where(self, url: str) -> Where:
        """Return the place of the payload of a URL. Raise KeyError for a URL that is not in the plan."""
        query = 'SELECT source, "offset", number FROM plan WHERE url = ?'
        row = self.connection.execute(query, (url,)).fetchone()
        if row is None:
            raise KeyError(url)
        return Where(*row)

    def documents(self) -> tuple[int, int]:
        """Return the number of documents, and the bytes of their payloads as captured."""
        number, size = next(self.rows("SELECT count(*), coalesce(sum(size), 0) FROM plan WHERE path IS NOT NULL"))
        return number, size

    def unwritten(self) -> int:
        """Return the number of documents that could not be written."""
        return int(next(self.rows("SELECT count(*) FROM plan WHERE digest = ''"))[0])

    def remaining(self) -> Iterator[tuple[Where, str, str, int, str, str]]:
        """Yield place, URL, path, size, fields and date of each document to be written, in the order of the places."""
        query = """\
SELECT source, "offset", number, url, path, size, coalesce(fields, ''), coalesce(date, '') FROM plan
WHERE path IS NOT NULL AND digest IS NULL AND (source, "offset", number, url) > (?, ?, ?, ?)
ORDER BY source, "offset", number, url LIMIT 500"""
        after: tuple[Any, ...] = (-1, -1, -1, "")
        while rows := self.connection.execute(query, after).fetchall():
            for source, offset, number, *facts in rows:
                yield Where(source, offset, number), *facts
            after = rows[-1][:4]

    def add_ours(self, map_: Path) -> None:
        """Note the files that earlier runs made, with their digests, from a map of theirs."""
        for table in ("resources", "earlier") if map_.is_file() else ():
            query = f"SELECT path, coalesce(CAST(digest AS TEXT), '') FROM {table} WHERE typeof(path) = 'text'"  # noqa: S608
            with suppress(sqlite3.Error), closing(opened(map_, table)) as db:
                self.connection.executemany("INSERT OR IGNORE INTO ours VALUES (?, ?)", db.execute(query))

    def is_ours(self, path: str) -> bool:
        """Return whether an earlier run made a file."""
        return self._has("SELECT 1 FROM ours WHERE path = ?", path)

    def digests(self, path: str) -> set[str]:
        """Return the digests of a path's contents as earlier runs noted them."""
        found = self.connection.execute("SELECT digest FROM ours WHERE path = ? AND digest <> ''", (path,))
        return {digest for (digest,) in found}

    def leave(self, paths: Iterable[str]) -> None:
        """Keep files in the map that earlier runs made, and that are not part of this mirror."""
        query = "INSERT OR IGNORE INTO earlier SELECT path, digest FROM ours WHERE path = ? AND digest <> ''"
        self.connection.executemany(query, ((path,) for path in paths))

    def is_planned(self, path: str) -> bool:
        """Return whether a document has this path."""
        return self._has("SELECT 1 FROM plan WHERE path = ?", path)

    def has_before(self) -> bool:
        """Return whether an earlier run made any file."""
        return self.connection.execute("SELECT 1 FROM ours").fetchone() is not None

    def _has(self, query: str, path: str) -> bool:
        return self.connection.execute(query, (path,)).fetchone() is not None

    def mark_foreign(self, found: Iterable[str]) -> None:
        """Note files that have the paths of documents and were not made by a mirror."""
        self.connection.executemany("INSERT OR IGNORE INTO foreign_files VALUES (?)", ((path,) for path in found))
        self.keep()

    def intend(self, files: Iterable[tuple[str, str]]) -> None:
        """Note paths and digests of files before they are renamed into place: a kill leaves none unknown."""
        self.connection.executemany("INSERT INTO intended VALUES (?, ?)", files)
        self.keep()

    def finish(self, one: Finished) -> None:
        """Note the result for one document; a document that could not be written is not held."""
        db = self.connection
        if not one.is_there:
            db.execute("UPDATE plan SET path = NULL, digest = '' WHERE url = ?", (one.url,))
            return
        db.execute("UPDATE plan SET digest = ? WHERE url = ?", (one.digest, one.url))
        if one.title is not None:
            db.execute(_INSERT["pages"], (one.path, one.title))
        if one.text:
            db.execute(_INSERT["texts"], (one.path, one.text))
        self._linked.update(one.linked)
        self._missing.update(one.missing)
        for missing in one.missing:
            self._first.setdefault(missing, one.path)
        if one.notes:
            db.executemany(_INSERT["notes"], ((one.path, *note) for note in one.notes))
        if one.same:
            db.executemany(_INSERT["same"], one.same)
        self._pending += 1
        if self._pending >= _TOGETHER:
            self.keep()

    def keep(self) -> None:
        """Commit what was written: other processes see it, and it stays if this one is killed."""
        self._add_counts()
        super().keep()
        self._pending = 0

    def _add_counts(self) -> None:
        self.connection.executemany(_INSERT["linked"], self._linked.items())
        counts = ((url, kind, count, self._first[url, kind]) for (url, kind), count in self._missing.items())
        self.connection.executemany(_INSERT["missing"], counts)
        for noted in (self._linked, self._missing, self._first):
            noted.clear()

    def rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query."""
        self._add_counts()
        return self.connection.execute(query, values)

    def write(self, target: Path) -> None:
        """Write the map as a new file: the tables in a fixed order."""
        self.keep()
        with closing(sqlite3.connect(target, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("ATTACH CAST(? AS TEXT) AS working", (os.fsencode(self.path),))  # maybe not UTF-8
            db.execute("BEGIN")
            for statement in _TABLES.split(";\n"):
                db.execute(statement)
            db.execute(f"INSERT INTO resources {_RESOURCES}")
            for table, order in _ORDER.items():
                where = " WHERE title IS NOT NULL" if table == "pages" else ""
                query = f"SELECT * FROM working.{table}{where} ORDER BY {order}"  # noqa: S608 - our own words
                db.execute(f"INSERT INTO {table} {query}")
            db.execute("COMMIT")

    @cached_property
    def lacking(self) -> Lacking:
        """The missing files and links of the mirror, once all documents are made."""
        return words.lacking_in(self.rows, words.LISTED)


def _form_of(place: bytes) -> bytes:
    return place.lower() if place.isascii() else place_of(fold(place.decode("utf-8", "surrogatepass")))


_TOGETHER: Final = 200  # documents that are committed at once


def opened(path: Path, *tables: str) -> sqlite3.Connection:
    """Return a read-only connection to a map, which may come from anybody. Raise sqlite3.Error.

    Only a regular file is opened, and each of `tables` must be as a mirror makes it: a view or a generated column could
    compute for ever.
    """
    if not is_regular(path):
        raise sqlite3.DatabaseError(f"{path.name} is no regular file")
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        for name in tables:
            found = db.execute("SELECT sql FROM sqlite_master WHERE name = ? AND type = 'table'", (name,)).fetchone()
            if found is None or found[0] not in _STATEMENTS:
                raise sqlite3.DatabaseError(f"{path.name} has no table {name} of a mirror")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _is_begun(path: Path) -> bool:
    """Return whether a working copy has its tables. Raise sqlite3.Error for other tables, or another kind of file."""
    with closing(opened(path)) as db:
        found = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    if found and not (found <= _STATEMENTS and found >= {*_OF_WORKING.rstrip(";\n").split(";\n")}):
        raise sqlite3.DatabaseError("other tables")
    return bool(found)


def is_regular(path: Path) -> bool:
    """Return whether a file is there that is neither a link nor a pipe."""
    try:
        state = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(state.st_mode)


def check_own(folder: Path) -> None:
    """Raise UsageError if a name that a mirror uses for its map belongs to something other than a file."""
    for name in (MAP, *(f"{WORKING}{suffix}" for suffix in BESIDE)):
        path = folder / name
        if os.path.lexists(path) and not (is_regular(path) and (name == MAP or path.lstat().st_nlink == 1)):
            raise UsageError(f"{path}: this is no regular file, and a mirror needs the name: remove it")


def _values(row: tuple[Captured, bool]) -> tuple[Any, ...]:
    one, is_held = row
    return (
        *(one.url, None, one.status, one.media_type or None, None, iso(one.date)),
        *(one.where.source, one.location, one.where.offset, one.where.number, one.size),
        paths.folder_of(one.url) if is_held else None,
        *(one.shown or registry.essence_of(one.media_type)[0], one.looks, one.fields or None),
    )


@contextmanager
def discarded(folder: Path) -> Iterator[None]:
    """Remove the working copy in a folder after an error such as a full disk, but not after a kill."""
    try:
        yield
    except (OSError, MemoryError, sqlite3.Error):
        removed(folder / WORKING)
        raise


def iso(date: str) -> str | None:
    """Return 14 digits as an ISO 8601 date: for example, `2020-01-02T03:04:05Z` for `20200102030405`."""
    if not date:
        return None
    return f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:14]}Z"
