"""The file for a URL, by the map, in memory or row by row."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from absolve.mirror import lookup as lookup_
from absolve.mirror.lookup import Equivalences, Lookup
from absolve.mirror.policy import Target

ROWS = [
    ("http://h/~a", "h/a.html", None),
    ("http://h/%7ee", "h/e.html", None),
    ("http://www.h/w", "www.h/w.html", None),
    ("http://h/to", None, "http://h/~a#x"),
    ("http://h/plain", None, "http://h/~a"),
    ("http://h/lost", None, "http://h/gone"),
    ("http://h/404", None, None),
    ("cid:a@b", "h/c.png", None),
]
FORMS = [("http://h/~e", "http://h/%7ee"), ("=http://h/w", "http://www.h/w")]


@pytest.fixture(params=["small", "large"])
def db(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Return a map that is kept in memory, and one that is too large for that."""
    if request.param == "large":
        monkeypatch.setattr(lookup_, "_SMALL", 0)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE resources (url TEXT PRIMARY KEY, path TEXT, redirect TEXT)")
        db.executemany("INSERT INTO resources VALUES (?, ?, ?)", ROWS)
        db.execute("CREATE TABLE forms (form TEXT PRIMARY KEY, url TEXT)")
        db.executemany("INSERT INTO forms VALUES (?, ?)", FORMS)
        yield db


TARGETS: dict[str, Target | None] = {
    "http://h/~a": Target("h/a.html"), "http://h/to": Target("h/a.html", "x"), "http://h/plain": Target("h/a.html"),
    "http://h/lost": None, "http://h/404": None, "http://h/none": None, "CID:a%40b": Target("h/c.png"),
    "cid:none": None, "https://h/%7Ea": Target("h/a.html"), "http://h/~e": Target("h/e.html"),
    "http://h/w": Target("www.h/w.html"), "http://h/W": None,
}


def test_a_url_has_its_file_or_that_of_one_that_stands_for_it(db: sqlite3.Connection) -> None:
    found = Lookup(db, Equivalences.from_words("www"), is_normal=True)
    for _ in range(2):
        assert {url: found(url) for url in TARGETS} == TARGETS


def test_what_stood_for_what_is_noted_each_time(db: sqlite3.Connection) -> None:
    found = Lookup(db, Equivalences(), is_normal=True)
    for _ in range(2):
        found.used.clear()
        found("http://h/~a")
        found("https://h/~a")
        assert list(found.used.values()) == [("https://h/~a", "http://h/~a", "scheme")]


def test_the_urls_of_another_profile_are_made_normal(db: sqlite3.Connection) -> None:
    assert Lookup(db, Equivalences(), is_normal=False)("HTTP://H:80/./~a") == Target("h/a.html")
    assert Lookup(db, Equivalences(), is_normal=False)("http://[") is None
    assert Lookup(db, Equivalences(), is_normal=True)("HTTP://H:80/./~a") is None


def test_the_forms_of_a_finished_map_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE resources (url TEXT PRIMARY KEY, path TEXT, redirect TEXT)")
        db.executemany("INSERT INTO resources VALUES (?, ?, ?)", ROWS)
        same = Equivalences.from_words("www")
        assert Lookup(db, same, is_normal=True, is_finished=True)("http://h/w") == Target("www.h/w.html")
        monkeypatch.setattr(lookup_, "_SMALL", 0)
        assert Lookup(db, same, is_normal=True, is_finished=True)("http://h/none") is None


def test_a_full_cache_is_emptied_and_what_is_long_is_not_kept(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup_, "_MOST_KNOWN", 2)
    found = Lookup(db, Equivalences(), is_normal=True)
    asked = ["https://h/~a", "http://h/1", "http://h/2", "http://h/" + "x" * 3000, "https://h/~a"]
    assert [found(url) is not None for url in asked] == [True, False, False, False, True]
    assert list(found.used) == ["https://h/~a"]
