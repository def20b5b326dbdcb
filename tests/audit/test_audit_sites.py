"""The findings in five real documentation trees are those of another checker, and the links that it leaves out.

lychee 0.24.2 (`--offline --include-fragments`) reports 8,409 links to missing files in these trees (3,161 pairs of a page
and a file), 39 missing fragments and 2 malformed URLs. All of them are findings here. It does not look at scripts, at
links with `rel=nofollow`, at `link rev=made` with an address, and at URLs in CSS: a browser requests or follows them.
LinkChecker 10.6 finds the same 2 missing files in the tree of git; Chromium agrees about each of its 3,005 links.
"""

import gzip
import json
import sqlite3
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import audited
import pytest

from absolve.cli import main
from tests.shapes.captures import epub, page, written, zipped

FOUND = """\
SELECT DISTINCT document, substr(target, 1, instr(target || '#', '#') - 1), CASE
    WHEN element = 'script' THEN 'script' WHEN rel LIKE '%nofollow%' THEN 'nofollow' WHEN element = 'css' THEN 'css'
    WHEN element = 'link' AND target LIKE '%@%' THEN 'address' ELSE 'lychee' END
FROM links WHERE verdict = 'broken'"""


@pytest.mark.slow
def test_all_that_another_checker_finds_in_real_sites_is_found_and_the_rest_is_what_it_leaves_out(shared: Path, tmp_path: Path) -> None:
    report = tmp_path / "sites.sqlite"
    assert main(["audit", str(shared / "sites"), "--url", "http://s.example/", "-q", "-o", str(report)]) == 1
    with closing(sqlite3.connect(report)) as database:
        verdicts = dict(database.execute("SELECT verdict, count(*) FROM links GROUP BY verdict"))
        found = {(document, target): why for document, target, why in database.execute(FOUND)}
    assert verdicts["fragment"] == 39
    assert verdicts["malformed"] == 2
    assert Counter(found.values()) == {"lychee": 3162, "script": 5808, "nofollow": 1934, "address": 1169, "css": 39}


def checked(capsys: pytest.CaptureFixture[str], name: Path, *options: str) -> list[dict[str, Any]]:
    """Return the links of a site that `check` prints."""
    main(["check", str(name), "-f", "jsonl", *options])
    return [row for row in map(json.loads, capsys.readouterr().out.splitlines()) if row["table"] == "links"]


def broken(rows: list[dict[str, Any]]) -> set[str]:
    return {row["reference"] for row in rows if row["verdict"] == "broken"}


def test_files_on_the_disk_that_are_not_read_are_there_for_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, {
        "README.md": "# X y", "docs/.github/ci.yml": "x", "docs/sub/x.py": "x", "docs/node_modules/q/a.html": "<a href=gone>",
        "docs/a.md": "[r](../README.md#x) [c](.github/ci.yml) [s](sub) [q](node_modules/q/a.html) [g](../GONE.md) [h](.git/gone) [l](up/)"
                     " [i](../../issues) [p](../README.md#x-y) [t](../README.md#readme)",
        "docs/b.html": "<a href=../README.md>r</a><a href=sub/>s</a><a href='../docs/'>d</a><a href=%00>z</a>",
    })  # fmt: skip
    (tmp_path / "docs/up").symlink_to("..")
    rows = checked(capsys, tmp_path / "docs")
    assert broken(rows) == {"../GONE.md", ".git/gone", "up/", "sub/", "../docs/", "%00"}
    assert {row["reference"] for row in rows if row["verdict"] == "fragment"} == {"../README.md#x"}
    assert "../../issues" not in broken(checked(capsys, tmp_path / "docs/a.md"))
    rows = checked(capsys, tmp_path / "docs", "--url", "http://h.example/")
    assert "../README.md" in broken(rows)  # where the URL is known, no file is at this one


