"""A pool of processes: what a task tells of each item comes in the order of the items, and little waits in between.

Work that says so is given a relay, too: by that, what is done with one item depends on that with the one before.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import struct
import time
from collections import deque
from contextlib import suppress
from functools import partial
from itertools import islice
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from absolve.engine.relay import Arm, Exchange, Hand
from absolve.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

Item = TypeVar("Item")
Told = TypeVar("Told")

AHEAD = 4  # items that a worker has been given and not told all of: it need not wait for the next one
QUICK = 16  # as many where it tells of several at a time
WAITING = 64  # items a worker that may be under way, or done, before the first of them is
HELD = 64 << 20  # bytes that may wait for their turn; beyond, only the worker whose turn it is is heard
AT_ONCE = 32  # pieces in a frame
FULL = 1 << 16  # bytes: a message of as many goes
PROMPT = 0.02  # seconds after which a message goes
PATIENCE = 2.0  # seconds that a worker has to end when it is asked to
STARTS = 3  # workers one behind the other that end before they have started: then none will

# A message is frames. Each begins with the number of its item, whether that is at its end, and the length of the pickle
# of what is told of it.
_HEAD = struct.Struct("<Q?Q")
_STARTED = b""  # what a worker says first
_UNGUARDED = "a program that calls absolve does so under if __name__ == '__main__', or with one job"


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
        pool: _Pool[Item, Told] = _Pool(work, jobs, relayed=relayed)
        try:
            yield from pool.run(items)
        finally:
            pool.close()
        return
    hand = Hand()
    for item in items:
        hand.next()
        for told in work(item, hand) if relayed else work(item):
            yield item, told
        yield item, End()


def _serve(
    work: Callable[..., Iterable[Any]], connection: Connection, relay: Connection | None, *, alone: bool
) -> None:
    """The life of a worker: items come with their numbers, what is told of them goes back, until nobody is there.

    Of quick items several go back in one message; `alone`: none does, so that the one is known that ends a worker.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, too, and ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    message = bytearray()
    arm = Arm(relay, partial(_send, connection, message)) if relay is not None else None
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send_bytes(_STARTED)
        while True:
            begun = time.monotonic()
            for number, item in pickle.loads(connection.recv_bytes()):  # noqa: S301 - of our own process
                if arm is not None:
                    arm.number = number
                told = iter(work(item) if arm is None else work(item, arm))
                some = list(islice(told, AT_ONCE))
                at_once = alone or len(some) == AT_ONCE
                while len(some) == AT_ONCE:
                    message += _frame(number, some, ended=False)
                    _send(connection, message)
                    some = list(islice(told, AT_ONCE))
                message += _frame(number, some, ended=True)
                if at_once or len(message) >= FULL or time.monotonic() - begun >= PROMPT:
                    _send(connection, message)
                    begun = time.monotonic()
            _send(connection, message)


def _frame(number: int, told: list[Any], *, ended: bool) -> bytes:
    pickled = pickle.dumps(told, pickle.HIGHEST_PROTOCOL)
    return _HEAD.pack(number, ended, len(pickled)) + pickled


def _send(connection: Connection, message: bytearray) -> None:
    if message:
        connection.send_bytes(message)
        message.clear()


class _Worker:
    """A process, whether it is known to have started, and the items that it has not told all of, by their numbers.

    `alone`: what it tells of an item goes by itself. `at` is the item that it is known to be at; `ahead` is how many it
    may be given; `waiting` are those that it is to be given now, with their numbers.
    """

    def __init__(
        self, work: Callable[..., Iterable[Any]], exchange: Exchange | None, *, alone: bool = False
    ) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks, of a progress bar for one
        self.connection, theirs = context.Pipe()
        relay = exchange.arm() if exchange is not None else None
        self.process: SpawnProcess = context.Process(
            target=_serve, args=(work, theirs, relay), kwargs={"alone": alone}, daemon=True
        )
        self.process.start()
        theirs.close()
        if relay is not None:
            relay.close()
        self.started = False
        self.alone = alone
        self.given: deque[int] = deque()
        self.at: int | None = None
        self.ahead = AHEAD
        self.waiting: list[tuple[int, Any]] = []

    def give(self, number: int, item: Any) -> None:
        """One more item, which goes with the next ones."""
        self.given.append(number)
        self.waiting.append((number, item))

    def send(self) -> None:
        """Let what it is given go."""
        if self.waiting:
            with suppress(BrokenPipeError, ConnectionResetError):  # it is dead: that is seen when it is heard
                self.connection.send_bytes(pickle.dumps(self.waiting, pickle.HIGHEST_PROTOCOL))
            self.waiting = []


