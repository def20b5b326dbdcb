"""Journal of a run in SQLite, from which a later run resumes: the inputs that are done, and of a list their rows.

Input: jobs and the files made for them, or inputs and the results of their tasks. Output: what is not done, by the
states of the files, and of a list all rows in the order of the inputs; they are bytes.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from absolve.core.digest import fingerprint
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.run import buckets, inputs
from absolve.run.outputs import made_state
from absolve.run.results import BytesRead, LinkCounts, RowChunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from absolve.run.buckets import State
    from absolve.run.inputs import Input
    from absolve.run.outputs import Made
    from absolve.run.plan import Job
    from absolve.run.results import Counts

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS inputs (input BLOB PRIMARY KEY, how BLOB, before TEXT, after TEXT, counts TEXT)
WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunks (input BLOB, place INTEGER, rows INTEGER, chunk BLOB, PRIMARY KEY (input, place))
WITHOUT ROWID;
"""
_FOLDER_MODE: Final = 0o700  # required by XDG Base Directory
_FILE_MODE: Final = 0o600  # it contains names of files
KEPT: Final = 64  # inputs that are done, or
_KEPT_BYTES: Final = 8 << 20  # bytes of rows, in a transaction, unless `keep` is called earlier


class _Begun(NamedTuple):
    """The work on an input: the key of its entry, a digest of the options for it, and its state before the work."""

    input: bytes
    how: bytes
    before: str


