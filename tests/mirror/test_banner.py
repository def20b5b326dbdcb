"""The line that states where and when a page was captured, and the times of the files of a mirror."""

import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from absolve.cli import main
from absolve.encodings.charsets import lookup
from absolve.mirror import banner
from tests.shapes import captures

URL, DATE = "http://h/a?b&c", "2024-05-01T12:30:59Z"
LINE = "|"


def marked(page: bytes, charset: str = "utf-8", url: str = URL) -> bytes:
    """Return a page with the banner shown as one character."""
    found = lookup(charset)
    assert found is not None
    edit = banner.edit(page, found, url, DATE)
    return page if edit is None else page[: edit.start] + LINE.encode() + page[edit.end :]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"<html><body class='>'>x", b"<html><body class='>'>|x"),
        (b"<!-- <body> --><title><body></title><BODY\n>x", b"<!-- <body> --><title><body></title><BODY\n>|x"),
        (b"<title>t</title><p>x", b"<title>t</title>|<p>x"),
        (b"<script>'<p>'</script>text<b>x</b>", b"<script>'<p>'</script>text|<b>x</b>"),
        (b"<head><noscript><img src=x></NOSCRIPT><body>x", b"<head><noscript><img src=x></NOSCRIPT><body>|x"),
        (b"<template><p></template><p>x", b"<template><p></template>|<p>x"),
        (b"<noscript><p>x", b"<noscript><p>x"),
        (b"<frameset><frame src=a><noframes><body>x</noframes>", b"<frameset><frame src=a><noframes><body>x</noframes>"),
        (b"<center></center><frameset><frame src=a></frameset>", b"<center></center><frameset><frame src=a></frameset>"),
        (b"<template><template></template><i></i></template><p>x", b"<template><template></template><i></i></template>|<p>x"),
        (b"<template><!-- </template> --><i></i></template><p>x", b"<template><!-- </template> --><i></i></template>|<p>x"),
        (b"only text", b"only text"),
        (b"", b""),
    ],
)
def test_its_place(page: bytes, expected: bytes) -> None:
    assert marked(page) == expected


def test_no_page_has_two() -> None:
    utf_8 = lookup("utf-8")
    assert utf_8 is not None
    edit = banner.edit(b"<body>", utf_8, URL, DATE)
    assert edit is not None
    assert banner.edit(b"<body>" + edit.new, utf_8, URL, DATE) is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, b'href="http://h/a?b&amp;c">http://h/a?b&amp;c</a>, captured on <time datetime="2024-05-01T12:30:59Z">2024-05-01 12:30 UTC<'),
        ("http://h/\"><script>'", b'href="http://h/&quot;&gt;&lt;script&gt;&#x27;">'),
        ("http://me:secret@h/", b'href="http://h/">http://h/</a>'),
        ("package:///_/a.html", b"A copy of a page whose URL is not known, captured on"),
    ],
)
def test_its_words(url: str, shown: bytes) -> None:
    utf_8 = lookup("utf-8")
    assert utf_8 is not None
    edit = banner.edit(b"<body>", utf_8, url, DATE)
    assert edit is not None
    assert shown in edit.new
    assert b"<script" not in edit.new


def captured(tmp_path: Path) -> Path:
    pages = {"http://h/": b"<base href=/x/><body background=i.png><a href=http://h/b>b</a>", "http://h/b": b"<iframe srcdoc='<body>x'>"}
    (tmp_path / "c.warc").write_bytes(b"".join(captures.page(url, data) for url, data in pages.items()) + captures.page("http://h/x/i.png", b"PNG", "image/png"))
    return tmp_path / "c.warc"


def test_a_mirror_with_banners_has_one_on_each_page_and_nothing_is_wrong_with_it(tmp_path: Path) -> None:
    out = tmp_path / "m"
    for _ in range(2):
        assert main(["mirror", str(captured(tmp_path)), "-o", str(out), "--banner", "-q"]) == 0
        pages = [path.read_bytes() for path in (out / "h").rglob("*.html")]
        assert [page.count(b"<div data-absolve") for page in pages] == [1, 1]
    assert main(["mirror", "--check", str(out), "-q"]) == 0
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(out), "-q"]) == 0
    assert not any(b"data-absolve" in path.read_bytes() for path in (out / "h").rglob("*.html"))


def test_no_banner_where_nothing_but_links_changes(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"<body>")
    assert main(["mirror", "--relative-only", str(tmp_path), "--banner"]) == 2
    assert (tmp_path / "a.html").read_bytes() == b"<body>"


def test_files_have_the_times_of_their_captures(tmp_path: Path) -> None:
    capture, out = captured(tmp_path), tmp_path / "m"
    assert main(["mirror", str(capture), "-o", str(out), "-q"]) == 0
    times = {path.name: path.stat().st_mtime for path in (out / "h").rglob("*") if path.is_file()}
    assert set(times.values()) == {datetime.fromisoformat(captures.DATE).timestamp()}
    os.utime(out / "h" / "b.html", (0, 0))
    assert main(["mirror", str(capture), "-o", str(out), "-q"]) == 0  # it has its bytes, and gets its time
    assert (out / "h" / "b.html").stat().st_mtime in times.values()


def test_entries_of_a_zip_have_the_times_of_their_captures(tmp_path: Path) -> None:
    assert main(["mirror", str(captured(tmp_path)), "--zip", str(tmp_path / "m.zip"), "-q"]) == 0
    with zipfile.ZipFile(tmp_path / "m.zip") as package:
        when = datetime.fromisoformat(captures.DATE).astimezone(UTC).timetuple()[:6]
        assert {(*one.date_time[:5], one.date_time[5] // 2) for one in package.infolist()} == {(*when[:5], when[5] // 2)}


def test_a_date_that_no_file_can_have_is_left_out(tmp_path: Path) -> None:
    for date in ("0000-00-00T00:00:00Z", "9999-12-31T23:59:59Z"):
        (tmp_path / "c.warc").write_bytes(captures.page("http://h/", b"<body>").replace(captures.DATE.encode(), date.encode()))
        for where in (["-o", str(tmp_path / date[:4])], ["--zip", str(tmp_path / f"{date[:4]}.zip")]):
            assert main(["mirror", str(tmp_path / "c.warc"), *where, "-q"]) == 0
