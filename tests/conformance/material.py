"""The test material that lies beside the project, and cases made of it: skipped where it is not there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _pytest.mark import ParameterSet

SHARED: Final = Path(os.environ.get("ABSOLVE_SHARED") or Path(__file__).parents[3] / "shared")


def missing(folder: Path) -> str:
    """Return the reason to skip what needs this folder."""
    return f"there is no {folder} (set ABSOLVE_SHARED)"


def each(names: str, cases: Iterable[ParameterSet], folder: Path) -> pytest.MarkDecorator:
    """Parametrize a test by cases made of the files in a folder.

    Where the folder is not there `cases`, which may be a generator, is not touched: the test is there once, skipped with
    the reason, and has a value for each of its parameters. A folder in which there are no cases is an error.
    """
    if folder.is_dir():
        found = list(cases)
        if not found:
            raise ValueError(f"there are no cases in {folder}")
    else:
        values = [None] * len(names.split(","))
        found = [pytest.param(*values, marks=pytest.mark.skip(reason=missing(folder)), id="missing")]
    return pytest.mark.parametrize(names, found)
