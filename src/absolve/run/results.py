"""Results of a task for one input, in order; each can be pickled to go from a worker process to the parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from absolve.core import printable
from absolve.core.errors import FAULTS, Diagnostic, DocumentError, fault
from absolve.rewriting.policy import absolute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.inventory.documents import DocumentRow
    from absolve.rewriting.policy import Policy
    from absolve.run.outputs import Made


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

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        from pickle import PickleBuffer  # already imported by the caller

        chunk = PickleBuffer(self.chunk) if protocol.__index__() >= 5 and isinstance(self.chunk, bytes) else self.chunk
        return RowChunk, (chunk, self.number, self.table)


class DocumentRows(NamedTuple):
    """Rows of the table of documents, not encoded yet, and an estimate of their memory in bytes."""

    rows: list[DocumentRow]
    weight: int


class StdoutBytes(NamedTuple):
    """Bytes for the standard output."""

    data: bytes


class FilesReady(NamedTuple):
    """Complete files, to be renamed in this order; `flushed`: fsync has been called for them."""

    made: tuple[Made, ...]
    flushed: bool = False


class BytesRead(NamedTuple):
    """Number of bytes read from the input, and of the documents in it: records, if it is an archive."""

    read: int
    documents: int = 0


class LinkCounts(NamedTuple):
    """Links of an input that are listed: their number by scope, by problem code, and with any problem."""

    scopes: dict[str, int]
    problems: dict[str, int]
    flawed: int


class ChangeCounts(NamedTuple):
    """Links of an input, those of them that a rewrite changes, and the documents that have such links.

    `rules` are the numbers of the rules (--remap, --remap-file) that mapped a link.
    """

    links: int
    changed: int
    documents: int
    rules: frozenset[int] = frozenset()


class LogRows(NamedTuple):
    """Changes of a rewrite, with the columns of `change_log`."""

    rows: Any


Counts = BytesRead | LinkCounts | ChangeCounts
TaskResult = Diagnostic | Failure | RowChunk | StdoutBytes | FilesReady | LogRows | Counts


def counted(
    name: str, links: int, changed: int, documents: int, rules: frozenset[int] = frozenset()
) -> Iterator[TaskResult]:
    """Yield the line for an input of a run that writes nothing, and its counts: see `ChangeCounts`."""
    line = f"{printable.printable(name)}: {links} link{'s'[: links != 1]}, {changed} would change\n"
    yield StdoutBytes(line.encode())
    yield ChangeCounts(links, changed, documents, rules)


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
    except OSError as error:
        yield Failure(Diagnostic("unreadable", error.strerror or str(error), name))
    except FAULTS as error:
        if strict:
            raise
        yield Failure(Diagnostic("internal-error", fault(error), name))
