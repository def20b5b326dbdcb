"""Measure WARC files against fastwarc, which only reads their records, and the memory of listing them.

The file is on disk. It repeats the records of a real file, or of a generated one where no real file exists.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from absolve.document.settings import Settings
from absolve.formats.warc.reader import pieces
from absolve.inventory import columns as inventory
from absolve.inventory import link_rows
from absolve.run.links_task import AT_ONCE
from absolve.run.load import archive_segments
from benchmarks.corpus import SHARED, generated
from benchmarks.measure import race, table
from tests.shapes.memory import peak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmarks.measure import Result

ARCHIVE = SHARED / "warc/pywb/sample_archive/warcs/iana.warc.gz"
RUNS = 3
_COMMAND = "import sys; from absolve.cli import main; main(sys.argv[1:])"


class Measured(NamedTuple):
    """One file: its times, and the megabytes of memory that listing it takes."""

    result: Result
    memory: float


def measured(megabytes: float) -> Iterator[Measured]:
    """Measure a file of this many megabytes of records, compressed and not compressed."""
    for name, records in units().items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.warc.gz"
            size = len(gzip.decompress(records)) if records.startswith(b"\x1f\x8b") else len(records)
            count = max(round(megabytes * 1e6 / size), 1)
            with path.open("wb") as file:
                file.writelines([records] * count)
            yield Measured(race(name, size * count, _jobs(path), RUNS), _memory(path))


def units() -> Mapping[str, bytes]:
    """Return records that are compressed one by one, and the same records uncompressed."""
    if ARCHIVE.is_file():
        members = ARCHIVE.read_bytes()
        return {"compressed": members, "not compressed": gzip.decompress(members)}
    records = [record(document.data, document.url) for document in generated(1)]
    return {"compressed": b"".join(map(gzip.compress, records)), "not compressed": b"".join(records)}


def record(page: bytes, url: str, http_fields: str = "") -> bytes:
    """Return a page as an uncompressed WARC record; `http_fields` are more header fields of the response, as lines."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%b\r\n" % http_fields.encode() + page
    fields = f"WARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\n"
    return f"WARC/1.1\r\n{fields}Content-Length: {len(http)}\r\n\r\n".encode() + http + b"\r\n\r\n"


def _jobs(path: Path) -> dict[str, Callable[[], object]]:
    def read() -> None:
        from fastwarc.warc import ArchiveIterator

        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                record.reader.read()

    def cut() -> None:
        with path.open("rb") as file:
            for _ in pieces(file, Settings().max_decompressed):
                pass

    def walked(columns: inventory.Columns | None) -> None:
        with path.open("rb") as file:
            for stretch in archive_segments(file, "x.warc", Settings()):
                if columns is not None and stretch.entity is not None:
                    for _ in link_rows.fill(columns, stretch.entity):
                        pass  # the columns were full, and are emptied here

    return {
        "fastwarc reads": read,
        "absolve cuts": cut,
        "absolve walks": lambda: walked(None),
        "absolve lists": lambda: walked(inventory.Columns(AT_ONCE)),
    }


def _memory(path: Path) -> float:
    return peak(_COMMAND, "links", str(path), "--quiet", "-o", str(path.with_suffix(".csv")))


def archives_table(results: Iterator[Measured]) -> str:
    """Return a table: MB/s of records, the share of fastwarc's speed, and the peak memory of the command."""
    rows = []
    for measured in results:
        result = measured.result
        reference = result.timings[0]
        for timing in result.timings:
            share = f"{reference.median / timing.median:.0%}"
            rows.append([result.workload, timing.name, f"{result.speed(timing):.1f}", share, ""])
        rows[-1][-1] = f"{measured.memory:.0f}"
    return table(("records", "", "MB/s", "of fastwarc's", "MB at most"), rows)
