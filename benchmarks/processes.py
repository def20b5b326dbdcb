"""How much faster a folder is listed and rewritten by two processes than by one: by the clock, and by the processor.

The clock's ratio wants a machine that does nothing else. The processor's is what two free cores would come to: all that
the run cost, its starts included, shared between them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus import Document

PAGES = 5000
# Runs the command in a process of its own, whose children are its workers and nothing else.
_TIMED = "import os, sys; from absolve.cli import main; main(sys.argv[1:]); print(sum(os.times()[:4]))"


class Cost(NamedTuple):
    """Seconds of one run: of the clock, and of the processor in all processes together."""

    clock: float
    processor: float


class Compared(NamedTuple):
    """One command's costs in one process and in two, run by run."""

    command: str
    one: list[Cost]
    two: list[Cost]

    @property
    def by_clock(self) -> float:
        return median(one.clock / two.clock for one, two in zip(self.one, self.two, strict=True))

    @property
    def by_processor(self) -> float:
        return median(2 * one.processor / two.processor for one, two in zip(self.one, self.two, strict=True))


def compared(documents: Sequence[Document], runs: int) -> list[Compared]:
    """List and rewrite 5,000 pages, in one process and in two, in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, document in enumerate(islice(cycle(documents), PAGES)):
            path = folder / "site" / f"{number % 50}" / f"{number}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(document.data)
        results = []
        for command, output in (("links", "links.csv"), ("rewrite", "out")):
            argv = [command, str(folder / "site"), "--url=http://example.com/", "--quiet", "-o", str(folder / output)]
            found = Compared(command, [], [])
            for _ in range(runs):
                found.one.append(cost([*argv, "--jobs=1"], folder))
                found.two.append(cost([*argv, "--jobs=2"], folder))
            results.append(found)
    return results


def cost(argv: list[str], folder: Path) -> Cost:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "ABSOLVE_CONFIG": ""}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, *argv], env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    return Cost(time.perf_counter() - began, float(done.stdout))


def processes_table(results: Sequence[Compared]) -> str:
    """The table of RESULTS.md."""
    lines = [
        "| command | one process (s) | two (s) | faster by the clock | by the processor |",
        "|---|---|---|---|---|",
    ]
    for found in results:
        one, two = (median(cost.clock for cost in costs) for costs in (found.one, found.two))
        ratios = f"{found.by_clock:.2f} | {found.by_processor:.2f}"
        lines.append(f"| `{found.command}` | {one:.1f} | {two:.1f} | {ratios} |")
    return "\n".join(lines)
