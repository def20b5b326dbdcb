"""How time grows with size: for each hostile shape, the ratios for each doubling; linear means about 2.

Ratios of instructions stand beside those of times where the system counts them: neither caches nor neighbours change those.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from contextlib import suppress
from functools import cache, partial
from itertools import pairwise
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import absolve
from benchmarks.instructions import counter
from benchmarks.measure import table
from tests.shapes.hostile import SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.measure import Job
    from tests.shapes.makers import Shape

MOST = 2.2  # for a doubling
SHORT = 0.1  # seconds: what takes less at the largest size is not judged, fresh memory alone takes some of it
ENOUGH = 0.01  # seconds: what takes less is repeated for so long, and the least counts
SETTLED = 0.1  # seconds: a shape that is judged is gone through again and again for so long
PATIENCE = 30.0  # seconds: for so long where it seems not to be linear, but not much more than `AGAIN` times
AGAIN = 4
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # <malloc.h>


class Took(NamedTuple):
    """Processor seconds of one run, and how many of them Python's cyclic garbage collector took.

    And its instructions: 0 where the system counts none.
    """

    seconds: float
    collecting: float
    instructions: int = 0

    def or_less(self, other: Took) -> Took:
        """The least of two runs, by time and by instructions."""
        return min(self, other)._replace(instructions=min(self.instructions, other.instructions))


class Growth(NamedTuple):
    """What one shape took at each size: those that were asked for, and what the documents really have (megabytes)."""

    shape: str
    job: str
    sizes: tuple[float, ...]
    real: tuple[float, ...]
    took: tuple[Took, ...]

    @property
    def ratios(self) -> list[float]:
        return self._ratios([took.seconds for took in self.took])

    @property
    def own_ratios(self) -> list[float]:
        """The same of what is left without the garbage collector."""
        return self._ratios([took.seconds - took.collecting for took in self.took])

    @property
    def ratios_of_instructions(self) -> list[float]:
        """Of all of them, the garbage collector's too; empty where the system counts none."""
        return self._ratios([took.instructions for took in self.took])

    def _ratios(self, spent: Sequence[float]) -> list[float]:
        """How many times as much twice the size takes; a shape may grow by more, or less, from one size to the next."""
        if not all(spent):
            return []
        rates = [took / size for took, size in zip(spent, self.real, strict=True)]
        return [2 * more / less for less, more in pairwise(rates)]

    @property
    def is_judged(self) -> bool:
        return self.took[-1].seconds >= SHORT

    @property
    def has_steep(self) -> bool:
        """Whether a single doubling takes more than it may: on a busy machine that may be chance."""
        return self.is_judged and max(self.ratios, default=0) > MOST

    @property
    def has_steep_instructions(self) -> bool:
        """The same by instructions: that is never chance."""
        return self.is_judged and max(self.ratios_of_instructions, default=0) > MOST

    @property
    def is_linear(self) -> bool:
        """Whether it takes no more for a doubling on the average over all of them."""
        return not self.is_judged or prod(self.ratios) <= MOST ** (len(self.sizes) - 1)


def rewritten(shape: Shape, data: bytes) -> object:
    with suppress(absolve.DocumentError):  # of a shape that is refused
        return absolve.rewrite(data, media_type=shape.media_type, charset=shape.charset, url="http://h.example/d/")
    return data


def listed(shape: Shape, data: bytes) -> object:
    with suppress(absolve.DocumentError):
        rows = absolve.links(data, media_type=shape.media_type, charset=shape.charset, url="http://h.example/d/")
        return sum(1 for _ in rows)
    return 0


JOBS = {"rewrite": rewritten, "links": listed}


_counter = cache(counter)


class _Collecting:
    """Adds up what the garbage collector takes; it runs as it does for every user of Python."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def __call__(self, phase: str, _: object) -> None:
        now = time.process_time()
        if phase == "start":
            self._began = now
        else:
            self.seconds += now - self._began


def _once(job: Job) -> Took:
    """The least of as many runs as take `ENOUGH`; what the last one left behind is collected before, not in it."""
    least: Took | None = None
    spent = 0.0
    gc.collect()
    while least is None or spent < ENOUGH:
        collecting = _Collecting()
        gc.callbacks.append(collecting)
        counted = _instructions()
        began = time.process_time()
        job()
        seconds = max(time.process_time() - began, 1e-9)
        took = Took(seconds, collecting.seconds, _instructions() - counted)
        gc.callbacks.remove(collecting)
        least = least.or_less(took) if least else took
        spent += seconds
    return least


def _instructions() -> int:
    """So far; 0 where the system counts none."""
    counting = _counter()
    return counting.count() if counting else 0


def keep_memory() -> None:
    """Let the C library keep all that it has been given: else each large block would be fresh memory, and only those."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:  # glibc's
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, (1 << 31) - 1)


