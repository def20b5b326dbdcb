"""How time grows with size: for each hostile shape, the ratio of times for each doubling; linear means about 2."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import absolve
from benchmarks.hostile import SHAPES
from benchmarks.measure import once, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.makers import Shape
    from benchmarks.measure import Job

MOST = 2.2  # for a doubling, on average over all of them: single ones swing with caches and with the load
SHORT = 0.02  # seconds: what takes less is not judged
RUNS = 2


class Growth(NamedTuple):
    """The processor seconds of one shape at each size."""

    shape: str
    job: str
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        return [more / less for less, more in zip(self.seconds, self.seconds[1:], strict=False)]

    @property
    def is_linear(self) -> bool:
        return self.seconds[-1] < SHORT or self.seconds[-1] / self.seconds[0] <= MOST ** len(self.ratios)


def rewritten(shape: Shape, data: bytes) -> object:
    return absolve.rewrite(data, media_type=shape.media_type, charset=shape.charset, url="http://h.example/d/")


def listed(shape: Shape, data: bytes) -> object:
    rows = absolve.links(data, media_type=shape.media_type, charset=shape.charset, url="http://h.example/d/")
    return sum(1 for _ in rows)


JOBS = {"rewrite": rewritten, "links": listed}


def steadied(job: Job) -> float:
    """Processor seconds: the least of two runs, since what else the machine does can only add to them."""
    return min(once(job) for _ in range(RUNS))


def grown(names: Iterable[str], sizes: Sequence[float]) -> Iterator[Growth]:
    """Each shape at each size in megabytes."""
    for name in names:
        shape = SHAPES[name]
        for job, work in JOBS.items():
            seconds = []
            for size in sizes:
                data = shape.make(int(size * 1e6))
                seconds.append(steadied(partial(work, shape, data)))
            yield Growth(name, job, tuple(sizes), tuple(seconds))


def growth_table(found: Sequence[Growth]) -> str:
    """The slowest first; `!` marks what is not linear."""
    head = ["shape", "", "s/MB", *(f"{size:g} MB" for size in found[0].sizes[1:]), ""]
    ordered = sorted(found, key=lambda growth: -growth.seconds[-1])
    rows = [
        [
            growth.shape,
            growth.job,
            f"{growth.seconds[-1] / growth.sizes[-1]:.3f}",
            *(f"{ratio:.2f}" for ratio in growth.ratios),
            "" if growth.is_linear else "!",
        ]
        for growth in ordered
    ]
    return table(head, rows)
