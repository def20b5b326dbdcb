"""The code for Windows and macOS, on this system: Python without what they lack, which fails where they fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shapes.captures import entry, har, written

FOLDER = Path(__file__).parent / "platforms"
PAGE = '<!DOCTYPE html><title>t</title><a href="b?x=1">b</a> <img src="/i.png">\n'
SITE = {"index.html": PAGE, "a/b.html": PAGE, "a/s.css": "a { background: url(i.png) }", "i.png": "no picture"}
NAMES = ("", "what?is=it:1", "CON", "A", "a")
CAPTURE = har(
    *(entry(f"http://h/{name}", f"<meta charset=utf-8>{PAGE}<a href='/what?is=it:1'>q</a><a href=CON>c</a><a href=/A>A</a><a href=/a>a</a>") for name in NAMES),
    entry("http://h/end. ", "x", "text/plain"),
)
PROGRAM = """
import sys
from absolve.cli import main
if __name__ == "__main__":
    for line in sys.argv[1:]:
        print("status", main(line.split()), flush=True)
"""
COMMANDS = {  # each twice: the second replaces what the first wrote, or finds nothing to do
    "pages": [
        "rewrite index.html --url http://h/", "rewrite index.html --url http://h/ -o out.html", "rewrite . --url http://h/ -o ../OUT",
        "rewrite . --url http://h/ -o ../OUT2 --jobs 2", "rewrite --in-place index.html --url http://h/ --backup .orig",
        "rewrite --in-place out.html a/b.html --url http://h/", "base index.html --url http://h/",
    ],
    "lists": [
        "links . --url http://h/ -o links.csv --jobs 2 --resume", "links . --url http://h/ -o other.csv", "links . --url http://h/ -o links.sqlite",
        "links . --url http://h/ --jobs 2",
    ],
    "mirrors": ["mirror ../capture.har -o ../OUT", "mirror --check ../OUT", "mirror ../capture.har -o ../OUT.zip"],
}  # fmt: skip
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it makes Linux look like other systems")


def run(like: str, folder: Path, *commands: str) -> tuple[str, str]:
    """Run commands as on another system ("" for this one); return what they print."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *filter(None, sys.path)]), "ABSOLVE_LIKE": like, "ABSOLVE_CONFIG": ""}
    environment["XDG_STATE_HOME"] = str(folder.parent / "state")
    program = written(folder.parent, {"program.py": PROGRAM}) / "program.py"
    done = subprocess.run([sys.executable, str(program), *commands], cwd=folder, env=environment, capture_output=True, check=False, text=True)
    assert "Traceback" not in done.stderr
    assert "internal-error" not in done.stderr
    assert not list(folder.parent.rglob(".absolve-*")), "no temporary file is left"
    return done.stdout, done.stderr


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_command_does_the_same_as_here(kind: str, tmp_path: Path) -> None:
    results = []
    for system in ("", "windows", "macos"):
        folder = written(tmp_path / "root/site", SITE)
        (folder.parent / "capture.har").write_bytes(CAPTURE)
        done = run(system, folder, *(command for command in COMMANDS[kind] for _ in range(2)))
        assert done[0].count("status ") == 2 * len(COMMANDS[kind])
        files = (path for path in folder.parent.rglob("*") if path.is_file() and "state" not in path.parts and "__pycache__" not in path.parts)
        results.append((done, {str(path): b"" if path.suffix == ".sqlite" else path.read_bytes() for path in files}))  # databases have times
        shutil.rmtree(folder.parent)
    assert results[1] == results[0]
    assert results[2] == results[0]


def test_a_name_that_the_system_refuses_is_reported_and_the_others_are_written(tmp_path: Path) -> None:
    folder = written(tmp_path / "site", {**SITE, "a:b.html": PAGE, "a?b.html": PAGE, "ab.html.": PAGE})
    out, err = run("windows", folder, "rewrite . --url http://h/ -o ../out -q")
    assert out == "status 3\n"
    assert all(name in err for name in ("a:b.html", "a?b.html", "ab.html."))
    assert "unreadable" in err or "unwritable" in err
    assert (tmp_path / "out/index.html").exists()
