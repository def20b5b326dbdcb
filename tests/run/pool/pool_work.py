"""Work functions for the tests of the pool: its processes must be able to import them."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from absolve.run.pool.handoff import HandoffPort


def twice(number: int) -> Iterator[int]:
    yield number
    yield number * 2


def slow_at_first(number: int) -> Iterator[int]:
    time.sleep(0.3 if number == 0 else 0)
    yield number


def many(number: int) -> Iterator[int]:
    yield from range(number)


def large(number: int) -> Iterator[bytes]:
    yield b"%d" % number * 300_000


def deadly(number: int) -> Iterator[int]:
    yield number
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)


def deadly_after_many(number: int) -> Iterator[int]:
    """Yield up to 90 pieces, more than one message has; each tenth item kills its process."""
    yield from range(number % 10 * 10)
    if number % 10 == 9:
        os.kill(os.getpid(), signal.SIGKILL)


def where(number: int) -> Iterator[int]:
    del number
    yield os.getpid()


def sleepy(path: Path) -> Iterator[int]:
    path.touch()
    time.sleep(60)
    yield 0


def summed(number: int, port: HandoffPort) -> Iterator[Any]:
    """Yield the sum of all items so far, and pass it on at once or at the end; some kill their process."""
    yield number
    if number % 10 == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    before = port.take() if number else None
    value = (before.value or 0 if before else 0) + number
    if number % 7:
        port.hand_on(value)
    time.sleep(0.002 * (number % 3))
    yield (value, bool(before and before.lost))
    if number % 10 == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    if not number % 7:
        port.hand_on(value)


def careless(number: int, port: HandoffPort) -> Iterator[Any]:
    """Receive the handoff on every third item only; an unread handoff may be lost."""
    if number % 3 == 2:
        yield port.take()
    else:
        if number % 3 == 1:
            port.hand_on(number)
        yield number


def summed_behind_large_results(number: int, port: HandoffPort) -> Iterator[Any]:
    """Yield the sum of all items so far; odd items are late, so that later results are queued before the handoff."""
    time.sleep(0.5 if number % 2 else 0.05)  # more than PROMPT: the next result is sent at once
    yield b"%d" % number * 300_000
    value = (port.take().value if number else 0) + number
    port.hand_on(value)
    yield value


def summed_in_files(path: Path, port: HandoffPort) -> Iterator[int]:
    """Yield the sum of the names so far; create a file when the handoff is sent."""
    number = int(path.name)
    value = (port.take().value if number else 0) + number
    port.hand_on(value)
    path.touch()
    yield value
