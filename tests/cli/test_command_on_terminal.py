"""Whatever an input holds, a terminal gets no control character of it: every option of every command, on a terminal.

Commands and options come from the parser. Names, pages, records, maps, lists, configuration and option values are hostile.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from absolve.cli.commands import COMMANDS
from absolve.cli.parsing import parser
from absolve.core.drawing import SEQUENCES
from tests.terminals import in_terminal

if not hasattr(os, "fork"):
    pytest.skip("there is no fork here", allow_module_level=True)

EVIL: Final = "\x1b]0;t\x07\x1b[31m\x9b31m\x7f\u202e\u2066\u2028\u200f\r\b"
NAME: Final = f"e{EVIL}\nerror: FORGED"
FORBIDDEN: Final = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"} - {"\n", "\t"}
URL: Final = f"http://h/{EVIL}x"
PAGE: Final = f"""<!-- saved from url=(0014)http://h/{EVIL} --><html lang="{EVIL}"><title>t{EVIL}</title><base href="{URL}">
<a href="{URL}" id="{EVIL}" rel="{EVIL}">{EVIL}</a><a href="http://[{EVIL}">m</a><a href="&#27;&#x9b;&#x202e;x">r</a><img src="//gone{EVIL}/x">
<link rel=canonical href="{URL}"><a href="http://u:secret{EVIL}@h/">p</a><a href="#{EVIL}">f</a><iframe srcdoc="<a href='y{EVIL}'>"></iframe>
"""
CHILD: Final = """
import json, os, shutil, sys
from absolve.cli import many, running
many.PATIENCE = 3600  # no bar, which moves the cursor
home, *modules = sys.argv[1:]
for name in modules:
    __import__(name)
sys.argv[0] = "absolve"
for number, (arguments, environment) in enumerate(json.load(open(os.path.join(home, "cases.json")))):
    print(f"@{number}@", flush=True)
    shutil.rmtree(os.path.join(home, "work"), ignore_errors=True)
    shutil.copytree(os.path.join(home, "start"), os.path.join(home, "work"), symlinks=True)
    if not os.fork():
        os.chdir(os.path.join(home, "work"))
        os.environ.update(environment)
        status = 99
        try:
            status = running.run(arguments, alone=True)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    if os.waitstatus_to_exitcode(os.wait()[1]) not in {0, 1, 2, 3}:
        print("CRASHED", flush=True)
