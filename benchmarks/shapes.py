"""Report the memory that hostile shapes take, each rewritten and listed in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.measure import table
from tests.shapes.memory import FREE, MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.shapes.memory import Took


def shapes_table(found: Sequence[Took]) -> str:
    """Return a table of the shapes above the limit, the worst first."""
    much = sorted((took for took in found if took.beyond > MOST), key=lambda took: -took.beyond)
    rows = [
        [took.shape, took.job, f"{took.size:.1f}", f"{took.result:.1f}", f"{took.memory:.0f}", f"{took.beyond:.1f}"]
        for took in much
    ]
    text = f"{len(much)} of {len(found)} take more than {MOST} times their size, beyond {FREE} MB."
    head = ("shape", "", "MB", "MB of its result", "MB of memory", "beyond 50, by its size")
    return f"{text}\n\n{table(head, rows)}" if rows else text
