"""Peak memory of processes: of any program, and of absolve for hostile shapes. Linux only."""

import re
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.shapes.hostile import SHAPES
from tests.shapes.makers import Shape

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
T = TypeVar("T")

# The peak of a subprocess: the value of `resource` would start at that of the parent process.
_PEAK = """
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("VmHWM:")))
"""


def traced(work: Callable[[], T]) -> tuple[T, int]:
    """Return what a call returns, and the most bytes that Python had allocated during it."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def peak(program: str, *arguments: str) -> float:
    """Return the peak megabytes of a subprocess that runs a program with these arguments; nan except on Linux."""
    return peak_and_words(program, *arguments)[0]


def peak_and_words(program: str, *arguments: str) -> tuple[float, list[str]]:
    """Return the same, and the words that the program prints."""
    if sys.platform != "linux":
        return float("nan"), []
    argv = [sys.executable, "-c", program + _PEAK, *arguments]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True, text=True)
    *words, most = done.stdout.split()
    return int(most) * 1024 / 1e6, words


class Took(NamedTuple):
    """One shape: megabytes of the document, of its result, and of the peak memory of its process.

    The result is the rewritten document, or the longest reference and target in a row. The library returns it whole;
    the command, which is measured where it is more than twice the document, need not hold it.
    """

    shape: str
    job: str
    size: float
    result: float
    memory: float

    @property
    def beyond(self) -> float:
        """Return the peak beyond the memory for any document, divided by the size."""
        return max(self.memory - FREE, 0) / self.size


def taken(pattern: str, megabytes: float, jobs: Sequence[str] = JOBS) -> Iterator[Took]:
    """Yield each shape whose name matches, at this many megabytes, rewritten and listed."""
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
    """Return the peak megabytes of `absolve rewrite` with a file as its output."""
    known = ["--media-type", shape.media_type, *(["--charset", shape.charset] if shape.charset else [])]
    return peak(_COMMAND, str(path), str(path.with_name("y")), *known)
