"""A pool of worker processes: the results of each item in the order of the items, with a bounded queue between.

In: a function and items. Out: what `tasks.run` yields. A worker that dies is replaced.
"""

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
from absolve.run.pool.handoff import HandoffRouter, WorkerHandoffs
from absolve.run.pool.messages import Frame, Outbox
from absolve.run.pool.receiver import Receiver
from absolve.run.pool.tasks import End

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 4  # unfinished items that a worker has at most: it need not wait for the next one
QUICK = 16  # the same for a worker that finishes several items in one message
WAITING = 64  # items for each worker that may be in work or done before the first of them is done
HELD = 32 << 20  # bytes of results that may be queued; beyond, only the worker whose turn it is is read
AT_ONCE = 32  # results in a frame at most
FULL = 1 << 16  # bytes at which a message is sent
PROMPT = 0.02  # seconds after which a message is sent
PATIENCE = 2.0  # seconds that a worker has to end after SIGTERM
GRACE = 0.1  # seconds in which a signal that has ended a worker reaches this process, too
STARTS = 3  # workers in a row that end before they have started: then the run fails

_PARENTS: Final = ("SIGINT", "SIGHUP")  # workers ignore them: their parent gets them, too, and ends its workers
_UNGUARDED = "a program that calls absolve does so under if __name__ == '__main__', or with one job"


def _serve(
    work: Callable[..., Iterable[Any]], connection: Connection, handoffs: Connection | None, *, unbatched: bool
) -> None:
    """Run a worker: receive items with their numbers, and send their results, until the parent closes the connection.

    Results of several quick items are sent in one message. `unbatched`: each item has a message of its own, so that the
    parent knows the item that ended a worker.
    """
    interrupts.ignore(_PARENTS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    outbox = Outbox(connection)
    port = WorkerHandoffs(handoffs, outbox.send) if handoffs is not None else None
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        outbox.greet()
        while True:
            begun = time.monotonic()
            for number, item in pickle.loads(connection.recv_bytes()):  # noqa: S301 - of our own process
                if port is not None:
                    port.number = number
                results = iter(work(item) if port is None else work(item, port))
                batch, ended = _batch(results)
                at_once = unbatched or not ended
                while not ended:
                    outbox.add(number, batch, ended=False)
                    outbox.send()
                    batch, ended = _batch(results)
                outbox.add(number, batch, ended=True)
                if at_once or outbox.size >= FULL or time.monotonic() - begun >= PROMPT:
                    outbox.send()
                    begun = time.monotonic()
            outbox.send()


def _batch(results: Iterator[Result]) -> tuple[list[Result], bool]:
    """Return the next results, limited by number and time, and whether they are the last."""
    found = []
    due = time.monotonic() + PROMPT
    for one in results:
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
    """A process, whether it has started, and the numbers of its unfinished items.

    `unbatched` as of `_serve`. `at` is the item that it is known to work on; `ahead` is how many items it may have;
    `waiting` are those to be sent to it next, with their numbers. `handoffs` is the parent's end of a connection.
    """

    def __init__(self, work: Callable[..., Iterable[Any]], *, handoffs: bool, unbatched: bool) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks, of a progress bar for one
        self.connection, theirs = context.Pipe()
        self.handoffs: Connection | None = None
        port: Connection | None = None
        if handoffs:
            self.handoffs, port = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_serve, args=(work, theirs, port), kwargs={"unbatched": unbatched}, daemon=True
        )
        with interrupts.blocked(_PARENTS):  # until it ignores them
            self.process.start()
        theirs.close()
        if port is not None:
            port.close()
        self.started = False
        self.unbatched = unbatched
        self.given: deque[int] = deque()
        self.at: int | None = None
        self.ahead = AHEAD
        self.waiting: list[tuple[int, Any]] = []

    def give(self, number: int, item: Any) -> None:
        """Add an item to those that `send` sends."""
        self.given.append(number)
        self.waiting.append((number, item))

    def send(self) -> None:
        """Send the items that were given."""
        if self.waiting:
            with suppress(BrokenPipeError, ConnectionResetError):  # it is dead: its connection will be at its end
                self.connection.send_bytes(pickle.dumps(self.waiting, pickle.HIGHEST_PROTOCOL))
            self.waiting = []


