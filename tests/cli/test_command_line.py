"""What is common to all commands: --version, help, exit status; `absolve resolve`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_runner import ABSOLUTE, Runner

import absolve as library
from absolve.audit import verdicts
from absolve.cli.commands import COMMANDS
from absolve.cli.parsing import MOST
from absolve.formats.html import tokenizer


def test_version_prints_whether_the_scanner_is_compiled(absolve: Runner) -> None:
    kind = "interpreted" if (tokenizer.__file__ or "").endswith(".py") else "compiled"
    assert absolve("--version") == (0, f"absolve {library.__version__} ({kind})\n".encode(), "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_a_terminal_and_the_short_help_has_a_dozen_options(
    absolve: Runner, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    done = absolve(command, "--help")
    assert (done.status, done.err) == (0, "")
    assert f"  absolve {command} " in done.out.decode().partition("examples:")[2]
    assert (max(map(len, done.lines)) <= 80, len(done.lines) <= 100) == (True, True)  # two screens
    assert absolve("help", command) == done
    short = absolve(command, "-h")
    assert (short.status, short.err, len(short.lines) < 50) == (0, "", True)
    assert 0 < len(_OPTION.findall(short.out.decode())) <= MOST
    assert f"  absolve {command}" in short.out.decode()


_OPTION = re.compile(r"^  (?=-)", re.MULTILINE)


@pytest.mark.parametrize(("command", "unbuffered"), [(("rewrite",), ""), (("links", "--format", "csv"), "1")], ids=str)
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


def test_the_short_help_of_check_has_what_matters_for_one_site(absolve: Runner) -> None:
    text = absolve("check", "-h").out.decode()
    assert all(option in text for option in ("--live", "--depth", "--ignore", "--fail-on", "--fix"))
    whole = absolve("check", "--help").out.decode()
    assert not [name for name in ("--old", "--map", "--write-map") if name in whole]  # of two sites


def test_the_help_of_an_audit_names_every_verdict(absolve: Runner) -> None:
    words = absolve("help", "audit").out.decode().partition("verdicts of links:")[2].split()
    assert [word for word in verdicts.VERDICTS if word not in words] == []


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


@pytest.mark.parametrize("arguments", [("--help",), ("links", "--help")])
def test_a_group_without_a_description_has_none_in_a_fresh_process(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-m", "absolve", *arguments], capture_output=True, check=True, text=True)
    assert not re.search(r"^ *None$", done.stdout, re.MULTILINE)


RESOLVED = [  # arguments of `absolve resolve`, the lines, the exit status
    (["", "http://h/a"], ["http://h/a"], 0), (["http://a/b/c/d;p?q", "../g", "", "//g"], ["http://a/b/g", "http://a/b/c/d;p?q", "http://g"], 0),
    (["mailto:a@b", "x", "http://h/"], ["", "http://h/"], 1), (["http://a/b", "--", "--g"], ["http://a/--g"], 0),
    *(([*profile, "http://a/b/c/d", "../../../g"], [url], 0) for profile, url in (
        ([], "http://a/../g"), (["--profile", "rfc3986"], "http://a/g"), (["--profile", "whatwg"], "http://a/g"),
    )),
]  # fmt: skip


def test_resolve_prints_a_line_for_each_reference_an_empty_one_if_it_cannot_be_resolved(absolve: Runner) -> None:
    for arguments, lines, status in RESOLVED:
        done = absolve("resolve", *arguments)
        assert (done.lines, done.status) == (lines, status)
        assert done.err == "error: resolve: unresolved: 'x' cannot be resolved against 'mailto:a@b'\n" * status
