"""`absolve completion`: scripts for shells."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from absolve.urls import PROFILES

if TYPE_CHECKING:
    from command_runner import Runner


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_the_completion_script_names_every_command(absolve: Runner, shell: str) -> None:
    done = absolve("completion", shell)
    assert (done.status, done.err) == (0, "")
    for word in (b"rewrite", b"links", b"resolve", b"fragments", b"whatwg"):
        assert word in done.out


def test_completion_for_an_unknown_shell_is_a_usage_error(absolve: Runner) -> None:
    assert absolve("completion", "cmd.exe").status == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["absolve", "re"], ["resolve", "rewrite"]),
        (["absolve", "rewrite", "--fra"], ["--fragments"]),
        (["absolve", "links", "--profile", "rfc"], [name for name in PROFILES if name.startswith("rfc")]),
    ],
    ids=" ".join,
)
def test_bash_completes_commands_and_options(absolve: Runner, words: list[str], found: list[str]) -> None:
    script = absolve("completion", "bash").out.decode()
    ask = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_absolve; echo \"${{COMPREPLY[@]}}\""
    bash = ["bash", "--norc", "-c", f"{script}\n{ask}"]
    done = subprocess.run(bash, capture_output=True, check=True, text=True)
    assert sorted(done.stdout.split()) == found
