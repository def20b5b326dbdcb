"""Journal of a list of links in SQLite, from which a later run resumes: the encoded rows of each input that is done.

Input: the inputs of a run, and the results of their tasks. Output: the inputs that are not done, and all results in the
order of the inputs: those of inputs that are done come from the journal. Only formats whose rows are bytes have one.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

from absolve.core.digest import fingerprint
from absolve.core.errors import UsageError
from absolve.run.journal import opened, path_of, state_of
from absolve.run.results import BytesRead, LinkCounts, RowChunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from absolve.run.inputs import Input
    from absolve.run.results import Counts

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS done (input BLOB PRIMARY KEY, how BLOB, state TEXT, counts TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunks (input BLOB, place INTEGER, rows INTEGER, chunk BLOB, PRIMARY KEY (input, place))
WITHOUT ROWID;
"""
_KEPT: Final = 64  # inputs, or
_KEPT_BYTES: Final = 8 << 20  # bytes of rows, in a transaction


class ListJournal:
    """Keep the rows of each input that is done, with the state of its file: inode, size and modification time."""

    def __init__(self, path: Path, how: str) -> None:
        """Open or create the journal at a path; entries with the same options (`how`) are valid.

        Raise OSError or sqlite3.Error if it cannot be opened, UsageError if another run has it open.
        """
        self.skipped = 0
        self._how = how
        self._path = path
        self._states: dict[str, str] = {}  # of inputs under way, before they were read
        self._before: dict[str, list[Input]] = {}  # inputs that are done, by the next one that is not
        self._waiting: list[Input] = []
        self._chunks: dict[str, int] = {}
        self._counts: dict[str, list[Counts]] = {}
        self._seen: set[bytes] = set()  # fingerprints of the names of this run's inputs
        self._unkept = self._size = 0
        self._database = opened(path, _TABLES, "writes the same list")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(sqlite3.Error):
            self._keep()
        self._database.close()

    def remove(self) -> None:
        """Delete the journal: the list is complete."""
        self._database.close()
        for beside in ("", "-wal", "-shm"):
            self._path.with_name(f"{self._path.name}{beside}").unlink(missing_ok=True)

    def remaining(self, inputs: Iterable[Input]) -> Iterator[Input]:
        """Yield the inputs that are not done, or that have changed since. Raise UsageError if one comes twice."""
        for input_ in inputs:
            self._see(input_)
            state = state_of(input_.name)
            if self._is_done(input_, state):
                self.skipped += 1
                self._waiting.append(input_)
                continue
            self._forget(input_)
            self._states[input_.name] = state
            self._before[input_.name], self._waiting = self._waiting, []
            yield input_

    def _see(self, input_: Input) -> None:
        """Raise UsageError for an input that comes twice: its rows have one place in the journal."""
        name = fingerprint(repr(path_of(input_.name)))
        if name in self._seen:
            raise UsageError(f"--resume needs each input once: {input_.name} comes twice")
        self._seen.add(name)

    def _is_done(self, input_: Input, state: str) -> bool:
        select = "SELECT how, state FROM done WHERE input = ?"
        row = self._database.execute(select, (path_of(input_.name),)).fetchone()
        return bool(state) and row == (self._of(input_), state)

    def _of(self, input_: Input) -> bytes:
        claims = [(claim.reference, claim.source) for claim in input_.claims]
        return fingerprint(repr((self._how, input_.name, input_.url, input_.url_source, claims)))

    def _forget(self, input_: Input) -> None:
        """Remove the rows of an input that was not finished, or has changed."""
        key = (path_of(input_.name),)
        self._begin()
        self._database.execute("DELETE FROM done WHERE input = ?", key)
        self._database.execute("DELETE FROM chunks WHERE input = ?", key)

    def merged(self, results: Iterable[tuple[Input, RowChunk]]) -> Iterator[RowChunk | Counts]:
        """Yield all rows in the order of the inputs, and the counts of inputs that are done; keep the new rows."""
        for input_, piece in results:
            yield from self._stored(self._before.pop(input_.name, []))
            place = self._chunks[input_.name] = self._chunks.get(input_.name, 0) + 1
            self._begin()
            entry = path_of(input_.name), place, piece.number, piece.chunk
            self._database.execute("INSERT INTO chunks VALUES (?, ?, ?, ?)", entry)
            self._size += len(piece.chunk)
            yield piece
        for waiting in self._before.values():
            yield from self._stored(waiting)
        yield from self._stored(self._waiting)

    def _stored(self, inputs: Iterable[Input]) -> Iterator[RowChunk | Counts]:
        for input_ in inputs:
            key = (path_of(input_.name),)
            (counts,) = self._database.execute("SELECT counts FROM done WHERE input = ?", key).fetchone()
            size, documents, *listed = json.loads(counts)
            yield BytesRead(size, documents)
            yield LinkCounts(*listed)
            select = "SELECT chunk, rows FROM chunks WHERE input = ? ORDER BY place"
            for chunk, number in self._database.execute(select, key):
                yield RowChunk(chunk, number)

    def count(self, input_: Input, counts: Any) -> None:
        """Note the counts of an input under way."""
        self._counts.setdefault(input_.name, []).append(counts)

    def ended(self, input_: Input, *, failed: bool) -> None:
        """Note that an input is done; one that failed is not, and will be read again."""
        counts = self._counts.pop(input_.name, [])
        self._chunks.pop(input_.name, None)
        state = self._states.pop(input_.name, "")
        if failed or not state:
            return
        size = sum(one.read for one in counts if isinstance(one, BytesRead))
        documents = sum(one.documents for one in counts if isinstance(one, BytesRead))
        listed = next((one for one in counts if isinstance(one, LinkCounts)), LinkCounts({}, {}, 0))
        self._begin()
        entry = path_of(input_.name), self._of(input_), state, json.dumps([size, documents, *listed])
        self._database.execute("INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?)", entry)
        self._unkept += 1
        if self._unkept >= _KEPT or self._size >= _KEPT_BYTES:
            self._keep()

    def _begin(self) -> None:
        if not self._database.in_transaction:
            self._database.execute("BEGIN")

    def _keep(self) -> None:
        self._unkept = self._size = 0
        if self._database.in_transaction:
            self._database.execute("COMMIT")
