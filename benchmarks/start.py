"""What one page takes from the start of a process to its end, beside `import lxml.html` alone.

By the processor, in all programs together with the kernel's part: files are opened and mapped there. Byte code is kept
between the runs, as an installed package has it. Not on Windows, which does not say what a child took.
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

SIZE = 100_000  # bytes of the page, about
RUNS = 10  # for each that is asked for: a process is short
MOST = 2.0  # times what importing lxml.html takes
BESIDE = "import lxml.html"

_LIBRARY = "import sys, absolve; absolve.{0}(open(sys.argv[1], 'rb').read(), url='http://example.com/')"
_COMMAND = ("-m", "absolve")


class Taken(NamedTuple):
    """The seconds that each run of a program took, and how many times those of `BESIDE` that ran next to it."""

    program: str
    seconds: list[float]
    ratios: list[float]

    @property
    def is_little(self) -> bool:
        return self.program == BESIDE or median(self.ratios) <= MOST


def page(documents: Sequence[Document]) -> Document:
    """The one whose size is nearest to what is asked."""
    return min(documents, key=lambda document: abs(len(document.data) - SIZE))


def taken(document: Document, runs: int) -> list[Taken]:
    """Run each program once unmeasured, then all of them in turn."""
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
    import resource  # there is none on Windows

    environment = {**os.environ, "ABSOLVE_CONFIG": ""}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def start_table(found: Sequence[Taken]) -> str:
    """Milliseconds of the median run, and how many times `BESIDE`: the least, the median and the greatest of the runs."""
    rows = []
    for one in found:
        shown = [f"{ratio:.2f}" for ratio in (min(one.ratios), median(one.ratios), max(one.ratios))]
        rows.append([f"`{one.program}`", f"{median(one.seconds) * 1e3:.0f}", *shown])
    return table(("program", "ms", "min", "median", "max"), rows)
