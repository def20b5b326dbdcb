"""Measure how time grows with size: for each hostile shape, the ratio of times for each doubling; about 2 if linear.

Where the system counts instructions, their ratios are printed too: caches and other programs do not change those.
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

MOST = 2.2  # times the cost, for a doubling
SHORT = 0.1  # seconds at the largest size: shapes below are not judged, since allocating memory alone takes part of it
ENOUGH = 0.01  # seconds: shorter jobs are repeated for this long, and the minimum counts
SETTLED = 0.1  # seconds: shapes that are judged are measured repeatedly for this long
PATIENCE = 30.0  # seconds: the same for shapes that seem not to be linear, but at most about `AGAIN` times
AGAIN = 4
WORST = 20  # shapes in the table: the others are faster
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # <malloc.h>


class Took(NamedTuple):
    """CPU seconds of one run, those of Python's cyclic garbage collector among them, and the instructions.

    `instructions` is 0 where the system does not count them.
    """

    seconds: float
    collecting: float
    instructions: int = 0

    def or_less(self, other: Took) -> Took:
        """Return the minimum of two runs, for time and for instructions."""
        return min(self, other)._replace(instructions=min(self.instructions, other.instructions))


class Growth(NamedTuple):
    """The costs of one shape at each size: the sizes asked for, and the real sizes of the documents (megabytes)."""

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
        """Return the ratios of times without the garbage collector."""
        return self._ratios([took.seconds - took.collecting for took in self.took])

    @property
    def ratios_of_instructions(self) -> list[float]:
        """Return the ratios of instructions, with the garbage collector; an empty list where the system counts none."""
        return self._ratios([took.instructions for took in self.took])

    def _ratios(self, spent: Sequence[float]) -> list[float]:
        """Return the ratios of costs for twice the bytes; a shape may grow by more or less between two sizes."""
        if not all(spent):
            return []
        rates = [took / size for took, size in zip(spent, self.real, strict=True)]
        return [2 * more / less for less, more in pairwise(rates)]

    @property
    def is_judged(self) -> bool:
        return self.took[-1].seconds >= SHORT

    @property
    def has_steep(self) -> bool:
        """Return whether one doubling takes more time than allowed; on a busy machine that may be chance."""
        return self.is_judged and max(self.ratios, default=0) > MOST

    @property
    def has_steep_instructions(self) -> bool:
        """Return whether one doubling takes more instructions than allowed; this is never chance."""
        return self.is_judged and max(self.ratios_of_instructions, default=0) > MOST

    @property
    def is_linear(self) -> bool:
        """Return whether the average doubling is within the limit."""
        return not self.is_judged or prod(self.ratios) <= MOST ** (len(self.sizes) - 1)


def rewritten(shape: Shape, data: bytes) -> object:
    with suppress(absolve.DocumentError):  # shapes that are refused
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
    """Sums the seconds of the garbage collector, which runs with its default settings."""

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
    """Return the minimum over enough runs to take `ENOUGH` seconds; garbage of earlier jobs is collected before."""
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
    """Return the instructions executed so far; 0 where the system counts none."""
    counting = _counter()
    return counting.count() if counting else 0


def keep_memory() -> None:
    """Let the C library keep freed memory: otherwise every large block, and only those, would be fresh memory."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:  # in glibc
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, (1 << 31) - 1)


def grown(names: Iterable[str], sizes: Sequence[float], longest: float) -> Iterator[Growth]:
    """Measure each shape at each size (megabytes), at least at two; skip sizes that would take more than `longest`."""
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
    """Return the costs of one run at each size within the time limit."""
    took: list[Took] = []
    for size, data in zip(sizes, documents, strict=True):
        if len(took) > 1 and took[-1].seconds * size / sizes[len(took) - 1] > longest:
            break
        took.append(_once(partial(job, data)))
    return tuple(took)


def _settled(growth: Growth, work: Callable[[Shape, bytes], object], documents: Sequence[bytes]) -> Growth:
    """Measure again and keep the minimum; the sizes take turns, so that other load affects all of them alike."""
    jobs = [partial(work, SHAPES[growth.shape], data) for data in documents[: len(growth.sizes)]]
    once = spent = sum(took.seconds for took in growth.took)
    while growth.is_judged and (spent < SETTLED or (growth.has_steep and spent < min(PATIENCE, AGAIN * once))):
        took = [_once(job) for job in jobs]
        growth = growth._replace(took=tuple(map(Took.or_less, growth.took, took)))
        spent += sum(one.seconds for one in took)
    return growth


def growth_table(found: Sequence[Growth]) -> str:
    """Return tables: shapes with a steep doubling, also without garbage collection; then the slowest ones.

    `!` marks a shape that is not linear.
    """
    ordered = sorted(found, key=lambda growth: -growth.took[-1].seconds / growth.real[-1])
    steep = [growth for growth in ordered if growth.has_steep or growth.has_steep_instructions]
    sizes = [f"{size:g} MB" for size in max((growth.sizes for growth in found), key=len)[1:]]
    counted = all(growth.ratios_of_instructions for growth in found)
    kinds = ["", _INSTRUCTIONS] if counted else [""]
    parts = [_summary(found, counted=counted)]
    if steep:
        parts.append(_ratios_table(steep, sizes, [*kinds, _NO_GC]))
    parts.append(_ratios_table(ordered[:WORST], sizes, kinds))
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
    """Return the ratios, with a dash for each size that was skipped."""
    shown: list[str] = []
    for kind in kinds:
        ratios = _RATIOS[kind](growth)
        shown += [f"{ratio:.2f}" for ratio in ratios] + ["-"] * (sizes - len(ratios))
    return shown
