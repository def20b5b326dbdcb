"""Compare listing and rewriting a folder, and listing an archive, in one process and in two.

The ratio of wall-clock times needs an otherwise idle machine. The ratio of CPU times is what two free cores would give:
the whole cost of the run, process start included, divided between them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import archives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus import Document

PAGES = 5000
# Run the command in a subprocess that has no children but its workers.
_TIMED = "import os, sys; from absolve.cli import main; main(sys.argv[1:]); print(sum(os.times()[:4]))"


class Cost(NamedTuple):
    """Wall-clock seconds of one run, and CPU seconds of all its processes."""

    clock: float
    processor: float


class Compared(NamedTuple):
    """The costs of one command in one process and in two, run by run, and its input.

    `copied` are the wall-clock seconds of `cp -r` and `sync` of the same folder; empty for other commands and inputs.
    """

    command: str
    source: str
    one: list[Cost]
    two: list[Cost]
    copied: list[float]

    @property
    def by_copying(self) -> str:
        """How many times the clock of `cp -r` and `sync` the command takes, in two processes."""
        ratios = [two.clock / copied for two, copied in zip(self.two, self.copied, strict=False)]
        return f"{median(ratios):.2f}" if ratios else ""

    @property
    def by_clock(self) -> float:
        return median(one.clock / two.clock for one, two in zip(self.one, self.two, strict=True))

    @property
    def by_processor(self) -> float:
        return median(2 * one.processor / two.processor for one, two in zip(self.one, self.two, strict=True))


def compared(documents: Sequence[Document], runs: int, megabytes: float) -> list[Compared]:
    """List and rewrite 5,000 pages, and list a WARC file of this many megabytes, in one process and in two, in turn."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for number, document in enumerate(islice(cycle(documents), PAGES)):
            path = folder / "site" / f"{number % 50}" / f"{number}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(document.data)
        archive = folder / "x.warc.gz"
        members = archives.units()["compressed"]
        with archive.open("wb") as file:
            file.writelines([members] * max(round(megabytes * 1e6 / len(members)), 1))
        size = f"a WARC file of {megabytes:g} MB, compressed"
        results = []
        for command, source, name, output in (
            ("links", f"{PAGES:,} pages", "site", "links.csv"),
            ("rewrite", f"{PAGES:,} pages", "site", "out"),
            ("links", size, archive.name, "links.csv"),
        ):
            argv = [command, str(folder / name), "--url=http://example.com/", "--quiet", "-o"]
            found = Compared(command, source, [], [], [])
            for number in range(runs):
                found.one.append(cost([*argv, str(folder / f"1-{number}-{output}"), "--jobs=1"], folder))
                found.two.append(cost([*argv, str(folder / f"2-{number}-{output}"), "--jobs=2"], folder))
                if command == "rewrite":
                    found.copied.extend(copied(folder / name, folder / f"3-{number}-{output}"))
            results.append(found)
    return results


def cost(argv: list[str], folder: Path) -> Cost:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "ABSOLVE_CONFIG": ""}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, *argv], env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    return Cost(time.perf_counter() - began, float(done.stdout))


def copied(source: Path, target: Path) -> list[float]:
    """Return the wall-clock seconds of `cp -r` and `sync`; nothing where these programs are missing.

    Files are not removed between runs: ext4 searches longer for a free inode after that.
    """
    copy, sync = shutil.which("cp"), shutil.which("sync")
    if copy is None or sync is None:
        return []
    subprocess.run([sync], check=True)
    began = time.perf_counter()
    subprocess.run([copy, "-r", source, target], check=True)
    subprocess.run([sync], check=True)
    return [time.perf_counter() - began]


def processes_table(results: Sequence[Compared]) -> str:
    """Return the table of RESULTS.md."""
    lines = [
        "| command | of | one process (s) | two (s) | faster by the clock | by the processor | times `cp -r`, `sync` |",
        "|---|---|---|---|---|---|---|",
    ]
    for found in results:
        one, two = (median(cost.clock for cost in costs) for costs in (found.one, found.two))
        ratios = f"{found.by_clock:.2f} | {found.by_processor:.2f} | {found.by_copying}"
        lines.append(f"| `{found.command}` | {found.source} | {one:.1f} | {two:.1f} | {ratios} |")
    return "\n".join(lines)
