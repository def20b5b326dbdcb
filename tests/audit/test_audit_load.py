"""Inputs of an audit: inventories of each format, lists, archives, packages; and what is wrong with them."""

import gzip
import plistlib
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from audited import NEW, OLD, audited, links, page, run, text, written

from absolve.audit import sites
from absolve.cli import main
from tests.shapes import captures
from tests.shapes.captures import entry, har, mhtml, resource, web_archive, zipped

FILES = {"index.html": links("a.html", "no.html", "a.html#no"), "a.html": page("a")}
WANTED = {"no.html": "broken", "a.html#no": "fragment"}


@pytest.mark.parametrize("suffix", ["duckdb", "parquet"])
def test_an_inventory_is_audited_like_its_documents(tmp_path: Path, suffix: str) -> None:
    site = written(tmp_path / "site", FILES)
    given = [str(site), "--url", NEW, "--profile", "whatwg", "-q"]
    made = [tmp_path / f"links.{suffix}"]
    assert main(["links", *given, "-o", str(made[0])]) == 0
    if suffix == "parquet":
        made.append(tmp_path / "documents.parquet")
        assert main(["documents", *given, "-o", str(made[1])]) == 0
    assert run(tmp_path, *made, "--url", NEW).found == WANTED


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Return the messages of a run that fails."""
    assert main(["audit", *map(str, arguments)]) != 0
    return capsys.readouterr().err


def test_an_inventory_of_another_version_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as database:
        database.execute("CREATE TABLE links (document, reference)")
    assert "of another version" in refused(capsys, tmp_path / "l.sqlite", "--url", NEW)
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as database:
        database.execute("CREATE VIEW links AS SELECT 1")
    assert "no table of links or documents" in refused(capsys, tmp_path / "x.sqlite", "--url", NEW)
    duckdb.connect(str(tmp_path / "l.duckdb")).execute("CREATE TABLE documents (url VARCHAR)").close()
    assert "of another version" in refused(capsys, tmp_path / "l.duckdb", "--url", NEW)


def test_a_damaged_inventory_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in (("a.sqlite", b"SQLite format 3\0" + b"x" * 500), ("b.parquet", b"PAR1" + b"x" * 50), ("c.duckdb", b"x" * 8 + b"DUCK" + b"x" * 5000)):
        (tmp_path / name).write_bytes(data)
        assert f"{name}: unreadable" in refused(capsys, tmp_path / name, "--url", NEW)


def test_an_inventory_without_the_newest_column_is_read_and_its_url_is_guessed(tmp_path: Path) -> None:
    site = written(tmp_path / "site", FILES)
    main(["links", str(site), "--url", NEW, "-q", "-o", str(tmp_path / "l.sqlite")])
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as database:
        database.execute("ALTER TABLE documents DROP COLUMN alternates")
        database.commit()
    assert run(tmp_path, tmp_path / "l.sqlite").found == WANTED


def test_lists_and_documents_are_told_apart_by_their_first_bytes(tmp_path: Path) -> None:
    sitemap = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>'
    written(tmp_path, {"a.txt": f"# c\n\n{OLD}\n", "b.txt": "prose\n", "c.xml": sitemap, "d.xml": "<a/>", "e.xml.gz": gzip.compress(sitemap.encode()), "f.xml.gz": b"\x1f\x8bno"})
    found = sites.sorted_out(str(tmp_path / name) for name in ("a.txt", "b.txt", "c.xml", "d.xml", "e.xml.gz", "f.xml.gz", "none", "."))
    assert [name.rpartition("/")[2] for name, _ in found.lists] == ["a.txt", "c.xml", "e.xml.gz"]
    assert len(found.documents) == 5


def test_a_sitemap_in_gzip_is_a_list_and_its_url_is_guessed(tmp_path: Path) -> None:
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{OLD}a.html</loc></url></urlset>'
    written(tmp_path, {"sitemap.xml.gz": gzip.compress(text.encode()), "new/a.html": page()})
    done = run(tmp_path, tmp_path / "new", "--url", NEW, "--old", tmp_path / "sitemap.xml.gz")
    assert [(row["url"], row["verdict"]) for row in done.tables["urls"]] == [(f"{OLD}a.html", "kept")]


def record(url: str, body: str = "", status: int = 200, media_type: str | None = "text/html", **fields: str) -> bytes:
    return captures.page(url, body.encode(), media_type, status=status, **fields)


def test_a_capture_has_its_own_urls_and_redirects(tmp_path: Path) -> None:
    site = "http://site.example/"
    written(tmp_path, {"c.warc": b"".join((
        record(f"{site}", links("a?q=1", "a?q=2", "r", "b", "f", "gone", "http://cdn.example/x")), record(f"{site}a?q=1", page("a")),
        record(f"{site}r", "", 301, None, Location=f"{site}a?q=1"), record(f"{site}b", page("moved"), 301, Location=f"{site}a?q=1"),
        record(f"{site}f", page(), Refresh=f"5; url={site}a?q=1"), record("http://cdn.example/x", "x", media_type="text/plain"),
    ))})  # fmt: skip
    done = run(tmp_path, tmp_path / "c.warc")
    assert done.found == {"a?q=2": "broken", "r": "redirected", "b": "redirected", "f": "redirected", "gone": "broken"}
    assert done.tables["summary"][-4]["value"] == site or {"name": "new_url", "value": site} in done.tables["summary"]


def test_contents_of_captures_are_compared(tmp_path: Path) -> None:
    written(tmp_path, {"o.warc": record(OLD, page("home")) + record(f"{OLD}a", page(text(1), title="A")), "n.warc": record(NEW, page("home")) + record(f"{NEW}b", page(text(1) + "<p>one more", title="A"))})
    done = run(tmp_path, tmp_path / "n.warc", "--old", tmp_path / "o.warc", "--url", NEW, "--old-url", OLD)
    assert {(row["url"], row["verdict"], row["final"]) for row in done.tables["urls"]} == {(OLD, "kept", NEW), (f"{OLD}a", "moved", f"{NEW}b")}


def test_a_page_that_states_its_own_url_is_where_the_folder_has_it(tmp_path: Path) -> None:
    saved = "<!-- saved from url=(0020)http://saved.example/ -->" + links("b.html", "no.html")
    assert audited(tmp_path, {"index.html": saved, "b.html": page()}, url=None).found == {"no.html": "broken"}


def test_without_a_document_nothing_is_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.html: no URL of the new site can be read from it" in refused(capsys, written(tmp_path / "empty", {"x/y": ""}) / "x" / "none.html")


def test_an_archive_in_a_site_is_a_file_and_in_a_folder_without_pages_a_capture(tmp_path: Path) -> None:
    inside = links("nope.html", "http://new.example/nope.html")
    saved = {
        **dict.fromkeys(("a.zip", "a.jar", "a.epub", "a.maff"), zipped({"p.html": inside})),
        "a.mbox": b"From a@h.example Sat Jan  1 00:00:00 2000\nFrom: a@h.example\nContent-Type: text/html\n\n" + inside.encode(),
        "a.eml": b"From: a@h.example\nContent-Type: text/html\n\n" + inside.encode(),
        "a.mht": mhtml((f"{NEW}p", "text/html", inside.encode())),
        "a.har": har(entry(f"{NEW}q", inside)),
        "a.warc.gz": gzip.compress(record(f"{NEW}r", inside)),
        "a.webarchive": plistlib.dumps(web_archive(resource(f"{NEW}s", inside.encode()))),
    }
    below = {f"dl/{name}": data for name, data in saved.items()}
    done = audited(tmp_path / "site", {**below, "index.html": links(*below)})
    assert done.found == {}
    assert {row["url"] for row in done.tables["pages"]} <= {NEW}
    captures = audited(tmp_path / "captures", {name: saved[name] for name in ("a.har", "a.warc.gz")})
    assert "nope.html" in captures.found
    assert "nope.html" in run(tmp_path, tmp_path / "site" / "new" / "dl" / "a.zip", "--url", NEW).found


def test_a_package_is_a_folder_and_its_url_is_guessed(tmp_path: Path) -> None:
    written(tmp_path, {"site.zip": zipped(FILES)})
    assert run(tmp_path, tmp_path / "site.zip").found == WANTED


def test_a_file_that_cannot_be_read_is_said_and_the_rest_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": links("no.html"), "bad.xml": "<a>"})
    main(["audit", str(site), str(tmp_path / "none"), "--url", NEW])
    captured = capsys.readouterr()
    assert "broken" in captured.out
    assert "none: not-found" in captured.err or "none: unreadable" in captured.err


def test_pages_that_changed_since_their_inventory_are_not_compared(tmp_path: Path) -> None:
    old = written(tmp_path / "old", {"a.html": page(text(1)), "b.html": page(text(2)), "c.html": page(text(3))})
    new = written(tmp_path / "new", {f"{name}2.html": page(text(number) + "<p>more") for number, name in ((1, "a"), (2, "b"), (3, "c"))})
    main(["links", str(old), "--url", OLD, "-q", "-o", str(tmp_path / "old.sqlite")])
    written(old, {"b.html": page("another text")})
    (old / "c.html").unlink()
    done = run(tmp_path, new, "--url", NEW, "--old", tmp_path / "old.sqlite", "--old-url", OLD)
    assert [done.url(f"{name}.html")["verdict"] for name in "abc"] == ["moved", "lost", "lost"]