class Pool(Generic[Item, Result]):
    """Worker processes as `tasks.run` describes them. It must be closed."""

    def __init__(self, work: Callable[..., Iterable[Result]], jobs: int, *, handoffs: bool = False) -> None:
        _start_tracker()
        self._router = HandoffRouter() if handoffs else None
        self._receiver = Receiver(HELD)
        self._work = work
        self._workers = [self._worker() for _ in range(jobs)]
        self._items: dict[int, Item] = {}  # unfinished ones, by number
        self._results: dict[int, deque[Frame | End]] = {}  # received, and waiting for their turn
        self._unstarted = 0  # workers in a row that ended before they had started

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | End]]:
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
            self._receive(first)
            while first in self._results:
                yield from self._of(first)
                if first in self._items:
                    break
                first += 1

    def _of(self, number: int) -> Iterator[tuple[Item, Result | End]]:
        """Yield and remove the results of an item that have been received; remove the item where it ends."""
        item, frames = self._items[number], self._results[number]
        while frames:
            frame = frames.popleft()
            end: End | None
            if isinstance(frame, End):
                end = frame
            else:
                self._receiver.done(frame.size)
                end = End() if frame.ended else None
                for result in frame.results():
                    yield item, result
            if end:
                del self._items[number], self._results[number]
                if self._router is not None:
                    self._router.ended(number, lost=end.lost is not None)
                yield item, end

    def _give(self, worker: _Worker, number: int, item: Item) -> None:
        self._items[number] = item
        self._results[number] = deque()
        worker.give(number, item)

    def _worker(self, *, unbatched: bool = False) -> _Worker:
        worker = _Worker(self._work, handoffs=self._router is not None, unbatched=unbatched)
        self._receiver.add(worker.connection)
        if self._router is not None and worker.handoffs is not None:
            self._receiver.serve(worker.handoffs, self._router.handle)
        return worker

    def _receive(self, first: int) -> None:
        """Wait for the next message and store its results; the worker of the first item will send one."""
        turn = next((worker.connection for worker in self._workers if first in worker.given), None)
        connection, frames = self._receiver.next(turn)
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
            self._results[number].append(frame)
            worker.at = None if frame.ended else number
            if frame.ended:
                worker.given.remove(number)
                ended += 1
        worker.ahead = QUICK if ended > 1 else AHEAD

    def _replace(self, worker: _Worker) -> None:
        """Replace a worker that died: the item that it worked on is lost, the later ones are given to the new worker.

        Where the item is not known, all are given to an unbatched worker. A worker that had not started worked on none.
        """
        worker.process.join()
        if worker.process.exitcode == -signal.SIGTERM:
            time.sleep(GRACE)  # all processes of a job get it: then ours interrupts this
        worker.connection.close()
        how = _how_it_ended(worker.process.exitcode)
        rest = list(worker.given)
        is_known = worker.unbatched or worker.at is not None
        if not worker.started:
            self._unstarted += 1
            if self._unstarted == STARTS:
                raise UsageError(f"no other process starts: each {how} before its work; {_UNGUARDED}")
        elif is_known:
            self._results[rest.pop(0)].append(End(f"the process that worked on it {how}"))
        fresh = self._worker(unbatched=worker.started and not is_known)
        self._workers[self._workers.index(worker)] = fresh
        for number in rest:
            self._give(fresh, number, self._items[number])

    def close(self) -> None:
        """End all processes at once, whatever they work on."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._receiver.close()
        for worker in self._workers:
            worker.connection.close()


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by signal {-code}"
    return f"ended with status {code}"
