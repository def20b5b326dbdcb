"""The shared cases of mirrors, audits and ordinary files, each file judged by its shared script with the command."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

JUDGES: Final = {"mirror": "check_mirror.py", "audit": "check_audit.py", "field": "check_field.py"}


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGES)
def test_every_shared_case_passes(name: str, shared: Path, tmp_path: Path) -> None:
    cases = shared / "cases" / f"{name}.jsonl"
    if not cases.is_file():
        pytest.skip(f"there is no {cases}")
    command = [sys.executable, str(shared / JUDGES[name]), "--absolve", f"{sys.executable} -m absolve"]
    done = subprocess.run([*command, "--keep", str(tmp_path), str(cases)], capture_output=True, text=True, check=False)
    count = sum(1 for line in cases.read_text("utf-8").split("\n") if line)
    assert done.stdout.splitlines()[-1:] == [f"{count} passed, 0 failed"], done.stdout + done.stderr
