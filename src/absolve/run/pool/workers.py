"""A pool of processes: what a task tells of each item comes in the order of the items, and little waits in between."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from absolve.core.errors import UsageError
from absolve.run import interrupts
from absolve.run.pool.exchange import Arm, Exchange
from absolve.run.pool.messages import Frame, Outbox
from absolve.run.pool.receiver import Receiver
from absolve.run.pool.tasks import End

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

Item = TypeVar("Item")
Told = TypeVar("Told")

AHEAD = 4  # items that a worker has been given and not told all of: it need not wait for the next one
QUICK = 16  # as many where it tells of several at a time
WAITING = 64  # items a worker that may be under way, or done, before the first of them is
HELD = 32 << 20  # bytes that may wait to be told; beyond, only the worker whose turn it is is heard
AT_ONCE = 32  # pieces in a frame
FULL = 1 << 16  # bytes: a message of as many goes
PROMPT = 0.02  # seconds after which a message goes
PATIENCE = 2.0  # seconds that a worker has to end when it is asked to
GRACE = 0.1  # seconds in which a signal that has ended a worker reaches this process, too
STARTS = 3  # workers one behind the other that end before they have started: then none will

_PARENTS: Final = ("SIGINT", "SIGHUP")  # signals that workers ignore: their parent gets them, too, and ends them
_UNGUARDED = "a program that calls absolve does so under if __name__ == '__main__', or with one job"


def _serve(
    work: Callable[..., Iterable[Any]], connection: Connection, relay: Connection | None, *, alone: bool
) -> None:
    """The life of a worker: items come with their numbers, what is told of them goes back, until nobody is there.

    Of quick items several go back in one message; `alone`: none does, so that the one is known that ends a worker.
    """
    interrupts.ignore(_PARENTS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    outbox = Outbox(connection)
    arm = Arm(relay, outbox.send) if relay is not None else None
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        outbox.greet()
        while True:
            begun = time.monotonic()
            for number, item in pickle.loads(connection.recv_bytes()):  # noqa: S301 - of our own process
                if arm is not None:
                    arm.number = number
                told = iter(work(item) if arm is None else work(item, arm))
                some, ended = _some(told)
                at_once = alone or not ended
                while not ended:
                    outbox.add(number, some, ended=False)
                    outbox.send()
                    some, ended = _some(told)
                outbox.add(number, some, ended=True)
                if at_once or outbox.size >= FULL or time.monotonic() - begun >= PROMPT:
                    outbox.send()
                    begun = time.monotonic()
            outbox.send()


def _some(told: Iterator[Told]) -> tuple[list[Told], bool]:
    """What is told next, as much as there is to wait for, and whether nothing comes behind it."""
    found = []
    due = time.monotonic() + PROMPT
    for one in told:
        found.append(one)
        if len(found) == AT_ONCE or time.monotonic() >= due:
            return found, False
    return found, True


def _start_tracker() -> None:
    """Start multiprocessing's own process before any worker: it unblocks SIGINT in the process that starts it."""
    if os.name == "posix":
        from multiprocessing.resource_tracker import ensure_running

        with interrupts.blocked(["SIGHUP"]):  # it sees to SIGINT and SIGTERM itself
            ensure_running()


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
        with interrupts.blocked(_PARENTS):  # until it ignores them
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


class Pool(Generic[Item, Told]):
    """So many processes; `tasks.run` tells what they do. It must be closed."""

    def __init__(self, work: Callable[..., Iterable[Told]], jobs: int, *, relayed: bool = False) -> None:
        _start_tracker()
        self._exchange = Exchange() if relayed else None
        self._ear = Receiver(HELD)
        self._work = work
        self._workers = [self._worker() for _ in range(jobs)]
        self._items: dict[int, Item] = {}  # those that are under way
        self._told: dict[int, deque[Frame | End]] = {}  # what waits for its turn
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
                self._ear.done(frame.size)
                end = End() if frame.ended else None
                for told in frame.told():
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

    def _worker(self, *, alone: bool = False) -> _Worker:
        worker = _Worker(self._work, self._exchange, alone=alone)
        self._ear.add(worker.connection)
        return worker

    def _hear(self, first: int) -> None:
        """Take the next message; of the worker of the first item there will be one."""
        turn = next((worker.connection for worker in self._workers if first in worker.given), None)
        connection, frames = self._ear.next(turn)
        worker = next(worker for worker in self._workers if worker.connection is connection)
        if frames is None:
            self._replace(worker)
            return
        worker.started = True
        self._unstarted = 0
        self._take(worker, frames)

    def _take(self, worker: _Worker, frames: list[tuple[int, Frame]]) -> None:
        ended = 0
        for number, frame in frames:
            self._told[number].append(frame)
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
        if worker.process.exitcode == -signal.SIGTERM:
            time.sleep(GRACE)  # all processes of a job get it: then ours interrupts this
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
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._ear.close()
        for worker in self._workers:
            worker.connection.close()
        if self._exchange is not None:
            self._exchange.close()


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by signal {-code}"
    return f"ended with status {code}"
