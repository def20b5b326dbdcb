"""The examples in README.md run here, and print what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import absolve
from absolve.cli import main

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_first_readme_block_is_rewritten_to_the_second() -> None:
    before, after = blocks("html")
    assert absolve.rewrite(before) == after


def test_the_readme_commands_print_the_shown_output(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for folder in ("fixtures", "examples"):
        shutil.copytree(ROOT / folder, folder)
    shown = re.findall(r"^\$ (\w+) (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks("console")), re.MULTILINE)
    assert len(shown) == 13
    for program, arguments, expected in shown:
        if program == "absolve":
            assert main(shlex.split(arguments)) == (1 if arguments.startswith("audit") else 0)
            out, err = capsysbinary.readouterr()
            found = (out + err if arguments.startswith(("mirror", "audit")) else out).decode()
        else:
            assert program == "sqlite3"
            found = sqlite(*shlex.split(arguments))
        assert found.splitlines() == expected.splitlines()


def sqlite(file: str, query: str) -> str:
    """Return the output of SQLite's shell; where it is not installed, the same text made by Python."""
    shell = shutil.which("sqlite3")
    if shell is not None:
        return subprocess.run([shell, file, query], capture_output=True, check=True, text=True).stdout
    with closing(sqlite3.connect(file)) as database:
        return "".join("|".join(map(str, row)) + "\n" for row in database.execute(query))


def test_the_readme_python_code_returns_the_values_in_its_comments(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - our own
    assert "base element, line 1" in capsys.readouterr().out
    results = re.findall(r"^((?:absolve|lxml\.html)\.\w+\(.*)(?:  |\n)# (.*)$", code, re.MULTILINE)
    assert len(results) == 5
    for expression, shown in results:
        value = repr(eval(expression, names))  # noqa: S307 - our own
        assert value.startswith(shown.removesuffix(")").removesuffix("...").removesuffix(", "))
