"""A dry run writes nothing: no result, no list, no state, no temporary file, whatever options come with it.

Commands and options come from the parser. A new option whose value the table below does not know fails the test.
"""

import argparse
from pathlib import Path
from typing import Final

import pytest
from command_runner import PAGE, Runner

from absolve.cli.parsing import parser

HTTP: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE
WARC: Final = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2024-05-01T00:00:00Z\r\nWARC-Target-URI: http://h/d/p.html\r\n"
    b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(HTTP), HTTP)
)
VALUES: Final = {
    "log": "new/log.csv", "missing": "new/missing.txt",
    "output": "new/out", "from": "list.txt", "url-map": "map.csv", "config": "absolve.toml",
    "backup": ".orig", "check": "old", "serve": "none", "include": "*.html", "exclude": "*.css", "url": "http://h/d/",
    "media-type": "text/html", "charset": "utf-8", "remap": "//h=//g", "kind": "image", "scope": "external",
    "problem": "malformed", "port": "0", "at": "2024", "same": "www", "base-path": "/p/", "unwrap": "google",
    "depth": "1", "start": "http://h/d/p.html", "header": "A: b", "cookies": "none.txt", "timeout": "1", "retries": "0", "concurrency": "1", "save": "new/s.warc", "max-age": "1h", "wait": "0", "stop-after": "1pages", "ignore-base": "saver",
}  # fmt: skip
# Runs that would write without --dry-run, and options that contradict one of their others: they end with status 2.
RUNS: Final = {
    "rewrite": (["site", "-n", "--in-place"], ["site", "-n", "-o", "out/"], ["site/p.html", "-n"], ["site", "--diff"]),
    "mirror": (["site/c.warc", "-n"], ["site", "-n"], ["site/c.warc", "-n", "-o", "old"], ["site", "-n", "-o", "m.zip"]),
}
REFUSED: Final = {"rewrite": {"diff", "resume"}, "mirror": {"browser", "check", "depth", "serve"}}
OPTIONS: Final = {
    name: {option: row for option, row in command.options().items() if not row[0].is_setting}
    for name, command in parser().commands.items()
    if "dry-run" in command.options()
}
MORE: Final = {  # what an option needs, or what else it would write
    "backup": ["--in-place"],
    "base-path": ["--form", "root"],
    "mentions": ["--remap", "//h=//g"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absolve: Runner) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("site", "new", "state", "temporary"):
        Path(name).mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    Path("site/p.html").write_bytes(PAGE + b"<img src=http://gone/x.png>")
    Path("site/broken.html").write_bytes(b"\x7fELF\x02\x01\x01\0")
    Path("site/c.warc").write_bytes(WARC)
    for name, text in {"list.txt": "site", "map.csv": "site/q.html,http://h/q", "rules.csv": "//h,//g"}.items():
        Path(name).write_text(f"{text}\n")
    Path("absolve.toml").write_text("jobs = 1\n")
    assert absolve("mirror", "site/c.warc", "-o", "old", "-q").status == 0


def tree() -> dict[str, tuple[int, bytes]]:
    found = {}
    for path in [Path(), *Path().rglob("*")]:
        changed = 0 if path.name == "temporary" else path.lstat().st_mtime_ns  # for a while it may have a database
        found[str(path)] = (changed, path.read_bytes() if path.is_file() else b"")
    return found


def given(name: str, action: argparse.Action) -> list[str]:
    """Return an option with a value."""
    if action.nargs == 0:
        return [f"--{name}"]
    if action.choices:
        return [f"--{name}", next(iter(action.choices))]
    return [f"--{name}", "1" if name in {"jobs", "max-size"} else VALUES[name]]


def tried(absolve: Runner, command: str, name: str) -> bool:
    """Make dry runs with an option, and return whether one of them was no wrong usage. None may write."""
    before = tree()
    statuses = []
    for run in RUNS[command][:2]:  # of a folder in place and elsewhere
        done = absolve(command, *run, *given(name, OPTIONS[command][name][1]), *MORE.get(name, []))
        assert tree() == before, (name, run, done)
        statuses.append(done.status)
    return set(statuses) != {2}


def test_no_dry_run_writes(absolve: Runner) -> None:
    before = tree()
    for command, runs in RUNS.items():
        assert [absolve(command, *run).status for run in runs[2:]] == [0, 3 if command == "rewrite" else 0]
    assert tree() == before


@pytest.mark.parametrize("command", OPTIONS)
def test_no_option_makes_a_dry_run_write(absolve: Runner, command: str) -> None:
    assert {name for name in OPTIONS[command] if not tried(absolve, command, name)} == REFUSED[command]


def test_every_command_with_a_dry_run_is_tried() -> None:
    assert OPTIONS.keys() == RUNS.keys()
