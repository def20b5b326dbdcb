"""What hostile shapes take in memory: each is rewritten in a process of its own."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.hostile import SHAPES
from benchmarks.measure import peak, peak_and_words, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.makers import Shape

FREE = 50  # megabytes that any document may take
MOST = 4  # times its size, beyond those
_PROGRAM = """\
import sys, absolve
with open(sys.argv[1], "rb") as file:
    data = file.read()
known = {"media_type": sys.argv[2], "charset": sys.argv[3] or None, "url": "http://h.example/d/"}
size = 0
try:
    if sys.argv[4] == "rewrite":
        size = len(absolve.rewrite(data, **known))
    for row in absolve.links(data, **known) if sys.argv[4] == "links" else ():
        size = max(size, len(row.reference.encode()) + len((row.target or "").encode()))
except absolve.DocumentError:  # it stays as it is
    pass
print(size)
"""
_COMMAND = """\
import sys
from absolve.cli import main
main(["rewrite", sys.argv[1], "-o", sys.argv[2], "--url", "http://h.example/d/", *sys.argv[3:]])
"""
JOBS = ("rewrite", "links")


class Took(NamedTuple):
    """One shape: megabytes of the document, of what is made of it, of the most memory that its process had.

    What is made of it is what it becomes, or the longest reference and target in a row. The library gives back what
    it becomes; the command, which is measured where that is more than twice as large, need not hold it.
    """

    shape: str
    job: str
    size: float
    result: float
    memory: float

    @property
    def beyond(self) -> float:
        """Times its size, beyond what any document may take."""
        return max(self.memory - FREE, 0) / self.size


def taken(pattern: str, megabytes: float, jobs: Sequence[str] = JOBS) -> Iterator[Took]:
    """Each shape whose name matches, of so many megabytes; rewritten, and listed."""
    for name, shape in SHAPES.items():
        if re.search(pattern, name):
            data = shape.make(int(megabytes * 1e6))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "x"
                path.write_bytes(data)
                for job in jobs:
                    memory, words = peak_and_words(_PROGRAM, str(path), shape.media_type, shape.charset or "", job)
                    made = sum(map(int, words))
                    yield Took(name, job, len(data) / 1e6, made / 1e6, memory)
                    if job == "rewrite" and made > 2 * len(data):
                        yield Took(name, "command", len(data) / 1e6, made / 1e6, _commanded(shape, path))


def _commanded(shape: Shape, path: Path) -> float:
    """Megabytes that `absolve rewrite` takes to write what a document becomes into a file."""
    known = ["--media-type", shape.media_type, *(["--charset", shape.charset] if shape.charset else [])]
    return peak(_COMMAND, str(path), str(path.with_name("y")), *known)


def shapes_table(found: Sequence[Took]) -> str:
    """Those that take more than a document should, the worst first."""
    much = sorted((took for took in found if took.beyond > MOST), key=lambda took: -took.beyond)
    rows = [
        [took.shape, took.job, f"{took.size:.1f}", f"{took.result:.1f}", f"{took.memory:.0f}", f"{took.beyond:.1f}"]
        for took in much
    ]
    text = f"{len(much)} of {len(found)} take more than {MOST} times their size, beyond {FREE} MB."
    head = ("shape", "", "MB", "MB of its result", "MB of memory", "beyond 50, by its size")
    return f"{text}\n\n{table(head, rows)}" if rows else text
