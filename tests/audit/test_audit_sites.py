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
def test_all_that_another_checker_finds_in_real_sites_is_found_and_the_rest_is_what_it_leaves_out(
    shared: Path, tmp_path: Path
) -> None:
    report = tmp_path / "sites.sqlite"
    assert main(["audit", str(shared / "sites"), "--url", "http://s.example/", "-q", "-o", str(report)]) == 1
    with closing(sqlite3.connect(report)) as database:
        verdicts = dict(database.execute("SELECT verdict, count(*) FROM links GROUP BY verdict"))
        found = {(document, target): why for document, target, why in database.execute(FOUND)}
    assert verdicts["fragment"] == 39
    assert verdicts["malformed"] == 2
    assert Counter(found.values()) == {"lychee": 3162, "script": 5808, "nofollow": 1934, "address": 1169, "css": 39}


def test_files_on_the_disk_that_are_not_read_are_there_for_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "README.md": "r", "docs/.github/ci.yml": "x", "docs/sub/x.py": "x", "docs/node_modules/q/a.html": "<a href=gone>",
        "docs/a.md": "[r](../README.md#x) [c](.github/ci.yml) [s](sub) [q](node_modules/q/a.html) [g](../GONE.md) [h](.git/gone) [l](up/)",
        "docs/b.html": "<a href=../README.md>r</a><a href=sub/>s</a><a href='../docs/'>d</a><a href=%00>z</a>",
    }  # fmt: skip
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    (tmp_path / "docs/up").symlink_to("..")
    assert main(["check", str(tmp_path / "docs"), "-f", "jsonl"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    broken = {row["reference"] for row in rows if row["table"] == "links" and row["verdict"] == "broken"}
    assert broken == {"../GONE.md", ".git/gone", "up/", "sub/", "../docs/", "%00"}
    main(["check", str(tmp_path / "docs"), "--url", "http://h.example/"])
    assert "http://h.example/README.md" in capsys.readouterr().out  # where the URL is known, no file is at this one


def checked(name: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, str]:
    """Return the verdicts of the links of a site by reference."""
    main(["check", str(name), "-f", "jsonl", *options])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {row["reference"]: row["verdict"] for row in rows if row["table"] in {"links", "pages"} and "reference" in row}


def test_a_picture_that_is_a_page_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = '<a href=b.html>b</a><img src=c.php><img src=a.gif><p id=y><img src="#y">'
    files = {"index.html": f"{there}<img src='b.html#x'><link rel=icon href=./>", "b.html": "<p id=x>", "c.php": "<?php ?><html>", "a.gif": "GIF89a"}
    for place, text in files.items():
        (tmp_path / place).write_text(text)
    found = checked(tmp_path, capsys)
    assert {reference: verdict for reference, verdict in found.items() if verdict not in {"ok", "same"}} == {"b.html#x": "broken", "./": "broken"}


def test_a_picture_that_a_server_answers_with_a_page_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("<img src=http://o.example/p><a href=http://o.example/p>p</a><img src=http://o.example/i>")
    answers = page("http://o.example/p", b"<p>") + page("http://o.example/i", b"GIF89a", "image/gif")
    (tmp_path / "a.warc").write_bytes(answers)
    main(["check", str(tmp_path / "index.html"), "--answers", str(tmp_path / "a.warc")])
    assert "This is a page, and no picture: http://o.example/p (1 link on 1 page)" in capsys.readouterr().out


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
    broken = {reference for reference, verdict in checked(tmp_path / "b.epub", capsys).items() if verdict == "broken"}
    assert broken == {"gone.xhtml"}
    content = '<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:x="http://www.w3.org/1999/xlink" xmlns:d="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0">'
    content += "".join(f'<d:image x:href="{name}"/>' for name in ("Pictures/a.png", "./Object 1", "gone.png")) + "</o:document-content>"
    names = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, "Pictures/a.png": "x", "Object 1/content.xml": "<a/>"}
    (tmp_path / "t.odt").write_bytes(zipped(names))
    broken = {reference for reference, verdict in checked(tmp_path / "t.odt", capsys).items() if verdict == "broken"}
    assert broken == {"gone.png"}


def test_files_beside_the_folders_of_hosts_are_not_taken_for_the_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = written(tmp_path / "copy", {
        "www.knots.example/index.html": b"<a href=/gone.html>g</a><a href=there.html>t</a>",
        "www.knots.example/there.html": b"t",
        **dict.fromkeys(("notes.html", "todo.html", "log.html"), b"n"),
    })
    assert main(["check", str(copy), "-f", "jsonl"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["target"] for row in rows if row["table"] == "links" and row["verdict"] == "broken"] == ["http://www.knots.example/gone.html"]


def test_a_file_beside_the_folders_of_hosts_is_judged_by_the_files_around_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = audited.page("<a href=knots.example/index.html>i</a> <a href=knots.example/>i</a> <a href=todo.html>t</a> <a href=gone.html>g</a>"
                 "<img src=/gone.png> <a href=http://localhost/todo.html>o</a> <a href=knots.example/gone.html>g</a>")
    copy = written(tmp_path / "copy", {"knots.example/index.html": b"i", "notes.html": notes.encode(), "todo.html": b"t"})
    assert main(["check", str(copy), "-f", "jsonl"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["reference"]: row["verdict"] for row in rows if row["table"] == "links"} == {
        "gone.html": "broken", "/gone.png": "broken", "http://localhost/todo.html": "local", "knots.example/gone.html": "broken",
    }  # fmt: skip


def test_a_page_that_names_the_machine_is_local_though_its_folder_is_taken_to_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = audited.written(tmp_path / "site", {
        "index.html": audited.page("<a href=http://localhost/a.html>a</a> <a href=//LOCALHOST/>i</a> <a href=a.html>a</a> <a href=#x>x</a>"),
        "a.html": audited.page("<a id=x href=index.html>i</a>"),
        "sitemap.xml": b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://localhost/a.html</loc></url></urlset>",
        "based/index.html": audited.page('<a href="../a.html">a</a><a href=".">i</a>', '<base href="http://localhost/based/">'),
        "moved/index.html": audited.page('<a href="a.html">a</a><a href="#x">i</a>', '<base href="/">'),
    })  # fmt: skip
    for options, found in (((), True), (("--url", "http://localhost/"), False)):
        assert main(["check", str(site), "-f", "jsonl", *options]) == 1
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        local = {(Path(row["document"]).parent.name, row["reference"]) for row in rows if row["table"] == "links" and row["verdict"] == "local"}
        wanted = {("site", "http://localhost/a.html"), ("site", "//LOCALHOST/"), ("based", "../a.html"), ("based", ".")}
        assert local == (wanted if found else set())


def test_a_page_of_a_host_does_not_lead_to_the_place_of_files_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = written(tmp_path / "copy", {
        "knots.example/index.html": b"<a href=http://localhost/loose.html>l</a><a href=http://localhost:80/loose.html>p</a>",
        "loose.html": b"<a href=http://knots.example/>k</a>",
    })
    assert main(["check", str(copy), "-f", "jsonl"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["verdict"] for row in rows if row["table"] == "links" and "localhost" in row["reference"]] == ["local", "local"]
