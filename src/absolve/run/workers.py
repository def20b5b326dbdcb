"""Worker processes: the results of each item in the order of the items, with a bounded number of items ahead.

Input: a function and items. Output: see `results.in_order`. Each thread of an executor has a process of its own
behind a pipe, so a process that dies ends its own pipe, and loses only its current items. In `ProcessPoolExecutor` all
share one queue: a process that is killed while it sends a long result leaves the reader waiting for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from queue import Empty, Full, Queue
from threading import Lock, local
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from absolve.core.errors import UsageError
from absolve.run import buckets, interrupts
from absolve.run.results import End

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

TOGETHER: Final = 16  # maximum number of items that a process gets at once
LARGE: Final = 1 << 20  # bytes; a group of this size gets no further item
AHEAD: Final = 8  # groups for each process that may be sent before the first of them is done
AT_ONCE: Final = 8  # maximum number of results that are sent at once
WAITING: Final = 1  # lists of results of a group that may wait before its process waits, too
WAKES: Final = 0.2  # seconds after which a thread looks for signals, or whether the pool is closed
PATIENCE: Final = 2.0  # seconds that a process has to end after SIGTERM
GRACE: Final = 0.1  # seconds in which a signal that has ended a worker reaches this process, too
STARTS: Final = 3  # processes in a row that end before they have started: then the run fails

_PARENTS: Final = ("SIGINT", "SIGHUP")  # workers ignore them: their parent gets them, too, and ends its workers
_UNGUARDED: Final = "a program that calls absolve does so under if __name__ == '__main__', or with one job"


def _serve(work: Callable[[Any], Iterable[Any]], connection: Connection, settings: dict[str, dict[str, Any]]) -> None:
    """Run a worker: receive groups of items, and send lists of their results, until the parent ends it.

    `settings` are the settings of stores.
    Each item ends with an `End`. All results of an item are sent before the next item begins.
    """
    buckets.settings.update(settings)
    interrupts.ignore(_PARENTS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send_bytes(b"")  # it has started
        while True:
            found: list[Any] = []
            for item in pickle.loads(connection.recv_bytes()):  # noqa: S301 - of our own process
                results = iter(work(item))
                has_more = False
                while len(some := list(islice(results, AT_ONCE))) == AT_ONCE:
                    _send(connection, found + some)
                    found, has_more = [], True
                found += [*some, End()]
                if has_more:
                    _send(connection, found)
                    found = []
            if found:
                _send(connection, found)


def _send(connection: Connection, found: list[Any]) -> None:
    connection.send_bytes(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))


class _ClosedError(Exception):
    """The pool is closed, and its processes have ended."""


class _Worker:
    """A process, its pipe, and whether it has started."""

    def __init__(self, work: Callable[[Any], Iterable[Any]]) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of threads
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(work, theirs, buckets.settings), daemon=True)
        self.process.start()
        theirs.close()
        self.has_started = False

    def results(self, items: list[Any]) -> Iterator[list[Any]]:
        """Yield lists of the results of items, with an `End` for each item. Raise EOFError or OSError if it dies."""
        if not self.has_started:
            self.connection.recv_bytes()
            self.has_started = True
        _send(self.connection, items)
        rest = len(items)
        while rest:
            found = pickle.loads(self.connection.recv_bytes())  # noqa: S301 - of our own process
            rest -= sum(isinstance(result, End) for result in found)
            yield found

    def end(self) -> str:
        """Wait for the end of a process whose pipe is at its end, and return how it ended."""
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()
        code = self.process.exitcode
        return f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with status {code}"


class _Group(NamedTuple):
    """Items, lists of their results as they come, and the end of the thread that handles them."""

    items: list[Any]
    found: Queue[list[Any]]
    thread: Future[None]


class Pool(Generic[Item, Result]):
    """Worker processes as `results.in_order` describes them. It must be closed."""

    def __init__(self, work: Callable[[Item], Iterable[Result]], jobs: int, size_of: Callable[[Item], int]) -> None:
        if os.name == "posix":
            from multiprocessing.resource_tracker import ensure_running

            # Start multiprocessing's own process before any worker: it unblocks SIGINT in the thread that starts it.
            with interrupts.blocked(["SIGHUP"]):  # it sees to SIGINT and SIGTERM itself
                ensure_running()
        self._work = work
        self._size_of = size_of
        self._ahead = AHEAD * jobs
        self._own = local()  # the process of each thread
        self._workers: list[_Worker] = []
        self._lock = Lock()  # for the start and the end of processes
        self._is_closed = False
        self._unstarted = 0  # processes in a row that ended before they had started
        self._threads = ThreadPoolExecutor(jobs, initializer=interrupts.block, initargs=(_PARENTS,))

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | End]]:
        begun: deque[_Group] = deque()
        for group in self._groups(items):
            found: Queue[list[Any]] = Queue(WAITING)
            begun.append(_Group(group, found, self._threads.submit(self._work_on, group, found)))
            while begun and (len(begun) == self._ahead or begun[0].thread.done()):
                yield from _results(begun.popleft())
        while begun:
            yield from _results(begun.popleft())

    def _groups(self, items: Iterable[Item]) -> Iterator[list[Item]]:
        group: list[Item] = []
        size = 0
        for item in items:
            group.append(item)
            size += self._size_of(item)
            if len(group) == TOGETHER or size >= LARGE:
                yield group
                group, size = [], 0
        if group:
            yield group

    def _work_on(self, items: list[Item], found: Queue[list[Any]]) -> None:
        """Put the results of items into a queue. If a process dies, its current item is lost.

        If that item is unknown, each item is tried alone. Raise UsageError if no process starts, _ClosedError if the
        pool is closed.
        """
        ended = 0
        is_within = False  # an item
        worker = self._worker()
        try:
            for results in worker.results(items):
                self._unstarted = 0
                ended += sum(isinstance(result, End) for result in results)
                is_within = not isinstance(results[-1], End)
                self._put(found, results)
        except (EOFError, OSError):
            how = self._ended(worker)
            rest = items[ended:]
            if not worker.has_started:
                self._unstarted += 1
                if self._unstarted >= STARTS:
                    raise UsageError(f"no other process starts: each {how} before its work; {_UNGUARDED}") from None
                self._work_on(rest, found)
                return
            if is_within or len(rest) == 1:
                self._put(found, [End(f"the process that worked on it {how}")])
                rest = rest[1:]
            for item in rest:
                self._work_on([item], found)

    def _put(self, found: Queue[list[Any]], results: list[Any]) -> None:
        """Put results into a queue, when it has room. Raise _ClosedError if the pool is closed meanwhile."""
        while not self._is_closed:
            with suppress(Full):
                found.put(results, timeout=WAKES)
                return
        raise _ClosedError

    def _worker(self) -> _Worker:
        """Return the process of this thread; start one if it has none."""
        worker: _Worker | None = getattr(self._own, "worker", None)
        if worker is None:
            with self._lock:
                if self._is_closed:
                    raise _ClosedError
                worker = self._own.worker = _Worker(self._work)
                self._workers.append(worker)
        return worker

    def _ended(self, worker: _Worker) -> str:
        """Forget a process that has ended, and return how it ended. Raise _ClosedError if the pool has ended it."""
        with self._lock:
            if self._is_closed:
                raise _ClosedError
            self._workers.remove(worker)
            how = worker.end()
        self._own.worker = None
        if worker.process.exitcode == -signal.SIGTERM:
            time.sleep(GRACE)  # all processes of a job get it: then ours interrupts the main thread
        return how

    def close(self) -> None:
        """End all processes at once, whatever they work on."""
        with self._lock:
            self._is_closed = True
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
        self._threads.shutdown(cancel_futures=True)  # each thread has read the end of its pipe
        for worker in self._workers:
            worker.end()


def _results(group: _Group) -> Iterator[tuple[Any, Any]]:
    """Yield the results of a group as they come, with their items. Raise the errors of the group's thread."""
    items = iter(group.items)
    item = next(items, None)
    while item is not None:
        try:
            found = group.found.get(timeout=WAKES)  # a signal that came just before this wait does not end it
        except Empty:
            if group.thread.done() and group.found.empty():
                group.thread.result()
            continue
        for result in found:
            yield item, result
            if isinstance(result, End):
                item = next(items, None)
