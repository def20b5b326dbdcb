"""Measure rows per second and core: Spark's executors against one process of the local engine.

Both list the same files into Parquet with all columns. Figures are CPU time of all processes together, because
wall-clock time needs an otherwise idle machine. The cost of starting the cluster and loading its modules is reported separately.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.archives import units
from benchmarks.measure import table
from benchmarks.processes import Cost, cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from benchmarks.corpus import Document

CORES: Final = 2  # in the cluster
ARCHIVES: Final = 4 * CORES  # enough for all cores, so none is divided
TASKS: Final = "written by its tasks"
FRAME: Final = "a DataFrame, written by Spark"


class Engine(NamedTuple):
    """A Spark master, its number of cores, and what writes the rows: the tasks, or a DataFrame."""

    master: str
    cores: int
    writer: str = TASKS


ENGINES: Final = (
    Engine("local[1]", 1),
    Engine(f"local-cluster[{CORES},1,1024]", CORES),
    Engine(f"local-cluster[{CORES},1,1024]", CORES, FRAME),
)
NOTHING: Final = Cost(0, 0)
STORED: Final = "WARC files in S3"  # moto's server, whose processor time does not count


class Listed(NamedTuple):
    """The cost of one kind of input on one engine: the best run by CPU time."""

    name: str
    size: int
    rows: int
    where: str
    cores: int
    start: Cost
    cost: Cost


def compared(documents: Sequence[Document], megabytes: float, runs: int) -> Iterator[Listed]:
    """List a folder of pages and some WARC files, each of this many megabytes, with all engines in turn."""
    for name in ("pages in a folder", "WARC files", STORED):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "site"
            root.mkdir()
            size = (_pages if name.startswith("pages") else _archive)(root, documents, megabytes)
            if name == STORED:
                with _served(root) as url:
                    found = [
                        [_here(root), _here(root, url), *(_there(root, engine, url) for engine in ENGINES[:2])]
                        for _ in range(runs)
                    ]
            else:
                found = [[_here(root), *(_there(root, engine) for engine in ENGINES)] for _ in range(runs)]
            if len({one.rows for run in found for one in run}) > 1:
                raise ValueError(f"{name}: the engines returned different numbers of rows: {found}")
            for where in zip(*found, strict=True):
                yield min(where, key=lambda one: one.cost.processor)._replace(name=name, size=size)


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
    count = max(round(megabytes * 1e6 / len(records) / ARCHIVES), 1)
    for number in range(ARCHIVES):
        with (root / f"{number}.warc").open("wb") as file:
            file.writelines([records] * count)
    return ARCHIVES * count * len(records)


@contextmanager
def _served(root: Path) -> Iterator[str]:
    """Yield the URL of a copy of a folder in S3, from a server in a process of its own."""
    from absolve.run import buckets

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    os.environ.update(
        AWS_ACCESS_KEY_ID="who",
        AWS_SECRET_ACCESS_KEY="who",  # noqa: S106 - of nobody
        AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
        AWS_DEFAULT_REGION="us-east-1",
    )
    argv = [sys.executable, "-m", "moto.server", "-p", str(port)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _make_bucket()
            for path in root.iterdir():
                buckets.send(path, f"s3://bucket/site/{path.name}")
            yield "s3://bucket/site/"
        finally:
            server.terminate()


def _make_bucket() -> None:
    import s3fs

    for _ in range(100):
        try:
            s3fs.S3FileSystem().mkdir("bucket")
        except OSError:
            raise
        except Exception:  # noqa: BLE001 - the server has not started yet
            time.sleep(0.2)
        else:
            return


def _here(root: Path, url: str = "") -> Listed:
    from pyarrow import parquet

    out = root.parent / "local.parquet"
    found = cost(["links", url or str(root), "--quiet", "--jobs=1", "-o", str(out)], root.parent)
    where = "`--jobs 1`, from S3" if url else "`--jobs 1`"
    return Listed("", 0, parquet.read_metadata(out).num_rows, where, 1, NOTHING, found)


def _there(root: Path, engine: Engine, url: str = "") -> Listed:
    from pyarrow import parquet

    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        out = Path(folder) / "cluster.parquet"
        argv = [sys.executable, "-m", "benchmarks.cluster", url or str(root), str(out), *map(str, engine)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, check=True, text=True)
        start, found = (Cost(*one) for one in json.loads(done.stdout.splitlines()[-1]))
        rows = sum(parquet.read_metadata(part).num_rows for part in out.glob("*.parquet"))
    return Listed("", 0, rows, f"`{engine.master}`, {engine.writer}", engine.cores, start, found)


def run(path: str, output: str, master: str, cores: int, writer: str) -> None:
    """List on a cluster; print the costs of the start and of the listing as JSON."""
    from absolve import spark

    began = _now(NOTHING)
    with spark.session("benchmark", master) as session:
        _wait_for_executors(session, cores)
        start = _now(began)
        began = _now(NOTHING)
        if writer == TASKS:
            spark.write(session, path, output)
        else:
            made = spark.tables(session, path).kept()
            made.links.write.parquet(output)
            made.errors.collect()
        print(json.dumps((start, _now(began))))


def _wait_for_executors(session: SparkSession, cores: int) -> None:
    """Wait for the executors: each runs a task that imports the modules that later tasks need."""

    def imported(_: object) -> None:
        import absolve.spark  # noqa: F401
        from absolve.formats import registry
        from absolve.tables import parquet  # noqa: F401

        for name in registry.WALKERS:
            registry.walker(name)
        time.sleep(1)  # so that every executor gets a task

    session.sparkContext.parallelize(range(cores), cores).foreach(imported)


def _now(since: Cost) -> Cost:
    return Cost(time.perf_counter() - since.clock, _processor() - since.processor)


def _processor() -> float:
    """Return the CPU seconds of this process and all its descendants, including Java and the executors' Python."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:  # the process has ended
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
    """Return a table of costs: rows per second and core by CPU time, and their share of the local engine's."""
    head = ("", "MB", "rows", "", "start, s", "processor, s", "then, s", "processor, s", "rows/s a core", "share")
    lines = []
    local: Listed | None = None
    for found in results:
        is_local = local is None or found.name != local.name
        local = found if local is None or is_local else local
        what = [found.name, f"{found.size / 1e6:.0f}", f"{found.rows:,}"] if is_local else [""] * 3
        start = [""] * 2 if is_local else [f"{seconds:.0f}" for seconds in found.start]
        cost = [f"{seconds:.1f}" for seconds in found.cost]
        share = f"{local.cost.processor / found.cost.processor:.2f}"
        lines.append([*what, found.where, *start, *cost, f"{found.rows / found.cost.processor:,.0f}", share])
    return table(head, lines)


if __name__ == "__main__":
    path, output, master, cores, writer = sys.argv[1:]
    run(path, output, master, int(cores), writer)
