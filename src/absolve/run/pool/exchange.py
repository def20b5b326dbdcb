"""The relay between processes: a thread of the parent's takes what is handed on from one to the other.

What is told of the items waits for its turn in the parent, which may be busy with it; what is handed on does not, as
others wait for it.
"""

from __future__ import annotations

from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import wait
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from absolve.run.pool.relay import Handoff

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection


class Arm:
    """The relay of a worker, which is at the item of this number.

    Before it waits it lets go what it has to tell (`send`): others may wait for that, which it waits for.
    """

    def __init__(self, connection: Connection, send: Callable[[], None]) -> None:
        self.number = 0
        self._connection = connection
        self._send = send

    def take(self) -> Handoff:
        self._send()
        self._connection.send((self.number, None))
        found: Handoff = self._connection.recv()
        return found

    def hand_on(self, value: Any) -> None:
        self._connection.send((self.number, Handoff(value)))


class Exchange:
    """The parent's end of all arms."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._connections: list[Connection] = []
        self._handed: dict[int, Handoff] = {}  # by the numbers of the items that hand it on
        self._taking: dict[int, Connection] = {}  # by those that wait for it
        self._woken, self._waker = Pipe(duplex=False)
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def arm(self) -> Connection:
        """What one more worker's relay is made of."""
        ours, theirs = Pipe()
        with self._lock:
            self._connections.append(ours)
        self._waker.send_bytes(b"more")
        return theirs

    def ended(self, number: int, *, lost: bool) -> None:
        """Nothing more comes of an item, nor of any before it; where it was `lost`, the next one is told."""
        with self._lock:
            before = self._handed.pop(number - 1, Handoff())
            if lost:
                self._hand_on(number, Handoff(before.value, lost=True))

    def close(self) -> None:
        self._waker.send_bytes(b"")
        self._thread.join()
        for connection in (*self._connections, self._woken, self._waker):
            connection.close()

    def _serve(self) -> None:
        while True:
            for ready in wait([self._woken, *self._connections]):
                if ready is self._woken:
                    if not self._woken.recv_bytes():
                        return
                    continue
                connection: Connection = ready  # type: ignore[assignment]  # as all that is waited for
                try:
                    number, handed = connection.recv()
                except (EOFError, OSError):
                    with self._lock:
                        self._connections.remove(connection)
                    connection.close()
                    continue
                with self._lock:
                    if handed is None:
                        self._taking[number] = connection
                        self._hand(number)
                    else:
                        self._hand_on(number, handed)

    def _hand_on(self, number: int, handed: Handoff) -> None:
        self._handed.setdefault(number, handed)
        self._hand(number + 1)

    def _hand(self, number: int) -> None:
        if number in self._taking and number - 1 in self._handed:
            with suppress(OSError):  # its process is dead: another one will ask
                self._taking.pop(number).send(self._handed[number - 1])
