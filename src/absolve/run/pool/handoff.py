"""Hand-offs: the work on one item passes a value to the work on the next one, in whichever processes the two run.

In: a value of item N. Out: a `Handoff` for item N + 1, which may ask for it before or after. `LocalHandoffs` is for one
process; `WorkerHandoffs`, in a worker, and `HandoffRouter`, in the parent, are the two ends of a connection.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection


class Handoff(NamedTuple):
    """The value for an item; None where the item before has none.

    `lost`: the process that worked on the item before ended; the value is the one which that item would have taken.
    """

    value: Any = None
    lost: bool = False


class HandoffPort(Protocol):
    """What the work on an item uses to exchange values with the items before and after it."""

    def take(self) -> Handoff:
        """Return the value of the item before; block until there is one."""

    def hand_on(self, value: Any) -> None:
        """Pass a value that can be pickled to the next item; call it after `take` where the item calls both."""


class LocalHandoffs:
    """The port in one process, where items run one after the other: a value is there when it is taken."""

    def __init__(self) -> None:
        self._taken = self._given = Handoff()

    def next(self) -> None:
        """Go on to the next item."""
        self._taken, self._given = self._given, Handoff()

    def take(self) -> Handoff:
        return self._taken

    def hand_on(self, value: Any) -> None:
        self._given = Handoff(value)


class WorkerHandoffs:
    """The port in a worker process; `number` is that of its current item.

    `send` sends the results that the worker has buffered. It is called before the worker blocks: the item before may
    be waiting for its turn behind them.
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


class HandoffRouter:
    """The parent's side of all `WorkerHandoffs`: it forwards values. `Receiver.serve` calls `handle` in its thread.

    A request is small, and who sent it reads the answer at once: forwarding never blocks.
    """

    def __init__(self) -> None:
        from threading import Lock  # one process needs none

        self._lock = Lock()
        self._handed: dict[int, Handoff] = {}  # by the number of the item that passed it on
        self._taking: dict[int, Connection] = {}  # by the number of the item that waits

    def handle(self, connection: Connection) -> None:
        """Handle one request of a worker. Raise EOFError or OSError where the worker has ended."""
        number, handed = connection.recv()
        with self._lock:
            if handed is None:
                self._taking[number] = connection
                self._forward(number)
            else:
                self._hand_on(number, handed)

    def ended(self, number: int, *, lost: bool) -> None:
        """Forget what no item can take any more: this item has ended, and all before it.

        `lost`: its process ended before it passed on a value; the next item is told so.
        """
        with self._lock:
            before = self._handed.pop(number - 1, Handoff())
            if lost:
                self._hand_on(number, Handoff(before.value, lost=True))

    def _hand_on(self, number: int, handed: Handoff) -> None:
        self._handed.setdefault(number, handed)
        self._forward(number + 1)

    def _forward(self, number: int) -> None:
        """Send an item its value, if it waits and there is one."""
        if number in self._taking and number - 1 in self._handed:
            with suppress(OSError):  # its process has ended: the item is given to another one, which asks again
                self._taking.pop(number).send(self._handed[number - 1])
