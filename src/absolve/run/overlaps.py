"""What runs read and write, so that no two are at work on the same files, whatever they call them."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIX: Final = ".run"  # of the file beside a journal that has the reach of a run, as long as it is at work
_BUSY: Final = "locked"  # in SQLite's words for a database that another process has


class Trees(NamedTuple):
    """Files and folders by device and inode, and all folders that they are in: no spelling of a path is in them."""

    roots: frozenset[str]
    above: frozenset[str]

    def meets(self, other: Trees) -> bool:
        """Return whether something is in both: one is the other, or is somewhere inside it."""
        return not (self.roots.isdisjoint(other.roots | other.above) and other.roots.isdisjoint(self.above))


def trees(paths: Iterable[str]) -> Trees:
    """Return what paths lead to, as far as it is there."""
    roots: set[str] = set()
    above: set[str] = set()
    ancestors: dict[str, frozenset[str]] = {}  # by folder: there may be very many paths
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
    """Yield the identities of a folder, and of those that it is in, up to the root."""
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
    """What a run reads, and what it writes: the same in place, else a folder of outputs."""

    read: Trees
    written: Trees
    in_place: bool

    def overlaps(self, other: Reach) -> bool:
        """Return whether two runs at the same time would write the same files.

        Two that copy other inputs into one folder need not.
        """
        if not self.written.meets(other.written):
            return False
        return self.in_place or other.in_place or self.read.meets(other.read)


def reach(inputs: Iterable[str], output: str | None) -> Reach:
    """Return the reach of a run from inputs to an output folder that is there, or, with None, in place."""
    read = trees(inputs)
    return Reach(read, read if output is None else trees([output]), output is None)


@contextmanager
def announced(journal: Path, ours: Reach) -> Iterator[Path | None]:
    """Say the reach of the run that has this journal open; yield the journal of one at work that overlaps, if any.

    Each run says its own before it looks for others: of two that begin together at least one sees the other.
    """
    place = Path(f"{journal}{SUFFIX}")
    text = json.dumps([[sorted(part) for part in (*ours.read, *ours.written)], ours.in_place])
    try:
        with suppress(OSError):  # as without a journal
            number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(number, "w", encoding="ascii") as file:  # noqa: PTH123 - a descriptor
                file.write(text)
        yield next(_overlapping(place, ours), None)
    finally:
        with suppress(OSError):
            place.unlink()


def _overlapping(place: Path, ours: Reach) -> Iterator[Path]:
    for path in place.parent.glob(f"*{SUFFIX}"):
        if path != place and (theirs := _read(path)) and ours.overlaps(theirs):
            other = path.with_name(path.name.removesuffix(SUFFIX))
            if _is_open(other):
                yield other
            else:
                with suppress(OSError):
                    path.unlink()  # of a run that was killed


def _read(path: Path) -> Reach | None:
    """Return the reach that a run has said; None where it is not whole, which one that begins may find."""
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
    """Return whether a run has a journal open: it holds its lock as long as it lives."""
    if not journal.exists():
        return False
    try:
        with closing(sqlite3.connect(journal, timeout=0, isolation_level=None)) as database:
            database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        return _BUSY in str(error)
    return False
