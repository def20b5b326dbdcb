"""Measure `mirror` and `audit` as whole processes: processor seconds with their workers, and the peak memory.

Six pages show what starting costs, a site what each page costs. Both are read from a folder, and from a WARC file.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.archives import record
from benchmarks.corpus import SHARED, generated
from benchmarks.measure import table
from tests.shapes.memory import peak_and_words

if TYPE_CHECKING:
    from collections.abc import Iterator

SITE: Final = SHARED / "sites" / "git-doc"
URL: Final = "https://site.example/"
_PROGRAM: Final = """\
import os, sys
sys.dont_write_bytecode = False  # byte code is cached between runs, as in an installed package
os.chdir(sys.argv[1])
os.environ.update(ABSOLVE_CONFIG="", XDG_STATE_HOME=os.path.abspath("state"))
from absolve.cli import main
main([*sys.argv[2:], "--quiet"])
print(sum(os.times()[:4]))
"""
_AUDIT: Final = ("--fail-on", "none", "-o", "audit.jsonl")
# What runs in a folder that has the folder `site` and the file `site.warc` of the same pages.
COMMANDS: Final = {
    "audit": ("audit", "site", "--url", URL, *_AUDIT),
    "audit of a WARC": ("audit", "site.warc", *_AUDIT),
    "audit --old": ("audit", "site", "--url", URL, "--old", "site.warc", *_AUDIT),
    "mirror": ("mirror", "site", "--url", URL, "-o", "mirror"),
    "mirror of a WARC": ("mirror", "site.warc", "-o", "mirror"),
    "mirror into one page": ("mirror", "site/index.html", "-o", "page.html"),
    "mirror --check": ("mirror", "--check", "mirror"),
}
OUTPUTS: Final = ("audit.jsonl", "mirror", "page.html")


class Cost(NamedTuple):
    """Processor seconds of a command with its workers, and the peak memory of the command itself in megabytes."""

    seconds: float
    megabytes: float


def cost(folder: Path, *arguments: str) -> Cost:
    """Run `absolve` in a folder; raise `CalledProcessError` if it fails."""
    megabytes, words = peak_and_words(_PROGRAM, str(folder), *arguments)
    return Cost(float(words[-1]), megabytes)


def costs(runs: int) -> Iterator[tuple[str, str, Cost]]:
    """Yield what each command costs in the median run, for six pages and for a site."""
    for name, pages in (("six pages", _six()), ("a site", _site())):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            _written(folder, pages)
            cost(folder, *COMMANDS["audit"])  # a warm-up
            for command, arguments in COMMANDS.items():
                found = []
                for _ in range(runs):
                    if "--check" not in arguments:
                        _cleared(folder)
                    elif not (folder / "mirror").is_dir():
                        cost(folder, *COMMANDS["mirror"])
                    found.append(cost(folder, *arguments))
                yield name, command, Cost(*(median(one) for one in zip(*found, strict=True)))


def _six() -> dict[str, bytes]:
    links = b"".join(b'<p><a href="%d.html">page %d</a>' % (number, number) for number in range(5)) + b'<a href="./">start</a>'
    names = ["index.html", *(f"{number}.html" for number in range(5))]
    return {name: b"<!DOCTYPE html><html lang=en><title>%b</title>%b" % (name.encode(), links) for name in names}


def _site() -> dict[str, bytes]:
    if SITE.is_dir():
        files = {path.relative_to(SITE).as_posix(): path.read_bytes() for path in sorted(SITE.rglob("*")) if path.is_file()}
        first = next(data for name, data in files.items() if name.endswith(".html"))
        return {"index.html": first, **files}
    return {("index.html" if number == 0 else f"{number}.html"): page.data for number, page in enumerate(generated(10))}


def _written(folder: Path, pages: dict[str, bytes]) -> None:
    with (folder / "site.warc").open("wb") as archive:
        for name, data in pages.items():
            path = folder / "site" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if name.endswith(".html"):
                archive.write(record(data, URL + name))


def _cleared(folder: Path) -> None:
    for name in OUTPUTS:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def sites_table(found: Iterator[tuple[str, str, Cost]]) -> str:
    """Return a table with a row for each site and command."""
    rows = [[f"{site}, {command}", f"{cost.seconds:.2f}", f"{cost.megabytes:.0f}"] for site, command, cost in found]
    return table(("command", "s", "MB"), rows)
