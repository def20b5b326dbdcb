"""List ranges of an archive in parallel, speculatively: start before the offset of a range's first record is certain.

Input: an archive cut at arbitrary offsets; a range has the records that begin in it. Its process searches for the first
record, but may find one that is not a record of this archive (an archive in an archive). Results are therefore buffered
until the previous range hands on the offset at which it ended (`port`). If the offsets are equal, the results are
valid, and only their document numbers are corrected; if not, they are discarded and the range is listed again from the
right offset. Output: the same results, in the same order, as from one process.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve.core.errors import FAULTS, DocumentError
from absolve.inventory.columns import Columns
from absolve.run import sources
from absolve.run.archive_ranges import END, ArchiveRange, Progress
from absolve.run.pool.tasks import End
from absolve.run.results import BytesRead, DocumentRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.core.errors import Diagnostic
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.pool.handoff import HandoffPort
    from absolve.run.results import Failure

    Result = Diagnostic | Failure | BytesRead | Columns | DocumentRows
    Found = Result | Progress
    Find = Callable[[Input], Iterator[Found]]

Item = TypeVar("Item")

HELD: Final = 16 << 20  # bytes of memory, approximately: a process with more in its buffer waits for its turn
_OTHER: Final = 1000  # bytes of it for a result that is not columns


def in_turn(find: Find, input_: Input, how: ReadOptions, port: HandoffPort | None) -> Iterator[Result]:
    """Yield the results of an input, or of its range.

    `find` yields the results for an input whose start is known, and a `Progress` as soon as all is read. It clears and
    reuses the columns that it yields.
    """
    next_ = _Next(input_.within, port)
    try:
        yield from _in_turn(find, input_, how, port, next_)
    finally:
        next_.hand_on(None)


def _in_turn(find: Find, input_: Input, how: ReadOptions, port: HandoffPort | None, next_: _Next) -> Iterator[Result]:
    within = input_.within
    if within.before is not None or port is None:
        yield from _renumbered(find(input_), next_)
        return
    ahead = _Ahead(find, input_)
    handed = port.take()
    if handed.value is None and not handed.lost:
        return  # the previous range failed: one process would stop there
    course: Progress = handed.value or Progress()
    if handed.lost:  # its process ended: count its documents here
        from absolve.run.archive_segments import counted  # imported here and below since few inputs are archives

        with sources.opened(input_.name) as file:
            counted(file, how.settings, course, within.start)
    if course.position >= within.end:
        next_.hand_on(course)
        yield BytesRead(0)
    elif course.position == ahead.start:
        yield from _renumbered(ahead.found(), next_, course.before)
    else:
        del ahead  # frees the buffer
        within = ArchiveRange(course.position, within.end, course.before)
        yield from _renumbered(find(input_._replace(within=within)), next_)


def _renumbered(found: Iterator[Found], next_: _Next, before: int = 0) -> Iterator[Result]:
    """Yield results with document numbers increased by `before`, and hand on the progress."""
    for one in found:
        if isinstance(one, Progress):
            one.before += before
            next_.hand_on(one)
            continue
        if before and isinstance(one, Columns):
            renumber(one, before)
        if before and isinstance(one, DocumentRows):
            yield one._replace(rows=[row._replace(entity=renumbered(row.entity, before)) for row in one.rows])
        else:
            yield one


def renumber(columns: Columns, before: int) -> None:
    """Increase the number of the outermost document in the paths of all rows; no row may be added afterwards."""
    words = columns.ruled.words
    words[:] = [(word[0], renumbered(word[1], before), *word[2:]) for word in words]


def renumbered(path: str, before: int) -> str:
    """Return the path of an entity (`record[2]/body[1]`) with the number in its first step increased by `before`."""
    name, _, rest = path.partition("[")
    number, end, rest = rest.partition("]")
    return f"{name}[{int(number) + before}]{rest}" if end and number.isdecimal() else path


class _Next:
    """The next range of the archive, if there is one."""

    def __init__(self, within: ArchiveRange, port: HandoffPort | None) -> None:
        self._port = port if within.end != END else None

    def hand_on(self, course: Progress | None) -> None:
        """Hand on, once, the progress at the end of this range; None if this range failed."""
        if self._port is not None:
            self._port.hand_on(course)
            self._port = None


def unbroken(results: Iterable[tuple[Item, Any]], input_of: Callable[[Item], Input]) -> Iterator[tuple[Item, Any]]:
    """Yield the results of inputs in order, without those of ranges behind a failed one: one process would stop there.

    A range that has not failed has a `BytesRead`. If a range was lost with its process the following ones continue.
    """
    failed = stays_absolute = False
    for item, piece in results:
        within = input_of(item).within
        stays_absolute |= isinstance(piece, BytesRead)
        if not isinstance(piece, End):
            if not failed:
                yield item, piece
            continue
        yield item, End() if failed else piece
        failed = within.end != END and (failed or not (stays_absolute or piece.lost))
        stays_absolute = False


class _Ahead:
    """Speculative results of a range; `start` is the byte offset of its supposed first record, or None."""

    def __init__(self, find: Find, input_: Input) -> None:
        self.start: int | None = None
        self._held: deque[Found] = deque()
        self._error: Exception | None = None
        from absolve.formats.warc.resync import first_record

        within = input_.within
        with suppress(OSError, DocumentError), sources.opened(input_.name) as file:
            self.start = first_record(file, within.start, within.end)
        if self.start is not None:
            self._rest = find(input_._replace(within=ArchiveRange(self.start, within.end)))
            try:
                self._hold()
            except (DocumentError, OSError, *FAULTS) as error:
                self._error = error  # raised after the buffered results

    def _hold(self) -> None:
        weight = 0
        for one in self._rest:
            if isinstance(one, Progress):
                self._held.appendleft(one)  # first, since the next range waits for it
            elif isinstance(one, Columns):
                self._held.append(one.taken())
                weight += one.weight()
            elif isinstance(one, DocumentRows):
                self._held.append(one)
                weight += one.weight
            else:
                self._held.append(one)
                weight += _OTHER
            if weight > HELD:
                break

    def found(self) -> Iterator[Found]:
        while self._held:
            yield self._held.popleft()
        if self._error is not None:
            raise self._error
        yield from self._rest
