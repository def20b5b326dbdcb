"""The pre-commit hook and the GitHub action: their commands run here as their hosts run them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from absolve.cli import main

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
BASH = shutil.which("bash")
NEW = ("examples/move/new", "--url", "https://bay.example/")


def test_the_hook_runs_an_audit_and_needs_no_more_packages() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *arguments = shlex.split(hook["entry"])
    assert program == "absolve"
    assert main([*arguments, str(ROOT / NEW[0]), *NEW[1:], "-q"]) == 1
    assert "additional_dependencies" not in hook


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize(("more", "code"), [("", 1), ("'$(touch run)' `touch run` ; touch run", 2)])
def test_the_action_prints_annotations_and_a_summary_and_runs_nothing_else(tmp_path: Path, more: str, code: int) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = audit_step(tmp_path, f"{shlex.join(NEW)} {more}")
    assert done.returncode == code, done.stdout
    assert not (tmp_path / "run").exists()
    if code == 1:
        assert "::error file=examples/move/new/towers/index.html,line=7,col=58" in done.stdout
        assert "links need a change" in (tmp_path / "step-summary").read_text("utf-8")
        assert b"links need a change" in (tmp_path / "report.html").read_bytes()


def commands(log: str) -> list[str]:
    """Return the names of the commands that GitHub's runner takes from a log (ActionCommand.cs, ActionCommandManager.cs)."""
    found, token = [], None
    for line in log.splitlines():
        match = re.match(r"\s*::([^: ]+)(?: [^:]*)?::(.*)", line) or re.search(r"##\[([^\] ]+)[^\]]*\](.*)", line)
        if match is None:
            continue
        if token is not None:
            token = None if match[1] == token else token
        elif match[1] == "stop-commands":
            token = match[2]
        else:
            found.append(match[1])
    assert token is None
    return found


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_no_name_or_text_of_a_page_becomes_a_command_of_the_workflow(tmp_path: Path) -> None:
    every = ["::set-output name=x::y", "##[set-env name=PATH]x", "a ##[error]x", "::stop-commands::x"]
    (folder := tmp_path / "new").mkdir()
    for hostile in every:
        (folder / f"{hostile}.html").write_text(f"<title>{hostile}</title><a href='{hostile}'>x</a><a href='none#{hostile}'>y</a>")
        (folder / f"{hostile}.xml").write_text("<svg><")
        (tmp_path / hostile).write_text(f"/a /b\n{hostile} x y z\n")
    given = shlex.join(["new", "--url", "https://h.example/", *(word for hostile in every for word in ("--map", hostile))])
    for more, status in (("", 3), (" --map '::x::y.none'", 2)):
        done = audit_step(tmp_path, given + more)
        assert done.returncode == status, done.stdout
        assert status == 2 or all(hostile in done.stdout for hostile in every)
        assert {*commands(done.stdout)} <= {"error", "warning", "notice"}
        assert done.stderr == ""


def audit_step(tmp_path: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action in a folder, with the absolve of this interpreter."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    script = action["runs"]["steps"][-1]["run"]
    assert "${{" not in script
    folder = tmp_path / "absolve/bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in (("absolve", "-m absolve"), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        program.chmod(0o755)
    variables = {
        "ARGUMENTS": arguments, "REPORT": "report.html", "RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "step-summary"),
    }
    return subprocess.run([BASH or "", "-eo", "pipefail", "-c", script], cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=False)
