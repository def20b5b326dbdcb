"""Web archives of Safari as captures: pages with their parts and frames, and pages that have no URL of the web."""

import plistlib
from pathlib import Path
from typing import Any

import pytest
from packed import mirrored

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
