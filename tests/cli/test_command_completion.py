"""`absolve completion`: scripts for shells."""

import shutil
import subprocess

import pytest
from command_runner import Runner

from absolve.cli.parsing import parser
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.run.links_task import every_column
from absolve.urls import PROFILES


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(("words", "found"), [
    (["absolve", "re"], ["resolve", "rewrite"]),
    (["absolve", "links", "--profile", "rfc"], [name for name in PROFILES if name.startswith("rfc")]),
    (["absolve", "links", "--fail-on", "a"], ["above-root", "any"]),
], ids=" ".join)
def test_bash_completes_commands_and_options(absolve: Runner, words: list[str], found: list[str]) -> None:
    script = absolve("completion", "bash").out.decode()
    ask = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_absolve; echo \"${{COMPREPLY[@]}}\""
    bash = ["bash", "--norc", "-c", f"{script}\n{ask}"]
    done = subprocess.run(bash, capture_output=True, check=True, text=True)
    assert sorted(done.stdout.split()) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_words_of_an_option_are_in_every_script(absolve: Runner, shell: str) -> None:
    """Each command and option with choices has all of them in one line, in the syntax of the shell."""
    lines = absolve("completion", shell).out.decode().replace("'", "").replace(",", "").splitlines()
    some = " ".join(PROFILES), "same-document internal external other", "auto always never"
    for words in (*some, " ".join(every_column("links")), " ".join(DOCUMENT_COLUMNS)):
        assert any(f"({words})" in line or f'"{words}"' in line for line in lines), words


def test_powershell_has_every_option_of_every_command(absolve: Runner) -> None:
    """No PowerShell runs here: the table in the script is compared with the parser."""
    text = absolve("completion", "powershell").out.decode()
    table = text.partition("$_shtab_absolve_option_strings = @{")[2].partition("\n}")[0]
    for name, command in parser().commands.items():
        row = table.partition(f"'_shtab_absolve_{name}' = @(")[2].partition(")")[0]
        assert row.split(", ") == [f"'{option}'" for one in command.all_options() for option in one.option_strings]
