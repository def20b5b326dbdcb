"""Work for the tests of the pool: its processes must be able to import it."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
    """Up to 90 pieces, more than go at once; each tenth item ends its process."""
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
