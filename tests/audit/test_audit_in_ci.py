"""The pre-commit hook and the GitHub action: their commands run here as their hosts run them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from absolve.cli import main

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
BASH = shutil.which("bash")
NEW = ("examples/move/new", "--url", "https://bay.example/")


def test_the_hook_runs_an_audit_with_the_packages_of_the_extra() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *arguments = shlex.split(hook["entry"])
    assert program == "absolve"
    assert main([*arguments, str(ROOT / NEW[0]), *NEW[1:], "-q"]) == 1
    assert main([*arguments, str(ROOT / NEW[0]), *NEW[1:], "-q", "--fail-on", "none"]) == 0
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]["audit"]
    needed = {name.partition(">")[0] for name in extra if not name.startswith("absolve[")}
    given = {name.partition(">")[0] for name in hook["additional_dependencies"]}
    assert given == needed | {"pyarrow"}


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("more", "code"),
    [("", 1), ("--fail-on none", 0), ("--no-such-option", 2), ("'$(touch run)' `touch run` ; touch run", 2)],
)
def test_the_action_prints_annotations_and_a_summary_and_runs_nothing_else(tmp_path: Path, more: str, code: int) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    script = action["runs"]["steps"][-1]["run"]
    assert "${{" not in script
    program = tmp_path / "absolve/bin/absolve"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m absolve "$@"\n')
    program.chmod(0o755)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    variables = {
        "ARGUMENTS": f"{shlex.join(NEW)} {more}",
        "REPORT": "report.html",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "step-summary"),
    }
    done = subprocess.run(
        [BASH or "", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert not (tmp_path / "run").exists()
    if code == 1:
        assert "::error file=examples/move/new/towers/index.html,line=7,col=58" in done.stdout
        assert "links need a change" in (tmp_path / "step-summary").read_text("utf-8")
        assert (tmp_path / "report.html").stat().st_size > 100_000
