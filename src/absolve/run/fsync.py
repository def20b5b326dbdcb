"""Files are flushed to the disk before they are put, several at once: a disk takes as long for eight as for one."""

from __future__ import annotations

import time
from collections import deque
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from absolve.run import outputs
from absolve.run.results import Failure, FilesReady
from absolve.run.rewrite_task import unwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future
    from typing import TypeGuard

Item = TypeVar("Item")

AT_ONCE: Final = 8  # files that are flushed at the same time
TOGETHER: Final = 32  # ready pieces that are told together, when as many again have come behind them
LONG: Final = 0.5  # seconds that what is on the disk waits for others


class _Waiting(NamedTuple):
    """A piece that waits its turn, and since when; `flushes` let its files be on the disk, if they are under way."""

    item: Any
    piece: Any
    since: float
    flushes: tuple[Future[None], ...]


def flushed(
    told: Iterable[tuple[Item, Any]], expect: Callable[[list[tuple[Item, FilesReady]]], None] | None = None
) -> Generator[tuple[Item, Any]]:
    """All that is told, in its order; what is ready comes when it is on the disk, and as a failure where it is not.

    Meanwhile more is asked for. `expect` hears of what is ready and comes next, of many pieces at a time. What nothing
    ready stands before comes at once.
    """
    waiting: deque[_Waiting] = deque()
    threads = None
    ready = 0  # pieces of those that wait
    try:
        for item, piece in told:
            flushes: tuple[Future[None], ...] = ()
            if _has_files(piece):
                if threads is None and ready:
                    from concurrent.futures import ThreadPoolExecutor  # and with it logging: one file needs no thread

                    threads = ThreadPoolExecutor(AT_ONCE)
                if threads is not None:
                    flushes = tuple([threads.submit(outputs.flush, made) for made in piece.made])
                ready += 1
            elif not waiting:
                yield item, piece
                continue
            waiting.append(_Waiting(item, piece, time.monotonic(), flushes))
            number = 0
            if ready == 2 * TOGETHER:
                number = len(waiting) // 2
            elif waiting[-1].since - waiting[0].since >= LONG:
                number = _done(waiting)
            if number:
                ready -= sum(1 for one in islice(waiting, number) if _has_files(one.piece))
                yield from _whole([waiting.popleft() for _ in range(number)], expect)
        yield from _whole(waiting, expect)
    finally:
        if threads is not None:
            threads.shutdown(cancel_futures=True)


def _has_files(piece: Any) -> TypeGuard[FilesReady]:
    return isinstance(piece, FilesReady) and bool(piece.made)


def _done(waiting: Iterable[_Waiting]) -> int:
    """How many of the first pieces need not wait for the disk."""
    number = 0
    for one in waiting:
        if not all(flush.done() for flush in one.flushes):
            break
        number += 1
    return number


def _whole(
    pieces: Iterable[_Waiting], expect: Callable[[list[tuple[Any, FilesReady]]], None] | None
) -> Iterator[tuple[Any, Any]]:
    """The pieces when all of them are on the disk."""
    found = [(one.item, _flushed(one) if _has_files(one.piece) else one.piece) for one in pieces]
    if expect is not None:
        expect([(item, piece) for item, piece in found if _has_files(piece)])
    yield from found


def _flushed(one: _Waiting) -> FilesReady | Failure:
    """A piece when it is on the disk; where it cannot be, nothing of it is kept."""
    try:
        for flush in one.flushes:
            flush.result()
        if not one.flushes:
            for made in one.piece.made:
                outputs.flush(made)
    except OSError as error:
        for made in one.piece.made:
            outputs.discard(made)
        failed = unwritable(Path(one.piece.made[-1].target), error)
        return Failure(failed.diagnostic)
    return FilesReady(one.piece.made, flushed=True)
