"""The code for Windows and macOS, on this system: Python without what they lack, which fails where they fail."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shapes.captures import written

FOLDER = Path(__file__).parent / "platforms"
PAGE = '<!DOCTYPE html><title>t</title><a href="b?x=1">b</a> <img src="/i.png">\n'
SITE = {"index.html": PAGE, "a/b.html": PAGE, "a/s.css": "a { background: url(i.png) }", "i.png": "no picture"}
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it makes Linux look like other systems")


def run(like: str, folder: Path, *arguments: str) -> tuple[int, bytes, str]:
    """Run absolve as on another system ("" for this one)."""
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "ABSOLVE_LIKE": like, "ABSOLVE_CONFIG": ""}
    environment["XDG_STATE_HOME"] = str(folder.parent / f"state-{folder.name}")
    argv = [sys.executable, "-m", "absolve", *arguments]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files; of databases only the names, as they have times."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): b"" if path.suffix == ".sqlite" else path.read_bytes() for path in files}


COMMANDS = {
    "one page to the standard output": ["rewrite index.html --url http://h/"],
    "one page to a file, twice": ["rewrite index.html --url http://h/ -o out.html"] * 2,
    "in place": ["rewrite --in-place index.html a/b.html --url http://h/"],
    "in place with a backup": ["rewrite --in-place index.html --url http://h/ --backup .orig"] * 2,
    "a folder": ["rewrite . --url http://h/ -o ../OUT"] * 2,
    "a folder by workers": ["rewrite . --url http://h/ -o ../OUT --jobs 2"],
    "a list that can be resumed": ["links . --url http://h/ -o links.csv --jobs 2 --resume"] * 2,
    "links as CSV": ["links . --url http://h/ -o links.csv"] * 2,
    "links as SQLite": ["links . --url http://h/ -o links.sqlite"] * 2,
    "links by workers": ["links . --url http://h/ --jobs 2"],
    "the base": ["base index.html --url http://h/"],
    "a mirror": ["mirror ../capture.har -o ../OUT", "mirror --check ../OUT"],
    "a mirror that exists": ["mirror ../capture.har -o ../OUT"] * 2,
    "a mirror in a ZIP": ["mirror ../capture.har -o ../OUT.zip"],
}


def capture(path: Path) -> None:
    entries = [
        {
            "request": {"method": "GET", "url": f"http://h/{name}"},
            "response": {"status": 200, "headers": [], "content": {"mimeType": kind, "text": text}},
        }
        for name, kind, text in (
            ("", "text/html", f"<meta charset=utf-8>{PAGE}<a href='/what?is=it:1'>q</a><a href=CON>c</a><a href=/A>A</a><a href=/a>a</a>"),
            ("what?is=it:1", "text/html", "<meta charset=utf-8>q"),
            ("CON", "text/html", "<meta charset=utf-8>c"),
            ("A", "text/html", "<meta charset=utf-8>A"),
            ("a", "text/html", "<meta charset=utf-8>a"),
            ("end. ", "text/plain", "x"),
        )
    ]
    path.write_text(json.dumps({"log": {"entries": entries}}))


@pytest.mark.parametrize("like", ["windows", "macos"])
@pytest.mark.parametrize("commands", COMMANDS.values(), ids=COMMANDS)
def test_a_command_does_the_same_as_here(commands: list[str], like: str, tmp_path: Path) -> None:
    results = []
    for system in ("", like):
        root = tmp_path / (system or "here")
        folder = written(root / "site", SITE)
        capture(root / "capture.har")
        done = [run(system, folder, *command.split()) for command in commands]
        assert not any("Traceback" in err or "internal-error" in err for _, _, err in done), done
        assert not list(root.rglob(".absolve-*")), "no temporary file is left"
        found = contents(root)
        shutil.rmtree(root)
        results.append((done, {name: data for name, data in found.items() if not name.startswith("state-")}))
    assert results[1] == results[0]


@pytest.mark.parametrize("name", ["a:b.html", "a?b.html", "ab.html."])
def test_a_name_that_the_system_refuses_is_reported_and_the_others_are_written(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "site", SITE)
    (folder / name).write_text(PAGE)
    status, _, err = run("windows", folder, "rewrite", ".", "--url", "http://h/", "-o", "../out", "-q")
    assert status == 3
    assert "Traceback" not in err
    assert "unreadable" in err or "unwritable" in err
    assert (tmp_path / "out/index.html").exists()
    assert not list((tmp_path / "out").rglob(".absolve-*"))
