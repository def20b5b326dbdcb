"""Files with odd names in a folder or a package: each link that a browser would follow to one leads to its file."""

import os
import re
import sys
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from packed import written

from absolve.cli import main
from tests.shapes.captures import zipped

NAMES = [
    *("a:b.html", "50%.html", "a?b.html", "a#b.html", "a b.html", "\u00e9\u6f22.html", "%41.html", "%3A.html", "a\\b.html"),
    *("~a.html", "a~b.html", "a+b&c=d.html", "a[1].html", "a|b.html", "a;b,c.html", "(a)!'*$@.html", 'a"<>.html', "A.html"),
    *("%2e%2e.html", "sub:folder/a:b.html", "sub%2Ffolder/x.html", "a^{}`.html", "-.html", "..a.html", " a.html"),
]
_NEEDED = re.compile(r'[%?#\\"<> ]')
_OF_ENCODE_URI = "/;,:@&=+$-_.!~*'()"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses these names")


def links(name: str) -> list[str]:
    """Return the references by which pages lead to a file: as few escapes as a browser needs, JavaScript's, and all."""
    fewest = _NEEDED.sub(lambda found: quote(found[0]), name)
    return [f"./{fewest}", f"./{quote(name, _OF_ENCODE_URI)}", quote(name)]


def page() -> bytes:
    found = [f'<a href="{one}">{number}</a>\n' for number, name in enumerate(NAMES) for one in links(name)]
    return b"<!doctype html><meta charset=utf-8>\n" + "".join(found).encode()


def folder(root: Path) -> Path:
    files = {name: f"<meta charset=utf-8>{number}" for number, name in enumerate(NAMES)}
    return written(root / "in", {**files, "index.html": page()})


def package(root: Path) -> Path:
    files = {name: f"<meta charset=utf-8>{number}" for number, name in enumerate(NAMES) if "\\" not in name}  # is a separator of folders
    (root / "in.zip").write_bytes(zipped({**files, "index.html": page()}))
    return root / "in.zip"


def wrong(mirror: Path) -> list[str]:
    """Return the links of the page that do not lead to the file of their number."""
    (index,) = (path for path in mirror.rglob("index.html") if b"</a>\n" in path.read_bytes())
    found = []
    for reference, number in re.findall(r'<a href="([^"]*)">(\d+)</a>', index.read_text()):
        path = index.parent / unquote(reference)
        has_scheme = ":" in reference.partition("/")[0]
        if has_scheme or not path.is_file() or path.read_text() != f"<meta charset=utf-8>{number}":
            found.append(reference)
    return found


@pytest.mark.parametrize("more", [(), ("--url", "http://h.example/"), ("--url", "http://h.example/a%3Ab/")])
def test_links_to_files_of_a_folder_lead_to_them_however_they_are_escaped(
    tmp_path: Path, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mirror", str(folder(tmp_path)), "-o", str(tmp_path / "m"), *more]) == 0
    assert wrong(tmp_path / "m") == []
    assert ", nothing missing" in capsys.readouterr().err
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_links_to_files_of_a_package_lead_to_them_however_they_are_escaped(tmp_path: Path) -> None:
    assert main(["mirror", str(package(tmp_path)), "-o", str(tmp_path / "m"), "-q"]) == 0
    assert [one for one in wrong(tmp_path / "m") if "%5C" not in one] == []


@pytest.mark.parametrize("record", ["", "<!-- saved from url=(0014)http://h/a/pg -->"])
@pytest.mark.parametrize(
    ("link", "file"),
    [("%C3%9Cber-Dateien/a.gif", "U\u0308ber-Dateien/a.gif"), ("\u00fcber_files/A.GIF", "\u00dcber_files/a.gif")],
)
def test_a_link_leads_to_the_one_file_whose_name_differs_only_in_form(
    tmp_path: Path, link: str, file: str, record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"\u00dcber.html": f'{record}<meta charset=utf-8><img src="{link}">', file: "GIF89a"}
    written(tmp_path / "in", files)
    (tmp_path / "in.zip").write_bytes(zipped(files))
    for source in ("in", "in.zip"):
        out = str(tmp_path / f"out of {source}".replace(".", " "))
        assert main(["mirror", str(tmp_path / source), "-o", out]) == 0
        assert ", nothing missing" in capsys.readouterr().err
        assert main(["mirror", "--check", out, "-q"]) == 0


def test_a_name_is_found_by_its_bytes_and_an_escaped_slash_is_no_slash(tmp_path: Path) -> None:
    links = b"<meta charset=utf-8><a href=%ff%3a.html>x</a>"
    written(tmp_path / "in", {os.fsdecode(b"\xff:.html"): "x", "a/b.html": "x", "index.html": links + b"<a href=a%2Fb.html>x</a>"})
    assert main(["mirror", str(tmp_path / "in"), "-o", str(tmp_path / "m"), "-q", "--url", "http://h/"]) == 0
    first, _, second = (tmp_path / "m/h/index.html").read_bytes().partition(b"</a>")
    assert b"http://" not in first
    assert b"http://h/a%2Fb.html" in second


def test_the_links_of_a_folder_in_place_lead_to_odd_names(tmp_path: Path) -> None:
    root = folder(tmp_path)
    assert main(["rewrite", "--form", "file", "--in-place", str(root), "-q", "--url", "http://h.example/"]) == 0
    assert wrong(root) == []
