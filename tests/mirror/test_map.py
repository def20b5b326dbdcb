"""The map of a mirror, and its working copy."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from absolve.mirror.map import WORKING, Finished, Working, opened
from absolve.mirror.payloads import Captured, Where

DATE = "20240501123059"


def row(url: str, number: int = 0, redirect: str | None = None, *, is_held: bool = True, source: int = 0) -> tuple[Captured, bool]:
    media_type = "text/html; charset=utf-8" if is_held else ""
    where = Where(source, number, 0)
    return Captured(url, 200 if is_held else 302, DATE, media_type, where, redirect, size=10), is_held


ROWS = [row("http://h/b", 1), row("http://h/a", 2), row("http://h/r", 3, "http://h/a#x", is_held=False)]


def finished(url: str, path: str, **more: Any) -> Finished:
    return Finished(url, path, "sha256:0", "Title", (), (), (), ())._replace(**more)


@pytest.fixture
def working(tmp_path: Path) -> Iterator[Working]:
    made = Working(tmp_path / WORKING)
    made.begin({"run": "1"})
    yield made
    made.close()


def planned(working: Working, rows: list[tuple[Captured, bool]] = ROWS) -> Working:
    working.plan(rows, ["c.warc"], forms=[("http://h/~", "http://h/%7e")])
    return working


def written(working: Working, tmp_path: Path, query: str) -> list[tuple[Any, ...]]:
    working.write(tmp_path / "m")
    with closing(opened(tmp_path / "m")) as db:
        return list(db.execute(query))


def test_the_map_has_a_row_for_every_url_of_the_capture(working: Working, tmp_path: Path) -> None:
    fields = "content-security-policy: sandbox"
    rows = [(one._replace(fields=fields * (one == ROWS[1][0])), is_held) for one, is_held in ROWS]
    planned(working, rows).finish(finished("http://h/a", "h/a.html"))
    date = "2024-05-01T12:30:59Z"
    media_type = "text/html; charset=utf-8"
    assert written(working, tmp_path, "SELECT * FROM resources") == [
        ("http://h/a", "h/a.html", 200, media_type, "sha256:0", date, "c.warc", None, fields),
        ("http://h/b", "h/b.html", 200, media_type, None, date, "c.warc", None, None),
        ("http://h/r", None, 302, None, None, date, "c.warc", "http://h/a#x", None),
    ]


def test_notes_stand_ins_pages_and_what_is_missing_are_in_the_map(working: Working, tmp_path: Path) -> None:
    same = (("https://h/a", "http://h/a", "scheme"),)
    notes = ((2, 1, "csp", "x"), (1, 5, "base", "y"))
    image = ("http://h/i", "image")
    lacks = (image, ("http://h/i", "navigation"))
    planned(working).finish(finished("http://h/b", "h/b.html", notes=notes, same=same, linked=("h/a.html", "h/i.png"), missing=lacks))
    working.finish(finished("http://h/a", "h/a.html", same=same, title="A", missing=(image,)))
    tables = {
        "missing": [(*image, 2, "h/b.html"), ("http://h/i", "navigation", 1, "h/b.html")], "same": list(same),
        "pages": [("h/a.html", "A", 1), ("h/b.html", "Title", 0)], "notes": [("h/b.html", 1, 5, "base", "y"), ("h/b.html", 2, 1, "csp", "x")],
    }  # fmt: skip
    working.write(tmp_path / "m")
    with closing(opened(tmp_path / "m")) as db:
        assert {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in tables} == tables  # noqa: S608 - our own names


def test_the_map_is_the_same_bytes_in_whatever_order_documents_are_finished(tmp_path: Path) -> None:
    every = [
        finished("http://h/a", "h/a.html", notes=((1, 1, "base", "x"),), linked=("h/b.html",)),
        finished("http://h/b", "h/b.html", notes=((1, 1, "base", "y"),), linked=("h/a.html",)),
    ]
    found = []
    for number, order in enumerate((every, every[::-1])):
        working = Working(tmp_path / f"{number}.part")
        planned(working)
        for one in order:
            working.finish(one)
        working.write(tmp_path / str(number))
        working.close()
        found.append((tmp_path / str(number)).read_bytes())
    assert found[0] == found[1]


def test_only_a_complete_plan_of_the_same_run_is_gone_on_with(working: Working, tmp_path: Path) -> None:
    assert not working.is_of({"run": "1"})
    planned(working)
    assert working.is_of({"run": "1"})
    assert not working.is_of({"run": "2"})
    other = Working(tmp_path / "other")
    assert not other.is_of({"run": "1"})
    other.close()


def test_the_files_of_a_finished_map_are_ours_and_none_of_a_broken_one(working: Working, tmp_path: Path) -> None:
    planned(working)
    working.write(tmp_path / "mirror.sqlite")
    (tmp_path / "empty").touch()
    (tmp_path / "broken").write_bytes(b"no database" * 100)
    later = Working(tmp_path / "later")
    for name in ("none", "empty", "broken"):
        later.add_ours(tmp_path / name)
        assert not later.has_before()
    later.add_ours(tmp_path / "mirror.sqlite")
    assert later.has_before()
    assert (later.is_ours("h/a.html"), later.is_ours("h/c.html")) == (True, False)
    assert (working.is_planned("h/a.html"), later.is_planned("h/a.html")) == (True, False)
    later.close()


def test_the_files_of_a_killed_run_are_ours_but_not_the_foreign_ones(working: Working) -> None:
    planned(working).mark_foreign(["h/b.html"])
    working.begin({"run": "2"})
    working.close()
    later = Working(working.path)
    later.begin({"run": "3"})  # what the first one made is known after a second one was killed at once, too
    assert later.is_ours("h/a.html")
    assert not later.is_ours("h/b.html")
    assert later.documents() == (0, 0)
    planned(later).mark_foreign(["h/c.html"])
    assert list(later.rows("SELECT path FROM foreign_files")) == [("h/c.html",)]
    later.close()


def test_a_map_is_opened_to_be_read_only(working: Working, tmp_path: Path) -> None:
    planned(working).write(tmp_path / "m")
    with closing(opened(tmp_path / "m")) as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("DELETE FROM resources")
    with pytest.raises(sqlite3.DatabaseError):
        opened(tmp_path / "none").execute("SELECT 1")
    assert not (tmp_path / "none").exists()
