"""Run the examples of a Markdown page, and compare their output with the output that the page shows.

Blocks of one page share a folder with copies of `fixtures` and `examples`, and their Python names:

`console`: lines that begin with `$ ` are commands, the lines below each its output; `...` matches any lines. Either the standard
output is shown or, as on a terminal, both. `sh`: the block is a script that must succeed. `python`: the block is executed; the
comments below a line are what it prints. `toml` and `yaml` are parsed. `NOT_RUN` has the blocks that need something else.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from absolve.cli import main

ROOT: Final = Path(__file__).parents[1]
NOT_RUN: Final = {"shell-session", "text", "html", "sql"}  # needs Spark, Java or a browser: tests of their own; documents
_BLOCK: Final = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FAILS: Final = ("absolve audit", "absolve check")  # exit status 1: there are findings
_SQLITE: Final = """\
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print("|".join(map(str, row)))
"""


class Block(NamedTuple):
    language: str
    text: str
    line: int  # of its first line in the page, 1-based


def blocks(page: str) -> Iterator[Block]:
    """Yield the code blocks of a page."""
    for found in _BLOCK.finditer(page):
        yield Block(found[1], found[2], page[: found.start()].count("\n") + 2)


def run_page(path: Path, folder: Path) -> int:
    """Run all blocks of a page in a folder; return the number of those that ran. A missing package skips the test."""
    for name in ("fixtures", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    environment = _environment(folder)
    names: dict[str, object] = {}
    count = 0
    for block in blocks(path.read_text("utf-8")):
        where = f"{path.name}:{block.line}"
        if block.language == "console":
            _console(block.text, folder, environment, where)
        elif block.language == "sh":
            if "python3 -m venv" in block.text:
                continue  # README's set-up: .ci/run runs both lines
            done = _bash(f"set -e\n{block.text}", folder, environment)
            assert done.returncode == 0 or any(name in block.text for name in _FAILS), f"{where}: {done.stderr}"
        elif block.language == "python":
            _python(block.text, names, where)
        elif block.language == "toml":
            assert tomllib.loads(block.text), where
        elif block.language == "yaml":
            assert pytest.importorskip("yaml").safe_load(block.text), where
        else:
            assert block.language in NOT_RUN or block.language.startswith("{"), f"{where}: no test runs {block.language!r}"
            continue
        count += 1
    return count


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of commands: `absolve` is this one, `sqlite3` is there, and nothing of the user's."""
    programs = folder / ".programs"
    programs.mkdir()
    _program(programs / "absolve", f'exec {shlex.quote(sys.executable)} -m absolve "$@"')
    if shutil.which("sqlite3") is None:
        (programs / "sqlite3.py").write_text(_SQLITE, "utf-8")
        _program(programs / "sqlite3", f'exec {shlex.quote(sys.executable)} {programs}/sqlite3.py "$@"')
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ABSOLVE_", "COV_"))}
    return kept | {
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}", "XDG_STATE_HOME": str(folder / ".state"), "COLUMNS": "80",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


def _bash(script: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    argv = ["bash", "-c", script]
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)


_SHELL: Final = re.compile(r"[|&;<>$`*?\\{}()~#\n]")  # characters for which a command needs a shell


def _run(command: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command: in this process, unless it needs a shell or another program."""
    if not command.startswith("absolve ") or _SHELL.search(command):
        return _bash(command, folder, environment)
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        patched.chdir(folder)
        patched.setattr(os, "environ", environment)
        status = main(shlex.split(command)[1:])
    found = [stream.buffer.getvalue().decode() for stream in streams]
    return subprocess.CompletedProcess(command, status, *found)


def _console(text: str, folder: Path, environment: dict[str, str], where: str) -> None:
    for command, shown in _COMMAND.findall(text):
        done = _run(command, folder, environment)
        fails = command.startswith(_FAILS) and "--fail-on none" not in command
        assert done.returncode in ({0, 1} if fails else {0}), f"{where}: {command}: {done.stderr}"
        found = [done.stdout, done.stdout + done.stderr, done.stderr]
        assert any(_matches(shown, output) for output in found), f"{where}: {command} prints:\n{done.stdout}{done.stderr}"


def _matches(shown: str, output: str) -> bool:
    """Return whether an output is the one shown, in which a line `...` matches any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch(".*".join(parts), output if output.endswith("\n") or not output else f"{output}\n", re.DOTALL) is not None


def _python(text: str, names: dict[str, Any], where: str) -> None:
    """Execute a block; its comments are what it prints, or the value of the expression above them."""
    code, shown = _with_values(text)
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            exec(compile(code, where, "exec"), names)  # noqa: S102 - our own
    except ModuleNotFoundError as error:
        if (error.name or "absolve").startswith("absolve"):
            raise
        pytest.skip(f"{where} needs the package {error.name}")
    assert printed.getvalue() == shown, f"{where} prints:\n{printed.getvalue()}"


def _with_values(text: str) -> tuple[str, str]:
    """Return a block, in which an expression with a value below it is printed, and all that it prints."""
    lines = text.splitlines()
    shown = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    for number, line in enumerate(lines[:-1]):
        is_value = lines[number + 1].startswith("# ") and not line.startswith((" ", "#", "print("))
        if is_value and line.startswith("absolve."):
            lines[number] = f"print(repr({line}))"
    return "\n".join(lines), "".join(f"{line}\n" for line in shown)
