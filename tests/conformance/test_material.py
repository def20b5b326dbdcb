"""Without the shared test data every test is still collected, and skipped with a reason."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from material import each

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("names", ["one", "one, two", "one,two,three"])
def test_the_placeholder_of_missing_cases_has_a_value_for_each_parameter(names: str, tmp_path: Path) -> None:
    unread = (pytest.fail("the cases of a missing folder are asked for") for _ in range(1))
    given, (placeholder,) = each(names, unread, tmp_path / "missing").args
    assert len(placeholder.values) == len(given.split(","))
    assert str(tmp_path / "missing") in placeholder.marks[0].kwargs["reason"]


def test_a_test_data_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no cases"):
        each("one", [], tmp_path)


@pytest.mark.slow
def test_the_whole_suite_is_collected_without_test_data(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider", "tests"],
        cwd=ROOT,
        env={**os.environ, "ABSOLVE_SHARED": str(tmp_path / "missing")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
