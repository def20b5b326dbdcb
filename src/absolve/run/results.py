"""Results of a task for one input, in order; each can be pickled to go from a worker process to the parent.

Input: a function and items. Output: pairs of an item and a result, and an `End` after the last result of each item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from absolve.core import printable
from absolve.core.errors import FAULTS, Diagnostic, DocumentError, internal
from absolve.rewriting.policy import absolute
from absolve.run import interrupts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from absolve.rewriting.policy import Policy
    from absolve.run.outputs import Made
    from absolve.run.workers import Pool

Item = TypeVar("Item")
Result = TypeVar("Result")


class Failure(NamedTuple):
    """Failure of an input or its output; `excerpt` is the line of the document where it occurred."""

    diagnostic: Diagnostic
    excerpt: str = ""

    @property
    def error(self) -> DocumentError:
        return DocumentError(self.diagnostic, self.excerpt)


class RowChunk(NamedTuple):
    """Rows of a table encoded for the sink, or not encoded if the parent needs their values; and their number."""

    chunk: Any
    number: int
    table: str = "links"


class StdoutBytes(NamedTuple):
    """Bytes for the standard output."""

    data: bytes


class FilesReady(NamedTuple):
    """Complete files, to be put on the disk and renamed, in this order."""

    made: tuple[Made, ...]


class BytesRead(NamedTuple):
    """Number of bytes read from the input, and of the documents in it: records, if it is an archive."""

    read: int
    documents: int = 0


class LinkCounts(NamedTuple):
    """Links of an input that are listed: their number by scope and by problem code."""

    scopes: dict[str, int]
    problems: dict[str, int]


class ChangeCounts(NamedTuple):
    """Links of an input, those of them that a rewrite changes, and the documents that have such links.

    `rules` are the numbers of the rules (--remap) that mapped a link. `companions` counts the links
    that are kept because they lead to files that were saved with their document.
    """

    links: int
    changed: int
    documents: int
    rules: frozenset[int] = frozenset()
    companions: int = 0


class HostsLeft(NamedTuple):
    """How often a rewritten document still names hosts that rules lead away from: by kind, as mentions, and by host."""

    kinds: dict[str, int]
    hosts: dict[str, int]


class LogRows(NamedTuple):
    """Changes of a rewrite, with the columns of `change_log`."""

    rows: Any


Counts = BytesRead | LinkCounts | ChangeCounts | HostsLeft
TaskResult = Diagnostic | Failure | RowChunk | StdoutBytes | FilesReady | LogRows | Counts


def counted(name: str, counts: ChangeCounts) -> Iterator[TaskResult]:
    """Yield the line for an input of a run that writes nothing, and its counts: see `ChangeCounts`."""
    links = printable.number(counts.links, "link")
    line = f"{printable.printable(name)}: {links}, {counts.changed:,} would change\n"
    yield StdoutBytes(line.encode())
    yield counts


def met_by(policy: Policy) -> frozenset[int]:
    """Return the numbers of the rules of a policy that mapped a URL since the last call."""
    if policy is absolute:
        return frozenset()
    from absolve.rewriting.remap import remapping_of  # here, because few runs have rules

    rules = remapping_of(policy)
    if rules is None:
        return frozenset()
    met = frozenset(rules.met)
    rules.met.clear()
    return met


def guarded(name: str, pieces: Iterable[TaskResult], *, strict: bool = False) -> Iterator[TaskResult]:
    """Yield the results of a task; an error, internal ones included, becomes a final Failure.

    `strict`: raise internal errors.
    """
    try:
        yield from pieces
    except DocumentError as error:
        yield Failure(error.diagnostic, error.excerpt)
    except (OSError, ImportError) as error:  # with too many open files nothing more can be imported
        text = getattr(error, "strerror", None) or str(error).rpartition(": ")[2]
        yield Failure(Diagnostic("unreadable", text, name))
    except FAULTS as error:
        if strict:
            raise
        yield Failure(internal(error, name))


class End(NamedTuple):
    """The end of an item's results; `lost` is the reason why all of them are missing if its worker process ended."""

    lost: str | None = None


def in_order(
    work: Callable[[Item], Iterable[Result]], items: Iterable[Item], jobs: int, size_of: Callable[[Item], int]
) -> Generator[tuple[Item, Result | End]]:
    """Yield each result of `work(item)`, item by item in their order, and an `End` after each item.

    With one job the work is done in this process; else in `jobs` others, and `work`, items and results must be
    picklable; `size_of` returns the bytes that an item has. To close the iterator ends the processes at once. A worker
    that dies loses only the item that it was working on. Raise UsageError if no worker starts.
    """
    if jobs > 1:
        pool: Pool[Item, Result] | None = None
        try:
            with interrupts.deferred():  # a signal in an import may be printed, and lost
                from absolve.run.workers import Pool  # and with it multiprocessing and threads: one page needs none

                pool = Pool(work, jobs, size_of)
            yield from pool.run(items)
        finally:
            if pool is not None:
                with interrupts.deferred():
                    pool.close()
        return
    for item in items:
        for result in work(item):
            yield item, result
        yield item, End()
