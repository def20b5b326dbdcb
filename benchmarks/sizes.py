"""One document by its size and by its links: the time, how it grows, and the memory that a process takes at most."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import absolve
from absolve.formats import HTML
from benchmarks.corpus import URL, big
from benchmarks.measure import once, peak, table

MEGABYTES = (1, 10, 100)
LINKS = (10_000, 100_000, 1_000_000)
RUNS = 3
_MEMORY = f"""\
import sys, absolve
with open(sys.argv[1], "rb") as file:
    absolve.rewrite(file.read(), media_type={HTML!r}, url={URL!r})
"""


class Sized(NamedTuple):
    """One document: what it is, its bytes, the processor seconds of its rewrite, and megabytes of memory."""

    name: str
    size: int
    seconds: float
    memory: float


def sized() -> list[Sized]:
    """Pages of text and links joined into one document, and documents of nothing but links."""
    documents = {f"{megabytes} MB": big(megabytes)[0].data for megabytes in MEGABYTES}
    for count in LINKS:
        documents[f"{count:,} links"] = b"".join(b"<a href='p%d.html'>%d</a>\n" % (n, n) for n in range(count))
    return [Sized(name, len(data), _seconds(data), _memory(data)) for name, data in documents.items()]


def _seconds(data: bytes) -> float:
    return min(once(lambda: absolve.rewrite(data, media_type=HTML, url=URL)) for _ in range(RUNS))


def _memory(data: bytes) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.html"
        path.write_bytes(data)
        return peak(_MEMORY, str(path))


def sizes_table(found: list[Sized]) -> str:
    """The memory beyond 50 MB as so many times the document; a rewrite may take four times as much."""
    rows = [
        [
            document.name,
            f"{document.size / 1e6:.1f}",
            f"{document.seconds:.3f}",
            f"{document.size / document.seconds / 1e6:.1f}",
            f"{document.memory:.0f}",
            f"{max(document.memory - 50, 0) / (document.size / 1e6):.1f}",
        ]
        for document in found
    ]
    return table(("document", "MB", "s", "MB/s", "MB of memory", "beyond 50, by its size"), rows)
