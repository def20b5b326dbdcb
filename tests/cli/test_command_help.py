"""Help: `-h`, `--help`, `absolve help`, short names of options."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_runner import ABSOLUTE, Runner

from absolve.audit import verdicts
from absolve.cli.commands import COMMANDS
from absolve.cli.parsing import MOST

_OPTION = re.compile(r"^  (?=-)", re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_has_a_dozen_options_at_most_and_an_example(absolve: Runner, command: str) -> None:
    done = absolve(command, "-h")
    text = done.out.decode()
    assert (done.status, done.err) == (0, "")
    assert 0 < len(_OPTION.findall(text)) <= MOST
    assert f"  absolve {command}" in text
    assert len(text.splitlines()) < 50


def test_the_short_help_of_check_has_what_matters_for_one_site(absolve: Runner) -> None:
    text = absolve("check", "-h").out.decode()
    assert all(option in text for option in ("--live", "--depth", "--ignore", "--fail-on", "--fix"))
    whole = absolve("check", "--help").out.decode()
    assert not [name for name in ("--old", "--map", "--write-map") if name in whole]  # of two sites


def test_the_help_of_an_audit_names_every_verdict(absolve: Runner) -> None:
    words = absolve("help", "audit").out.decode().partition("verdicts of links:")[2].split()
    assert [word for word in verdicts.VERDICTS if word not in words] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_prints_the_help_of_a_command(absolve: Runner, command: str) -> None:
    assert absolve("help", command) == absolve(command, "--help")


def test_help_fits_on_two_screens(absolve: Runner) -> None:
    for command in COMMANDS:
        lines = absolve("help", command).lines
        assert (len(lines) <= 100, [line for line in lines if len(line) > 80]) == (True, []), command


def test_the_short_names_of_options(absolve: Runner, page: Path, tmp_path: Path) -> None:
    assert absolve("-V") == absolve("--version")
    assert absolve("links", page, "-f", "csv").out == absolve("links", page, "--format", "csv").out
    assert absolve("rewrite", page, "-n").out == absolve("rewrite", page, "--dry-run").out
    (tmp_path / "x.html").write_bytes(b"<a href='x.html?a&amp;b'>x</a>")
    assert absolve("rewrite", tmp_path / "x.html", "-u", "http://h/d/p.html").out in ABSOLUTE


def test_short_names_are_understood_beside_a_configuration(absolve: Runner, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(page.parent)
    (page.parent / "absolve.toml").write_text("[links]\nformat = 'csv'\ncolumns = ['target', 'kind']\n")
    assert absolve("links", page).lines[0] == "target,kind"
    assert absolve("links", page, "-f", "jsonl").lines[0].startswith("{")


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("help",), ("links", "--help")])
def test_a_group_without_a_description_has_none_in_a_fresh_process(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-m", "absolve", *arguments], capture_output=True, check=True, text=True)
    assert not re.search(r"^ *None$", done.stdout, re.MULTILINE)
