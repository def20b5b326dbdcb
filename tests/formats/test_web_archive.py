"""Web archives of Safari: both forms of a property list, of which XML is rewritten, and lists that are broken."""

import plistlib
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import absolve
from absolve.cli import main
from absolve.core.errors import DocumentError
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats import plist
from absolve.rewriting.remap import Remapping
from tests.shapes.captures import resource, web_archive
from tests.shapes.scale import scaled

NAME: Final = "a.webarchive"
URL: Final = "http://h.example/d/p.html"
FORMS: Final = {"binary": plistlib.FMT_BINARY, "xml": plistlib.FMT_XML}
PNG: Final = b"\x89PNG\r\n" + bytes(range(256))
SHEET: Final = b"a{background:url(i.png)}@import 'y.css';"
ABSOLUTE_SHEET: Final = b"a{background:url(i.png)}@import 'http://h.example/d/y.css';"
FRAME: Final = web_archive(resource("http://h.example/f/f.html", b"<a href=z>z</a>"), resource("http://h.example/d/s.css", SHEET, "text/css"))
PAGE: Final = web_archive(
    resource(URL, b'<link rel=stylesheet href=s.css><img src="i.png"><a href="x.html">x</a><iframe src=../f/f.html></iframe>'),
    resource("http://h.example/d/s.css", SHEET, "text/css"),
    resource("http://h.example/d/i.png", PNG, "image/png"),
    frames=(FRAME,),
)


def written(found: Any, form: str = "binary") -> bytes:
    return plistlib.dumps(found, fmt=FORMS[form])


def contents(data: bytes) -> list[bytes]:
    """Return the data of all resources, as plistlib reads it."""

    def inside(archive: Any) -> list[bytes]:
        found = [archive["WebMainResource"], *archive.get("WebSubresources", [])]
        below = [data for frame in archive.get("WebSubframeArchives", []) for data in inside(frame)]
        return [one["WebResourceData"] for one in found] + below

    return inside(plistlib.loads(data))


def codes(data: bytes, **options: Any) -> list[str]:
    return [found.code for found in walk(Document(data, name=NAME), Settings(**options)).diagnostics]


def test_links_become_absolute_except_those_to_resources_of_the_archive() -> None:
    before = written(PAGE, "xml")
    after = absolve.rewrite(before, name=NAME)
    assert contents(after) == [
        b'<link rel=stylesheet href=s.css><img src="i.png"><a href="http://h.example/d/x.html">x</a><iframe src=../f/f.html></iframe>',
        ABSOLUTE_SHEET, PNG, b"<a href=http://h.example/f/z>z</a>", ABSOLUTE_SHEET,
    ]
    assert absolve.verify(before, after, name=NAME) == []
    assert absolve.rewrite(after, name=NAME) == after
    assert plistlib.dumps(plistlib.loads(after), sort_keys=False) == after  # indentation


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--form", "relative")])
def test_the_command_reports_an_archive_that_it_leaves_as_it_is(more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / NAME).write_bytes(written(PAGE))
    assert absolve.rewrite(data := written(PAGE), name=NAME) is data
    assert main(["rewrite", str(tmp_path / NAME), "-o", str(tmp_path / "new.webarchive"), *more]) == 0
    assert capsys.readouterr().err.count("only-read: links in a WACZ or a binary property list are listed, not rewritten") == 1
    main(["links", str(tmp_path / NAME)])
    assert "only-read" not in capsys.readouterr().err


@pytest.mark.parametrize("form", FORMS)
def test_each_link_has_the_url_of_its_resource_as_retrieval_url(form: str) -> None:
    data = written(web_archive(resource(URL, b'<a href="http://a.example/">a</a><img src=i.png>'), *PAGE["WebSubresources"][1:]), form)
    assert absolve.rewrite(data, name=NAME) is data
    assert len(list(absolve.links(written(PAGE, form), name="download"))) > 5  # its content shows the type
    rows = list(absolve.links(written(PAGE, form), name=NAME, url="http://user.example/"))
    assert [(row.reference, row.target) for row in rows if row.reference in {"x.html", "z"}] == [
        ("x.html", "http://h.example/d/x.html"),
        ("z", "http://h.example/f/z"),
    ]
    assert {(row.base_layer, row.base_source, row.scope) for row in rows} == {("retrieval", "WebResourceURL of the web archive", "internal")}


