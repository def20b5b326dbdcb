"""Measure the peak memory of each process of `absolve links`, over a folder of many files and over a large archive.

The command runs as a user would run it. Meanwhile the kernel's peak of each process (VmHWM) is polled. It never falls,
so only what a process allocates just before it ends can be missed. Linux only.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.archives import record
from benchmarks.measure import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.corpus import Document

FORMATS = ("jsonl", "csv", "sqlite", "parquet")
LIMIT = 400  # megabytes
EVERY = 0.02  # seconds between two polls
_IN_A_FOLDER = 1000


class Taken(NamedTuple):
    """One run: its input, format, bytes read and written, and peak memory in megabytes.

    `parent` is the process that the user starts; `worker` is the largest of the others, 0 without workers.
    """

    what: str
    format: str
    read: int
    written: int
    parent: float
    worker: float

    @property
    def is_little(self) -> bool:
        """Return whether each process stayed below 400 MB."""
        return max(self.parent, self.worker) < LIMIT


def taken(documents: Sequence[Document], files: int, gigabytes: float) -> Iterator[Taken]:
    """List a folder of this many files, and an archive of this many gigabytes, into each format."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = _files(folder / "site", documents, files)
        for format_ in FORMATS:
            yield _listed(f"{files:,} files", folder / "site", size, format_)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.warc"
        size = _archive(path, documents, gigabytes * 1e9)
        for format_ in FORMATS:
            yield _listed(f"a WARC file of {gigabytes:g} GB", path, size, format_)


def _files(root: Path, documents: Sequence[Document], number: int) -> int:
    size = 0
    for index, document in enumerate(islice(cycle(documents), number)):
        path = root / f"{index // _IN_A_FOLDER}" / f"{index}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_bytes(document.data)
    return size


def _archive(path: Path, documents: Sequence[Document], size: float) -> int:
    with path.open("wb") as file:
        for document in cycle(documents):
            if file.tell() >= size:
                return file.tell()
            file.write(record(document.data, document.url))
    raise ValueError("there are no documents")


def _listed(what: str, source: Path, size: int, format_: str) -> Taken:
    output = source.with_name(f"links.{format_}")
    argv = [sys.executable, "-m", "absolve", "links", str(source), "--url=http://example.com/", "--quiet", "-o", str(output)]
    # Some real pages are rejected, which is reported for each, and makes the exit status 3.
    with subprocess.Popen(argv, env={**os.environ, "ABSOLVE_CONFIG": ""}, stderr=subprocess.DEVNULL) as run:
        most = _watched(run)
    if run.returncode not in {0, 3}:
        raise subprocess.CalledProcessError(run.returncode, argv)
    written = output.stat().st_size
    output.unlink()
    parent = most.pop(run.pid)
    return Taken(what, format_, size, written, parent, max(most.values(), default=0.0))


def _watched(run: subprocess.Popen[bytes]) -> dict[int, float]:
    """Return the peak megabytes of a process and of its descendants by process id, once it has ended."""
    most: dict[int, float] = {}
    while run.poll() is None:
        for number in _below(run.pid):
            if (mark := _mark(number)) is not None:
                most[number] = mark
        time.sleep(EVERY)
    return most


def _below(number: int) -> Iterator[int]:
    """Yield the id of a process and of its descendants."""
    yield number
    for path in Path(f"/proc/{number}/task").glob("*/children"):
        for child in _read(path).split():
            yield from _below(int(child))


def _mark(number: int) -> float | None:
    found = re.search(r"^VmHWM:\s+(\d+) kB", _read(Path(f"/proc/{number}/status")), re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended
        return ""


def memory_table(results: Sequence[Taken]) -> str:
    """Return a table of the megabytes of each process; a run without workers has only the parent."""
    head = ("inputs", "format", "MB read", "MB written", "MB of the command", "of its largest worker")
    rows = [
        [
            found.what,
            found.format,
            f"{found.read / 1e6:,.0f}",
            f"{found.written / 1e6:,.0f}",
            f"{found.parent:.0f}",
            f"{found.worker:.0f}" if found.worker else "",
        ]
        for found in results
    ]
    return table(head, rows)
