"""What was given to an audit and could not be read never ends in "no findings"."""

import gzip
import json
import os
from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page, printed, run, written

from absolve.cli import main
from tests.shapes.captures import page as page_of
from tests.shapes.captures import zipped

SITE = {"index.html": links("about/"), "about/index.html": links("../")}


NOTHING: dict[str, bytes] = {
    "empty.txt": b"", "header.csv": b"old,new\n", "prose.txt": b"This file has words.\n", "binary.dat": b"\0\1\2nothing",
    "book.xlsx": zipped({"xl/workbook.xml": "<workbook/>"}), "locked.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "map.csv.gz": gzip.compress(b"/a,/about/\n"), "web.config": b'<?xml version="1.0"?>\n<configuration><appSettings/></configuration>',
    "table.html": b"<html><table><tr><td>/a</td><td>/about/</td></tr></table></html>", "vercel.json": b'{"version": 2}',
    "pairs.json": b'{\n"a": {"/a": "/about/"},\n"/b": 1\n}\n', ".htaccess": b"Options -Indexes\n",
    "site.conf": b"server { listen 80; root /var/www; }\n", "capture.warc": b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_map_without_a_rule_is_an_error_that_names_the_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    written(tmp_path, {**{f"new/{path}": text for path, text in SITE.items()}, name: NOTHING[name]})
    assert main(["audit", str(tmp_path / "new"), "--url", NEW, "--map", str(tmp_path / name)]) == 2
    err = capsys.readouterr().err
    assert str(tmp_path / name) in err
    assert "a map " in err or "save it as .xlsx" in err


OLD_SITES = ["empty.txt", "prose.txt", "book.xlsx", "capture.warc", "folder"]
NEW_SITES = ["binary.dat", "capture.warc", "missing", "folder", "pdfs"]


@pytest.mark.parametrize(("side", "name"), [*(("--old", name) for name in OLD_SITES), *(("new", name) for name in NEW_SITES)])
def test_a_site_without_a_url_or_a_document_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str], side: str, name: str) -> None:
    given = {name: NOTHING[name]} if name in NOTHING else {"pdfs/a.pdf": b"%PDF-1.4"}
    written(tmp_path, {**{f"new/{path}": text for path, text in SITE.items()}, **given})
    (tmp_path / "folder").mkdir()
    if side == "new":
        _, err = printed(capsys, tmp_path / name, "--url", NEW, status=2)
        assert "no URL of the new site can be read from it" in err
    else:
        _, err = printed(capsys, tmp_path / "new", "--url", NEW, "--old", tmp_path / name, "--old-url", OLD, status=2)
    assert name in err
    assert "no findings" not in err