def test_text_is_read_in_the_encoding_that_the_archive_names() -> None:
    data = written(web_archive(resource(URL, "<a href=\xe9>".encode("cp1252"), charset="windows-1252")), "xml")
    assert contents(absolve.rewrite(data, name=NAME)) == ["<a href=http://h.example/d/\xe9>".encode("cp1252")]


def test_data_of_many_urls_is_read_as_often_as_fits_in_the_size_of_the_file() -> None:
    page = b"<a href=x>".ljust(400_000)
    data = written(web_archive(*(resource(f"http://h.example/{number}", page) for number in range(9)), resource(URL, b"<a href=y>")))
    found = walk(Document(data, name=NAME), Settings())
    assert [row.reference for row in absolve.links(data, name=NAME, on_diagnostic=lambda _: None)] == ["x", "x", "x", "y"]
    assert [one.code for one in found.diagnostics] == ["shared-data"]
    assert [one.text[:18] for one in found.diagnostics if one.failed] == ["6 of 10 resources "]


@pytest.mark.parametrize("key", ["WebResourceURL", "WebResourceMIMEType", "WebResourceTextEncodingName"])
def test_a_long_text_of_many_resources_is_read_as_often_as_fits_in_the_size_of_the_file(key: str) -> None:
    some = [resource(f"http://h.example/{number}", b"<a href=http://a.example/%d>" % number) for number in range(9)]
    data = written(web_archive(*({**one, key: "x".ljust(400_000, "y")} for one in some)))
    assert [one.text[:17] for one in walk(Document(data, name=NAME), Settings()).diagnostics if one.failed] == ["6 of 9 resources "]


def test_a_list_of_resources_that_many_frames_share_is_read_once() -> None:
    class Counted(list[Any]):
        times = 0

        def __iter__(self) -> Iterator[Any]:
            self.times += 1
            return super().__iter__()

    shared = Counted([resource(URL, b"")])
    assert list(plist._nodes({"WebSubframeArchives": [{"WebSubresources": shared} for _ in range(3)]})) == [None, *shared]
    assert shared.times == 2  # once more here


def test_a_rule_maps_no_link_to_a_resource_because_its_url_stays() -> None:
    page = b'<img src="http://h.example/d/i.png"><a href="http://h.example/e">e</a>'
    data = written(web_archive(resource(URL, page), resource("http://h.example/d/i.png", PNG, "image/png")), "xml")
    after = absolve.rewrite(data, name=NAME, policy=Remapping([("http://h.example/", "http://new.example/")]).policy)
    assert contents(after)[0] == page.replace(b"h.example/e", b"new.example/e")


# --- resources and lists that are odd or broken -----------------------------------------------------------------------

