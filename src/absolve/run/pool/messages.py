"""Messages from workers to their parent: results of items, with large buffers sent without a copy.

In: lists of results with the numbers of their items. Out: the same, at the other end of the connection. A message has
frames. Its head, one message of the connection, has for each frame the number of the item, whether the item ends with
it, and the sizes of its parts: the pickle of the results, and its out-of-band buffers (PEP 574). The parts follow.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.connection import Connection

APART: Final = 1 << 12  # bytes: smaller buffers are in the pickle
_FRAME: Final = struct.Struct("<Q?I")  # number of the item, whether it ends, number of parts
_SIZE: Final = struct.Struct("<Q")
_ALIGNED: Final = 64  # bytes: parts are aligned in memory, for Arrow
_SCATTERED: Final = hasattr(os, "readv")  # bypass `Connection`, which copies
_MOST: Final = 512  # parts in one call: below IOV_MAX of any system


class Frame(NamedTuple):
    """Results of one item, still pickled, and whether they are its last."""

    ended: bool
    parts: list[memoryview]

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(map(len, self.parts))

    def results(self) -> list[Any]:
        """Unpickle the results; their buffers may be views of the message."""
        return pickle.loads(self.parts[0], buffers=self.parts[1:])  # type: ignore[no-any-return]  # noqa: S301 - of our own process


class Outbox:
    """A message to be sent; `size` is the bytes of its parts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._head = bytearray()
        self._parts: list[memoryview] = []
        self.size = 0

    def greet(self) -> None:
        """Send a message without frames: the worker has started."""
        self._connection.send_bytes(b"")

    def add(self, number: int, results: list[Any], *, ended: bool) -> None:
        """Add a frame for the item of this number. Its results must not change before `send`."""
        parts: list[memoryview] = []

        def stays(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < APART:
                return True
            parts.append(raw)
            return False

        parts.insert(0, memoryview(pickle.dumps(results, pickle.HIGHEST_PROTOCOL, buffer_callback=stays)))
        self._head += _FRAME.pack(number, ended, len(parts))
        for part in parts:
            self._head += _SIZE.pack(len(part))
            self.size += len(part)
        self._parts += parts

    def send(self) -> None:
        """Send the message, if it has a frame, and begin a new one."""
        if self._parts:
            self._connection.send_bytes(self._head)
            _send(self._connection, self._parts)
            self._head.clear()
            self._parts.clear()
            self.size = 0


def received(connection: Connection) -> list[tuple[int, Frame]]:
    """Return the frames of the next message with the numbers of their items. Raise EOFError where it is incomplete."""
    try:
        heads = _heads(connection.recv_bytes())
        block = memoryview(bytearray(sum(_room(size) for _, _, sizes in heads for size in sizes)))
        frames = []
        start = 0
        for number, ended, sizes in heads:
            parts = []
            for size in sizes:
                parts.append(block[start : start + size])
                start += _room(size)
            frames.append((number, Frame(ended, parts)))
        _receive(connection, [part for _, frame in frames for part in frame.parts])
    except OSError as error:  # the connection ended in the middle, or was reset
        raise EOFError from error
    return frames


def _room(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _heads(head: bytes) -> list[tuple[int, bool, tuple[int, ...]]]:
    """Parse a head: for each frame the item's number, whether the item ends, and the sizes of the parts."""
    found = []
    at = 0
    while at < len(head):
        number, ended, parts = _FRAME.unpack_from(head, at)
        at += _FRAME.size
        found.append((number, ended, struct.unpack_from(f"<{parts}Q", head, at)))
        at += parts * _SIZE.size
    return found


def _send(connection: Connection, parts: Iterable[memoryview]) -> None:
    if not _SCATTERED:
        for part in parts:
            connection.send_bytes(part)
        return
    waiting = deque(part for part in parts if len(part))
    while waiting:
        _forget(waiting, os.writev(connection.fileno(), _first(waiting)))


def _receive(connection: Connection, parts: Iterable[memoryview]) -> None:
    """Read from the connection into the parts."""
    if not _SCATTERED:
        for part in parts:
            connection.recv_bytes_into(part)
        return
    waiting = deque(part for part in parts if len(part))
    while waiting:
        size = os.readv(connection.fileno(), _first(waiting))
        if not size:
            raise EOFError
        _forget(waiting, size)


def _first(parts: deque[memoryview]) -> list[memoryview]:
    return [parts[index] for index in range(min(len(parts), _MOST))]


def _forget(parts: deque[memoryview], size: int) -> None:
    """Remove `size` bytes from the beginning."""
    while size:
        first = parts.popleft()
        if len(first) > size:
            parts.appendleft(first[size:])
        size -= min(size, len(first))
