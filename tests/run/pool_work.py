"""Work functions for the tests of the pool: its processes must be able to import them."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any


def twice(number: int) -> Iterator[int]:
    yield from (number, number * 2)


def slow_at_first(number: int) -> Iterator[int]:
    time.sleep(0.1 if number == 0 else 0)
    yield number


def many(number: int) -> Iterator[int]:
    yield from range(number)


def deadly(number: int) -> Iterator[int]:
    """Yield up to 90 pieces, more than one message has; each tenth item kills its process."""
    yield from range(number % 10 * 10)
    if number % 10 == 9:
        os.kill(os.getpid(), signal.SIGKILL)


def where(_number: int) -> Iterator[int]:
    yield os.getpid()


def sleepy(path: Path) -> Iterator[int]:
    path.touch()
    time.sleep(60)
    yield 0


def endless(path: Path) -> Iterator[bytes]:
    """Yield numbers without end, of 10,000 bytes each, and write how many into a file."""
    number = 0
    while True:
        path.write_text(str(number))
        yield b"%-10000d" % number
        number += 1


class UnpicklableError(Exception):
    def __reduce__(self) -> Any:
        raise TypeError


def careless(number: int) -> Iterator[int]:
    """Raise, on one item, an error that cannot be pickled."""
    yield number
    if number == 5:
        raise UnpicklableError(number)


def killed_in_sending(number: int) -> Iterator[bytes]:
    """Yield, on one item, far more than a pipe holds, and kill the process while that is sent."""
    if number == 5:
        Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
        yield bytes(1 << 28)
    yield b"%d" % number
