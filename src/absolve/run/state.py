"""State of a run in SQLite, from which a later run resumes after a kill at any point: finished inputs, rows of lists.

In: jobs, and the files or rows that they made. Out: the jobs that are not done, and all rows of a list in the order of
its inputs.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve.core.caching import fingerprint
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.run import buckets, inputs
from absolve.run.outputs import written_state
from absolve.run.results import BytesRead, LinkCounts, RowChunk
from absolve.run.sources import local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from absolve.run.buckets import State as Stored
    from absolve.run.inputs import Input
    from absolve.run.outputs import WrittenFile
    from absolve.run.plan import Job
    from absolve.run.results import Counts

    Item = TypeVar("Item")

BESIDE: Final = ("", "-wal", "-shm", "-journal")  # suffixes of files that SQLite writes beside a database
_FOLDER_MODE: Final = 0o700  # required by XDG Base Directory
TOGETHER: Final = 64  # finished inputs, or
_TOGETHER_BYTES: Final = 8 << 20  # bytes of rows, in one transaction
_COUNTS: Final = {kind.__name__: kind for kind in (BytesRead, LinkCounts)}
_TABLES: Final = """\
CREATE TABLE IF NOT EXISTS done (input BLOB PRIMARY KEY, how BLOB, result TEXT, counts TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS listed (input BLOB, name TEXT, rows INTEGER, chunk BLOB);
CREATE INDEX IF NOT EXISTS by_input ON listed (input);
"""
_EMPTY: Final = "DELETE FROM done; DELETE FROM listed;"
_ADD_ROWS: Final = "INSERT INTO listed VALUES (?, ?, ?, ?)"
_ROWS: Final = "SELECT name, rows, chunk FROM listed WHERE input = ? ORDER BY rowid"


def removed(path: Path) -> None:
    """Remove a database, and the files that SQLite has written beside it."""
    for suffix in BESIDE:
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


class Database:
    """A database that one process writes: after a kill it has the last committed state, whole."""

    def __init__(self, path: Path, script: str = "", *, alone: bool = False) -> None:
        """Open or create a database, and execute a script there. Raise sqlite3.Error if that fails.

        `alone`: raise UsageError if another process has it open.
        """
        self.path = path
        self.connection = sqlite3.connect(path, timeout=0 if alone else 5)  # a transaction begins with the first change
        try:
            if alone:
                self.connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")  # work that a power failure loses is done again
            self.connection.executescript(script)
        except sqlite3.Error as error:
            self.connection.close()
            if "locked" in str(error):
                text = f"another run with the same inputs and output is at work: wait until it ends ({path})"
                raise UsageError(text) from error
            raise

    def keep(self) -> None:
        """Commit all writes: other processes see them, and they survive if this one is killed."""
        self.connection.commit()

    def close(self) -> None:
        """Commit all writes, if possible, and close the database."""
        with suppress(sqlite3.Error, DocumentError):
            self.keep()
        self.connection.close()


class State(Database):
    """The finished inputs of a run, each with the state of its result: inode, size and modification time.

    The state of a result is committed before the file is renamed, and a rename does not change it. After a kill a job
    is therefore done exactly if its file has been renamed. For a list the rows of each input are kept, too.
    """

    def __init__(self, path: Path, how: str, *, resume: bool, lists: bool = False) -> None:
        """Open or create the state of a run; with `resume` entries with the same options (`how`) are valid.

        `lists`: names of inputs are in the rows. Raise OSError or sqlite3.Error if it cannot be opened, UsageError if
        another process has it open.
        """
        folder = path.parent  # only its user can read it
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        if hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "the folder belongs to another user", str(folder))
        folder.chmod(_FOLDER_MODE)
        super().__init__(path, _TABLES if resume else _TABLES + _EMPTY, alone=True)
        self._how = how
        self._lists = lists
        self._begun: dict[bytes, tuple[bytes, str]] = {}  # inputs under way: digest and state before the work
        self._order: dict[bytes, bool] = {}  # the inputs of a list, and whether an earlier run has done them
        self._counts: dict[bytes, list[Counts]] = {}
        self._unkept = self._size = 0
        self.skipped = 0

    def remaining(self, items: Iterable[Item], job_of: Callable[[Item], Job]) -> Iterator[Item]:
        """Yield the items that are not done, or that have changed since, as their results may have.

        Raise UsageError if an input of a list comes twice, because its rows have one place.
        """
        for item in items:
            input_, target = job_of(item)
            key, before = self._key(input_), state_of(input_)
            claim = input_.claim and (input_.claim.reference, input_.claim.source)
            to = None if target is None else (path_of(target), before)
            how = fingerprint(repr((self._how, to, input_.url, input_.url_source, claim)))
            now = before if target is None else _state(target, has_mark=False)
            is_done = bool(now) and self._row("how, result", key) == (how, now)
            if self._lists and key in self._order:
                raise UsageError(f"--resume needs each input once: {input_.name} comes twice")
            if self._lists:
                self._order[key] = is_done
            if is_done:
                self.skipped += input_.within.end == inputs.END
                continue
            self._begun[key] = how, before
            if self._lists:
                self._write("DELETE FROM listed WHERE input = ?", key)  # rows of a run that did not finish the input
            yield item

    def done(self, input_: Input, written: WrittenFile | None = None) -> None:
        """Add an entry for a file about to be renamed, or an unchanged input. Raise DocumentError if that fails.

        A missing file gets no entry, because its rename will fail.
        """
        key = self._key(input_)
        how, before = self._begun[key]
        if result := before if written is None else _written_state(written):
            counts = [(type(one).__name__, one) for one in self._counts.pop(key, [])]
            self._write("INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?)", key, how, result, json.dumps(counts))
            self._unkept += 1
        if self._unkept >= TOGETHER or self._size >= _TOGETHER_BYTES:
            self.keep()

    def ended(self, input_: Input, *, is_done: bool) -> None:
        """Note the end of the work on an input, which `is_done` if its file is unchanged, or its rows are complete."""
        try:
            if is_done:
                self.done(input_)
        finally:
            self._begun.pop(self._key(input_), None)
            self._counts.pop(self._key(input_), None)

    def count(self, input_: Input, counts: Counts) -> None:
        """Note the counts of an input under way."""
        self._counts.setdefault(self._key(input_), []).append(counts)

    def listed(self, results: Iterable[tuple[Input, RowChunk]]) -> Iterator[RowChunk | Counts]:
        """Keep the rows of all results; then yield the rows of all inputs in order, and counts of earlier runs."""
        for input_, piece in results:
            self._write(_ADD_ROWS, self._key(input_), piece.table, piece.number, piece.chunk)
            self._size += len(piece.chunk)
        for key, is_done in self._order.items():
            for kind, fields in json.loads(self._row("counts", key)[0]) if is_done else ():
                yield _COUNTS[kind](*fields)
            with self._failing():
                for name, number, chunk in self.connection.execute(_ROWS, (key,)):
                    yield RowChunk(chunk, number, name)

    def keep(self) -> None:
        """Commit the entries. Raise DocumentError if that fails."""
        self._unkept = self._size = 0
        with self._failing():
            self.connection.commit()

    def _write(self, statement: str, *values: bytes | str | int) -> None:
        with self._failing():
            self.connection.execute(statement, values)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Raise UsageError for a database that is damaged, DocumentError for one that cannot be written."""
        try:
            yield
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF in _DAMAGED:
                raise unopened(self.path, error) from error
            with suppress(sqlite3.Error):
                self.connection.rollback()
            text = f"the state of the run cannot be written to {self.path}: {error}"
            raise DocumentError(Diagnostic("unwritable", text, str(self.path))) from error

    def _key(self, input_: Input) -> bytes:
        name = input_.name if self._lists else path_of(input_.name)
        return fingerprint(repr((name, input_.within.start)))

    def _row(self, columns: str, key: bytes) -> Any:
        with self._failing():
            return self.connection.execute(f"SELECT {columns} FROM done WHERE input = ?", (key,)).fetchone()  # noqa: S608


# SQLITE_ERROR (tables of something else), SQLITE_CORRUPT, SQLITE_NOTADB: primary result codes of SQLite
_DAMAGED: Final = frozenset({1, 11, 26})


def unopened(path: Path, error: Exception) -> UsageError:
    """Return the error for a state from which no run can resume."""
    text = f"--resume: the state {path} of the run cannot be opened: {error}"
    return UsageError(text, "without --resume all is done again")


def path_of(name: str) -> str:
    """Return the absolute path of a file, without resolving links; a URL unchanged."""
    return name if inputs.is_url(name) or buckets.is_bucket(name) else os.path.abspath(name)  # noqa: PTH100


def state_of(input_: Input) -> str:
    """Return the state of an input as text, which differs after any change; "" if there is no file.

    The state of a URL is unknown: results that an interrupted run has for it count as done.
    """
    return "url" if inputs.is_url(input_.name) else _state(local(input_.name), input_.stored)


def _state(name: str, stored: Stored | None = None, *, has_mark: bool = True) -> str:
    """Return the state of a file as text; in a store without its mark, which is unknown before the upload."""
    try:
        if not buckets.is_bucket(name):
            return _in_words(os.stat(name))  # noqa: PTH116 - faster, for very many
        found = stored or buckets.state(name)
    except (OSError, ValueError):
        return ""
    return "" if found is None else f"{found.size}:{found.mark if has_mark else ''}"


def _written_state(written: WrittenFile) -> str:
    found = written_state(written)
    return f"{found.st_size}:" if written.is_sent and found is not None else _in_words(found)


def _in_words(found: os.stat_result | None) -> str:
    return "" if found is None else f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
