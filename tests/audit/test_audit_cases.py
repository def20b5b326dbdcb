"""The shared cases of audits, judged by the shared script: small pairs of sites, one trap each."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_every_shared_audit_case_passes(shared: Path, tmp_path: Path) -> None:
    script = shared / "check_audit.py"
    if not script.is_file():
        pytest.skip(f"there is no {script}")
    command = f"{sys.executable} -m absolve"
    arguments = [sys.executable, str(script), "--absolve", command, "--keep", str(tmp_path), str(shared / "cases/audit.jsonl")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["26 passed, 0 failed"], done.stdout + done.stderr
