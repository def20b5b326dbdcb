"""Ranges of an archive that was cut anywhere, each listed before it is known where it begins, and told when it is.

A range has the records that begin in it. Its process looks for the first of them, which may be none: it may stand in a
record, as that of an archive in an archive does. So what is found from there on is held until the range before says
where it ended (`port`): if that is the place, it is right, and only the numbers of its documents are still to come; if
not, it is thrown away, and the range is listed from the right place. Whatever is told is what one process would tell.
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
from absolve.run.results import BytesRead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.core.errors import Diagnostic
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.pool.handoff import HandoffPort
    from absolve.run.results import Failure

    Told = Diagnostic | Failure | BytesRead | Columns
    Found = Told | Progress
    Find = Callable[[Input], Iterator[Found]]

Item = TypeVar("Item")

HELD: Final = 16 << 20  # bytes of memory, about: a process that holds more waits for its turn
_OTHER: Final = 1000  # bytes of it for what are no rows


def in_turn(find: Find, input_: Input, how: ReadOptions, port: HandoffPort | None) -> Iterator[Told]:
    """What is found in an input, or in the range of it that is to be listed.

    `find` gives it for one whose beginning is known, and the `Progress` as soon as all is read; columns are cleared
    when it goes on.
    """
    next_ = _Next(input_.within, port)
    try:
        yield from _in_turn(find, input_, how, port, next_)
    finally:
        next_.goes_on_from(None)


def _in_turn(find: Find, input_: Input, how: ReadOptions, port: HandoffPort | None, next_: _Next) -> Iterator[Told]:
    within = input_.within
    if within.before is not None or port is None:
        yield from _told(find(input_), next_)
        return
    ahead = _Ahead(find, input_)
    handed = port.take()
    if handed.value is None and not handed.lost:
        return  # the range before failed, and with one process nothing comes behind that
    course: Progress = handed.value or Progress()
    if handed.lost:  # of what was in it nobody knows
        from absolve.run.archive_segments import counted  # here and below: few inputs are archives

        with sources.opened(input_.name) as file:
            counted(file, how.settings, course, within.start)
    if course.position >= within.end:
        next_.goes_on_from(course)
        yield BytesRead(0)
    elif course.position == ahead.start:
        yield from _told(ahead.found(), next_, course.before)
    else:
        del ahead  # and with it what is held
        within = ArchiveRange(course.position, within.end, course.before)
        yield from _told(find(input_._replace(within=within)), next_)


def _told(found: Iterator[Found], next_: _Next, before: int = 0) -> Iterator[Told]:
    """What is to be told of what is found, when so many documents more stand `before` it."""
    for one in found:
        if isinstance(one, Progress):
            one.before += before
            next_.goes_on_from(one)
            continue
        if before and isinstance(one, Columns):
            renumber(one, before)
        yield one


def renumber(columns: Columns, before: int) -> None:
    """Let so many documents more stand before those of the rows in the outermost one; no row is added behind."""
    words = columns.ruled.words
    words[:] = [(word[0], renumbered(word[1], before), *word[2:]) for word in words]


def renumbered(path: str, before: int) -> str:
    """The path of an entity before whose first step so many documents more stand: `record[2]/body[1]`."""
    name, _, rest = path.partition("[")
    number, end, rest = rest.partition("]")
    return f"{name}[{int(number) + before}]{rest}" if end else path


class _Next:
    """The range behind this one, if there is one."""

    def __init__(self, within: ArchiveRange, port: HandoffPort | None) -> None:
        self._port = port if within.end != END else None

    def goes_on_from(self, course: Progress | None) -> None:
        """Let it know once where this one has ended; None where it has failed."""
        if self._port is not None:
            self._port.hand_on(course)
            self._port = None


def unbroken(told: Iterable[tuple[Item, Any]], input_of: Callable[[Item], Input]) -> Iterator[tuple[Item, Any]]:
    """What is told of inputs in their order, without the ranges behind one that failed: one process comes to none.

    One that did not fail has told its size. Behind one that was lost with its process the others go on.
    """
    failed = stays_absolute = False
    for item, piece in told:
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
    """What is found in a range if its first record is what seems to be one; `start` is where that begins, or None."""

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
                self._error = error  # it has its turn, too

    def _hold(self) -> None:
        weight = 0
        for one in self._rest:
            if isinstance(one, Progress):
                self._held.appendleft(one)  # it is all that the next range waits for
            elif isinstance(one, Columns):
                self._held.append(one.taken())
                weight += one.weight()
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
