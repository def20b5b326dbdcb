"""Detect runs that work on the same files at the same time, even under different paths.

Input: inputs and output of a run, and its journal. Output: the journal of another active run that overlaps, or None.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIX: Final = ".run"  # of the file beside a journal with the reach of a run, which exists while the run is active
_BUSY: Final = "locked"  # in SQLite's error for a database that another process has open


class Trees(NamedTuple):
    """Files and folders, and all folders above them, by device and inode: independent of the spelling of paths."""

    roots: frozenset[str]
    above: frozenset[str]

    def meets(self, other: Trees) -> bool:
        """Return whether a root of one equals a root of the other, or is inside it."""
        return not (self.roots.isdisjoint(other.roots | other.above) and other.roots.isdisjoint(self.above))


def trees(paths: Iterable[str]) -> Trees:
    """Return the files and folders at these paths, as far as they exist."""
    roots: set[str] = set()
    above: set[str] = set()
    ancestors: dict[str, frozenset[str]] = {}  # cache by folder, for very many paths
    for path in paths:
        if identity := _identity(path):
            roots.add(identity)
            real = os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114
            folder = os.path.dirname(real)  # noqa: PTH120
            if folder not in ancestors:
                ancestors[folder] = frozenset(_up(os.path.realpath(folder)))
            above |= ancestors[folder]
    return Trees(frozenset(roots), frozenset(above))


def _up(folder: str) -> Iterator[str]:
    """Yield the identities of a folder and of those above it, up to the root."""
    while True:
        if identity := _identity(folder):
            yield identity
        following = os.path.dirname(folder)  # noqa: PTH120
        if following == folder:
            return
        folder = following


def _identity(path: str) -> str | None:
    try:
        state = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return f"{state.st_dev}:{state.st_ino}"


class Reach(NamedTuple):
    """The files that a run reads and writes: the same ones in place, else an output folder."""

    read: Trees
    written: Trees
    in_place: bool

    def overlaps(self, other: Reach) -> bool:
        """Return whether two runs at the same time would write the same files.

        Two runs with different inputs and one output folder do not overlap.
        """
        if not self.written.meets(other.written):
            return False
        return self.in_place or other.in_place or self.read.meets(other.read)


def reach(inputs: Iterable[str], output: str | None) -> Reach:
    """Return the reach of a run from inputs to an existing output folder, or, with None, in place."""
    read = trees(inputs)
    return Reach(read, read if output is None else trees([output]), output is None)


@contextmanager
def announced(journal: Path, ours: Reach) -> Iterator[Path | None]:
    """Write the reach of a run beside its journal; yield the journal of an active run that overlaps, or None.

    Each run writes its own reach before it reads those of others: of two that start together at least one finds the
    other.
    """
    place = Path(f"{journal}{SUFFIX}")
    text = json.dumps([[sorted(part) for part in (*ours.read, *ours.written)], ours.in_place])
    try:
        with suppress(OSError):  # without it the run goes on, as without a journal
            number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(number, "w", encoding="ascii") as file:  # noqa: PTH123 - a descriptor
                file.write(text)
        yield next(_overlapping(place, ours), None)
    finally:
        with suppress(OSError):
            place.unlink()


def _overlapping(place: Path, ours: Reach) -> Iterator[Path]:
    for path in place.parent.glob(f"*{SUFFIX}"):
        theirs = _read(path)
        if path == place or (theirs is not None and not ours.overlaps(theirs)):
            continue
        other = path.with_name(path.name.removesuffix(SUFFIX))
        if not _is_open(other):  # a run opens its journal before it writes its reach: this one was killed
            with suppress(OSError):
                path.unlink()
        elif theirs is not None:
            yield other


def _read(path: Path) -> Reach | None:
    """Return the reach in a file; None if it is incomplete: its run is just starting, or was killed then."""
    try:
        (read, read_above, written, written_above), in_place = json.loads(path.read_text("ascii"))
        return Reach(
            Trees(frozenset(read), frozenset(read_above)),
            Trees(frozenset(written), frozenset(written_above)),
            bool(in_place),
        )
    except (OSError, ValueError, TypeError):
        return None


def _is_open(journal: Path) -> bool:
    """Return whether a run has a journal open: its process holds the lock until it ends."""
    if not journal.exists():
        return False
    try:
        with closing(sqlite3.connect(journal, timeout=0, isolation_level=None)) as database:
            database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        return _BUSY in str(error)
    return False
