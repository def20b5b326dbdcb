"""Print how fast absolve is beside its peers, and how its time grows: `python -m benchmarks`, from the project's root.

What it races is the extra `bench`: pip install -e '.[bench]'. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import math
import os
import platform
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import absolve
from absolve.formats import html_scanner
from benchmarks import archives, cluster, corpus, growth, hostile, memory, peers, processes, sizes
from benchmarks.measure import race, race_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.corpus import Document
    from benchmarks.measure import Result
    from benchmarks.peers import Peer, Work

RESULTS = Path(__file__).with_name("RESULTS.md")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=10, help="how much of each corpus is taken (10)")
    parser.add_argument("--runs", type=int, default=3, help="interleaved runs of each race (3)")
    parts = ("races", "sizes", "processes", "archives", "memory", "spark", "growth")
    parser.add_argument("--only", choices=parts, help="one part of it; Spark's is done only so")
    parser.add_argument("--files", type=int, default=2000, help="files in the folder whose listing takes memory (2000)")
    parser.add_argument("--archive", type=float, default=0.2, help="gigabytes of the archive, likewise (0.2)")
    parser.add_argument("--sizes", default="0.25,0.5", help="megabytes of each hostile shape (0.25,0.5)")
    parser.add_argument(
        "--longest", type=float, default=math.inf, help="seconds beyond which a shape grows no further (no end)"
    )
    parser.add_argument("--shapes", default="", help="only hostile shapes whose names match this regular expression")
    parser.add_argument("--write", action="store_true", help="keep the tables in RESULTS.md as well")
    return parser.parse_args()


def races(megabytes: float, runs: int) -> Iterator[Result]:
    """Every race, one after the other."""
    pages, site = corpus.pages(megabytes), corpus.site(megabytes)
    yield raced("pages", pages, "absolve.rewrite", peers.rewrite, peers.ABSOLUTIZE, runs)
    yield raced("a few pages", corpus.pages(megabytes / 10), "absolve.rewrite", peers.rewrite, peers.SLOW, runs)
    yield raced("a site", site, "absolve.rewrite", peers.rewrite, peers.ABSOLUTIZE, runs)
    big = corpus.big(10 * megabytes)
    yield raced("one document", big, "absolve.rewrite", peers.rewrite, peers.ABSOLUTIZE, min(runs, 2))
    yield raced("tiny ones", corpus.tiny(10_000), "absolve.rewrite", peers.rewrite, peers.ABSOLUTIZE, runs)
    yield raced("pages, listed", pages, "absolve.links", peers.links, peers.LIST, runs)
    yield raced("pages, Arrow", pages, "absolve.arrow.links", peers.arrow, peers.LIST, runs)
    yield to_parquet(pages, runs)
    yield raced("a site, listed", site, "absolve.links", peers.links, peers.LIST, runs)
    yield raced("style sheets", corpus.sheets(), "absolve.rewrite", peers.rewrite_css, peers.SHEETS, runs)
    yield raced("pages, scanned", pages, "scanner and walker alone", peers.scan, [], runs)


def raced(name: str, documents: list[Document], label: str, ours: Work, others: list[Peer], runs: int) -> Result:
    works = peers.works(label, ours, others)
    documents = peers.able(works, documents)
    return race(name, corpus.size(documents), peers.jobs(works, documents), runs)


def to_parquet(documents: list[Document], runs: int) -> Result:
    """The rows of all documents in one file, beside listing each of them."""
    works = peers.works("absolve.links", peers.links, peers.LIST)
    documents = peers.able(works, documents)
    works.pop("absolve.links")
    jobs = {"absolve.sinks.parquet": partial(peers.parquet, documents)} | peers.jobs(works, documents)
    return race("pages, Parquet", corpus.size(documents), jobs, runs)


def machine() -> str:
    """The machine and the versions, without a path."""
    found = re.search(r"^model name\s*: (.*)", _read("/proc/cpuinfo"), re.MULTILINE)
    processor = found[1] if found else platform.processor() or platform.machine()
    compiled = (html_scanner.__file__ or "").endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
    lines = [
        f"{processor}, {os.cpu_count()} cores, {platform.system()}; {platform.python_implementation()} {sys.version.split()[0]}",
        f"absolve {absolve.__version__}, {'compiled' if compiled else 'interpreted'}",
        *(f"{name} {found or 'is not installed: left out'}" for name, found in peers.versions().items()),
        "documents: " + ("saved pages and sites" if corpus.SHARED.is_dir() else "generated, there is no ../shared"),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _read(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except OSError:
        return ""


def main() -> int:
    options = arguments()
    sections = [f"# Results\n\nWritten by `python -m benchmarks --write`; README.md says what is timed.\n\n{machine()}"]
    print(sections[0])
    if options.only in {None, "races"}:
        raced = race_table(list(races(options.megabytes, options.runs)))
        sections.append(f"## Beside the peers\n\nHow many times faster, over {options.runs} runs.\n\n{raced}")
        print(f"\n{sections[-1]}")
    status = 0
    if options.only in {None, "sizes"}:
        by_size = sizes.sizes_table(sizes.sized())
        sections.append(f"## One document\n\nRewritten, by its size and by its links.\n\n{by_size}")
        print(f"\n{sections[-1]}")
    if options.only in {None, "processes"}:
        found = processes.compared(corpus.pages(options.megabytes), max(options.runs // 5, 1))
        table = processes.processes_table(found)
        sections.append(f"## Two processes\n\n{processes.PAGES:,} pages in a folder, against one process.\n\n{table}")
        print(f"\n{sections[-1]}")
    if options.only in {None, "archives"}:
        found_archives = archives.archives_table(archives.measured(options.megabytes * 5))
        sections.append(f"## Archives\n\nWARC files of {options.megabytes * 5:.0f} MB.\n\n{found_archives}")
        print(f"\n{sections[-1]}")
    if options.only in {None, "memory"} and sys.platform == "linux":
        most = list(memory.taken(corpus.pages(options.megabytes * 10), options.files, options.archive))
        status = int(not all(found.is_little for found in most))
        sections.append(f"## Memory\n\nOf `absolve links`, at most.\n\n{memory.memory_table(most)}")
        print(f"\n{sections[-1]}")
    if options.only == "spark":
        runs = max(options.runs // 3, 1)
        found_cluster = cluster.compared(corpus.pages(options.megabytes), options.megabytes * 100, runs)
        table = cluster.cluster_table(found_cluster)
        sections.append(f"## Spark\n\nBeside one process; the best of {runs} by the processor.\n\n{table}")
        print(f"\n{sections[-1]}")
    if options.only in {None, "growth"}:
        names = [name for name in hostile.SHAPES if re.search(options.shapes, name)]
        shapes = list(growth.grown(names, [float(size) for size in options.sizes.split(",")], options.longest))
        status |= int(not all(grown.is_linear for grown in shapes))
        sections.append(f"## Growth\n\nTimes as much for each doubling.\n\n{growth.growth_table(shapes)}")
        print(f"\n{sections[-1]}")
    if options.write:
        RESULTS.write_text("\n\n".join(sections) + "\n", "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