"""
# How a command reads hostile inputs; and values of options, with which more is printed than a usage error.
RUNS: Final[dict[str, list[list[str]]]] = {
    "rewrite": [["p.html"], ["site"], ["site", "-o", NAME], ["site", "--diff"], ["site", "-n", "-v"]],
    "links": [["site", "c.warc", "-v"], ["p.html", "--url", URL]], "documents": [["site", "c.warc"]],
    "base": [["p.html", "c.warc", NAME], ["p.html", "--url", URL]],
    "mirror": [["c.warc", "site", "-o", "m", "--missing", "-"], ["c.warc", "-n"], ["c.warc", "-o", NAME]],
    "audit": [["site", "--url", "http://h/"], ["site", "--url", "http://h/", "--old", "c.warc", "--map", "map.csv"]],
    "verify": [["p.html", "site/q.html"], [NAME, "p.html"]], "resolve": [[URL, EVIL, "x"]], "config": [["rewrite", "links", "audit"], [NAME]],
    "completion": [["bash"], ["fish"], [NAME]], "help": [["links"], [NAME]],
}
VALUES: Final[dict[str, list[str]]] = {
    "output": ["-", "x.csv"], "format": ["csv", "markdown", "github", "sarif", "junit", "jsonl"], "check": ["old"],
    "columns": ["target,text,problems", "url,title,anchors"], "sql": ["SELECT chr(27) || text FROM links", "SELECT chr(155)"],
    "write-map": ["-"], "map": ["map.csv", "_redirects", ".htaccess", "nginx.conf"], "old": ["list.txt", "c.warc"],
    "from": ["list.txt"], "url-map": ["map.csv"], "remap": ["@map.csv"], "config": ["absolve.toml"],
    "baseline": ["map.csv"], "jobs": ["1"], "url": [URL], "missing": ["-"], "log": ["l.csv"], "base-path": ["/p/"],
}  # fmt: skip
ENVIRONMENTS: Final = [
    {"ABSOLVE_CONFIG": NAME}, {"ABSOLVE_CONFIG": "absolve.toml"}, {"COLUMNS": EVIL}, {"TERM": EVIL}, {"XDG_STATE_HOME": f"s{EVIL}"},
    {"ABSOLVE_BROWSER": NAME}, {"PYTHONIOENCODING": "latin-1"},
]  # fmt: skip


def warc() -> bytes:
    found = b""
    for url, head in ((URL, f"Content-Type: text/html;{EVIL}"), (f"http://h{EVIL}/", EVIL), ("http://h/q", f"Location: /{EVIL}")):
        status = b"301 M" if "Location" in head else b"200 OK"
        http = b"HTTP/1.1 %b\r\n%b\r\n\r\n%b" % (status, head.replace("\r", "").encode(), PAGE.encode())
        fields = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2024-05-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n"
        found += f"{fields}Content-Length: {len(http)}\r\n\r\n".encode() + http + b"\r\n\r\n"
    return found


def arrange(start: Path) -> None:
    (start / "site" / EVIL).mkdir(parents=True)
    rule = json.dumps(EVIL)[1:-1]
    texts = {
        "p.html": PAGE, f"site/{NAME}.html": PAGE, "site/q.html": PAGE, f"site/{EVIL}/r.xml": f"<r>{EVIL}", "list.txt": f"{URL}\n{NAME}\n",
        "map.csv": f"/a,/b{EVIL}\nhttp://h/c,{URL}\n{EVIL},x,{EVIL}\n/x,x:y,regex\n", "_redirects": f"/a /b{EVIL} 301\n/c {EVIL} {EVIL}\n",
        ".htaccess": f"Redirect /a /b{EVIL}\nFoo{EVIL} x\nRewriteRule ({EVIL} x\n", "nginx.conf": f"location /x {{ return 301 {EVIL}; foo{EVIL}",
        "absolve.toml": f'url = "http://h/{rule}"\n[rewrite]\nfoo = 1\n"{rule}" = 1\n[links]\nformat = "{rule}"\n',
    }  # fmt: skip
    for name, text in texts.items():
        (start / name).write_text(text, "utf-8", newline="")
    (start / "c.warc").write_bytes(warc())
    (start / "old").mkdir()
    (start / "old" / f"{NAME}.html").write_text(f"<a href='{EVIL}'>", "utf-8")


def given(name: str, action: argparse.Action) -> Iterator[list[str]]:
    """Yield an option with all its words, or with values that are hostile, or lead to more output."""
    if action.nargs == 0:
        yield [f"--{name}"]
        return
    for value in (*(action.choices or ()), *VALUES.get(name, ()), NAME):
        yield [f"--{name}={value}"]


def cases(command: str) -> list[tuple[list[str], dict[str, str]]]:
    runs: list[list[str]] = RUNS[command]
    found: list[tuple[list[str], dict[str, str]]] = [([command, *run], {}) for run in runs]
    found += [([command, *run], one) for run in runs[:1] for one in ENVIRONMENTS]
    for name, (_, action) in parser().commands[command].options().items():
        found += [([command, *runs[0], *more], {}) for more in given(name, action)]
    found += [([command, *runs[0], f"--{EVIL}"], {}), ([command, *runs[0], "--config", NAME], {})]
    return found


def shown(folder: Path, tried: list[Any], **environment: str) -> Iterator[tuple[Any, str]]:
    """Yield each case with what a terminal shows of it."""
    arrange(folder / "start")
    (folder / "cases.json").write_text(json.dumps(tried))
    given = {"TERM": "xterm", "PYTHONUTF8": "1", "XDG_STATE_HOME": str(folder / "state"), **environment}
    inherited = {name: text for name, text in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    modules = sorted({f"absolve.cli.{COMMANDS[arguments[0]].function.partition(':')[0]}" for arguments, _ in tried})
    status, text = in_terminal([sys.executable, "-c", CHILD, str(folder), *modules], inherited | given, longest=1200)
    assert status == 0, text
    found = re.split(r"^@\d+@\n", text, flags=re.MULTILINE)[1:]
    assert len(found) == len(tried)
    yield from zip(tried, found, strict=True)


@pytest.mark.parametrize("command", ["some of each", *(pytest.param(command, marks=pytest.mark.slow) for command in RUNS)])
def test_a_terminal_gets_no_control_character_of_an_input(tmp_path: Path, command: str) -> None:
    tried = cases(command) if command in RUNS else [case for each in RUNS for case in cases(each)[::32]]
    for case, whole in shown(tmp_path, tried, NO_COLOR="1"):
        text = SEQUENCES.sub("", whole) if "--color=always" in case[0] else whole
        assert not FORBIDDEN & {*text}, (case, text)
        assert "CRASHED" not in text, (case, text)
        if case[0][0] != "rewrite":  # its output is a page, with the lines of it
            assert not any(line.startswith("error: FORGED") for line in text.splitlines()), (case, text)


def test_a_terminal_with_colours_gets_only_the_sequences_of_drawings(tmp_path: Path) -> None:
    commands = ("rewrite", "links", "base", "audit")
    found = list(shown(tmp_path, [([command, *run], {}) for command in commands for run in RUNS[command]]))
    assert {case[0][0] for case, text in found if "\x1b" in text} == {*commands}
    for case, text in found:
        assert not FORBIDDEN & {*SEQUENCES.sub("", text)}, (case, text)


def test_every_command_is_tried() -> None:
    assert parser().commands.keys() - {"check"} == RUNS.keys()