def test_fragments_of_files_beside_a_named_one_that_are_no_pages_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = "<a href=a.pdf#page=2>a</a><a href=gone.pdf#x>n</a><a href=c.html#x>c</a><a href=c.html#y>c</a>"
    written(tmp_path, {"docs/p.html": links, "docs/a.pdf": b"%PDF-1.4\n\0", "docs/c.html": "<p id=x>c"})
    found = {row["reference"]: row["verdict"] for row in checked(capsys, tmp_path / "docs/p.html")}
    assert found == {"gone.pdf#x": "broken", "c.html#y": "fragment"}


def test_the_line_of_an_inner_document_is_not_taken_for_one_of_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, {"my n.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["a\\n", "[x](gone.md)"], "metadata": {}}], "metadata": {}, "nbformat": 4}'})
    for form, place in (("markdown", "n.ipynb/cell[1]:2:5"), ("github", "/my n.ipynb,title=Broken"), ("junit", "n.ipynb/cell[1]:2:5: ")):
        main(["check", str(tmp_path), "-f", form, "-q"])
        assert place in capsys.readouterr().out, form


def test_a_message_alone_is_checked_without_a_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html = "<a href=https://h.example/>a</a><img src=cid:no><a href=b.html>b</a>"
    (tmp_path / "a.eml").write_text(f"From: a@h.example\nMIME-Version: 1.0\nContent-Type: text/html\n\n{html}\n")
    found = {row["reference"]: row["verdict"] for row in checked(capsys, tmp_path / "a.eml")}
    assert found == {"cid:no": "broken", "b.html": "unresolved"}


def test_a_picture_that_is_a_page_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = '<a href=b.html>b</a><img src=c.php><img src=a.gif><p id=y><img src="#y">'
    index = f"{there}<img src='b.html#x'><link rel=icon href=./><img src=http://o.example/p><a href=http://o.example/p>p</a><img src=http://o.example/i>"
    written(tmp_path / "s", {"index.html": index, "b.html": "<p id=x>", "c.php": "<?php ?><html>", "a.gif": "GIF89a"})
    (tmp_path / "a.warc").write_bytes(page("http://o.example/p", b"<p>") + page("http://o.example/i", b"GIF89a", "image/gif"))
    rows = checked(capsys, tmp_path / "s", "--answers", str(tmp_path / "a.warc"))
    assert [(row["element"], row["reference"]) for row in rows if row["verdict"] == "broken"] == [("img", "b.html#x"), ("link", "./"), ("img", "http://o.example/p")]


def test_what_a_capture_has_that_is_no_page_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = b"<!DOCTYPE html><html lang=en><title>h</title><a href=a.tar.gz>a</a>"
    captures = [page("http://h.example/", home), page("http://h.example/a.tar.gz", gzip.compress(b"\0" * 2000), "application/gzip")]
    captures += [page("http://h.example/robots.txt", home.replace(b"a.tar.gz", b"nope"))]  # as an application answers all
    (tmp_path / "c.warc").write_bytes(b"".join(captures))
    assert main(["check", str(tmp_path / "c.warc")]) == 0
    assert "no findings in 1 link" in capsys.readouterr().err


def test_members_of_a_package_that_nobody_can_read_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encryption = '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:CipherReference URI="OPS/c.xhtml"/></encryption>'
    nav = b'<html xmlns="http://www.w3.org/1999/xhtml"><a href="c.xhtml"/><a href="gone.xhtml"/></html>'
    book = epub({"n.xhtml": ("application/xhtml+xml", nav), "c.xhtml": ("application/xhtml+xml", b"\1\2")})
    (tmp_path / "b.epub").write_bytes(book)
    with zipfile.ZipFile(tmp_path / "b.epub", "a") as package:
        package.writestr("META-INF/encryption.xml", encryption)
    assert broken(checked(capsys, tmp_path / "b.epub")) == {"gone.xhtml"}
    content = '<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:x="http://www.w3.org/1999/xlink" xmlns:d="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0">'
    content += "".join(f'<d:image x:href="{name}"/>' for name in ("Pictures/a.png", "./Object 1", "gone.png")) + "</o:document-content>"
    names = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, "Pictures/a.png": "x", "Object 1/content.xml": "<a/>"}
    (tmp_path / "t.odt").write_bytes(zipped(names))
    assert broken(checked(capsys, tmp_path / "t.odt")) == {"gone.png"}


