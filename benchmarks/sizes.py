"""Measure one document by its size and by its links: the time, its growth, and the peak memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import absolve
from absolve.formats.registry import HTML
from benchmarks.corpus import URL, big
from benchmarks.measure import once, table
from tests.shapes.memory import peak

MEGABYTES = (1, 10, 100)
LINKS = (10_000, 100_000, 1_000_000)
SHORTEST = 2_000_000  # of the fewest bytes possible, without quotes or text
RUNS = 3
SHORTEST_BASES = {
    f"{SHORTEST:,} `<a href=x>`, a base of {len(base)} bytes": base
    for base in ("http://h.example/d/", "https://example.org/directory/")
}
_MEMORY = f"""\
import sys, absolve
with open(sys.argv[1], "rb") as file:
    absolve.rewrite(file.read(), media_type={HTML!r}, url=sys.argv[2])
"""


class Sized(NamedTuple):
    """One document: its name, its bytes, those of its rewrite, the CPU seconds, and megabytes of memory."""

    name: str
    size: int
    result: int
    seconds: float
    memory: float


def sized() -> list[Sized]:
    """Measure pages of text and links joined into one document, and documents of nothing but links."""
    documents = {f"{megabytes} MB": big(megabytes)[0].data for megabytes in MEGABYTES}
    for count in LINKS:
        documents[f"{count:,} links"] = b"".join(b"<a href='p%d.html'>%d</a>\n" % (n, n) for n in range(count))
    found = [_sized(name, data, URL) for name, data in documents.items()]
    return [*found, *(_sized(name, b"<a href=x>" * SHORTEST, url) for name, url in SHORTEST_BASES.items())]


def _sized(name: str, data: bytes, url: str) -> Sized:
    return Sized(name, len(data), len(_rewritten(data, url)), _seconds(data, url), _memory(data, url))


def _rewritten(data: bytes, url: str) -> bytes:
    return absolve.rewrite(data, media_type=HTML, url=url)


def _seconds(data: bytes, url: str) -> float:
    return min(once(lambda: _rewritten(data, url)) for _ in range(RUNS))


def _memory(data: bytes, url: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.html"
        path.write_bytes(data)
        return peak(_MEMORY, str(path), url)


def sizes_table(found: list[Sized]) -> str:
    """Return a table: memory beyond 50 MB as a multiple of the document, and the part that no rewrite can avoid.

    A rewrite may take four times the document, unless document and result alone need more.
    """
    rows = [
        [
            document.name,
            f"{document.size / 1e6:.1f}",
            f"{document.seconds:.3f}",
            f"{document.size / document.seconds / 1e6:.1f}",
            f"{document.memory:.0f}",
            f"{max(document.memory - 50, 0) / (document.size / 1e6):.1f}",
            f"{1 + document.result / document.size:.1f}",
        ]
        for document in found
    ]
    return table(("document", "MB", "s", "MB/s", "MB of memory", "beyond 50, by its size", "it and its result"), rows)
