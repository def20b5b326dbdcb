"""Measure the speed of absolve, beside other libraries and by document size: `python -m benchmarks`, from the root.

The other libraries are in the extra `bench`: pip install -e '.[bench]'. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import math
import os
import platform
import re
import shlex
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import absolve
from absolve.formats.html import tokenizer
from benchmarks import (
    alike,
    archives,
    corpus,
    formats,
    growth,
    live,
    memory,
    peers,
    processes,
    shapes,
    sites,
    sizes,
    start,
)  # fmt: skip
from benchmarks.measure import race, race_table
from benchmarks.results import merged, section
from tests.shapes.hostile import SHAPES
from tests.shapes.memory import taken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.corpus import Document
    from benchmarks.measure import Result
    from benchmarks.peers import Peer, Work

    Found = tuple[str, bool]  # the text of a part, and whether it met its limits

COMMAND = "python -m benchmarks"
RESULTS = Path(__file__).with_name("RESULTS.md")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=10, help="size of each corpus, in megabytes (10)")
    parser.add_argument("--runs", type=int, default=3, help="interleaved runs of each race (3)")
    parser.add_argument("--only", choices=PARTS, help="run one part; live and shapes run only with this option")
    parser.add_argument("--files", type=int, default=2000, help="number of files for the part memory (2000)")
    parser.add_argument("--archive", type=float, default=0.2, help="gigabytes of the archive for the part memory (0.2)")
    parser.add_argument("--sizes", default="0.25,0.5", help="sizes of each hostile shape, in megabytes (0.25,0.5)")
    parser.add_argument(
        "--longest", type=float, default=math.inf, help="skip sizes of a shape beyond this many seconds (no limit)"
    )
    parser.add_argument("--shapes", default="", help="only hostile shapes whose names match this regular expression")
    parser.add_argument("--write", action="store_true", help="write the tables of the parts that run to RESULTS.md")
    options = parser.parse_args()
    if options.write and options.shapes:
        parser.error("--write needs the table of all shapes: remove --shapes")
    return options


def races(megabytes: float, runs: int) -> Iterator[Result]:
    """Run every race of HTML and CSS, in order."""
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


def races_of_xml(runs: int) -> Iterator[Result]:
    """Race over the small XML files of the corpus, and over one large document of each of three kinds."""
    small = corpus.markup()
    yield raced("XML files", small, "absolve.rewrite", peers.rewrite_xml, peers.XML_ABSOLUTIZE, runs)
    yield raced("XML files, listed", small, "absolve.links", peers.links_xml, peers.XML_LIST, runs)
    large = {"a feed": corpus.feed(2), "a sitemap": corpus.sitemap(2), "XHTML": corpus.chapter(2)}
    for name, document in large.items():
        yield raced(name, [document], "absolve.rewrite", peers.rewrite_xml, peers.XML_ABSOLUTIZE, runs)
        yield raced(f"{name}, listed", [document], "absolve.links", peers.links_xml, peers.XML_LIST, runs)


def raced(name: str, documents: list[Document], label: str, ours: Work, others: list[Peer], runs: int) -> Result:
    works = peers.works(label, ours, others)
    documents = peers.able(works, documents)
    return race(name, corpus.size(documents), peers.jobs(works, documents), runs)


def to_parquet(documents: list[Document], runs: int) -> Result:
    """Race writing the rows of all documents into one file, against listing each document."""
    works = peers.works("absolve.links", peers.links, peers.LIST)
    documents = peers.able(works, documents)
    works.pop("absolve.links")
    jobs = {"absolve.tables.parquet": partial(peers.parquet, documents)} | peers.jobs(works, documents)
    return race("pages, Parquet", corpus.size(documents), jobs, runs)


def raced_all(options: argparse.Namespace) -> Found:
    table = race_table(list(races(options.megabytes, options.runs)))
    return f"How many times faster, over {options.runs} runs.\n\n{table}", True


def raced_xml(options: argparse.Namespace) -> Found:
    table = race_table(list(races_of_xml(options.runs)))
    return f"How many times faster, over {options.runs} runs.\n\n{table}", True


def raced_profiles(options: argparse.Namespace) -> Found:
    table = race_table(list(formats.profiles(options.megabytes, options.runs)))
    return f"How many times faster, over {options.runs} runs.\n\n{table}", True


def raced_formats(options: argparse.Namespace) -> Found:
    found = [*formats.formats(options.megabytes, options.runs), *formats.small(options.runs)]
    return f"How many times faster, over {options.runs} runs.\n\n{race_table(found)}", True


def sized(_options: argparse.Namespace) -> Found:
    return f"Rewritten, by its size and by its links.\n\n{sizes.sizes_table(sizes.sized())}", True


def of_start(options: argparse.Namespace) -> Found:
    page = start.page(corpus.pages(options.megabytes))
    found = start.taken(page, options.runs)
    size = f"{len(page.data) / 1e3:.0f} KB"
    text = f"A page of {size}, whole processes: times what `{start.BESIDE}` takes, over {options.runs * start.RUNS} runs."
    return f"{text}\n\n{start.start_table(found)}", all(taken.is_little for taken in found)


def of_processes(options: argparse.Namespace) -> Found:
    runs = max(options.runs // 5, 1)
    found = processes.compared(corpus.pages(options.megabytes), runs, options.megabytes * 5)
    return f"A folder of pages and one archive, against one process.\n\n{processes.processes_table(found)}", True


def of_archives(options: argparse.Namespace) -> Found:
    megabytes = options.megabytes * 5
    return f"WARC files of {megabytes:.0f} MB.\n\n{archives.archives_table(archives.measured(megabytes))}", True


def of_memory(options: argparse.Namespace) -> Found:
    found = list(memory.taken(corpus.pages(options.megabytes * 10), options.files, options.archive))
    return f"Of `absolve links`, at most.\n\n{memory.memory_table(found)}", all(taken.is_little for taken in found)


def of_sites(options: argparse.Namespace) -> Found:
    found = sites.costs(options.runs)
    return f"Whole processes, the median of {options.runs} runs.\n\n{sites.sites_table(found)}", True


def of_growth(options: argparse.Namespace) -> Found:
    names = [name for name in SHAPES if re.search(options.shapes, name)]
    found = list(growth.grown(names, [float(size) for size in options.sizes.split(",")], options.longest))
    table = growth.growth_table(found) if found else ""
    of_audits, is_fine = alike.alike_table([name for name in alike.SHAPES if re.search(options.shapes, name)])
    text = f"Times as much for each doubling.\n\n{table}\n\nAudits of pages that are alike.\n\n{of_audits}"
    return text, is_fine and all(grown.is_linear for grown in found)


def of_shapes(options: argparse.Namespace) -> Found:
    found = list(taken(options.shapes, max(map(float, options.sizes.split(",")))))
    return f"Each rewritten, and listed, in a process of its own.\n\n{shapes.shapes_table(found)}", True


class Part(NamedTuple):
    """One section of the results: its title, and the function that returns its text and whether it met its limits."""

    title: str
    run: Callable[[argparse.Namespace], Found]
    is_asked: bool = False  # whether it runs only with --only


PARTS = {
    "races": Part("Beside the peers", raced_all),
    "xml": Part("XML", raced_xml),
    "profiles": Part("Profiles", raced_profiles),
    "formats": Part("Formats", raced_formats),
    "sizes": Part("One document", sized),
    "start": Part("One page", of_start, is_asked=sys.platform == "win32"),
    "processes": Part("Two processes", of_processes),
    "archives": Part("Archives", of_archives),
    "sites": Part("Mirror and audit", of_sites, is_asked=sys.platform != "linux"),
    "memory": Part("Memory", of_memory, is_asked=sys.platform != "linux"),
    "live": Part("Links that are asked for", lambda options: live.main(max(options.runs // 3, 1)), is_asked=True),
    "growth": Part("Growth", of_growth),
    "shapes": Part("Memory of hostile shapes", of_shapes, is_asked=True),
}


def measured() -> str:
    """Return one line with the date, the command, the machine and the versions, without any path."""
    found = re.search(r"^model name\s*: (.*)", _read("/proc/cpuinfo"), re.MULTILINE)
    processor = found[1] if found else platform.processor() or platform.machine()
    compiled = (tokenizer.__file__ or "").endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
    facts = [
        f"{processor}, {os.cpu_count()} cores, {platform.system()}",
        f"{platform.python_implementation()} {sys.version.split()[0]}",
        f"absolve {absolve.__version__}, {'compiled' if compiled else 'interpreted'}",
        ", ".join(f"{name} {found or '(not there)'}" for name, found in peers.versions().items()),
        "saved pages and sites" if corpus.SHARED.is_dir() else "generated documents, there is no ../shared",
    ]
    command = shlex.join([*COMMAND.split(), *(word for word in sys.argv[1:] if word != "--write")])
    return f"Measured on {time.strftime('%Y-%m-%d')} by `{command}`: {'; '.join(facts)}."


def _read(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except OSError:
        return ""


def main() -> int:
    options = arguments()
    line = measured()
    print(line)
    status = 0
    for name, part in PARTS.items():
        if options.only != name and (options.only or part.is_asked):
            continue
        text, is_good = part.run(options)
        status |= not is_good
        print(f"\n## {part.title}\n\n{text}", flush=True)
        if options.write:  # after each part: a later one may take an hour
            RESULTS.write_text(merged(_read(str(RESULTS)), section(part.title, line, text)), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
