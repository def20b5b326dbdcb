"""Audit small sites in tests: folders made of a dict, options, and the result tables as rows."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from absolve.audit.verdicts import PAGE_VERDICTS
from absolve.cli import main
from tests.shapes.captures import written as written  # noqa: PLC0414 - the tests of audits have it from here

NEW = "https://new.example/"
OLD = "http://old.example/"
QUIET = {"ok", "same", "external"}


class Audit(NamedTuple):
    """The exit status of a run and its tables, with rows as dicts."""

    status: int
    tables: dict[str, list[dict[str, Any]]]

    @property
    def causes(self) -> list[dict[str, Any]]:
        """The causes of links and old URLs."""
        return [row for row in self.tables["causes"] if row["verdict"] not in PAGE_VERDICTS]

    @property
    def found(self) -> dict[str, str]:
        """The verdicts of the links that are findings, by reference."""
        return {row["reference"]: row["verdict"] for row in self.tables["links"] if row["verdict"] not in QUIET}

    def link(self, reference: str) -> dict[str, Any]:
        return next(row for row in self.tables["links"] if row["reference"] == reference)

    def url(self, path: str) -> dict[str, Any]:
        return next(row for row in self.tables["urls"] if row["url"] == OLD + path)

    @property
    def pages(self) -> set[tuple[str, str]]:
        return {(row["verdict"], row["url"].removeprefix(NEW)) for row in self.tables["pages"]}


def page(body: str = "", head: str = "", title: str = "a page") -> str:
    return f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{title}</title>{head}</head><body>{body}</body></html>"


WORDS = "river stone lantern copper orchard velvet harbour pencil winter meadow thunder saddle anchor cotton feather silver".split()


def text(seed: int, size: int = 120) -> str:
    """Return a text of its own for each seed."""
    found = []
    number = seed * 7919 + 13
    for _ in range(size):
        number = (number * 1103515245 + 12345) % (1 << 31)
        found.append(WORDS[number >> 12 & 15])
    return f"<p>{' '.join(found)}</p>"


def links(*references: str) -> str:
    return page(" ".join(f'<a href="{reference}">t</a>' for reference in references))


def audited(
    folder: Path,
    new: Mapping[str, str | bytes],
    *arguments: object,
    old: Mapping[str, str | bytes] | None = None,
    maps: Mapping[str, str] | None = None,
    url: str | None = NEW,
) -> Audit:
    """Write the sites into a folder, audit them with more arguments, and return the tables."""
    given: list[object] = [written(folder / "new", new)]
    given += ["--url", url] if url is not None else []
    if old is not None:
        given += ["--old", written(folder / "old", old), "--old-url", OLD]
    for name, text in (maps or {}).items():
        (folder / name).write_text(text, "utf-8")
        given += ["--map", folder / name]
    return run(folder, *given, *arguments)


def run(folder: Path, *arguments: object) -> Audit:
    report = folder / "report.sqlite"
    status = main(["audit", *map(str, arguments), "-q", "-o", str(report)])
    assert report.exists()
    with closing(sqlite3.connect(report)) as database:
        database.row_factory = sqlite3.Row
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = {name: [dict(row) for row in database.execute(f"SELECT * FROM {name}")] for name in names}  # noqa: S608 - its own names
    report.unlink()
    return Audit(status, tables)


def printed(capsys: pytest.CaptureFixture[str], *arguments: object, status: int | None = None) -> tuple[str, str]:
    """Return what an audit prints: standard output and standard error."""
    capsys.readouterr()
    done = main(["audit", *map(str, arguments)])
    assert status is None or done == status
    captured = capsys.readouterr()
    return captured.out, captured.err