ODD: Final[dict[str, tuple[dict[str, Any], list[str]]]] = {
    "no data": (web_archive({"WebResourceURL": URL}), ["broken-resource"]),
    "text as data": (web_archive({"WebResourceURL": URL, "WebResourceData": "<a href=x>"}), ["broken-resource"]),
    "a subresource that is none": ({**PAGE, "WebSubresources": ["x", 5]}, ["broken-resource"]),
    "no url": (web_archive(resource(None, b"<a href=http://a/>a</a>")), []),
    "about:blank": (web_archive(resource("about:blank", b"<a href=http://a/>a</a>")), []),
    "no media type": (web_archive(resource(URL, b"<!DOCTYPE html><a href=x>", None)), []),
    "nothing in it": (web_archive(resource(URL, b"")), []),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_resource_is_reported_and_the_others_are_read(name: str) -> None:
    found, expected = ODD[name]
    for form in FORMS:
        assert codes(written(found, form)) == expected
        assert isinstance(absolve.rewrite(written(found, form), name=NAME, on_diagnostic=lambda _: None), bytes)


def lists(size: int, *objects: bytes, at: tuple[int, ...] = (), **trailer: int) -> bytes:
    """Return a binary property list with references of `size` bytes; `at` and `trailer` are what it has wrongly."""
    made, offsets = b"bplist00", []
    for one in objects:
        offsets.append(len(made))
        made += one
    table = b"".join(offset.to_bytes(4) for offset in at or offsets)
    fields = {"width": 4, "size": size, "count": len(objects), "top": 0, "end": len(made)} | trailer
    return made + table + struct.pack(">6x2B3Q", *fields.values())


KEY, DATA = b"\x5f\x10\x0fWebMainResource", b"\x5f\x10\x0fWebResourceData"
HUGE: Final = b"\x13" + b"\x7f" + b"\xff" * 7
BROKEN: Final = {
    "cut off": (b"bplist00", "truncated"),
    "no web archive": (lists(1, b"\xa0"), "no-web-archive"),
    "an offset out of range": (lists(1, b"\xd1\x01\x02", KEY, b"\xd0", at=(8, 11, 1 << 31)), "broken"),
    "a reference to no object": (lists(1, b"\xd1\x01\x09", KEY), "broken"),
    "a huge number of objects": (lists(1, b"\xa0", count=1 << 60), "broken"),
    "a top object that is none": (lists(1, b"\xa0", top=7), "broken"),
    "a table behind the end": (lists(1, b"\xa0", end=1 << 62), "broken"),
    "a huge array": (lists(1, b"\xaf" + HUGE), "broken"),
    "huge data": (lists(1, b"\x4f" + HUGE), "broken"),
    "a length of 16 bytes": (lists(1, b"\x4f\x14" + b"\0" * 15 + b"\1x"), "broken"),
    "no offset width": (lists(1, b"\xa0", width=0), "broken"),
    "objects that overlap": (lists(1, b"\xd1\x01\x02", KEY, b"\xd0", at=(8, 11, 12)), "broken"),
    "an unknown kind": (lists(1, b"\xf0"), "broken"),
    "xml that ends": (b"<plist><dict><key>WebMainResource</key>", "not-well-formed"),
    "xml with an entity": (b"<!DOCTYPE plist [<!ENTITY a 'x'>]><plist><dict/></plist>", "not-well-formed"),
    "xml of another kind": (b"<plist><array/></plist>", "no-web-archive"),
    "no property list": (b"<html><a href=x>", "not-well-formed"),
}


def test_a_broken_list_is_an_error() -> None:
    for name, (data, code) in BROKEN.items():
        with pytest.raises(DocumentError) as error:
            absolve.rewrite(data, name=NAME)
        assert error.value.diagnostic.code == code, name


def test_an_archive_inside_itself_is_read_once() -> None:
    frames = b"\x5f\x10\x13WebSubframeArchives"
    main = b"\xd1\x05\x06"
    data = lists(1, b"\xd2\x01\x02\x03\x04", KEY, frames, main, b"\xaf\x11\x00\x10" + b"\0\4" * 8, DATA, b"\x4a<a href=x>")
    assert [row.reference for row in absolve.links(data, name=NAME)] == ["x"]


def nested(size: int) -> bytes:
    found = FRAME
    for _ in range(min(size // 100, 300)):
        found = web_archive(resource(URL, b"<a href=x>"), frames=(found,))
    return written(found)


# Each makes a list of about so many bytes, whose time and memory must be linear in them.
LARGE: Final[dict[str, tuple[Callable[[int], bytes], str]]] = {
    "references to one frame": (lambda size: written(web_archive(PAGE["WebMainResource"], frames=(FRAME,) * (size // 2))), ""),
    "nested frames": (nested, ""),
    "nested in xml": (lambda size: b"<plist>" + b"<dict><key>WebSubframeArchives</key><array>" * (size // 44), "not-well-formed"),
    "small values": (lambda size: b"<plist><array>" + b"<true/>" * (size // 7) + b"</array></plist>", "no-web-archive"),
    "small objects": (lambda size: lists(2, b"\xa0", *(b"\x09",) * (size // 8)), "no-web-archive"),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_lists_are_read_or_refused(name: str) -> None:
    make, code = LARGE[name]
    data = make(scaled(1 << 18))
    if not code:
        assert list(absolve.links(data, name=NAME))
        return
    with pytest.raises(DocumentError) as error:
        absolve.rewrite(data, name=NAME)
    assert error.value.diagnostic.code == code
