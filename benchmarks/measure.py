"""Time competitors in one process, in interleaved runs, so that other load affects all of them alike.

Times are CPU time (`time.process_time`), not wall-clock time: other programs on the same cores do not count.
"""

from __future__ import annotations

import gc
import time
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Job = Callable[[], object]


class Timing(NamedTuple):
    """The CPU seconds of one competitor in each run."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)


class Result(NamedTuple):
    """One workload: its bytes, and the competitors' times, ours first."""

    workload: str
    size: int
    timings: tuple[Timing, ...]

    def speed(self, timing: Timing) -> float:
        """Return megabytes per second in the median run."""
        return self.size / timing.median / 1e6

    def ratios(self, timing: Timing) -> list[float]:
        """Return how many times faster absolve was, for each run."""
        return [theirs / ours for theirs, ours in zip(timing.seconds, self.timings[0].seconds, strict=True)]


def once(job: Job) -> float:
    """Return the CPU seconds of one run, without the collection of earlier garbage."""
    gc.collect()
    began = time.process_time()
    job()
    return max(time.process_time() - began, 1e-9)


def race(workload: str, size: int, jobs: Mapping[str, Job], runs: int) -> Result:
    """Run every job once as a warm-up, then all of them in turn, `runs` times."""
    for job in jobs.values():
        job()
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(runs):
        for name, job in jobs.items():
            seconds[name].append(once(job))
    return Result(workload, size, tuple(Timing(name, tuple(times)) for name, times in seconds.items()))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return f"| {first[0]:<{first[1]}} | " + " | ".join(f"{cell:>{width}}" for cell, width in others) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(head), line(rule), *map(line, rows)])


def race_table(results: Sequence[Result]) -> str:
    """Return a table of speeds, with the minimum, median and maximum ratio of the runs."""
    rows = []
    for result in results:
        ours, *others = result.timings
        rows.append([result.workload, f"{result.size / 1e6:.1f}", ours.name, f"{result.speed(ours):.1f}", "", "", ""])
        for timing in others:
            ratios = result.ratios(timing)
            shown = [f"{ratio:.2f}" for ratio in (min(ratios), median(ratios), max(ratios))]
            rows.append(["", "", timing.name, f"{result.speed(timing):.1f}", *shown])
    return table(("workload", "MB", "", "MB/s", "min", "median", "max"), rows)
