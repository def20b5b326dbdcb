"""fsync output files in parallel before they are renamed: a disk takes as long for eight as for one.

Input: the results of tasks, in order. Output: the same results; a `FilesReady` comes when its files are on the disk.
"""

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

AT_ONCE: Final = 8  # threads that call fsync
TOGETHER: Final = 32  # FilesReady in a batch, which is yielded when as many again are queued behind it
LONG: Final = 0.5  # seconds after which files on the disk are yielded without waiting for a full batch


class _Waiting(NamedTuple):
    """A queued result and the time of its arrival; `flushes` are its pending calls of fsync."""

    item: Any
    piece: Any
    since: float
    flushes: tuple[Future[None], ...]


def flushed(
    results: Iterable[tuple[Item, Any]], expect: Callable[[list[tuple[Item, FilesReady]]], None] | None = None
) -> Generator[tuple[Item, Any]]:
    """Yield all results in order; `FilesReady` when its files are on the disk, or a `Failure` if fsync fails.

    Meanwhile more results are requested from `results`. `expect` is called with each batch of `FilesReady` before it is
    yielded. A result with no `FilesReady` queued before it is yielded at once.
    """
    waiting: deque[_Waiting] = deque()
    threads = None
    ready = 0  # number of FilesReady in the queue
    try:
        for item, piece in results:
            flushes: tuple[Future[None], ...] = ()
            if _has_files(piece):
                if threads is None and ready:
                    from concurrent.futures import ThreadPoolExecutor  # imports logging; a single file needs no thread

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
    """Return the number of results at the head of the queue that need not wait for the disk."""
    number = 0
    for one in waiting:
        if not all(flush.done() for flush in one.flushes):
            break
        number += 1
    return number


def _whole(
    pieces: Iterable[_Waiting], expect: Callable[[list[tuple[Any, FilesReady]]], None] | None
) -> Iterator[tuple[Any, Any]]:
    """Yield results when the files of all of them are on the disk."""
    found = [(one.item, _flushed(one) if _has_files(one.piece) else one.piece) for one in pieces]
    if expect is not None:
        expect([(item, piece) for item, piece in found if _has_files(piece)])
    yield from found


def _flushed(one: _Waiting) -> FilesReady | Failure:
    """Return a result when its files are on the disk; if fsync fails, discard them and return a Failure."""
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
