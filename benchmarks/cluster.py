"""Rows a second of each core: from Spark's executors, beside those from the processes of the local engine.

Both list the same files into Parquet. What counts is the processor's time in all processes together: the clock's wants a
machine that does nothing else. Spark's begins when the cluster stands, which takes some seconds whatever there is to do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.archives import units
from benchmarks.measure import table
from benchmarks.processes import Cost, cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.corpus import Document

CORES = 2
MASTER = f"local-cluster[{CORES},1,1024]"


class Listed(NamedTuple):
    """One kind of input: its bytes and its rows, and what it cost here and there."""

    name: str
    size: int
    rows: int
    local: Cost
    cluster: Cost

    @property
    def share(self) -> float:
        """How many of the local engine's rows Spark makes in the same time of the processor."""
        return self.local.processor / self.cluster.processor


def compared(documents: Sequence[Document], megabytes: float) -> Iterator[Listed]:
    """List so many megabytes of pages in a folder, and of records in WARC files, one for each core."""
    for name in ("pages in a folder", "WARC files"):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "site"
            root.mkdir()
            size = (_pages if name.startswith("pages") else _archive)(root, documents, megabytes)
            yield _compared(name, size, root)


def _pages(root: Path, documents: Sequence[Document], megabytes: float) -> int:
    size = 0
    for number, document in enumerate(cycle(documents)):
        if size >= megabytes * 1e6:
            break
        path = root / f"{number % 50}" / f"{number}.html"
        path.parent.mkdir(exist_ok=True)
        size += path.write_bytes(document.data)
    return size


def _archive(root: Path, _: Sequence[Document], megabytes: float) -> int:
    records = units()["not compressed"]
    count = max(round(megabytes * 1e6 / len(records) / CORES), 1)
    for number in range(CORES):
        with (root / f"{number}.warc").open("wb") as file:
            file.writelines([records] * count)
    return CORES * count * len(records)


def _compared(name: str, size: int, root: Path) -> Listed:
    from pyarrow import parquet

    out = root.parent / "local.parquet"
    local = cost(["links", str(root), "--quiet", f"--jobs={CORES}", "-o", str(out)], root.parent)
    rows = parquet.read_metadata(out).num_rows
    argv = [sys.executable, "-m", "benchmarks.cluster", str(root), str(root.parent / "cluster.parquet")]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    if found["rows"] != rows:
        raise ValueError(f"{name}: {found['rows']:,} rows from the cluster, {rows:,} from here")
    return Listed(name, size, rows, local, Cost(found["clock"], found["processor"]))


def run(path: str, output: str) -> None:
    """List on a cluster as the command does; the cost is printed as JSON."""
    from pyarrow import parquet

    from absolve import spark

    with spark.session("benchmark", MASTER) as session:
        clock, processor = time.perf_counter(), _processor()
        made = spark.tables(session, path).kept()
        spark.save(made.links, output, "parquet")
        made.errors.collect()
        clock, processor = time.perf_counter() - clock, _processor() - processor
    rows = parquet.ParquetDataset(output).read(columns=["line"]).num_rows
    print(json.dumps({"clock": clock, "processor": processor, "rows": rows}))


def _processor() -> float:
    """Seconds of the processor in this process and all that came of it, Java's and the executors' Python too."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        number = int(path.parent.name)
        parents[number] = int(fields[1])
        ticks[number] = sum(map(int, fields[11:15]))  # proc(5): utime, stime, and those of children that ended

    def is_ours(number: int) -> bool:
        while number not in {0, os.getpid()}:
            number = parents.get(number, 0)
        return number != 0

    return sum(ticks[number] for number in ticks if is_ours(number)) / os.sysconf("SC_CLK_TCK")


def cluster_table(results: Iterator[Listed]) -> str:
    """Rows a second of each core, by the processor and by the clock, and what Spark's are of the local engine's."""
    head = ("", "MB", "rows", "rows/s a core", "Spark's", "share", "by the clock", "Spark's")
    lines = []
    for found in results:
        by_processor = [f"{found.rows / one.processor:,.0f}" for one in (found.local, found.cluster)]
        by_clock = [f"{found.rows / one.clock / CORES:,.0f}" for one in (found.local, found.cluster)]
        size = f"{found.size / 1e6:.0f}"
        lines.append([found.name, size, f"{found.rows:,}", *by_processor, f"{found.share:.2f}", *by_clock])
    return table(head, lines)


if __name__ == "__main__":
    run(*sys.argv[1:])
