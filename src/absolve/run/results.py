"""What a task tells of its input, in its order: each piece can go from one process to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from absolve.core.errors import FAULTS, Diagnostic, DocumentError, fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.run.outputs import Made


class Failure(NamedTuple):
    """The input, or its output, failed; `excerpt` is the line that it happened in."""

    diagnostic: Diagnostic
    excerpt: str = ""

    @property
    def error(self) -> DocumentError:
        return DocumentError(self.diagnostic, self.excerpt)


class RowChunk(NamedTuple):
    """Rows as the sink of the run has them encoded, or as they are where the run has to see them; and how many."""

    chunk: Any
    number: int

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        from pickle import PickleBuffer  # it is what calls this

        chunk = PickleBuffer(self.chunk) if protocol.__index__() >= 5 and isinstance(self.chunk, bytes) else self.chunk
        return RowChunk, (chunk, self.number)


class StdoutBytes(NamedTuple):
    """Bytes for the standard output."""

    data: bytes


class FilesReady(NamedTuple):
    """Complete files, to be put where they are to stand, in this order; whether they are on the disk."""

    made: tuple[Made, ...]
    flushed: bool = False


class BytesRead(NamedTuple):
    """How many bytes were read."""

    read: int


TaskResult = Diagnostic | Failure | RowChunk | StdoutBytes | FilesReady | BytesRead


def guarded(name: str, pieces: Iterable[TaskResult], *, strict: bool = False) -> Iterator[TaskResult]:
    """The pieces of a task; where it fails, even by a fault of ours, that is the last one.

    `strict`: a fault of ours is raised.
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
