"""`absolve mirror --relative-only`: links of a folder of pages become relative in place, and nothing else changes."""

import os
from pathlib import Path

import pytest

from absolve.cli import main
from tests.shapes.captures import files_below

URL = "http://h/"
SAFE = b"<link rel=stylesheet crossorigin integrity=sha256-x href=http://h/s.css><base href=>"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    files = {
        "index.html": b"<a href=http://h/a/b.html#x>b</a><a href=/gone>g</a><a href='a/b.html'>b</a>",
        "a/b.html": b"<a href=/>home</a><img src=/p.png><form action=/>",
        "p.png": b"\x89PNG\r\n\x1a\n",
        "plain.html": b"<p>no link",
        "odd.html": SAFE,
        "s.css": b"@import '/t.css';",
    }
    for name, data in files.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "site"


def relative(site: Path, *more: str) -> int:
    known = site.parent / "map.csv"
    lines = (f"{site / name},{URL}{name.removesuffix('index.html')}" for name in files_below(site))
    known.write_text("".join(f"{line}\n" for line in lines))
    return main(["mirror", "--relative-only", str(site), "--url-map", str(known), "-q", "-j", "1", *more])


def test_links_to_files_of_the_folder_become_relative_and_others_absolute(site: Path) -> None:
    assert relative(site) == 0
    found = files_below(site)
    assert found["index.html"] == (
        b"<a href=a/b.html#x>b</a><a href=http://h/gone>g</a><a href='a/b.html'>b</a>"
    )
    assert found["a/b.html"] == b"<a href=../index.html>home</a><img src=../p.png><form action=http://h/>"
    assert found["s.css"] == b"@import 'http://h/t.css';"


