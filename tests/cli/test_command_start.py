"""The start of the command: modules that few runs need are imported late, as imports dominate the time of one page.

`benchmarks/start.py` measures that time.
"""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from absolve.cli import main
from tests.shapes.scale import not_traced

PAGE = b"<title>&uuml;</title><a href='b?c&amp;d'><a href=\"e?f&g=h\"><img src=//i.example/>"
ABSOLUTE = (b"<title>&uuml;</title><a href='http://h.example/b?c&amp;d'><a href=\"http://h.example/e?f&g=h\"><img src=http://i.example/>")

PROCESSES = "threading multiprocessing socket pickle tempfile concurrent.futures logging absolve.run.workers"
FILES = "gettext locale shutil bz2 lzma zlib gzip zipfile csv json sqlite3 tomllib hashlib ssl html.entities mimetypes email"
ARCHIVES = "absolve.formats.warc absolve.formats.http absolve.formats.headers absolve.formats.compression"
OTHERS = "absolve.formats.xml absolve.formats.mail.walker absolve.formats.json absolve.formats.zip lxml html5lib ada_url"
ROWS = "absolve.inventory.columns absolve.inventory.link_rows absolve.inventory.problems absolve.inventory.facts absolve.arrow"
CHANGES = "absolve.verifying absolve.rewriting.remap absolve.run.filters absolve.run.state"


def imported(*arguments: str) -> set[str]:
    """Return the modules that a subprocess has loaded at the end of the command."""
    code = "import sys; from absolve.cli import main; main(); print(*sys.modules, file=sys.stderr)"
    environment = {**os.environ, "ABSOLVE_CONFIG": ""}
    argv = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(argv, env=environment, capture_output=True, check=True, text=True)
    return {*done.stderr.split()}


@not_traced
@pytest.mark.parametrize(("arguments", "unneeded"), [
    (["rewrite"], [PROCESSES, FILES, ARCHIVES, OTHERS, ROWS, CHANGES]),
    (["rewrite", "-o", "OUT"], [PROCESSES, "hashlib sqlite3 csv json", ARCHIVES, OTHERS, ROWS, CHANGES]),
    (["links"], [PROCESSES, "hashlib sqlite3", ARCHIVES, OTHERS, CHANGES.replace("absolve.run.filters", "")]),
    (["base"], [ARCHIVES, OTHERS, CHANGES]),
], ids=lambda given: " ".join(given) if given[0] in {"rewrite", "links", "base"} else "")
def test_a_run_over_one_page_imports_only_modules_it_needs(arguments: list[str], unneeded: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(PAGE)
    output = tmp_path / "absolute.html"
    given = [str(output) if argument == "OUT" else argument for argument in arguments]
    found = imported(*given, str(page), "--url=http://h.example/")
    assert {name for names in unneeded for name in names.split()} & found == set()
    if arguments[0] == "rewrite" and len(arguments) > 1:
        assert (output if "-o" in arguments else page).read_bytes() == ABSOLUTE


@pytest.mark.parametrize("arguments", [["--version"], ["resolve", "http://h.example/", "x"]], ids=" ".join)
def test_main_restores_the_state_of_garbage_collection(arguments: list[str]) -> None:
    for change in (gc.disable, gc.enable):
        change()
        main(arguments)
        assert gc.isenabled() == (change == gc.enable)


@pytest.mark.parametrize(("arguments", "status"), [(["-o", "links.duckdb"], 0), (["--sql", "SELECT no_column FROM links"], 2)])
def test_a_run_with_duckdb_prints_nothing_when_the_process_ends(arguments: list[str], status: int, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    argv = [sys.executable, "-m", "absolve", "links", "-q", "page.html", "--url", "http://h.example/", *arguments]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert (done.returncode, "leak" in done.stderr, bool(done.stderr)) == (status, False, status == 2)
