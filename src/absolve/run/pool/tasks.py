"""Tasks: the results of each item in the order of the items, computed in this process or in a pool of others.

In: a function and items. Out: pairs of an item and a result, and an `End` after the last result of each item. The
function can get a `HandoffPort`, too, by which the work on one item depends on the work on the item before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from absolve.run import interrupts
from absolve.run.pool.handoff import LocalHandoffs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

Item = TypeVar("Item")
Result = TypeVar("Result")


class End(NamedTuple):
    """The end of an item's results; `lost` is the reason why the rest is missing where its worker ended."""

    lost: str | None = None


def run(
    work: Callable[..., Iterable[Result]], items: Iterable[Item], jobs: int, *, handoffs: bool = False
) -> Generator[tuple[Item, Result | End]]:
    """Yield each result of `work(item)`, item by item in their order, and an `End` after each item.

    With one job the work is done in this process; else in `jobs` others, and `work`, items and results must be
    picklable. To close the iterator ends the processes at once. A worker that dies loses only the item that it was
    working on. `handoffs`: call `work(item, port)`, with a `HandoffPort`. Raise UsageError where no worker starts.
    """
    if jobs > 1:
        from absolve.run.pool.workers import Pool  # and with it multiprocessing and sockets: one page needs none

        pool: Pool[Item, Result] | None = None
        try:
            with interrupts.deferred():
                pool = Pool(work, jobs, handoffs=handoffs)
            yield from pool.run(items)
        finally:
            if pool is not None:
                with interrupts.deferred():
                    pool.close()
        return
    port = LocalHandoffs()
    for item in items:
        port.next()
        for result in work(item, port) if handoffs else work(item):
            yield item, result
        yield item, End()