def test_a_dry_run_counts_the_links_that_would_change_and_writes_nothing(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files_below(site)
    assert relative(site, "--dry-run") == 0
    assert files_below(site) == before
    lines = {line.removeprefix(str(site) + "/") for line in capsys.readouterr().out.splitlines()}
    assert {"index.html: 3 links, 2 would change", "plain.html: 0 links, 0 would change"} <= lines


def test_nothing_but_links_changes(site: Path) -> None:
    relative(site)
    assert files_below(site)["odd.html"] == SAFE.replace(b"http://h/s.css", b"s.css")


def test_two_files_of_one_url_keep_their_contents_and_their_links_become_relative(tmp_path: Path) -> None:
    page = "<!-- saved from url=(0014)http://h/a/pg -->\n{}<a href=/a/pg>{}</a><a href=/x>x</a>"
    for name, date in (("a.html", 1e9), ("b.html", 5e8)):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text(page.format(name, ""))
        os.utime(tmp_path / "in" / name, (date, date))
    assert main(["mirror", "--relative-only", str(tmp_path / "in"), "-q", "-j", "1"]) == 0
    for name in ("a.html", "b.html"):
        assert (tmp_path / "in" / name).read_text() == page.format(name, "").replace("/a/pg>", "a.html>").replace("/x", "http://h/x")


def test_a_file_without_a_change_is_not_written_and_no_file_is_added(site: Path) -> None:
    names = set(files_below(site))
    for name in names:
        os.utime(site / name, (1, 1))
    relative(site)
    assert set(files_below(site)) == names
    assert {name for name in names if (site / name).stat().st_mtime == 1} == {"plain.html", "p.png"}


def test_a_second_run_changes_nothing(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    relative(site)
    before = files_below(site)
    known = str(site.parent / "map.csv")
    assert main(["mirror", "--relative-only", str(site), "--url-map", known]) == 0
    assert files_below(site) == before
    assert "6 files, 0 changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "reference",
    ["../none.html?q", "../../map.csv", "//g/index.html", "none.html", "%00", "b.html/x", "\\index.html", "link.html"],
)
def test_a_reference_that_leads_to_no_file_of_the_folder_becomes_absolute(site: Path, reference: str) -> None:
    (site / "a/b.html").write_text(f'<a href="{reference}">x</a>')
    relative(site)
    assert files_below(site)["a/b.html"].startswith(b'<a href="http://')


def test_a_canonical_link_is_absolute_in_every_run(site: Path) -> None:
    (site / "a/b.html").write_bytes(b"<link rel=canonical href=../index.html><a href=../index.html>")
    relative(site)
    assert files_below(site)["a/b.html"] == b"<link rel=canonical href=http://h/index.html><a href=../index.html>"


def test_what_the_folder_lacks_is_severed_where_asked(site: Path) -> None:
    (site / "index.html").write_bytes(b"<img src=/gone.png><a href=/gone>")
    relative(site, "--absent", "sever")
    assert files_below(site)["index.html"] == b"<img src=data:,><a href=http://h/gone>"


@pytest.mark.parametrize(
    "more",
    [["-o", "site/out"], ["-o", "out.zip"], ["another"], ["--from", "list"], ["--from", "http://h/"], ["--diff", "-n"]],
    ids=" ".join,
)
def test_it_takes_one_folder_and_another_one_for_a_copy(
    site: Path, more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site.parent)
    before = files_below(site)
    assert relative(site, *more) == 2
    assert files_below(site) == before
    assert not (site.parent / "out").exists()


@pytest.mark.parametrize("more", [[], ["-j", "2"]], ids=["", "two processes"])
def test_a_copy_has_all_files_with_relative_links_and_the_folder_stays(site: Path, more: list[str]) -> None:
    (site / "odd.xhtml").write_bytes(b"<html xmlns='http://www.w3.org/1999/xhtml'><p></html>")
    before = files_below(site)
    assert relative(site, "-o", str(site.parent / "out"), *more) == 3  # one that is not well-formed
    assert files_below(site) == before
    copied = files_below(site.parent / "out")
    relative(site)
    assert copied == files_below(site)
    assert set(copied) == set(before)


def test_a_diff_is_shown_and_nothing_is_written(site: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    before = files_below(site)
    for more in ([], ["-o", str(site.parent / "out")]):
        assert relative(site, "--diff", *more) == 0
        shown = capfdbinary.readouterr().out
        assert b"-<a href=/>home</a><img src=/p.png><form action=/>\n" in shown
        assert b"+<a href=../index.html>home</a><img src=../p.png><form action=http://h/>\n" in shown
        assert b"plain.html" not in shown
    assert files_below(site) == before
    assert not (site.parent / "out").exists()
    assert main(["mirror", str(site), "--diff", "-q"]) == 2


def test_a_file_is_no_folder(site: Path) -> None:
    assert main(["mirror", "--relative-only", str(site / "index.html"), "-q"]) == 2


def test_a_name_that_is_no_text_is_reported_and_the_file_stays(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = os.fsencode(site) + b"/\xff.html"
    with open(odd, "wb") as file:  # noqa: PTH123 - a name of bytes
        file.write(b"<a href=http://h/>")
    assert main(["mirror", "--relative-only", str(site), "--url", URL + "x"]) == 3
    with open(odd, "rb") as file:  # noqa: PTH123
        assert file.read() == b"<a href=http://h/>"
    assert "not UTF-8" in capsys.readouterr().err
    copy = tmp_path / "copy"
    assert main(["mirror", "--relative-only", str(site), "-o", str(copy)]) == 3
    with open(os.fsencode(copy) + b"/\xff.html", "rb") as file:  # noqa: PTH123
        assert file.read() == b"<a href=http://h/>"


def test_a_folder_that_cannot_be_written_leaves_every_file_as_it_was(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files_below(site)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("absolve.run.outputs._rename", refuse)
    assert relative(site) == 3
    assert "Permission denied" in capsys.readouterr().err
    assert files_below(site) == before


def test_what_is_read_apart_from_the_site_keeps_its_links_and_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed = b'<rss version="2.0"><channel><link>http://h/</link><item><guid>http://h/a/</guid></item></channel></rss>'
    sitemap = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://h/a/</loc></url></urlset>'
    files = {"feed.xml": feed, "sitemap.xml": sitemap, "404.html": b"<a href=/a/>a</a>", "index.html": b"<a href=/a/>a</a>", "a/index.html": b"<p>"}
    for name, data in files.items():
        (tmp_path / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / name).write_bytes(data)
    assert main(["mirror", "--relative-only", str(tmp_path / "site"), "--url", URL, "-j", "1"]) == 0
    assert files_below(tmp_path / "site") == {**files, "index.html": b"<a href=a/index.html>a</a>"}
    assert "1 changed; 3 documents read apart, with absolute links: error pages, feeds, sitemaps" in capsys.readouterr().err
