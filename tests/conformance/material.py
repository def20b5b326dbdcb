"""Shared test data, and test cases generated from it; skipped if it is missing."""

import csv
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from _pytest.mark import ParameterSet

from absolve.urls.predicates import has_scheme, is_malformed

SHARED: Final = Path(os.environ.get("ABSOLVE_SHARED") or Path(__file__).parents[3] / "shared")


def missing(folder: Path) -> str:
    """Return the reason to skip a test that needs this folder."""
    return f"there is no {folder} (set ABSOLVE_SHARED)"


def needs(folder: Path) -> pytest.MarkDecorator:
    """Skip a test, with the reason, where this folder or file is missing."""
    return pytest.mark.skipif(not folder.exists(), reason=missing(folder))


def pins(name: str) -> Any:
    """Return a file of pinned differences."""
    return json.loads(Path(__file__).with_name("data").joinpath(f"{name}_pins.json").read_text("utf-8"))


def each(names: str, cases: Iterable[ParameterSet], folder: Path) -> pytest.MarkDecorator:
    """Parametrize a test by cases generated from the files in a folder.

    If the folder is missing, `cases`, which may be a generator, is not used: the test is collected once, with a value
    for each parameter, and skipped with the reason. A folder without any case is an error.
    """
    if folder.is_dir():
        found = list(cases)
        if not found:
            raise ValueError(f"there are no cases in {folder}")
    else:
        values = [None] * len(names.split(","))
        found = [pytest.param(*values, marks=pytest.mark.skip(reason=missing(folder)), id="missing")]
    return pytest.mark.parametrize(names, found)


class Page(NamedTuple):
    """A saved page, and its URL if that is known."""

    path: str
    url: str | None

    @property
    def data(self) -> bytes:
        return (SHARED / "pages" / self.path).read_bytes()


def pages(every: int) -> list[Page]:
    """Return every nth page of the shared folder; none without that folder."""
    if not SHARED.is_dir():
        return []
    with (SHARED / "pages" / "index.tsv").open(encoding="utf-8", newline="") as index:
        rows = list(csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE))[::every]
    return [Page(row["path"], row["url"] if has_scheme(row["url"]) and not is_malformed(row["url"]) else None) for row in rows]
