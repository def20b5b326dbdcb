"""`absolve rewrite --form file`: links become the paths of files in the folder, and all others stay as they are."""

import os
from pathlib import Path

import pytest
from command_runner import Runner

from tests.shapes.captures import files_below, written

URL = "--url=http://h/"
SITE = {
    "index.html": b"<a href=http://h/a/b.html#x>b</a><a href=/gone>g</a><a href='a/b.html?q'>b</a><a href=a/>a</a>",
    "a/b.html": b"<a href=/>home</a><img src=/P.png><form action=/send><a href=../a/b>b</a><a href=?q#f><a href=#f>",
    "a/index.html": b"<base target=_top><base href=/a/><a href=b.html><a href=#f><a href=/gone><a href=//g/x>",
    "p.png": b"\x89PNG\r\n\x1a\n",
    "plain.html": b"<p>no link",
    "s.css": b"@import '/t.css'; a { background: url(/p.png?v=1) }",
    "%41 b?c:d.html": b"<iframe srcdoc='<a href=/a/>'></iframe><a href='./%2541%20b%3Fc:d.html'><a href='/%2541 b?c:d.html'>",
}
NEW = SITE | {
    "index.html": b"<a href=a/b.html#x>b</a><a href=/gone>g</a><a href='a/b.html?q'>b</a><a href=a/index.html>a</a>",
    "a/b.html": b"<a href=../index.html>home</a><img src=../p.png><form action=/send><a href=b.html>b</a><a href=b.html?q#f><a href=#f>",
    "a/index.html": b'<base target=_top><base href=""><a href=b.html><a href=index.html#f><a href=http://h/gone><a href=http://g/x>',
    "s.css": b"@import '/t.css'; a { background: url(p.png?v=1) }",
    "%41 b?c:d.html": b"<iframe srcdoc='<a href=a/index.html>'></iframe><a href='./%2541%20b%3Fc:d.html'><a href='./%2541%20b%3Fc:d.html'>",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_links_name_the_files_of_the_folder_and_others_stay_in_place_and_in_a_copy(absolve: Runner, jobs: str) -> None:
    before = files_below(written(Path("site"), SITE))
    assert absolve("rewrite", "site", URL, "--form=file", "-o", "out", "--verify", jobs).status == 0
    assert (files_below(Path("out")), files_below(Path("site"))) == (NEW, before)
    assert absolve("verify", "site", "out", URL, "--form=file").status == 0
    assert absolve("rewrite", "site", URL, "--form=file", "--in-place", jobs).status == 0
    assert files_below(Path("site")) == NEW
    absolve("rewrite", "site", URL, "--form=file", "--in-place")
    assert files_below(Path("site")) == NEW


def test_what_is_read_apart_from_the_site_keeps_its_links_and_is_counted(absolve: Runner) -> None:
    feed = b'<rss version="2.0" xml:base="http://h/x/"><channel><link>http://h/</link><item><guid>http://h/a/</guid></item></channel></rss>'
    sitemap = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://h/a/</loc></url></urlset>'
    mail = b"Content-Type: text/html\r\nContent-Location: http://h/p\r\n\r\n<a href=/a/>"
    files = {"feed.xml": feed, "sitemap.xml": sitemap, "404.html": b"<a href=/a/>a</a>", "m.eml": mail}
    written(Path("site"), {**files, "index.html": b"<link rel=canonical href=/a/><a href=/a/>a</a>", "a/index.html": b"<p>"})
    assert absolve("rewrite", "site", URL, "--form=file", "-o", "out").status == 0
    assert "documents read apart, with absolute links: error pages, feeds, messages, sitemaps" in absolve.summary.replace("4 ", "")
    found = files_below(Path("out"))
    assert {name: found[name] for name in files} == files
    assert found["index.html"] == b"<link rel=canonical href=/a/><a href=a/index.html>a</a>"


@pytest.mark.parametrize("reference", ["../../map.csv", "//g/index.html", "none.html", "%00", "b.html/x", "/../x", "mailto:p.png", "http://[", ""])
def test_a_link_that_leads_to_no_file_of_the_folder_stays(absolve: Runner, reference: str) -> None:
    page = f'<a href="{reference}">'.encode()
    written(Path("site"), {**SITE, "a/b.html": page})
    Path("map.csv").write_text("")
    assert absolve("rewrite", "site/", URL, "--form=file", "--in-place").status == 0
    assert Path("site/a/b.html").read_bytes() == page


def test_without_a_url_files_are_found_by_their_names_and_by_the_urls_that_they_record(absolve: Runner) -> None:
    page = "<!-- saved from url=(0014)http://h/a/{} -->\n<a href=/a/p1>x</a><a href=p2#f>y</a><a href=/x>z</a>"
    written(Path("site"), {"one.html": page.format("p1").encode(), "b/two.html": page.format("p2").encode(), "c.html": b"<a href=b/two><a href=/b>"})
    assert absolve("rewrite", "site", "--form=file", "-o", "out").status == 0
    assert files_below(Path("out")) == {
        "one.html": page.format("p1").replace("/a/p1>", "one.html>").replace("p2#f", "b/two.html#f").encode(),
        "b/two.html": page.format("p2").replace("/a/p1>", "../one.html>").replace("p2#f", "two.html#f").encode(),
        "c.html": b"<a href=b/two.html><a href=/b>",
    }


def test_a_folder_named_as_a_host_has_its_pages_for_both_schemes_and_by_the_names_of_wget(absolve: Runner) -> None:
    page = b"<a href='https://h.example/p.php?id=3#x'>x</a><a href='/p.php?id=4'>y</a><a href=http://h.example/q>z</a>"
    written(Path("s/h.example"), {"index.html": page, "p.php?id=3.html": b"<p>", "p.php@id=4.html": b"<p>"})
    assert absolve("rewrite", "s", "--form=file", "--in-place").status == 0
    expected = b"<a href='p.php%3Fid=3.html#x'>x</a><a href='p.php@id=4.html'>y</a><a href=http://h.example/q>z</a>"
    assert Path("s/h.example/index.html").read_bytes() == expected


@pytest.mark.parametrize(("url", "page", "expected"), [
    ("http://h/d/", b"<a href=http://h/d/b.html><a href=http://h/x>", b"<a href=b.html><a href=http://h/x>"),
    ("file:///D:/s/", b"<a href=file:///d|/s/b.html><a href=file:///D:/x>", b"<a href=b.html><a href=file:///D:/x>"),
])
def test_links_out_of_the_folder_stay_absolute_in_a_rewrite_and_in_its_proof(
    absolve: Runner, url: str, page: bytes, expected: bytes
) -> None:
    written(Path("s"), {"a.html": page})
    assert absolve("rewrite", "s", "--url", url, "--form=relative", "-o", "out").status == 0
    assert Path("out/a.html").read_bytes() == expected
    assert absolve("verify", "s", "out", "--url", url, "--form=relative").status == 0


def test_of_two_files_with_one_url_the_newest_has_it_and_a_table_gives_others(absolve: Runner) -> None:
    page = b"<!-- saved from url=(0012)http://h/a/p -->\n<a href=/a/p><a href=/z>"
    written(Path("site"), {"new.html": page, "old.html": page, "z.html": b""})
    os.utime("site/old.html", (5e8, 5e8))
    Path("map.csv").write_text("site/z.html,http://h/z\n")
    assert absolve("rewrite", "site", "--form=file", "--url-map=map.csv", "--in-place").status == 0
    expected = page.replace(b"/a/p>", b"new.html>").replace(b"/z", b"z.html")
    assert files_below(Path("site")) == {"new.html": expected, "old.html": expected, "z.html": b""}


def test_a_rule_leads_to_a_file_or_elsewhere(absolve: Runner) -> None:
    written(Path("site"), {"index.html": b"<a href=http://old/a/><a href=http://old/b><a href=a/>", "a/index.html": b""})
    assert absolve("rewrite", "site", URL, "--form=file", "--remap=//old=http://h", "--in-place").status == 0
    assert Path("site/index.html").read_bytes() == b"<a href=a/index.html><a href=http://h/b><a href=a/index.html>"


@pytest.mark.parametrize("more", [["another"], ["--from=list"], ["--kind=image"], ["--base-path=/p/"], ["--in-place", "-o", "out"]], ids=" ".join)
def test_it_takes_one_folder_and_no_selection(absolve: Runner, more: list[str]) -> None:
    before = files_below(written(Path("site"), SITE))
    assert absolve("rewrite", "site", URL, "--form=file", *more).status == 2
    assert absolve("rewrite", "site/index.html", URL, "--form=file").status == 2
    assert files_below(Path("site")) == before


@pytest.mark.skipif(os.name == "nt", reason="names are text")
def test_names_that_are_no_text_are_named_by_their_bytes(absolve: Runner) -> None:
    written(Path("site"), {"index.html": b"<a href='%FF.html#x'><a href=/%ff.html>"})
    Path(os.fsdecode(b"site/\xff.html")).write_bytes(b"<a href=/>")
    assert absolve("rewrite", "site", URL, "--form=file", "--in-place").status == 0
    assert Path("site/index.html").read_bytes() == b"<a href='%FF.html#x'><a href=%FF.html>"
    assert Path(os.fsdecode(b"site/\xff.html")).read_bytes() == b"<a href=index.html>"