UNREAD: dict[str, tuple[dict[str, str], int, str]] = {  # more files: exit status and what is printed
    "a notebook that is cut off": (
        {"new/n.ipynb": '{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "[a](b"'}, 3, "malformed-json",
    ),
    "a feed that is cut off": (
        {"new/feed.json": '{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/gone"}, {"url": "/go'}, 3, "malformed-json",
    ),
    "a page that is damaged": ({"new/damaged.xml": "<a"}, 3, "; 1 input failed"),
    "an input that holds nothing": ({}, 3, "absolve: findings: 0 of 2 links; 1 input failed"),
    "old URLs of another host": (
        {"old.txt": f"{OLD}about/\nhttp://www.old.example/b\n"}, 3, "old.txt: elsewhere: 1 of its URLs is of another host",
    ),
    "a map in the folder of its site": (
        {"new/_redirects": "/a /about/ 301\n", "new/x.pages": "x"}, 0, "1 file not read: 1 .pages",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", UNREAD)
def test_what_could_not_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    files, status, text = UNREAD[what]
    root = written(tmp_path, {**{f"new/{path}": content for path, content in SITE.items()}, **files})
    (root / "empty").mkdir()
    given: list[object] = [] if files else [root / "empty"]
    given += ["--old", root / "old.txt", "--old-url", OLD] if "old.txt" in files else []
    given += ["--map", root / "new/_redirects"] if "new/_redirects" in files else []
    _, err = printed(capsys, root / "new", *given, "--url", NEW, "-o", root / "a.json", status=status)
    assert text in err
    assert status == 0 or "no findings" not in err
    summary = {row["name"]: row["value"] for row in json.loads((root / "a.json").read_bytes()) if row["table"] == "summary"}
    assert status == 0 or (summary["can_switch"], summary["inputs_unread"]) == (None, "1")


def test_hosts_of_rules_that_no_url_has_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = "http://www.old.example/a,/about/\nhttp://www.old.example/b,/about/\n"
    written(tmp_path, {"old.txt": f"{OLD}a\n{OLD}b\n", "m.csv": rules, **{f"new/{path}": content for path, content in SITE.items()}})
    _, err = printed(capsys, tmp_path / "new", "--url", NEW, "--old", tmp_path / "old.txt", "--old-url", OLD, "--map", tmp_path / "m.csv")
    assert "m.csv: elsewhere: 2 rules are for hosts that no URL has: www.old.example;" in err


ERRORS = ("#N/A", "#NV", "#REF!", "#BEZUG!", "#VALUE!", "#WERT!", "#NAME?", "#DIV/0!", "#ERROR!", "#FIELD!", "TBD", "n/a", "-", "?", "", "#x")


@pytest.mark.parametrize(("header", "is_used"), [("X;Y", True), ("Old;New", False)])
def test_files_and_old_urls_choose_columns_that_no_word_names(tmp_path: Path, header: str, is_used: bool) -> None:
    written(tmp_path, {**{f"new/{path}": text for path, text in SITE.items()}, "m.csv": f"{header}\n/about/;/a.html\n", "l.txt": f"{OLD}a.html\n"})
    done = run(tmp_path, tmp_path / "new", "--url", NEW, "--map", tmp_path / "m.csv", "--old", tmp_path / "l.txt", "--old-url", OLD)
    assert [row["verdict"] for row in done.tables["urls"]] == ["mapped" if is_used else "lost"]


def test_what_a_spreadsheet_leaves_without_a_target_is_an_unread_rule(tmp_path: Path) -> None:
    rows = [f"/a{number},{error}" for number, error in enumerate(ERRORS)]
    done = audited(tmp_path, SITE, maps={"m.csv": "\n".join(["old,new", *rows, "#N/A,/about/", "# note, with a comma", "/z,/about/", ""])})
    assert done.status == 1
    assert [row["line"] for row in done.tables["rules"] if row["problem"]] == list(range(2, len(ERRORS) + 3))
    assert audited(tmp_path, SITE, "--fail-on", "none", maps={"m.csv": "/a,#N/A\n/z,/about/\n"}).status == 0


def test_a_rule_that_nothing_meets_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited(tmp_path, SITE, maps={"_redirects": "/a /about/ 301\n/b https://other.example/\n"}).status == 0
    assert audited(tmp_path, SITE, maps={"_redirects": "/a /about/\n/a /index.html\n"}).status == 1
    rules = written(tmp_path, {"m.csv": "/p,/q\n/q,/p\n/r,/about/\n/s,/r\n/t,/none\n/about/index.html,/r\n"}) / "m.csv"
    assert main(["audit", str(tmp_path / "new"), "--url", NEW, "--map", str(rules)]) == 1
    out, err = capsys.readouterr()
    places = [(1, "loop"), (2, "loop"), (4, "chain"), (5, "where nothing is"), (6, "has a file of this path")]
    assert all(any(f"m.csv:{line}: " in text and word in text for text in err.splitlines()) for line, word in places)
    assert "m.csv:3" not in err
    assert "; 1 redirect rule unused (table rules)" in err
    assert "rules  wrong-rule            5" in out


def test_a_file_whose_name_has_a_question_mark_makes_no_rule_for_a_query(tmp_path: Path) -> None:
    text = f"<p>{'words of one page ' * 30}"
    new = written(tmp_path / "new", {"index.html": links("moved.html"), "moved.html": page(text)})
    old = written(tmp_path / "old", {"?query.html": page(text)})
    for name in ("w.csv", "nginx.conf"):
        run(tmp_path, new, "--url", NEW, "--old", old, "--old-url", OLD, "--write-map", tmp_path / name)
        lines = (tmp_path / name).read_text("utf-8").splitlines()
        assert not any("?query" in line for line in lines)


@pytest.mark.parametrize(("options", "unread"), [([], "2 files not read: 1 .js, 1 .png"), (["--old-url", OLD], "1 file not read: 1 .png")])
def test_files_whose_text_was_searched_count_as_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], unread: str) -> None:
    site = {**SITE, "robots.txt": "User-agent: *\n", "_headers": "/*\n  X-A: b\n", "app.js": "x", "x.png": "x"}
    assert main(["audit", str(written(tmp_path / "new", site)), "--url", NEW, *options]) == 0
    assert f"{unread}\n" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_and_links_that_are_not_followed_count_as_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = written(tmp_path / "new", {**SITE, "x.pages": "x"})
    os.mkfifo(new / "pipe.html")
    (new / "gone.html").symlink_to("nowhere.html")
    for name in ("a.html", "b.html"):
        (new / name).symlink_to(written(tmp_path, {"outside.html": "x"}) / "outside.html")
    assert main(["audit", str(new), "--url", NEW]) == 0
    assert "5 files not read: 2 outside, 1 .pages, 1 not-found, 1 special-file\n" in capsys.readouterr().err


