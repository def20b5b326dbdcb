"""Measure one page in a whole process, from start to exit, against `import lxml.html` alone.

Figures are CPU time of all processes with the kernel's part, which opens and maps files. Byte code is cached between
runs, as in an installed package. Not on Windows, which does not report the CPU time of children.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus import Document

SIZE = 100_000  # approximate bytes of the page
RUNS = 10  # for each one of `--runs`: a process is short
MOST = 2.0  # times the CPU time of importing lxml.html
MOST_OF_A_REWRITE = 1.7
BESIDE = "import lxml.html"

_LIBRARY = "import sys, absolve; absolve.{0}(open(sys.argv[1], 'rb').read(), url='http://example.com/')"
_COMMAND = ("-m", "absolve")


class Taken(NamedTuple):
    """The seconds of each run of a program, and their ratios to the run of `BESIDE` next to it."""

    program: str
    seconds: list[float]
    ratios: list[float]

    @property
    def is_little(self) -> bool:
        most = MOST_OF_A_REWRITE if "rewrite" in self.program else MOST
        return self.program == BESIDE or median(self.ratios) <= most


def page(documents: Sequence[Document]) -> Document:
    """Return the document whose size is nearest to `SIZE`."""
    return min(documents, key=lambda document: abs(len(document.data) - SIZE))


def taken(document: Document, runs: int) -> list[Taken]:
    """Run each program once as a warm-up, then all of them in turn."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, "page.html")
        path.write_bytes(document.data)
        output = str(Path(temporary, "absolute.html"))
        known = (str(path), "--url=http://example.com/", "--quiet")
        programs = {
            BESIDE: ("-c", BESIDE),
            "absolve rewrite": (*_COMMAND, "rewrite", *known),
            "absolve rewrite -o": (*_COMMAND, "rewrite", *known, "-o", output),
            "absolve links": (*_COMMAND, "links", *known),
            "absolve base": (*_COMMAND, "base", str(path), "--url=http://example.com/"),
            "absolve.rewrite": ("-c", _LIBRARY.format("rewrite"), str(path)),
            "absolve.links": ("-c", _LIBRARY.format("links"), str(path)),
            "nothing": ("-c", "pass"),
        }
        seconds: dict[str, list[float]] = {name: [] for name in programs}
        for run in range(runs * RUNS + 1):
            for name, arguments in programs.items():
                took = _seconds(arguments, temporary)
                if run:
                    seconds[name].append(took)
    beside = seconds[BESIDE]
    return [
        Taken(name, times, [one / other for one, other in zip(times, beside, strict=True)])
        for name, times in seconds.items()
    ]


def _seconds(arguments: Sequence[str], folder: str) -> float:
    import resource  # not on Windows

    environment = {**os.environ, "ABSOLVE_CONFIG": ""}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def start_table(found: Sequence[Taken]) -> str:
    """Return a table: milliseconds of the median run, and the minimum, median and maximum ratio to `BESIDE`."""
    rows = []
    for one in found:
        shown = [f"{ratio:.2f}" for ratio in (min(one.ratios), median(one.ratios), max(one.ratios))]
        rows.append([f"`{one.program}`", f"{median(one.seconds) * 1e3:.0f}", *shown])
    return table(("program", "ms", "min", "median", "max"), rows)
