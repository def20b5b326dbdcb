"""Tasks: what one tells of each item comes in the order of the items, from this process or from a pool of others.

Work that says so is given a relay, too: by that, what is done with one item depends on that with the one before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from absolve.run import interrupts
from absolve.run.pool.relay import Hand

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

Item = TypeVar("Item")
Told = TypeVar("Told")


class End(NamedTuple):
    """All is told of an item; `lost` says why there is no more where its worker ended."""

    lost: str | None = None


def run(
    work: Callable[..., Iterable[Told]], items: Iterable[Item], jobs: int, *, relayed: bool = False
) -> Generator[tuple[Item, Told | End]]:
    """What `work` tells of each item, item by item in their order, and an `End` behind each.

    With one job it is done in this process; else in so many others, where `work` and the items must be able to go.
    When the iterator is closed the processes end at once. A worker that dies takes only the item with it
    that it was at. UsageError where no worker starts at all. `relayed`: the work is given a `Relay` behind the item.
    """
    if jobs > 1:
        from absolve.run.pool.workers import Pool  # and with it multiprocessing and sockets: one page needs none

        pool: Pool[Item, Told] | None = None
        try:
            with interrupts.deferred():
                pool = Pool(work, jobs, relayed=relayed)
            yield from pool.run(items)
        finally:
            if pool is not None:
                with interrupts.deferred():
                    pool.close()
        return
    hand = Hand()
    for item in items:
        hand.next()
        for told in work(item, hand) if relayed else work(item):
            yield item, told
        yield item, End()
