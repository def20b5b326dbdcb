"""Captures retrieved from a web archive are of the URL that was captured, at that time; links to the archive stay."""

import json
from pathlib import Path

import pytest

import absolve
from absolve.cli import main
from absolve.rewriting.forms import Form
from absolve.rewriting.policy import absolute
from absolve.urls.archives import archived
from tests.shapes.captures import entry, har

PAGE = b'<a href="x">x</a><a href="/web/20150102030405/http://o.example/y">y</a><a href="//web.archive.org/web/1/http://z.example/">z</a>'
TIME = "20150102030405"

FORMS = {
    f"https://web.archive.org/web/{TIME}/http://e.example/d/p?q": ("http://e.example/d/p?q", TIME, False),
    f"http://web.archive.org/web/{TIME}id_/https://e.example/": ("https://e.example/", TIME, True),
    **{
        f"https://web.archive.org/web/{TIME}{flag}_/http:/e.example/a": ("http://e.example/a", TIME, False)
        for flag in ("if", "im", "js", "cs", "fw", "mp")
    },
    "https://web.archive.org/web/2015/e.example/": ("http://e.example/", "", False),
    f"https://wayback.archive-it.org/1234/{TIME}/http://e.example/": ("http://e.example/", TIME, False),
    f"https://arquivo.pt/wayback/{TIME}mp_/http://e.example/": ("http://e.example/", TIME, False),
    f"https://www.webarchive.org.uk/wayback/en/archive/{TIME}/http://e.example/": ("http://e.example/", TIME, False),
    f"http://localhost:8080/coll/{TIME}id_/http://e.example/": ("http://e.example/", TIME, True),
}


NONE = [
    "http://e.example/", "https://web.archive.org/", "https://web.archive.org/web/*/http://e.example/", "https://web.archive.org/details/x",
    "http://e.example/?u=/web/2015/http://o.example/", "http://e.example/2015/http://o.example/", f"http://e.example/{TIME}/o.example/",
]


def test_the_url_and_the_time_of_a_capture_are_in_the_url_of_the_archive() -> None:
    for url, expected in FORMS.items():
        found = archived(url)
        assert found is not None
        assert (found.url, found.time, found.is_exact) == expected, url
    assert [*map(archived, NONE)] == [None] * len(NONE)


@pytest.mark.parametrize("flag", ["", "id_", "if_"])
def test_a_page_retrieved_from_an_archive_has_its_own_url(flag: str) -> None:
    url = f"https://web.archive.org/web/{TIME}{flag}/http://e.example/d/p.html"
    first, second, third = absolve.links(PAGE, url=url)
    assert (first.target, first.base, first.base_source) == ("http://e.example/d/x", "http://e.example/d/p.html", "url=, at web.archive.org")
    kept = (f"http://e.example/web/{TIME}/http://o.example/y", "http://web.archive.org/web/1/http://z.example/")
    assert (second.target, third.target) == (kept if flag == "id_" else ("http://o.example/y", "http://z.example/"))
    (row,) = absolve.documents(PAGE, url=url)
    assert (row.url, row.date) == ("http://e.example/d/p.html", "2015-01-02T03:04:05Z")


def test_rules_and_forms_know_the_capture_behind_a_link_of_an_archive() -> None:
    url, page = f"https://web.archive.org/web/{TIME}/http://e.example/d/", f'<a href="/web/{TIME}/http://e.example/d/y">'
    assert absolve.rewrite(page, url=url, policy=absolve.remap([("//e.example", "https://n.example")])) == '<a href="https://n.example/d/y">'
    assert absolve.rewrite(page, url=url, policy=Form(absolute, "relative")) == '<a href="y">'
    assert absolve.rewrite(page, url=url) == f'<a href="https://web.archive.org/web/{TIME}/http://e.example/d/y">'


@pytest.mark.parametrize("given", [f"http://localhost:8080/c/{TIME}mp_/http://e.example/", "http://e.example/"])
def test_a_mirror_of_pages_whose_links_an_archive_changed_leads_from_file_to_file(
    tmp_path: Path, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = f"http://localhost:8080/c/{TIME}mp_/http://e.example/"
    page = f"<title>h</title><!-- saved from url=({len(root):04}){root} --><img src='{root.replace('mp_', 'im_')}a.gif'><a href='/c/{TIME}mp_/http://e.example/b.html'>b</a>"
    files = {"index.html": page, "a.gif": "GIF89a", "b.html": f"<title>b</title><!-- saved from url=({len(root):04}){root} --><a href=//localhost:8080/c/{TIME}mp_/http://e.example/>h</a>"}
    for name, text in files.items():
        (tmp_path / "s" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "s" / name).write_text(text)
    assert main(["mirror", str(tmp_path / "s"), "--url", given, "-o", str(tmp_path / "m")]) == 0
    assert main(["mirror", "--check", str(tmp_path / "m")]) == 0
    assert "nothing is wrong" in capsys.readouterr().err
    assert "<img src='a.gif'><a href='b.html'>" in (tmp_path / "m/e.example/index.html").read_text()
    assert main(["check", str(tmp_path / "s"), "--url", given]) == 0


def test_a_recorded_url_of_an_archive_is_that_of_the_capture_in_every_command(tmp_path: Path) -> None:
    url = f"https://web.archive.org/web/{TIME}id_/http://e.example/d/p.html"
    data = har(entry(url, PAGE.decode()))
    (row,) = absolve.documents(data, name="x.har")
    assert (row.url, row.date) == ("http://e.example/d/p.html", "2015-01-02T03:04:05Z")
    assert b'\\"http://e.example/d/x\\"' in absolve.rewrite(data, name="x.har")
    (tmp_path / "x.har").write_bytes(data)
    assert main(["mirror", str(tmp_path / "x.har"), "-o", str(tmp_path / "m")]) == 0
    assert (tmp_path / "m/e.example/d/p.html").is_file()
    assert json.loads(data)


def test_an_audit_is_of_the_site_that_was_captured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s/index.html").write_text("<a href='/gone.html'>x</a>")
    assert main(["audit", str(tmp_path / "s"), "--url", f"https://web.archive.org/web/{TIME}id_/http://e.example/"]) == 1
    assert "elsewhere" not in capsys.readouterr().err