def grown(names: Iterable[str], sizes: Sequence[float], longest: float) -> Iterator[Growth]:
    """Each shape at each size in megabytes, as far as none would take longer than these seconds; at two sizes always."""
    keep_memory()
    for name in names:
        shape = SHAPES[name]
        documents = [shape.make(int(size * 1e6)) for size in sizes]
        for job, work in JOBS.items():
            took = _first(partial(work, shape), documents, sizes, longest)
            real = tuple(len(data) / 1e6 for data in documents[: len(took)])
            yield _settled(Growth(name, job, tuple(sizes[: len(took)]), real, took), work, documents)


def _first(
    job: Callable[[bytes], object], documents: Sequence[bytes], sizes: Sequence[float], longest: float
) -> tuple[Took, ...]:
    """What the sizes took that it is worth to measure."""
    took: list[Took] = []
    for size, data in zip(sizes, documents, strict=True):
        if len(took) > 1 and took[-1].seconds * size / sizes[len(took) - 1] > longest:
            break
        took.append(_once(partial(job, data)))
    return tuple(took)


def _settled(growth: Growth, work: Callable[[Shape, bytes], object], documents: Sequence[bytes]) -> Growth:
    """The least of more runs; the sizes take turns, so that what else the machine does meets them alike."""
    jobs = [partial(work, SHAPES[growth.shape], data) for data in documents[: len(growth.sizes)]]
    once = spent = sum(took.seconds for took in growth.took)
    while growth.is_judged and (spent < SETTLED or (growth.has_steep and spent < min(PATIENCE, AGAIN * once))):
        took = [_once(job) for job in jobs]
        growth = growth._replace(took=tuple(map(Took.or_less, growth.took, took)))
        spent += sum(one.seconds for one in took)
    return growth


def growth_table(found: Sequence[Growth]) -> str:
    """The slowest first; before all others those of which a doubling takes too much, and what it takes without gc.

    `!` marks what is not linear.
    """
    ordered = sorted(found, key=lambda growth: -growth.took[-1].seconds / growth.real[-1])
    steep = [growth for growth in ordered if growth.has_steep or growth.has_steep_instructions]
    sizes = [f"{size:g} MB" for size in max((growth.sizes for growth in found), key=len)[1:]]
    counted = all(growth.ratios_of_instructions for growth in found)
    kinds = ["", _INSTRUCTIONS] if counted else [""]
    parts = [_summary(found, counted=counted)]
    if steep:
        parts.append(_ratios_table(steep, sizes, [*kinds, _NO_GC]))
    parts.append(_ratios_table(ordered, sizes, kinds))
    return "\n\n".join(parts)


_INSTRUCTIONS = " i"
_NO_GC = ", no gc"
_RATIOS = {
    "": attrgetter("ratios"),
    _INSTRUCTIONS: attrgetter("ratios_of_instructions"),
    _NO_GC: attrgetter("own_ratios"),
}
_HEAD = ["shape", "", "s/MB", "of it gc", ""]


def _summary(found: Sequence[Growth], *, counted: bool) -> str:
    by_time = sum(growth.has_steep for growth in found)
    by_instructions = sum(growth.has_steep_instructions for growth in found)
    said = f"{by_instructions} as many instructions (i)" if counted else "instructions are not counted here"
    return f"{by_time} of {len(found)} take more than {MOST} times as much time for some doubling, {said}."


def _ratios_table(found: Sequence[Growth], sizes: Sequence[str], kinds: Sequence[str]) -> str:
    head = [*_HEAD, *(f"{size}{kind}" for kind in kinds for size in sizes)]
    return table(head, [[*_cells(growth), *_shown(growth, len(sizes), kinds)] for growth in found])


def _cells(growth: Growth) -> list[str]:
    last = growth.took[-1]
    return [
        growth.shape,
        growth.job,
        f"{last.seconds / growth.real[-1]:.3f}",
        f"{last.collecting / last.seconds:.0%}",
        "" if growth.is_linear else "!",
    ]


def _shown(growth: Growth, sizes: int, kinds: Sequence[str]) -> list[str]:
    """The ratios; a dash for each size that was left out."""
    shown: list[str] = []
    for kind in kinds:
        ratios = _RATIOS[kind](growth)
        shown += [f"{ratio:.2f}" for ratio in ratios] + ["-"] * (sizes - len(ratios))
    return shown
