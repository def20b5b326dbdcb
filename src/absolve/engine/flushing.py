"""Files are flushed to the disk before they are put, several at once: a disk takes as long for eight as for one."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve import outputs
from absolve.engine.pieces import Failure, Ready
from absolve.engine.rewriting import unwritable

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from concurrent.futures import Future

Item = TypeVar("Item")

AT_ONCE: Final = 8  # files that are flushed at the same time
WAITING: Final = 64  # pieces that wait for the first of them to be on the disk


def flushed(told: Iterable[tuple[Item, Any]]) -> Generator[tuple[Item, Any]]:
    """All that is told, in its order; what is ready comes when it is on the disk, and as a failure where it is not.

    Meanwhile more is asked for. What nothing ready stands before comes at once.
    """
    waiting: deque[tuple[Item, Any, list[Future[None]]]] = deque()
    threads = None
    try:
        for item, piece in told:
            if isinstance(piece, Ready) and piece.made:
                if threads is None:
                    from concurrent.futures import ThreadPoolExecutor  # and with it logging: few want it

                    threads = ThreadPoolExecutor(AT_ONCE)
                waiting.append((item, piece, [threads.submit(outputs.flush, made) for made in piece.made]))
            elif waiting:
                waiting.append((item, piece, []))
            else:
                yield item, piece
            while waiting and (len(waiting) > WAITING or all(future.done() for future in waiting[0][2])):
                yield _whole(*waiting.popleft())
        while waiting:
            yield _whole(*waiting.popleft())
    finally:
        if threads is not None:
            threads.shutdown(cancel_futures=True)


def _whole(item: Item, piece: Any, flushes: Iterable[Future[None]]) -> tuple[Item, Any]:
    """A piece when all of it is on the disk; where it cannot be, nothing of it is kept."""
    try:
        for future in flushes:
            future.result()
    except OSError as error:
        for made in piece.made:
            outputs.discard(made)
        failed = unwritable(Path(piece.made[-1].target), error)
        return item, Failure(failed.diagnostic)
    return item, piece._replace(flushed=True) if isinstance(piece, Ready) else piece
