"""Packages as a capture: the files of an EPUB or a ZIP, the records of a WACZ, and what of them cannot be read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from packed import mirrored, tree, written

import absolve
from absolve.cli import main
from absolve.core.errors import DocumentError
from absolve.mirror.containers import opened_member
from tests.shapes.captures import epub, mhtml, page, zipped

PAGE = b"<meta charset=utf-8><a href=/x>x</a><a href=b.html#t>b</a>"
XHTML = b'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body><a href="b.xhtml#x">b</a></body></html>'


def record(url: str, text: bytes) -> bytes:
    return page(url, b"<meta charset=utf-8>" + text)


def test_an_epub_comes_back_byte_for_byte_with_its_declared_types_and_paths_from_its_root(tmp_path: Path) -> None:
    files = {"a": XHTML, "b.xhtml": XHTML, "c.xhtml": XHTML.replace(b"b.xhtml", b"/OPS/b.xhtml")}
    data = epub({name: ("application/xhtml+xml", content) for name, content in files.items()})
    code, found = mirrored(tmp_path, "book.epub", data)
    assert code == 0
    assert found["book.epub/OPS/b.xhtml"] == XHTML
    assert found["book.epub/OPS/a.xhtml"] == found["book.epub/OPS/c.xhtml"] == XHTML
    assert b"application/epub+zip" in found.values()


def test_the_files_of_a_zip_keep_their_names_and_links(tmp_path: Path) -> None:
    data = zipped({"s/": b"", "s/a.html": PAGE, "s/b.html": b"<meta charset=utf-8><p id=t>", "s/p": b"GIF89a"})
    code, found = mirrored(tmp_path, "c.zip", data)
    assert code == 0
    assert set(found) == {"c.zip/s/a.html", "c.zip/s/b.html", "c.zip/s/p.gif"}
    assert b"<a href=b.html#t>" in found["c.zip/s/a.html"]


INSIDE = {"a.zip": zipped({"p.html": PAGE}), "b.mbox": b"From a@h.example Sat Jan  1 00:00:00 2000\nFrom: a@h.example\n\nHello.\n", "c.mht": mhtml(("http://h/p", "text/html", PAGE)), "d.warc": record("http://h/p", PAGE)}


def test_an_archive_in_a_zip_is_held_whole_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.zip").write_bytes(zipped(INSIDE))
    assert main(["mirror", str(tmp_path / "c.zip"), "-o", str(tmp_path / "m")]) == 0
    assert tree(tmp_path / "m") == {f"c.zip/{name}": data for name, data in INSIDE.items()}
    assert capsys.readouterr().err.count("package-inside: ") == len(INSIDE)


@pytest.mark.parametrize("options", [["--url", "http://h/d/"], []])
@pytest.mark.parametrize("link", ["dl/", "/h.example/dl/", "http://h.example/dl/"])
def test_an_archive_in_a_site_is_a_file_of_it(tmp_path: Path, options: list[str], link: str) -> None:
    """It is held whole where the user gives the URL of the site, or a page leads to it."""
    site = tmp_path / "site" / "h.example"
    written(site / "dl", INSIDE)
    leads = link == "dl/" or (not options and link.startswith("http:"))
    (site / "index.html").write_text("<meta charset=utf-8>" + "".join(f"<a href={link}{name}>" for name in INSIDE))
    assert main(["mirror", str(tmp_path / "site"), "-o", str(tmp_path / "m"), "-q", *options]) == 0
    found = tree(tmp_path / "m")
    held = {path.rpartition("/")[2]: data for path, data in found.items()}
    assert ({name: held.get(name) for name in INSIDE} == INSIDE) == (leads or "--url" in options)
    if leads:
        (page,) = [data.decode() for path, data in found.items() if path.endswith("index.html")]
        assert all(f"dl/{name}" in page and f"http://h.example/dl/{name}" not in page for name in INSIDE)


def test_a_folder_of_archives_is_a_capture(tmp_path: Path) -> None:
    written(tmp_path / "saved", INSIDE)
    assert main(["mirror", str(tmp_path / "saved"), "-o", str(tmp_path / "m"), "-q"]) == 0
    found = tree(tmp_path / "m")
    assert {"h/p.html", "a.zip/p.html"} <= found.keys()
    assert not found.keys() & {f"_/{name}" for name in INSIDE}


def test_a_zip_whose_url_is_known_has_its_files_below_it() -> None:
    plan = absolve.mirror_plan([absolve.Document(zipped({"a/b.html": PAGE}), url="http://h/docs/")])
    assert dict(plan) == {"http://h/docs/a/b.html": "h/docs/a/b.html"}


@pytest.mark.parametrize("name", ["../../evil.html", "/etc/evil.html", "..\\evil.html", "C:\\evil.html", "a/../../../evil.html", "./evil.html"])
def test_no_name_in_a_zip_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    mirrored(tmp_path / "in", "c.zip", zipped({name: PAGE, "ok.html": PAGE}))
    assert not [path for path in tmp_path.rglob("evil.html") if tmp_path / "in/m" not in path.parents]
    assert "c.zip/ok.html" in tree(tmp_path / "in/m")


def damaged(data: bytes, mark: bytes, new: bytes, offset: int = 0) -> bytes:
    """Return data with other bytes at an offset from a mark."""
    at = data.index(mark) + offset
    return data[:at] + new + data[at + len(new) :]


RECORDS = {"archive/a.warc": record("http://h/", b"x" * 500), "datapackage.json": b"{}"}
INFLATED = {"archive/a.warc": record("http://h/", bytes(range(256)) * 9), "datapackage.json": b"{}"}
TWO = {"a.html": b"broken " * 20, "b.html": b"<meta charset=utf-8>"}
BROKEN: dict[str, tuple[str, bytes, str]] = {  # the file -> what is reported; b.html is held where it is there
    "cut": ("c.zip", zipped({"a.html": PAGE})[:-30], "broken-zip"),
    "stored": ("c.zip", damaged(zipped(TWO, stored=True), b"PK", b"\xff\xff\xff", 40), "its data is broken (a.html)"),
    "deflated": ("c.zip", damaged(zipped(TWO), b"PK", b"\xff\xff\xff", 40), "its data is broken (a.html)"),
    "encrypted": ("c.zip", damaged(zipped(TWO), b"PK\x01\x02", b"\x01", 8), "this is encrypted (a.html)"),
    "records in it": ("c.wacz", damaged(zipped(RECORDS, stored=True), b"xxxx", b"y"), "c.wacz"),
    "records that cannot be inflated": ("c.wacz", damaged(zipped(INFLATED), b"PK", b"\xff" * 20, 48), "c.wacz"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_reported_and_the_others_are_held(tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, data, text = BROKEN[what]
    code, found = mirrored(tmp_path, name, data)
    assert (code, set(found)) == (3, {"c.zip/b.html"} if "a.html" in text else set())
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(("option", "text"), [("max_size", "larger than --max-size"), ("max_decompressed", "(max-decompressed) (a.html)")])
def test_a_file_beyond_the_limits_is_reported(
    tmp_path: Path, limited: Callable[..., list[str]], option: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = mirrored(tmp_path, "c.zip", zipped({"a.html": b" " * 20_000, "b.html": PAGE}), *limited(**{option: 10_000}))
    assert (code, set(found)) == (3, {"c.zip/b.html"})
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("stored", [True, False])
def test_a_wacz_is_the_capture_of_its_records(tmp_path: Path, stored: bool) -> None:
    records = record("http://h/", b"<a href=/b>") + record("http://h/b", b"<a href=/>")
    files = {"datapackage.json": b"{}", "archive/a.warc": records, "archive/b.warc": record("http://h/c", b"c"), "pages/pages.jsonl": b""}
    code, found = mirrored(tmp_path, "c.wacz", zipped(files, stored=stored))
    assert code == 0
    assert found == {
        "h/index.html": b"<meta charset=utf-8><a href=b.html>", "h/b.html": b"<meta charset=utf-8><a href=index.html>",
        "h/c.html": b"<meta charset=utf-8>c",
    }


@pytest.mark.parametrize("member", ["none", "archive/a.warc"])
def test_a_member_that_is_gone_is_an_error_of_its_package(tmp_path: Path, member: str) -> None:
    path = tmp_path / "c.wacz"
    if member == "none":
        path.write_bytes(zipped({"a": b""}))
    with pytest.raises(DocumentError, match=r"c\.wacz"), opened_member(str(path), member):
        pass