class Journal:
    """Record which inputs are done, with the state of their files: inode, size and modification time.

    The state of a result is committed before the file is renamed, and a rename does not change it. After a kill the
    job is therefore done exactly if the file has been renamed. Of a list the rows of each input are kept, too.
    """

    def __init__(self, path: Path, how: str, *, resume: bool, busy: str = "is working on the same files") -> None:
        """Open or create the journal at a path; with `resume` entries with the same options (`how`) are valid.

        Raise OSError or sqlite3.Error if it cannot be opened, UsageError if another run, which `busy` describes, has it
        open.
        """
        self._how = repr(how)  # once: it may be long
        self._path = path
        self._begun: dict[str, _Begun] = {}  # inputs under way
        self._is_new = not resume
        self._unkept = self._size = 0
        self.skipped = 0
        self._before: dict[str, list[Input]] = {}  # inputs that are done, by the next one that is not
        self._waiting: list[Input] = []  # those behind the last one that is not
        self._chunks: dict[str, int] = {}
        self._counts: dict[str, list[Counts]] = {}
        self._database = opened(path, _TABLES, busy)
        try:
            if not resume:
                self._database.execute("DELETE FROM inputs")
        except sqlite3.Error:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(DocumentError, sqlite3.ProgrammingError):  # the latter after `remove`
            self.keep()
        self._database.close()

    def remove(self) -> None:
        """Delete the journal: the list is complete."""
        self._database.close()
        for beside in ("", "-wal", "-shm"):
            self._path.with_name(f"{self._path.name}{beside}").unlink(missing_ok=True)

    def keep(self) -> None:
        """Commit the entries. Raise DocumentError if that fails."""
        self._unkept = self._size = 0
        try:
            if self._database.in_transaction:
                self._database.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise self._unwritable(error) from error

    def _write(self, statement: str, values: tuple[Any, ...], name: str) -> None:
        """Execute a statement for an input in the current transaction. Raise DocumentError if that fails."""
        try:
            if not self._database.in_transaction:
                self._database.execute("BEGIN")
            self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise self._unwritable(error, name) from error

    def _done(self, name: str, after: str, counts: str = "") -> None:
        entry = (*self._begun[name], after, counts)
        self._write("INSERT OR REPLACE INTO inputs VALUES (?, ?, ?, ?, ?)", entry, name)
        self._unkept += 1
        if self._unkept >= KEPT or self._size >= _KEPT_BYTES:
            self.keep()

    def _unwritable(self, error: sqlite3.Error, name: str = "") -> DocumentError:
        return DocumentError(Diagnostic("unwritable", f"the journal {self._path} cannot be written: {error}", name))

    def _is_done(self, input_: Input, result: str | None, shown: str | None) -> bool:
        """Return whether an input is done, and its result, another file, is as it was; if not, it is under way now.

        `shown`: what of its name or its target the entry depends on.
        """
        claim = input_.claim and (input_.claim.reference, input_.claim.source)
        how = fingerprint(f"({self._how}, {shown!r}, {input_.url!r}, {input_.url_source!r}, {claim!r})")
        before = state_of(input_.name) if input_.stored is None else _stored(input_.stored)
        begun = _Begun(path_of(input_.name), how, before)
        if begun.before and not self._is_new:
            found = self._row("how, before, after", begun.input)
            now = (how, begun.before, begun.before if result is None else _result_of(result))
            if result is None and found is not None:  # the file itself may be the result: it is as it was then
                found = (found[0], found[2], found[2])
            if found == now:
                self.skipped += 1
                return True
        self._begun[input_.name] = begun
        return False

    def _row(self, columns: str, input_: bytes) -> Any:
        return self._database.execute(f"SELECT {columns} FROM inputs WHERE input = ?", (input_,)).fetchone()  # noqa: S608

    # --- rewrites ---

    def remaining(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Yield the jobs that are not done, or whose files have changed since."""
        for job in jobs:
            shown = None if job.target is None else os.fsdecode(path_of(job.target))
            if not self._is_done(job.input, job.target, shown):
                yield job

    def note(self, job: Job, made: Made | None = None) -> None:
        """Add an entry for a file about to be renamed, or for an unchanged input, to the current transaction.

        A file that is missing gets none: its rename will fail. Raise DocumentError if the entry cannot be added.
        """
        name = job.input.name
        if after := self._begun[name].before if made is None else _made(made):
            self._done(name, after)

    def forget(self, job: Job) -> None:
        """Remove a finished job from those under way, whether it is done or has failed."""
        self._begun.pop(job.input.name, None)

    # --- lists ---

    def unlisted(self, inputs: Iterable[Input]) -> Iterator[Input]:
        """Yield the inputs whose rows are not there, or that have changed since.

        Raise UsageError if one comes twice: its rows have one place in the journal.
        """
        seen: set[bytes] = set()
        for input_ in inputs:
            path = path_of(input_.name)
            name = fingerprint(repr(path))
            if name in seen:
                raise UsageError(f"--resume needs each input once: {input_.name} comes twice")
            seen.add(name)
            if self._is_done(input_, None, input_.name):
                self._waiting.append(input_)
                continue
            for table in ("inputs", "chunks"):  # those of a run that did not finish it
                self._write(f"DELETE FROM {table} WHERE input = ?", (path,), input_.name)  # noqa: S608
            self._before[input_.name], self._waiting = self._waiting, []
            yield input_

    def merged(self, results: Iterable[tuple[Input, RowChunk]]) -> Iterator[RowChunk | Counts]:
        """Yield all rows in the order of the inputs, and the counts of inputs that are done; keep the new rows."""
        for input_, piece in results:
            yield from self._stored(self._before.pop(input_.name, []))
            place = self._chunks[input_.name] = self._chunks.get(input_.name, 0) + 1
            entry = path_of(input_.name), place, piece.number, piece.chunk
            self._write("INSERT INTO chunks VALUES (?, ?, ?, ?)", entry, input_.name)
            self._size += len(piece.chunk)
            yield piece
        for waiting in (*self._before.values(), self._waiting):
            yield from self._stored(waiting)

    def _stored(self, inputs: Iterable[Input]) -> Iterator[RowChunk | Counts]:
        for input_ in inputs:
            key = path_of(input_.name)
            size, documents, *listed = json.loads(self._row("counts", key)[0])
            yield BytesRead(size, documents)
            yield LinkCounts(*listed)
            select = "SELECT chunk, rows FROM chunks WHERE input = ? ORDER BY place"
            for chunk, number in self._database.execute(select, (key,)):
                yield RowChunk(chunk, number)

    def count(self, input_: Input, counts: Counts) -> None:
        """Note the counts of an input under way."""
        self._counts.setdefault(input_.name, []).append(counts)

    def ended(self, input_: Input, *, failed: bool) -> None:
        """Note that an input is listed; one that failed is not, and will be read again."""
        name = input_.name
        counts = self._counts.pop(name, [])
        self._chunks.pop(name, None)
        if not failed and self._begun[name].before:
            read = [one for one in counts if isinstance(one, BytesRead)]
            listed = next((one for one in counts if isinstance(one, LinkCounts)), LinkCounts({}, {}))
            size, documents = sum(one.read for one in read), sum(one.documents for one in read)
            self._done(name, self._begun[name].before, json.dumps([size, documents, *listed]))
        self._begun.pop(name)


def path_of(name: str) -> bytes:
    if inputs.is_url(name) or buckets.is_bucket(name):
        return os.fsencode(name)
    return os.fsencode(os.path.abspath(name))  # noqa: PTH100 - without resolving links


def state_of(name: str) -> str:
    """Return the state of a file as text, which differs after any change; "" if there is no file.

    Nothing is known of the state of a URL: what an interrupted run has of it is done.
    """
    if inputs.is_url(name):
        return "url"
    try:
        if buckets.is_bucket(name):
            return _stored(buckets.state(name))
        return _in_words(os.stat(name))  # noqa: PTH116 - faster, for very many
    except (OSError, ValueError):
        return ""


def _result_of(name: str) -> str:
    """Return the state of a result; of one in a store its size, which is known before the store has it."""
    if not buckets.is_bucket(name):
        return state_of(name)
    found = buckets.state(name)
    return "" if found is None else f"{found.size}"


def _made(made: Made) -> str:
    found = made_state(made)
    return f"{found.st_size}" if made.is_sent and found is not None else _in_words(found)


def _stored(found: State | None) -> str:
    return "" if found is None else f"{found.size}:{found.mark}"


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
        is_full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
        code, text = (errno.ENOSPC, os.strerror(errno.ENOSPC)) if is_full else (errno.EIO, str(error))
        raise OSError(code, text, name) from error


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