def test_a_compressed_page_that_is_not_read_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = gzip.compress(b"<a href=gone>x</a>")
    downloads = {"a.tar.gz": b"\x1f\x8b\b", "b.csv.gz": b"\x1f\x8b\b", "index.html.gz": b"beside index.html"}
    site = written(tmp_path / "new", {**SITE, **downloads})
    assert "no findings in 2 links" in printed(capsys, site, "--url", NEW, status=0)[1]
    written(site, {"about/cut.html.gz": whole[:9], "about/whole.html.gz": whole, "about/none.html.gz": b"\0\1"})
    _, err = printed(capsys, site, "--url", NEW, status=3)
    for name, why in (("cut", "broken"), ("whole", "compressed form"), ("none", "broken")):
        assert any(f"{name}.html.gz: unread-compressed: " in line and why in line for line in err.splitlines())
    assert "no findings" not in err
    printed(capsys, site, "--url", NEW, "--exclude", "*.gz", status=0)


def test_rules_of_a_subfolder_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"a/.htaccess": "Redirect /a/x /b\n", "b/.htaccess": "Require all denied\n", ".htaccess": "Redirect /c /about/\n"}
    site = written(tmp_path / "new", {**SITE, **files})
    main(["audit", str(site), "--url", NEW])
    found = [line for line in capsys.readouterr().err.splitlines() if "unread-map" in line]
    assert [line.partition(": unread-map: ")[2] for line in found] == ["1 rule that may redirect: not read, only the .htaccess of the root is"]
    assert "a/.htaccess" in found[0]
    main(["audit", str(site), "--url", NEW, "--server", "nginx"])
    assert "unread-map" not in capsys.readouterr().err


def test_archives_and_messages_without_a_document_in_a_folder_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "new", {"a.warc": page_of(f"{NEW}a", links("a").encode()), "b.warc": b"", "c.zip": zipped({}), "d.mhtml": b"", "e.warc.gz": gzip.compress(b"")})
    for inputs in ([site], [site / "a.warc", site / "d.mhtml"]):
        assert main(["check", *map(str, inputs), "--url", NEW]) == 3
        err = capsys.readouterr().err
        assert "no findings" not in err
        assert err.count(": no-input: no document is in it") == (4 if len(inputs) == 1 else 1)


def test_links_between_folders_of_hosts_are_judged_and_a_file_beside_them_has_its_path(tmp_path: Path) -> None:
    site = {
        "a.example/index.html": links("x.html", "http://b.example/no.html", "http://c.example/", "http://b.example/", "Loose.html"),
        "b.example/index.html": links("gone.html", "http://a.example/lost.html"), "b.example/p.html": page(),
        "cdn.example/x.css": "a { background: url(lost.png) }", "loose.html": page("loose"),
    }
    found = audited(tmp_path, site, url=None)
    assert found.found == dict.fromkeys(("x.html", "http://b.example/no.html", "gone.html", "http://a.example/lost.html", "Loose.html"), "broken")
    assert str(found.link("Loose.html")["suggestion"]).endswith("/new/loose.html")
    new = written(tmp_path / "new", {"a.example/i.html": links("../loose.html")})
    found = run(tmp_path, new, "--old", written(tmp_path / "old", {"loose.html": page("loose")}))
    assert (found.link("../loose.html")["verdict"], found.link("../loose.html")["fix"]) == ("broken", None)  # of no URL that anybody has


def test_a_content_id_that_no_part_of_the_message_has_is_broken(tmp_path: Path) -> None:
    part = b"--x\r\nContent-Type: %s\r\n%s\r\n\r\n%s\r\n"
    body = part % (b"text/html", b"Content-Location: http://h/p", b"<img src=cid:a@x><img src=cid:lost@x>")
    message = b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n" + body + part % (b"image/png", b"Content-ID: <a@x>", b"i") + b"--x--\r\n"
    found = run(tmp_path, written(tmp_path / "new", {"a.mhtml": message}) / "a.mhtml", "--url", "http://h/")
    assert [(row["reference"], row["verdict"]) for row in found.tables["links"] if row["element"] == "img"] == [("cid:a@x", "ok"), ("cid:lost@x", "broken")]


def test_a_sitemap_alone_has_nothing_to_judge_and_one_in_an_archive_is_a_file_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sitemap = '<?xml version="1.0"?><!-- x --><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://new.example/</loc></url></urlset>'
    files = {"index.html": links("gone.html"), "sitemap.xml": sitemap}
    site = written(tmp_path, {"sitemap.xml": sitemap, "site.zip": zipped(files, stored=True)})
    assert "sitemap.xml: a list of URLs has no links" in printed(capsys, site / "sitemap.xml", "--url", NEW, status=2)[1]
    assert "broken" in printed(capsys, site / "site.zip", "--url", NEW, status=1)[0]
