"""What a rewrite has done so far, in SQLite, so that a later run goes on where one was killed."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

from absolve.core.digest import fingerprint
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.run.outputs import made_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from absolve.run.outputs import Made
    from absolve.run.rewrite_task import Job

_TABLES = """
CREATE TABLE IF NOT EXISTS done (input BLOB PRIMARY KEY, target BLOB, how BLOB, before TEXT, after TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (token TEXT PRIMARY KEY);
"""


_FOLDER_MODE: Final = 0o700  # XDG Base Directory asks for it
_FILE_MODE: Final = 0o600  # names of files are in it
KEPT: Final = 64  # notes that are kept together, where nothing wants them kept before


class Journal:
    """Says of each job whether it is done, by the state of its files: inode, size and time of change.

    The state of a result is written down, and kept, before it is put in its place, and goes there with it: so what was
    put just before a kill is known as done, and what was not is not.
    """

    def __init__(self, path: Path, how: str, token: str, *, resume: bool) -> None:
        """A journal at a path; with `resume` what it says of runs with the same options (`how`) holds.

        `tokens` are that of this run and those of earlier ones that did not come to their end.
        OSError or sqlite3.Error where there can be none there, UsageError where another run writes it.
        """
        self._how = how
        self._path = path
        self._known: dict[str, tuple[bytes, bytes, bytes, str]] = {}  # of jobs under way: input, target, how, before
        self._is_new = not resume
        self._unkept = 0
        self.skipped = 0
        _private(path)
        self._database = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")  # what a crash of the machine takes is done again
            self._database.executescript(_TABLES)
            if not resume:
                self._database.execute("DELETE FROM done")
            self._database.execute("INSERT OR REPLACE INTO runs VALUES (?)", (token,))
            self.tokens = {token for (token,) in self._database.execute("SELECT token FROM runs")}
        except sqlite3.Error as error:
            self._database.close()
            if "locked" in str(error):
                raise UsageError(f"another run is at work on the same (its journal is {path})") from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(DocumentError):
            self.keep()
        self._database.close()

    def keep(self) -> None:
        """What is written down is there whatever becomes of this process; DocumentError where that cannot be."""
        self._unkept = 0
        try:
            if self._database.in_transaction:
                self._database.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise self._unwritable(error) from error

    def end(self) -> None:
        """Nothing is left of any run."""
        with suppress(sqlite3.Error, DocumentError):
            self.keep()
            self._database.execute("DELETE FROM runs")

    def remaining(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """The jobs that are not done, or whose files are not as they were left."""
        for job in jobs:
            known = self._of(job)
            if self._is_done(job, *known):
                self.skipped += 1
                continue
            self._known[job.input.name] = known
            yield job

    def _of(self, job: Job) -> tuple[bytes, bytes, bytes, str]:
        claims = [(claim.reference, claim.source) for claim in job.input.claims]
        how = fingerprint(repr((self._how, job.input.url, job.input.url_source, claims)))
        target = b"" if job.target is None else _path(job.target)
        return _path(job.input.name), target, how, _state(job.input.name)

    def _is_done(self, job: Job, path: bytes, target: bytes, how: bytes, before: str) -> bool:
        if self._is_new:
            return False
        select = "SELECT target, how, before, after FROM done WHERE input = ?"
        row = self._database.execute(select, (path,)).fetchone()
        if row is None or not before or row[:2] != (target, how):
            return False
        return bool(row[3] == before) if job.target is None else row[2:] == (before, _state(job.target))

    def note(self, job: Job, made: Made | None = None) -> None:
        """Write down what is about to be put, or that an input stays as it is, to be kept with the next ones.

        DocumentError where that cannot be.
        """
        known = self._known[job.input.name]
        after = known[-1] if made is None else _in_words(made_state(made))
        try:
            if not self._database.in_transaction:
                self._database.execute("BEGIN")
            self._database.execute("INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?, ?)", (*known, after))
        except sqlite3.Error as error:
            raise self._unwritable(error, job.input.name) from error
        self._unkept += 1
        if self._unkept == KEPT:
            self.keep()

    def _unwritable(self, error: sqlite3.Error, name: str = "") -> DocumentError:
        return DocumentError(Diagnostic("unwritable", f"this cannot be written down in {self._path}: {error}", name))

    def forget(self, job: Job) -> None:
        """The job is over, done or not."""
        self._known.pop(job.input.name, None)


def _path(name: str) -> bytes:
    return os.fsencode(os.path.abspath(name))  # noqa: PTH100 - what a link leads to is another question


def _state(name: str) -> str:
    """What tells a file from the one that stood there before or will later; empty where there is none."""
    try:
        return _in_words(os.stat(name))  # noqa: PTH116 - of each of very many
    except (OSError, ValueError):
        return ""


def _in_words(found: os.stat_result | None) -> str:
    return "" if found is None else f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def _private(path: Path) -> None:
    """Create a file that only this user can read, in a folder of the same kind, or make them so.

    SQLite gives what it writes beside a database the mode of that. PermissionError where the folder is another user's.
    """
    path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    state = path.parent.stat()
    if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "this folder is another user's", str(path.parent))
    if stat.S_IMODE(state.st_mode) & ~_FOLDER_MODE:
        path.parent.chmod(_FOLDER_MODE)
    for beside in ("", "-wal", "-shm"):
        name = f"{path}{beside}"
        if not os.path.lexists(name):
            if not beside:
                os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, _FILE_MODE))
        elif os.path.islink(name):  # noqa: PTH114 - no Path has this name
            raise PermissionError(errno.EPERM, "this is a link", name)
        else:
            os.chmod(name, _FILE_MODE)  # noqa: PTH101 - likewise; opening and closing it would end SQLite's locks
