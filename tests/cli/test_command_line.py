"""Behaviour common to all commands: --version, --help, exit status."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_runner import Runner

import absolve as library
from absolve.cli.commands import COMMANDS
from absolve.formats.html import tokenizer


def test_version_prints_whether_the_scanner_is_compiled(absolve: Runner) -> None:
    kind = "interpreted" if (tokenizer.__file__ or "").endswith(".py") else "compiled"
    assert absolve("--version") == (0, f"absolve {library.__version__} ({kind})\n".encode(), "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_a_terminal(absolve: Runner, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    done = absolve(command, "--help")
    assert (done.status, done.err) == (0, "")
    assert f"  absolve {command} " in done.out.decode().partition("examples:")[2]
    assert max(map(len, done.lines)) <= 100


@pytest.mark.parametrize("arguments", [(), ("frobnicate",), ("links", "--frobnicate"), ("resolve", "http://h/")])
def test_an_unknown_command_is_a_usage_error(absolve: Runner, arguments: tuple[str, ...]) -> None:
    done = absolve(*arguments)
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith("error: usage: ")
    assert done.err.endswith(" --help\n")


@pytest.mark.parametrize(("command", "unbuffered"), [(("rewrite",), ""), (("links",), "1"), (("links", "--format", "csv"), "")], ids=str)
def test_a_closed_output_pipe_ends_the_command_quietly(tmp_path: Path, command: tuple[str, ...], unbuffered: str) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<a href=x>\n" * 50_000)
    argv = [sys.executable, "-m", "absolve", *command, str(path), "--url", "http://h/"]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_diagnostics_have_colours_on_a_terminal_only(absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in absolve("links", tmp_path / "none").err
    monkeypatch.setattr("absolve.cli.reporting.colours", lambda _: True)
    assert f"{tmp_path / 'none'}: \x1b[31mnot-found\x1b[0m: " in absolve("links", tmp_path / "none").err
