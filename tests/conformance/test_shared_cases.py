"""The shared cases of mirrors, audits and ordinary files, each file judged by its shared script with the command."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

JUDGES: Final = {"mirror": "check_mirror.py", "audit": "check_audit.py", "field": "check_field.py"}
# By the judged file, the cases that fail: those whose names or defaults are not there yet. One that passes must leave the list.
FAILING: Final = {
    "mirror": "", "audit": "", "field": "",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGES)
def test_every_shared_case_passes_except_the_open_ones(name: str, shared: Path, tmp_path: Path) -> None:
    cases = shared / "cases" / f"{name}.jsonl"
    if not cases.is_file():
        pytest.skip(f"there is no {cases}")
    command = [sys.executable, str(shared / JUDGES[name]), "--absolve", f"{sys.executable} -m absolve"]
    done = subprocess.run([*command, "--keep", str(tmp_path), str(cases)], capture_output=True, text=True, check=False)
    ids = {json.loads(line)["id"] for line in cases.read_text("utf-8").split("\n") if line}
    failed = {line.partition(":")[0] for line in done.stdout.splitlines()} & ids
    assert done.stdout.splitlines()[-1:] == [f"{len(ids) - len(failed)} passed, {len(failed)} failed"], done.stderr
    assert failed == {*FAILING[name].split()}, done.stdout
