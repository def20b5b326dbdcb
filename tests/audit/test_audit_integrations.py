"""The pre-commit hook and the GitHub Action call the command with options that it has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from audited import NEW, links, written

from absolve.cli.running import parser

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [".pre-commit-hooks.yaml", "action.yml"])
def test_the_command_has_the_options_that_are_named(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    known = {option for action in parser(["audit"]).commands["audit"]._actions for option in action.option_strings}
    assert "absolve audit" in text
    assert set(re.findall(r"(?<=[(\s])--?[a-z][a-z-]*(?= )", text.partition("absolve audit")[2])) - {"-m", "-z"} <= known


@pytest.mark.skipif(sys.platform == "win32", reason="the action runs in bash")
def test_the_action_prints_annotations_and_keeps_the_exit_status(tmp_path: Path) -> None:
    script = re.search(r"- run: \|[^\n]*\n(.*?)\n      shell: bash", (ROOT / "action.yml").read_text("utf-8"), re.DOTALL)
    assert script is not None
    site = written(tmp_path / "a site; exit 0", {"index.html": links("no.html")})
    names = dict.fromkeys(("OLD", "OLD_URL", "MAP", "BASELINE"), "")
    given = {"NEW": str(site), "URL": NEW, "REPORT": "x.html", "GITHUB_STEP_SUMMARY": str(tmp_path / "steps.md")}
    environment = os.environ | names | given | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-ec", script[1]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)  # noqa: S607 - bash of the user
    assert done.returncode == 1
    assert "::error" in done.stdout
    assert "broken" in (tmp_path / "steps.md").read_text("utf-8")
    assert (tmp_path / "x.html").is_file()
