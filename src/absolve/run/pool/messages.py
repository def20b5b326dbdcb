"""What a worker tells, as messages to its parent: large buffers go as they are, and are copied by nobody on the way.

A message is frames. Its head, a message of the connection, says of each the number of its item, whether that is at its
end, and the sizes of its parts: the pickle of what is told, and the buffers that are out of its band (PEP 574). The
parts of all frames follow.
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

APART: Final = 1 << 12  # bytes: smaller buffers stand in the pickle
_FRAME: Final = struct.Struct("<Q?I")  # number, whether it is at its end, parts
_SIZE: Final = struct.Struct("<Q")
_ALIGNED: Final = 64  # bytes: what parts begin at a multiple of, which Arrow wants
_SCATTERED: Final = hasattr(os, "readv")  # whether a connection can be written and read past `Connection`, which copies
_MOST: Final = 512  # parts in one call: less than any system allows


class Frame(NamedTuple):
    """What is told of an item at once, as it came, and whether that is the end."""

    ended: bool
    parts: list[memoryview]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(map(len, self.parts))

    def told(self) -> list[Any]:
        """The things themselves; buffers in them may be those of the message."""
        return pickle.loads(self.parts[0], buffers=self.parts[1:])  # type: ignore[no-any-return]  # noqa: S301 - of our own process


class Outbox:
    """A message that is to go; `size` is that of its parts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._head = bytearray()
        self._parts: list[memoryview] = []
        self.size = 0

    def greet(self) -> None:
        """Let a message go that has no frames."""
        self._connection.send_bytes(b"")

    def add(self, number: int, told: list[Any], *, ended: bool) -> None:
        """Add what is told of the item of this number, which may not change until it has gone."""
        parts: list[memoryview] = []

        def stays(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < APART:
                return True
            parts.append(raw)
            return False

        parts.insert(0, memoryview(pickle.dumps(told, pickle.HIGHEST_PROTOCOL, buffer_callback=stays)))
        self._head += _FRAME.pack(number, ended, len(parts))
        for part in parts:
            self._head += _SIZE.pack(len(part))
            self.size += len(part)
        self._parts += parts

    def send(self) -> None:
        """Let it go, if there is anything in it."""
        if self._parts:
            self._connection.send_bytes(self._head)
            _send(self._connection, self._parts)
            self._head.clear()
            self._parts.clear()
            self.size = 0


def received(connection: Connection) -> list[tuple[int, Frame]]:
    """The frames of the next message, with the numbers of their items; EOFError where it does not come as a whole."""
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
    except OSError as error:  # its end came in the middle, or it was reset
        raise EOFError from error
    return frames


def _room(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _heads(head: bytes) -> list[tuple[int, bool, tuple[int, ...]]]:
    """What a head says: number, whether that is the end, and the sizes of the parts."""
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
    """Fill the parts with what comes."""
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
    """Take so many bytes from the beginning."""
    while size:
        first = parts.popleft()
        if len(first) > size:
            parts.appendleft(first[size:])
        size -= min(size, len(first))
