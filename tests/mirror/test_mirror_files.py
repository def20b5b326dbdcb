"""Plain files as a capture: their URLs as options, the pages or their savers give them; and files without one."""

import os
from pathlib import Path

import pytest
from packed import tree

from absolve.cli import main

SAVED = b"<!-- saved from url=(0014)http://h/a/pg -->\n<meta charset=utf-8>"


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root / "in"


def held(root: Path, files: dict[str, bytes], *more: str) -> tuple[int, dict[str, bytes]]:
    folder = write(root, files)
    code = main(["mirror", str(folder), "-o", str(root / "m"), "-q", *more])
    return code, tree(root / "m")


@pytest.mark.parametrize("folder", ["Page_files", "Page.files", "Page-Dateien", "Page_html"])
@pytest.mark.parametrize("extension", [".html", ".htm"])
def test_the_parts_beside_a_saved_page_have_urls_relative_to_its_own(tmp_path: Path, folder: str, extension: str) -> None:
    page = SAVED + f'<img src="./{folder}/sub/p.png">'.encode()
    code, found = held(tmp_path, {f"x/Page{extension}": page, f"x/{folder}/sub/p.png": b"\x89PNG\r\n\x1a\n"})
    assert code == 0
    assert found[f"h/a/{folder}/sub/p.png"] == b"\x89PNG\r\n\x1a\n"
    assert found["h/a/pg.html"] == SAVED + f'<img src="./{folder}/sub/p.png">'.encode()


def test_a_colon_in_the_name_of_a_saved_page_is_no_scheme_of_its_parts(tmp_path: Path) -> None:
    page = SAVED + b'<img src="./a:b_files/p.png">'
    _, found = held(tmp_path, {"a:b.html": page, "a:b_files/p.png": b"\x89PNG\r\n\x1a\n"})
    assert any(path.startswith("h/a/a_b_files") for path in found)


def test_files_without_a_known_url_lead_to_each_other(tmp_path: Path) -> None:
    files = {
        "a.html": b"<meta charset=utf-8><a href=sub/b.html>b</a><link rel=stylesheet href=s.css>",
        "sub/b.html": b"<meta charset=utf-8><a href=../a.html>a</a>",
        "s.css": b"@import 'sub/t.css'",
        "sub/t.css": b"p{}",
        "alone_files/x.txt": b"x",
    }
    code, found = held(tmp_path, files)
    assert code == 0
    assert len(found) == len(files)
    assert all(b"package:" not in data for data in found.values())
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


@pytest.mark.parametrize(
    ("name", "data", "path"),
    [
        ("p", b"<!doctype html><title>x", "h/p.html"),
        ("p.png", b"\x89PNG\r\n\x1a\n", "h/p.png"),
        ("p.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "h/p.svg"),
        ("f", b"%PDF-1.4", "h/f.pdf"),
        ("n.xyz", b"\x00\x01", "h/n.xyz"),
        ("feed.xml", b"<rss/>", "h/feed.xml"),
        ("broken.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><a></svg>", "h/broken.svg"),
    ],
)
def test_the_media_type_is_known_by_content_and_name(tmp_path: Path, name: str, data: bytes, path: str) -> None:
    folder = write(tmp_path, {name: data})
    (tmp_path / "map.csv").write_text(f"{folder / name},http://h/{name}\n")
    main(["mirror", str(folder), "-o", str(tmp_path / "m"), "-q", "--url-map", str(tmp_path / "map.csv")])
    assert list(tree(tmp_path / "m")) == [path]


def test_a_document_that_cannot_be_walked_is_held_as_it_is_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"a.xhtml": b"<html xmlns='http://www.w3.org/1999/xhtml'><p></html>", "b.html": b"<meta charset=utf-8>"}
    code, found = held(tmp_path, files)
    assert code == 1
    assert sorted(found.values()) == sorted(files.values())
    assert "a.xhtml" in capsys.readouterr().err


def test_a_file_that_is_too_large_is_reported_and_the_others_are_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = held(tmp_path, {"a.html": b" " * 1000, "b.html": b"<meta charset=utf-8>"}, "--max-size", "100")
    assert (code, list(found.values())) == (1, [b"<meta charset=utf-8>"])
    assert "a.html" in capsys.readouterr().err


def test_of_two_files_with_one_url_the_newer_is_held(tmp_path: Path) -> None:
    folder = write(tmp_path, {"a.html": b"<meta charset=utf-8>old", "b.html": b"<meta charset=utf-8>new"})
    os.utime(folder / "a.html", (1e9, 1e9))
    rows = "".join(f"{folder / name},http://h/x\n" for name in ("b.html", "a.html"))
    (tmp_path / "map.csv").write_text(rows)
    main(["mirror", str(folder), "-o", str(tmp_path / "m"), "-q", "--url-map", str(tmp_path / "map.csv")])
    assert tree(tmp_path / "m") == {"h/x.html": b"<meta charset=utf-8>new"}


def test_a_folder_without_urls_whose_links_are_relative_comes_back_byte_for_byte(tmp_path: Path) -> None:
    pages = {"a.html": b'<a href="sub/b.html#x">b</a>', "sub/b.html": b'<a href="../a.html">a</a><a href=c/d.html>', "sub/c/d.html": b"<a href=../../a.html>"}
    for name, data in pages.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    assert main(["mirror", str(tmp_path / "in"), "-o", str(tmp_path / "m"), "-q"]) == 0
    assert {name: (tmp_path / "m/_" / name).read_bytes() for name in pages} == pages


def test_a_url_of_a_folder_that_overrules_what_a_page_records_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, {"a.html": SAVED + b"<a href=b.html>", "b.html": b"<p>"})
    assert main(["mirror", str(folder), "-o", str(tmp_path / "m"), "--url", "http://new.example/"]) == 0
    assert "a.html:1: overruled: --url overrules what the page records" in capsys.readouterr().err
