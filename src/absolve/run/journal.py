"""Journal of a rewrite in SQLite, from which a later run resumes.

Input: jobs, and the files made for them. Output: the jobs that are not done, by the state of their files.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from contextlib import contextmanager, suppress
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
"""


_FOLDER_MODE: Final = 0o700  # required by XDG Base Directory
_FILE_MODE: Final = 0o600  # it contains names of files
KEPT: Final = 64  # entries per transaction, unless `keep` is called earlier


class Journal:
    """Record which jobs are done, with the state of their files: inode, size and modification time.

    The state of a result is committed before the file is renamed, and a rename does not change it. After a kill the
    job is therefore done exactly if the file has been renamed.
    """

    def __init__(self, path: Path, how: str, *, resume: bool) -> None:
        """Open or create the journal at a path; with `resume` entries with the same options (`how`) are valid.

        Raise OSError or sqlite3.Error if it cannot be opened, UsageError if another run has it open.
        """
        self._how = repr(how)  # once: it may be long
        self._path = path
        self._known: dict[str, tuple[bytes, bytes, bytes, str]] = {}  # jobs under way: input, target, how, before
        self._is_new = not resume
        self._unkept = 0
        self.skipped = 0
        self._database = opened(path, _TABLES, "is working on the same files")
        try:
            if not resume:
                self._database.execute("DELETE FROM done")
        except sqlite3.Error:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(DocumentError):
            self.keep()
        self._database.close()

    def keep(self) -> None:
        """Commit the entries. Raise DocumentError if that fails."""
        self._unkept = 0
        try:
            if self._database.in_transaction:
                self._database.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise self._unwritable(error) from error

    def remaining(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Yield the jobs that are not done, or whose files have changed since."""
        for job in jobs:
            known = self._of(job)
            if self._is_done(job, *known):
                self.skipped += 1
                continue
            self._known[job.input.name] = known
            yield job

    def _of(self, job: Job) -> tuple[bytes, bytes, bytes, str]:
        claims = [(claim.reference, claim.source) for claim in job.input.claims]
        how = fingerprint(f"({self._how}, {job.input.url!r}, {job.input.url_source!r}, {claims!r})")
        target = b"" if job.target is None else path_of(job.target)
        return path_of(job.input.name), target, how, state_of(job.input.name)

    def _is_done(self, job: Job, path: bytes, target: bytes, how: bytes, before: str) -> bool:
        if self._is_new:
            return False
        select = "SELECT target, how, before, after FROM done WHERE input = ?"
        row = self._database.execute(select, (path,)).fetchone()
        if row is None or not before or row[:2] != (target, how):
            return False
        return bool(row[3] == before) if job.target is None else row[2:] == (before, state_of(job.target))

    def note(self, job: Job, made: Made | None = None) -> None:
        """Add an entry for a file about to be renamed, or for an unchanged input, to the current transaction.

        A file that is missing gets none: its rename will fail. Raise DocumentError if the entry cannot be added.
        """
        known = self._known[job.input.name]
        after = known[-1] if made is None else _in_words(made_state(made))
        if not after:
            return
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
        return DocumentError(Diagnostic("unwritable", f"the journal {self._path} cannot be written: {error}", name))

    def forget(self, job: Job) -> None:
        """Remove a finished job from those under way, whether it is done or has failed."""
        self._known.pop(job.input.name, None)


def path_of(name: str) -> bytes:
    return os.fsencode(os.path.abspath(name))  # noqa: PTH100 - without resolving links


def state_of(name: str) -> str:
    """Return the state of a file as text, which differs after any change; "" if there is no file."""
    try:
        return _in_words(os.stat(name))  # noqa: PTH116 - faster, for very many
    except (OSError, ValueError):
        return ""


def _in_words(found: os.stat_result | None) -> str:
    return "" if found is None else f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def opened(path: Path, tables: str, busy: str) -> sqlite3.Connection:
    """Open or create the database of a journal, for this process alone.

    Raise OSError or sqlite3.Error if it cannot be opened, UsageError if another run, which `busy` describes, has it
    open.
    """
    make_private(path)
    database = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")  # entries lost in a power failure are done again
        database.executescript(tables)
    except sqlite3.Error as error:
        database.close()
        if "locked" in str(error):
            raise UsageError(f"another run {busy}: wait until it ends (journal {path})") from error
        raise
    return database


@contextmanager
def unwritable(name: str) -> Iterator[None]:
    """Raise OSError, with this name, where a database of SQLite cannot be written: a full disk."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _OF_THE_DISK:
            raise
        raise OSError(errno.EIO, str(error), name) from error


# SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN: primary result codes of SQLite
_OF_THE_DISK: Final = frozenset({8, 10, 13, 14})


def make_private(path: Path) -> None:
    """Create a file with mode 0600 in a folder with mode 0700, or set these modes.

    SQLite gives the files beside a database its mode. Raise PermissionError if the folder belongs to another user.
    """
    path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    state = path.parent.stat()
    if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "the folder belongs to another user", str(path.parent))
    if stat.S_IMODE(state.st_mode) & ~_FOLDER_MODE:
        path.parent.chmod(_FOLDER_MODE)
    for beside in ("", "-wal", "-shm"):
        name = f"{path}{beside}"
        if not os.path.lexists(name):
            if not beside:
                os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, _FILE_MODE))
        elif os.path.islink(name):  # noqa: PTH114 - a text
            raise PermissionError(errno.EPERM, "the file is a symbolic link", name)
        else:
            os.chmod(name, _FILE_MODE)  # noqa: PTH101 - opening and closing the file would release SQLite's locks
