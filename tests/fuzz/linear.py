"""The invariant of every target: time grows linearly with the input.

One of `ONE_OF` inputs is repeated until it is large, and again until it is four times as large. A quadratic
algorithm then takes sixteen times as long.
"""

import time
import zlib
from collections.abc import Callable
from typing import Final

ONE_OF: Final = 1024
SIZE: Final = 64_000  # bytes; inputs of the targets are too short to distinguish linear from quadratic time
TIMES: Final = 4
MOST: Final = 10  # times as long: four, with a margin for caches and other processes
SHORT: Final = 0.5  # seconds: shorter times are not compared
TRIES: Final = 3


def grows_linearly(work: Callable[[bytes], object], data: bytes) -> None:
    """Compares the time for one of n inputs with that for four times as much."""
    if data and zlib.crc32(data) % ONE_OF == 0:
        measure(work, data * (SIZE // len(data) + 1))


def measure(work: Callable[[bytes], object], data: bytes) -> None:
    """Fail if four times the input takes more than `MOST` times the CPU time in each of a few attempts."""
    for _ in range(TRIES):
        less, more = seconds(work, data), seconds(work, data * TIMES)
        if more < SHORT or more <= MOST * less:
            return
    raise AssertionError(f"{len(data)} bytes take {less:.3f} s, {TIMES} times as many {more:.3f} s")


def seconds(work: Callable[[bytes], object], data: bytes) -> float:
    began = time.process_time()
    work(data)
    return time.process_time() - began
