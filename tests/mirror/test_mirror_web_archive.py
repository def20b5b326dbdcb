"""Web archives of Safari as captures: pages with their parts and frames, and pages that have no URL of the web."""

import plistlib
import re
from pathlib import Path
from typing import Any

import pytest
from packed import mirrored

from absolve.cli import main
from tests.shapes.captures import resource, web_archive

URL = "http://h/d/p.html"
PNG = resource("http://h/d/i.png", b"\x89PNG\r\n", "image/png")
FRAME = web_archive(resource("http://h/d/f.html", b"<meta charset=utf-8><a href=p.html>p</a>"))
PAGE = b"<meta charset=utf-8><img src=i.png><iframe src=f.html></iframe><a href=x>x</a>"


@pytest.mark.parametrize("form", [plistlib.FMT_BINARY, plistlib.FMT_XML], ids=["binary", "xml"])
def test_a_page_keeps_its_parts_and_frames(tmp_path: Path, form: Any) -> None:
    archive = web_archive(resource(URL, PAGE), PNG, frames=(FRAME,))
    assert mirrored(tmp_path, "a.webarchive", plistlib.dumps(archive, fmt=form))[1] == {
        "h/d/p.html": PAGE.replace(b"href=x", b"href=http://h/d/x"),
        "h/d/f.html": b"<meta charset=utf-8><a href=p.html>p</a>",
        "h/d/i.png": b"\x89PNG\r\n",
    }


def test_files_of_a_text_editor_lie_side_by_side(tmp_path: Path) -> None:
    page = resource("file:///index.html", b'<meta charset=utf-8><img src="file:///a%20b.png">')
    archive = web_archive(page, resource("file:///a%20b.png", b"\x89PNG\r\n", "image/png"))
    found = mirrored(tmp_path, "a.webarchive", plistlib.dumps(archive, fmt=plistlib.FMT_BINARY))[1]
    assert found == {"_/index.html": b'<meta charset=utf-8><img src="a%20b.png">', "_/a b.png": b"\x89PNG\r\n"}


def test_a_page_without_a_url_has_a_file_of_its_own(tmp_path: Path) -> None:
    archive = web_archive(resource("about:blank", b'<meta charset=utf-8><iframe src="http://h/d/f.html"></iframe>'), frames=(FRAME,))
    found = mirrored(tmp_path, "a.webarchive", plistlib.dumps(archive, fmt=plistlib.FMT_BINARY))[1]
    assert found["a.webarchive/1/resource-1.html"] == b'<meta charset=utf-8><iframe src="../../h/d/f.html"></iframe>'


@pytest.mark.parametrize(("page", "part", "reference"), [
    ("x-msg://4/", "x-msg://4/i%20j.png", "x-msg://4/i j.png"),
    ("x-msg://4/", "x-msg://4/i.png", "i.png#f"),
    ("x-msg://4/d/", "x-msg://4/i.png", "/i.png"),
    ("applewebdata://0A-1B/", "applewebdata://0A-1B/i.png", "applewebdata://0A-1B/i.png"),
    ("about:blank", "cid:i@x", "CID:i@x"),
    ("http://h/", "cid:i%20j@x", "cid:i%20j@x"),
    ("", "x-msg://4/i.png", "x-msg://4/i.png"),
])
@pytest.mark.parametrize("base", ["", "<base href=x-msg://4/>"])
def test_a_page_shows_the_parts_that_mail_and_notes_name(tmp_path: Path, page: str, part: str, reference: str, base: str) -> None:
    if base and ":" not in reference:
        part = f"x-msg://4/{part.rpartition('/')[2]}"
    html = f"<meta charset=utf-8>{base}<img src='{reference}'><a href=mailto:a@h>m</a>"
    archives = [web_archive(resource(page, html.encode()), resource(part, data, "image/png")) for data in (b"P1", b"P2")]
    for number, archive in enumerate(archives):
        (tmp_path / f"{number}.webarchive").write_bytes(plistlib.dumps(archive))
    sources = [str(tmp_path / f"{number}.webarchive") for number in range(1 if page.startswith("http") else 2)]
    assert main(["mirror", *sources, "-o", str(tmp_path / "m"), "-q"]) == 0
    pages = [(path, found) for path in sorted((tmp_path / "m").rglob("*.html")) if (found := re.search(rb"<img src='([^'#]*)", path.read_bytes()))]
    assert [(path.parent / found[1].decode()).resolve().read_bytes() for path, found in pages] == [b"P1", b"P2"][: len(sources)]
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_a_part_that_mail_names_and_the_archive_lacks_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = b"<meta charset=utf-8><img src=x-msg://4/i.png><img src=applewebdata://0-1/i.png><img src=cid:i@x>"
    (tmp_path / "a.webarchive").write_bytes(plistlib.dumps(web_archive(resource("x-msg://4/", page), PNG)))
    assert main(["mirror", str(tmp_path / "a.webarchive"), "-o", str(tmp_path / "m")]) == 0
    assert "3 missing files" in capsys.readouterr().err
    assert (tmp_path / "m/a.webarchive/1/resource-1.html").read_bytes() == page
