"""Run a judge of the shared folder on its cases, with the command of the interpreter that runs the tests."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def judged(shared: Path, script: str, cases: str, folder: Path) -> tuple[list[str], str]:
    """Return the last line that a judge prints, as a list, and all of its output; skip the test without the judge."""
    path = shared / script
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    command = [sys.executable, str(path), "--absolve", f"{sys.executable} -m absolve"]
    command += ["--keep", str(folder), str(shared / "cases" / cases)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[-1:], done.stdout + done.stderr
