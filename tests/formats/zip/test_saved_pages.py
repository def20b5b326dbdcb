"""Saved pages in ZIP files: the URL that a saver recorded beside a page, and links to files of the package."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest

import absolve
from absolve.cli import main
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats import registry, sniffing
from tests.shapes.captures import rdf

URL: Final = "http://example.com/p/q/page.html"
PAGE: Final = b'<link href="index_files/a.css"><img src="index_files/%20b.png"><a href="../n.html"><a href="?q"><a href="#f">'
ABSOLUTE: Final = (
    b'<link href="index_files/a.css"><img src="index_files/%20b.png"><a href="http://example.com/p/n.html">'
    b'<a href="http://example.com/p/q/page.html?q"><a href="#f">'
)
FILES: Final = {"index_files/a.css": b"a{background:url(x.png)}", "index_files/ b.png": b"\x89PNG"}


def manifest(url: str = URL, **more: Any) -> bytes:
    return json.dumps({"originalUrl": url, "title": "x", "indexFilename": "index.html", "resources": {}, **more}).encode()


def package(files: dict[str, bytes], *, before: bytes = b"", behind: bytes = b"", comments: dict[str, str] | None = None) -> bytes:
    file = io.BytesIO(before)
    file.seek(len(before))
    with zipfile.ZipFile(file, "a") as made:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.comment = (comments or {}).get(name, "").encode()
            made.writestr(entry, data)
    return file.getvalue() + behind


def contents(data: bytes, *names: str) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return [file.read(name) for name in names]


RECORDS: Final[dict[str, tuple[dict[str, bytes], str]]] = {
    "maff": ({"1/index.html": PAGE, "1/index.rdf": rdf(URL)}, "index.rdf in the package"),
    "maff of another saver": ({"1/index.html": PAGE, "1/index.rdf": rdf(URL).replace(b'"http', b"'http").replace(b'page.html"', b"page.html'")}, "index.rdf in the package"),
    "maff whose page has a name": ({"1/a b.htm": PAGE, "1/index.rdf": rdf(URL, index="a b.htm")}, "index.rdf in the package"),
    "SingleFile": ({"1/index.html": PAGE, "1/manifest.json": manifest()}, "manifest.json in the package"),
    "an attribute": ({"1/index.html": b'<!DOCTYPE html>\n<html lang="x" data-scrapbook-source="%b">' % URL.encode() + PAGE}, ""),
    "a comment in the page": ({"1/index.html": b"<html><!--\n Page saved with SingleFile \n url: %b \n-->" % URL.encode() + PAGE}, ""),
}


@pytest.mark.parametrize("root", ["1/", ""])
@pytest.mark.parametrize("name", RECORDS)
def test_links_to_files_of_the_package_stay_and_others_are_resolved_by_the_record(name: str, root: str) -> None:
    found, source = RECORDS[name]
    found = {**found, **{f"1/{path}": data for path, data in FILES.items()}}
    found = {path.replace("1/", root, 1): data for path, data in found.items()}
    page, *others = found
    before = package(found)
    after = absolve.rewrite(before, name="a.maff")
    assert contents(after, page, *others) == [found[page].replace(PAGE, ABSOLUTE), *(found[other] for other in others)]
    assert absolve.verify(before, after, name="a.maff") == []
    rows = [row for row in absolve.links(before, name="a.maff") if row.entity.startswith(page)]
    assert {row.base for row in rows} == {URL}
    assert not source or {row.base_source for row in rows} == {source}


def test_the_comment_of_the_file_is_the_record_of_a_page_without_another() -> None:
    before = package({"index.html": b"<a href=x>"}, comments={"index.html": URL})
    assert [row.target for row in absolve.links(before, name="a.zip")] == ["http://example.com/p/q/x"]


def test_each_tab_and_each_frame_has_a_record_of_its_own() -> None:
    tabs = {"1/index.html": b"<a href=x>", "1/index.rdf": rdf("http://one.example/"), "2/index.html": b"<a href=x>"}
    frames = {"index.html": b'<iframe src="frames/0/index.html"></iframe>', "manifest.json": manifest()}
    frames |= {"frames/0/index.html": b"<img src=i.png><a href=x>", "frames/0/manifest.json": manifest("http://two.example/d/")}
    frames |= {"frames/0/i.png": b"i"}
    data = package({**tabs, "2/index.rdf": rdf("http://two.example/?a=1&amp;b=2")})
    assert [row.target for row in absolve.links(data, name="a.maff")] == ["http://one.example/x", "http://two.example/x"]
    after = absolve.rewrite(package(frames), name="a.zip")
    assert contents(after, "index.html", "frames/0/index.html") == [frames["index.html"], b"<img src=i.png><a href=http://two.example/d/x>"]


def test_the_charset_of_maff_counts_for_a_page_that_declares_none() -> None:
    silent, declared = "<a href=\u0436>".encode("cp1251"), "<meta charset=utf-8><a href=\u0436>".encode()
    for page in (silent, declared):
        data = package({"1/index.html": page, "1/index.rdf": rdf(URL, charset="windows-1251")})
        assert [row.reference for row in absolve.links(data, name="a.maff")] == ["\u0436"]


NONE: Final = {
    "no record": {"index.html": PAGE},
    "a local file": {"index.html": PAGE, "index.rdf": rdf("file:///C:/x.html")},
    "code": {"index.html": PAGE, "index.rdf": rdf("javascript:alert(1)")},
    "a malformed url": {"index.html": PAGE, "index.rdf": rdf("http://[x/")},
    "a manifest of an app": {"index.html": PAGE, "manifest.json": b'{"start_url": "http://example.com/", "name": "x"}'},
    "a manifest that is no object": {"index.html": PAGE, "manifest.json": b"[" * 100_000},
    "a page that leads out": {"index.html": PAGE, "1/index.rdf": rdf(URL, index="../index.html")},
    "rdf of another kind": {"index.html": PAGE, "index.rdf": b'<a:b originalurl="http://example.com/"/>'},
}


def test_what_is_no_record_changes_nothing() -> None:
    for name, files in NONE.items():
        assert contents(absolve.rewrite(package(files), name="a.zip", on_diagnostic=lambda _: None), "index.html") == [PAGE], name


# --- pages of SingleFile that hold an archive -------------------------------------------------------------------------

HEAD: Final = b"<!DOCTYPE html><html lang=en data-sfz><meta charset=windows-1252><title></title><body hidden><script></script><!--"
TAIL: Final = b"--><sfz-extra-data>AAAA,AAAA</sfz-extra-data></body></html>"


def test_a_page_that_holds_an_archive_is_listed_and_stays() -> None:
    data = package({"index.html": PAGE, "manifest.json": manifest()}, before=HEAD, behind=TAIL)
    assert {sniffing.sniff(data, "a.zip.html"), sniffing.recognised(data, "a.html"), sniffing.sniff(data, None)} == {registry.ZIP}
    assert [row.base for row in absolve.links(data, name="a.zip.html")] == [URL] * 5
    assert absolve.rewrite(data, name="a.zip.html") is data
    assert [found.code for found in walk(Document(data, name="a.zip.html"), Settings()).diagnostics] == ["signed"]


def test_rules_that_would_change_what_is_signed_are_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = package({"index.html": b"<a href=http://old.example/>", "manifest.json": manifest()}, before=HEAD, behind=TAIL)
    (tmp_path / "a.html").write_bytes(data)
    for options, is_told in (("--remap http://old.example=http://new.example", True), ("", False)):
        for out in ("-o", str(tmp_path / "b.html")), ("--dry-run",), ("--diff",):
            main(["rewrite", str(tmp_path / "a.html"), *out, *options.split()])
            assert ("signed: what is signed (a checksum" in capsys.readouterr().err) is is_told, (options, out)


def test_bytes_behind_an_archive_are_kept() -> None:
    data = package({"index.html": PAGE, "manifest.json": manifest()}, behind=b"\n<!-- x -->" * 50)
    after = absolve.rewrite(data, name="a.zip")
    assert after.endswith(b"\n<!-- x -->" * 50)
    assert absolve.verify(data, after, name="a.zip") == []


def test_a_page_that_only_mentions_the_mark_is_html_and_containers_that_are_not_read_are_named() -> None:
    for page in (b"<html data-sfz-x><a href=x>", b"<html><p>data-sfz <a href=x>"):
        assert sniffing.sniff(page, "a.html") == registry.HTML
    for name, words in (("a.war", "Konqueror"), ("a.wbn", "Web Bundle")):
        assert words in sniffing.in_words(b"\x1f\x8b\x08\0\0\0", name)
