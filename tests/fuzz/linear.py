"""The invariant that every target shares: time grows no faster than the input does.

One input in `ONE_OF` is repeated until it is large, and again until it is four times as large. A quadratic way through
takes sixteen times as long then.
"""

from __future__ import annotations

import time
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

ONE_OF: Final = 1024
SIZE: Final = 64_000  # bytes; a target's own inputs are too short to tell a linear way from a quadratic one
TIMES: Final = 4
MOST: Final = 10  # times as long: four, and room for caches and for whatever shares the processor
SHORT: Final = 0.5  # seconds: what takes less is not judged
TRIES: Final = 3


def grows_linearly(work: Callable[[bytes], object], data: bytes) -> None:
    """Hold the work on one input in so many against the same on four times as much."""
    if data and zlib.crc32(data) % ONE_OF == 0:
        measure(work, data * (SIZE // len(data) + 1))


def measure(work: Callable[[bytes], object], data: bytes) -> None:
    """Fail where four times the input takes more than `MOST` times the processor's time in each of a few tries."""
    for _ in range(TRIES):
        less, more = seconds(work, data), seconds(work, data * TIMES)
        if more < SHORT or more <= MOST * less:
            return
    raise AssertionError(f"{len(data)} bytes take {less:.3f} s, {TIMES} times as many {more:.3f} s")


def seconds(work: Callable[[bytes], object], data: bytes) -> float:
    began = time.process_time()
    work(data)
    return time.process_time() - began
