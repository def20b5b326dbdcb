"""`absolve documents`, and the table of documents beside that of links."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from command_runner import Runner

import absolve as library
from absolve.tables import FORMATS

PAGE = b"<title>t</title><p id='=1+1'><a name='a b' href=x>"
IMAGE = b"\x89PNG\r\n\x1a\n\0"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder with a page, an image, and XML that is not well-formed."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "p.html").write_bytes(PAGE)
    (folder / "i.png").write_bytes(IMAGE)
    (folder / "x.xml").write_bytes(b"<?xml version='1.0'?><a><b></a>")
    return folder


def test_json_lines_are_the_rows_of_the_library(absolve: Runner, site: Path) -> None:
    path = site / "p.html"
    done = absolve("documents", path, "--url", "http://h/p")
    rows = [{**row._asdict(), "url_source": "--url"} for row in library.documents(PAGE, name=str(path), url="http://h/p")]
    assert [json.loads(line) for line in done.lines] == rows


def test_every_file_of_a_folder_has_a_row(absolve: Runner, site: Path) -> None:
    done = absolve("documents", site, "--url", "http://h/s/", "--columns", "url,media_type,size,title,problems")
    assert [tuple(json.loads(line).values()) for line in done.lines] == [
        ("http://h/s/i.png", "image/png", len(IMAGE), None, []),
        ("http://h/s/p.html", "text/html", len(PAGE), "t", []),
        ("http://h/s/x.xml", "application/xml", 31, None, ["not-well-formed"]),
    ]
    assert (done.status, "not-well-formed" in done.err, "i.png" in done.err) == (3, True, False)


@pytest.mark.parametrize("format_", [name for name, form in FORMATS.items() if form.source != "links"])
def test_every_sink_writes_the_table(absolve: Runner, site: Path, tmp_path: Path, format_: str) -> None:
    target = tmp_path / f"d.{format_}"
    assert absolve("documents", site / "p.html", "-o", target, "--format", format_).status == 0
    if format_ == "sqlite":
        with closing(sqlite3.connect(target)) as database:
            assert database.execute("SELECT title, links, anchors, status FROM documents").fetchall() == [("t", 1, "=1+1 a%20b", None)]
    elif format_ in {"parquet", "duckdb"}:
        with closing(duckdb.connect(str(target) if format_ == "duckdb" else ":memory:")) as database:
            found = database.execute(f"SELECT title, links, anchors, status FROM {'documents' if format_ == 'duckdb' else repr(str(target))}")  # noqa: S608
            assert found.fetchall() == [("t", 1, ["=1+1", "a b"], None)]
    else:  # sitemap: of pages with a URL; table: for people
        parts = {"xlsx": b"xl/worksheets/sheet1.xml", "sitemap": b"<urlset", "table": b"text/html"}
        assert target.read_bytes().count(parts.get(format_, b"=1+1")) >= 1


@pytest.mark.parametrize("options", [("--kind", "image"), ("--columns", "target", "--jobs", "2")])
def test_a_database_of_links_has_the_same_table_beside_it(absolve: Runner, site: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    absolve("documents", site, "-o", tmp_path / "d.sqlite")
    absolve("links", site, "-o", tmp_path / "l.sqlite", *options)
    tables = []
    for name in ("d", "l"):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as database:
            tables.append(database.execute("SELECT * FROM documents").fetchall())
    assert tables[0] == tables[1]
    assert len(tables[0]) == 3
