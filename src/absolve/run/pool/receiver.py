"""Hears what workers tell while their parent is at something else, as long as little of it waits: nobody stands by."""

from __future__ import annotations

from collections import deque
from multiprocessing import Pipe
from multiprocessing.connection import wait
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

from absolve.run.pool.messages import Frame, received

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

WAKES = 0.2  # seconds after which the main thread looks for signals


class Message(NamedTuple):
    """A message, frames with the numbers of their items; `frames` is None where the connection is at its end."""

    connection: Connection
    frames: list[tuple[int, Frame]] | None


class Receiver:
    """A thread that takes the messages of connections, in the order in which they come.

    Where `most` bytes of them wait for being done with, it takes no more but those of the connection whose turn it is.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._connections: list[Connection] = []
        self._turn: Connection | None = None
        self._held = 0
        self._heard: deque[Message | BaseException] = deque()
        self._changed = Condition()
        self._ends = False
        self._woken, self._waker = Pipe(duplex=False)
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def add(self, connection: Connection) -> None:
        """Hear one more; it is forgotten when its end was heard, and may be closed then."""
        with self._changed:
            self._connections.append(connection)
        self._wake()

    def next(self, turn: Connection | None) -> Message:
        """The next message, which is waited for; it is this connection's turn."""
        with self._changed:
            if turn is not self._turn:
                self._turn = turn
                if self._held >= self._most:
                    self._wake()
            while not self._heard:
                self._changed.wait(WAKES)  # a signal that came just before this wait does not end it
            heard = self._heard.popleft()
        if isinstance(heard, BaseException):
            raise heard
        return heard

    def done(self, size: int) -> None:
        """So many bytes of what was heard wait no more."""
        with self._changed:
            was_full = self._held >= self._most
            self._held -= size
            if was_full and self._held < self._most:
                self._wake()

    def close(self) -> None:
        """Hear no more; nobody may stop in the middle of a message before."""
        self._ends = True
        self._wake()
        self._thread.join()
        self._woken.close()
        self._waker.close()

    def _wake(self) -> None:
        self._waker.send_bytes(b"")

    def _serve(self) -> None:
        try:
            while not self._ends:
                with self._changed:
                    is_full = self._held >= self._most
                    may = [one for one in self._connections if not is_full or one is self._turn]
                for ready in wait([self._woken, *may]):
                    if ready is self._woken:
                        self._woken.recv_bytes()
                    else:
                        self._hear(ready)  # type: ignore[arg-type]  # as all else that is waited for
        except BaseException as error:  # noqa: BLE001 - it is raised where it is seen
            with self._changed:
                self._heard.append(error)
                self._changed.notify()

    def _hear(self, connection: Connection) -> None:
        frames: list[tuple[int, Frame]] | None
        try:
            frames = received(connection)
        except EOFError:
            frames = None
        with self._changed:
            if frames is None:
                self._connections.remove(connection)
            self._held += sum(frame.size for _, frame in frames or ())
            self._heard.append(Message(connection, frames))
            self._changed.notify()
