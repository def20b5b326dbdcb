"""The shared cases of audits, judged by the shared script: small pairs of sites, one trap each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.shared_judges import judged

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_every_shared_audit_case_passes(shared: Path, tmp_path: Path) -> None:
    last, output = judged(shared, "check_audit.py", "audit.jsonl", tmp_path)
    assert last == ["26 passed, 0 failed"], output
