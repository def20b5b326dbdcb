"""Receive worker messages in a thread, with back-pressure.

In: connections. Out: a queue of messages with results, for the main thread. Requests that need an answer at once
(`serve`) are handled in the same thread, and back-pressure does not stop them: the worker whose turn it is may wait for
one of them, so that without it the queue would never be emptied.
"""

from __future__ import annotations

from collections import deque
from multiprocessing import Pipe
from multiprocessing.connection import wait
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

from absolve.run.pool.messages import Frame, received

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

WAKES = 0.2  # seconds after which the main thread looks for signals


class Message(NamedTuple):
    """A message: frames with the numbers of their items. `frames` is None where the connection is at its end."""

    connection: Connection
    frames: list[tuple[int, Frame]] | None


class Receiver:
    """A thread that receives the messages of all connections, and queues them in the order of their arrival.

    While `most` bytes are queued or not yet processed (`done`), it reads results only from the connection whose turn it
    is; the other workers block when their pipes are full.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._connections: list[Connection] = []
        self._handlers: dict[Connection, Callable[[Connection], None]] = {}
        self._turn: Connection | None = None
        self._unprocessed = 0  # bytes
        self._queue: deque[Message | BaseException] = deque()
        self._changed = Condition()
        self._ends = False
        self._woken, self._waker = Pipe(duplex=False)
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, connection: Connection) -> None:
        """Receive results from one more connection, until it is at its end; then the caller closes it."""
        with self._changed:
            self._connections.append(connection)
        self._wake()

    def serve(self, connection: Connection, handle: Callable[[Connection], None]) -> None:
        """Call `handle` in the thread whenever this connection has a request, however many results are queued.

        `handle` must read the request and not block. Where it raises EOFError or OSError the connection is closed.
        """
        with self._changed:
            self._handlers[connection] = handle
        self._wake()

    def next(self, turn: Connection | None) -> Message:
        """Return the next message; block until there is one. It is the turn of this connection."""
        with self._changed:
            if turn is not self._turn:
                self._turn = turn
                if self._unprocessed >= self._most:
                    self._wake()
            while not self._queue:
                self._changed.wait(WAKES)  # a signal that came just before this wait does not end it
            message = self._queue.popleft()
        if isinstance(message, BaseException):
            raise message
        return message

    def done(self, size: int) -> None:
        """Subtract bytes that have been processed from those that count for back-pressure."""
        with self._changed:
            was_full = self._unprocessed >= self._most
            self._unprocessed -= size
            if was_full and self._unprocessed < self._most:
                self._wake()

    def close(self) -> None:
        """End the thread. All workers must have ended: it finishes a message that it has begun to read."""
        self._ends = True
        self._wake()
        self._thread.join()
        for connection in (self._woken, self._waker, *self._handlers):
            connection.close()

    def _wake(self) -> None:
        self._waker.send_bytes(b"")

    def _run(self) -> None:
        try:
            while not self._ends:
                with self._changed:
                    is_full = self._unprocessed >= self._most
                    handlers = self._handlers.copy()
                    readable = [one for one in self._connections if not is_full or one is self._turn]
                ready = wait([self._woken, *handlers, *readable])
                if self._woken in ready:
                    self._woken.recv_bytes()
                for connection in filter(ready.__contains__, handlers):  # first: workers wait for the answers
                    self._handle(connection, handlers[connection])
                for connection in filter(ready.__contains__, readable):
                    self._receive(connection)
        except BaseException as error:  # noqa: BLE001 - raised in the main thread, by `next`
            with self._changed:
                self._queue.append(error)
                self._changed.notify()

    def _handle(self, connection: Connection, handle: Callable[[Connection], None]) -> None:
        try:
            handle(connection)
        except (EOFError, OSError):
            with self._changed:
                del self._handlers[connection]
            connection.close()

    def _receive(self, connection: Connection) -> None:
        frames: list[tuple[int, Frame]] | None
        try:
            frames = received(connection)
        except EOFError:
            frames = None
        with self._changed:
            if frames is None:
                self._connections.remove(connection)
            self._unprocessed += sum(frame.size for _, frame in frames or ())
            self._queue.append(Message(connection, frames))
            self._changed.notify()