def test_files_beside_the_folders_of_hosts_are_not_taken_for_the_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = written(tmp_path / "copy", {
        "knots.example/index.html": b"<a href=/gone.html>g</a><a href=there.html>t</a><a href=http://localhost/loose.html>l</a><a href=http://localhost:80/loose.html>p</a>",
        "knots.example/there.html": b"t", "loose.html": b"n", "todo.html": b"t",
        "notes.html": audited.page("<a href=knots.example/index.html>i</a> <a href=knots.example/>i</a> <a href=todo.html>t</a> <a href=gone.html>g</a>"
                                   "<img src=/gone.png> <a href=http://localhost/todo.html>o</a> <a href=knots.example/none.html>g</a>"),
    })  # fmt: skip
    found = {(Path(row["document"]).name, row["reference"]): row["verdict"] for row in checked(capsys, copy) if row["verdict"] not in audited.QUIET}
    assert found == {
        ("index.html", "/gone.html"): "broken", ("index.html", "http://localhost/loose.html"): "local", ("index.html", "http://localhost:80/loose.html"): "local",
        ("notes.html", "gone.html"): "broken", ("notes.html", "/gone.png"): "broken", ("notes.html", "http://localhost/todo.html"): "local",
        ("notes.html", "knots.example/none.html"): "broken",
    }  # fmt: skip


@pytest.mark.parametrize(("folder", "url"), [("old.example", "http://old.example/"), ("old.example+81", "https://OLD.example:82/"), ("old.example", "http://old.example/d/")])
def test_the_folder_of_the_host_is_the_site_that_the_url_names(tmp_path: Path, folder: str, url: str) -> None:
    new = {"index.html": audited.page("<a href=d/a.html>a</a>"), "d/a.html": "<a href=../>h</a>"}
    others = {"cdn.example/d/c.html": b"<p>", "notes.txt": b"n"} | ({"old.example+8080/d/b.html": b"<p>"} if folder == "old.example" else {})
    written(tmp_path / "old", {f"{folder}/{name}": text.encode() for name, text in new.items()} | others)
    found = {row["url"] for row in audited.audited(tmp_path, new, "--old", tmp_path / "old", "--old-url", url).tables["urls"]}
    assert found == ({f"{url}a.html"} if url.endswith("/d/") else {url.lower(), f"{url.lower()}d/a.html"})


def test_a_page_that_names_the_machine_is_local_though_its_folder_is_taken_to_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = audited.written(tmp_path / "site", {
        "index.html": audited.page("<a href=http://localhost/a.html>a</a> <a href=//LOCALHOST/>i</a> <a href=a.html>a</a> <a href=#x>x</a>"),
        "a.html": audited.page("<a id=x href=index.html>i</a>"),
        "sitemap.xml": b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://localhost/a.html</loc></url></urlset>",
        "based/index.html": audited.page('<a href="../a.html">a</a><a href=".">i</a>', '<base href="http://localhost/based/">'),
        "moved/index.html": audited.page('<a href="a.html">a</a><a href="#x">i</a>', '<base href="/">'),
    })  # fmt: skip
    wanted = {("site", "http://localhost/a.html"), ("site", "//LOCALHOST/"), ("based", "../a.html"), ("based", ".")}
    for options, found in (((), wanted), (("--url", "http://localhost/"), set())):
        rows = checked(capsys, site, *options)
        assert {(Path(row["document"]).parent.name, row["reference"]) for row in rows if row["verdict"] == "local"} == found