class _Frame(NamedTuple):
    """What is told of an item at once, as it came, and whether that is the end."""

    ended: bool
    pickled: memoryview


def _frames(message: bytes) -> Iterator[tuple[int, _Frame]]:
    view = memoryview(message)
    start = 0
    while start < len(message):
        number, ended, size = _HEAD.unpack_from(message, start)
        start += _HEAD.size
        yield number, _Frame(ended, view[start : start + size])
        start += size


class _Pool(Generic[Item, Told]):
    def __init__(self, work: Callable[..., Iterable[Told]], jobs: int, *, relayed: bool = False) -> None:
        self._exchange = Exchange() if relayed else None
        self._worker = partial(_Worker, work, self._exchange)
        self._workers = [self._worker() for _ in range(jobs)]
        self._items: dict[int, Item] = {}  # those that are under way
        self._told: dict[int, deque[_Frame | End]] = {}  # what waits for its turn
        self._held = 0  # bytes of them
        self._unstarted = 0  # workers that ended before they had started, since one did

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Told | End]]:
        numbered = enumerate(items)
        given = first = 0  # the next number to give, and the first that is not ended
        more = True
        while more or self._items:
            while more and given - first < WAITING * len(self._workers):
                worker = min(self._workers, key=lambda worker: len(worker.given))
                if len(worker.given) >= worker.ahead:
                    break
                following = next(numbered, None)
                more = following is not None
                if following is not None:
                    given = following[0] + 1
                    self._give(worker, *following)
            for worker in self._workers:
                worker.send()
            self._hear(first)
            while first in self._told:
                yield from self._of(first)
                if first in self._items:
                    break
                first += 1

    def _of(self, number: int) -> Iterator[tuple[Item, Told | End]]:
        """What has been told of an item so far, which is then forgotten; and the item, where it is at its end."""
        item, frames = self._items[number], self._told[number]
        while frames:
            frame = frames.popleft()
            end: End | None
            if isinstance(frame, End):
                end = frame
            else:
                self._held -= len(frame.pickled)
                end = End() if frame.ended else None
                for told in pickle.loads(frame.pickled):  # noqa: S301 - of our own process
                    yield item, told
            if end:
                del self._items[number], self._told[number]
                if self._exchange is not None:
                    self._exchange.ended(number, lost=end.lost is not None)
                yield item, end

    def _give(self, worker: _Worker, number: int, item: Item) -> None:
        self._items[number] = item
        self._told[number] = deque()
        worker.give(number, item)

    def _hear(self, first: int) -> None:
        """Take the messages of those that may speak: of the worker of the first item, of others while little waits."""
        may = [worker for worker in self._workers if first in worker.given or (worker.given and self._held < HELD)]
        for ready in wait([worker.connection for worker in may]) if may else ():
            worker = next(worker for worker in may if worker.connection is ready)
            try:
                message = worker.connection.recv_bytes()
            except (EOFError, ConnectionResetError):
                self._replace(worker)
                continue
            if message == _STARTED:
                worker.started = True
                self._unstarted = 0
            else:
                self._take(worker, message)

    def _take(self, worker: _Worker, message: bytes) -> None:
        ended = 0
        for number, frame in _frames(message):
            self._told[number].append(frame)
            self._held += len(frame.pickled)
            worker.at = None if frame.ended else number
            if frame.ended:
                worker.given.remove(number)
                ended += 1
        worker.ahead = QUICK if ended > 1 else AHEAD

    def _replace(self, worker: _Worker) -> None:
        """Another worker for one that died: the item that it was at is lost, those behind are given again.

        Where it may have been at any of them, all are given again to one that tells of each by itself. One that had
        not started was at none.
        """
        worker.process.join()
        worker.connection.close()
        how = _how_it_ended(worker.process.exitcode)
        rest = list(worker.given)
        is_known = worker.alone or worker.at is not None
        if not worker.started:
            self._unstarted += 1
            if self._unstarted == STARTS:
                raise UsageError(f"no other process starts: each {how} before its work; {_UNGUARDED}")
        elif is_known:
            self._told[rest.pop(0)].append(End(f"the process that worked on it {how}"))
        fresh = self._worker(alone=worker.started and not is_known)
        self._workers[self._workers.index(worker)] = fresh
        for number in rest:
            self._give(fresh, number, self._items[number])

    def close(self) -> None:
        """End all processes, at once where they are at something."""
        for worker in self._workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        if self._exchange is not None:
            self._exchange.close()


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by signal {-code}"
    return f"ended with status {code}"
