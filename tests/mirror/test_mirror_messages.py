"""Messages and web archives as captures: MHTML, mail, mailboxes and archives of Safari, by the URLs of their parts."""

import os
import plistlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from packed import mirrored, tree

import absolve
from absolve.cli import main
from absolve.mirror.library import MirrorPlan
from tests.shapes.captures import mhtml, resource, web_archive

PAGE = b'<meta charset=utf-8><link rel=stylesheet href="cid:css-1@x"><a href="b">b</a><img src="http://h/p.png">'
PNG = b"\x89PNG\r\n\x1a\n0"
SAVED = mhtml(
    ("Content-ID: <f@x>\nContent-Location: http://h/a/", "text/html", PAGE),
    ("Content-Location: cid:css-1@x", "text/css", b"p{background:url(http://h/p.png)}"),
    ("Content-Location: http://h/p.png", "image/png", PNG),
    ("Content-Location: http://h/a/b", "text/html; charset=utf-8", b"<meta charset=utf-8><a href=http://h/a/#t>a</a>"),
)


def planned(data: bytes) -> MirrorPlan:
    return absolve.mirror_plan([absolve.Document(data, name="c.mhtml")])


def test_the_parts_of_mhtml_are_files_that_lead_to_each_other(tmp_path: Path) -> None:
    code, found = mirrored(tmp_path, "c.mhtml", SAVED)
    assert code == 0
    assert found["h/p.png"] == PNG
    assert found["h/a/b.html"] == b"<meta charset=utf-8><a href=index.html#t>a</a>"
    page = found["h/a/index.html"]
    assert b'<a href="b.html">' in page
    assert b'<img src="../p.png">' in page
    assert b"cid:" not in page
    sheet = next(data for path, data in found.items() if path.endswith(".css"))
    assert sheet.startswith(b"p{background:url(")
    assert b"http:" not in sheet
    assert len(found) == 4


AROUND = "Content-Location: http://other/x/"


@pytest.mark.parametrize(("around", "beside", "url"), [
    (AROUND, "X: y", "http://other/x/rel"),
    *(("Content-Base: http://other/", field, "http://other/y/rel") for field in ("Content-Base: <URL:http://other/y/>", "Base: http://other/y/", "Content-Base: y/")),
])
def test_a_location_is_relative_to_the_base_beside_it_or_around_it(around: str, beside: str, url: str) -> None:
    data = SAVED.replace(b"MIME-Version", around.encode() + b"\r\nMIME-Version")
    data = data.replace(b"Content-Location: http://h/a/b", b"Content-Location: rel\r\n" + beside.encode())
    assert url in planned(data)


def test_a_part_without_a_url_has_a_file_by_its_number_and_name(tmp_path: Path) -> None:
    data = mhtml(("", "text/html", b"<meta charset=utf-8>one"), ('Content-Disposition: attachment; filename="../../evil.txt"', "text/plain", b"two"))
    code, found = mirrored(tmp_path, "c.mhtml", data)
    assert code == 0
    assert sorted(found.values()) == [b"<meta charset=utf-8>one", b"two"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.mhtml", "m"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_message_of_a_mailbox_is_read(tmp_path: Path, end: str) -> None:
    one = "From a Wed May  1 00:00:00 2024|Date: {}|Content-Type: text/html; charset=utf-8|Content-Location: http://h/{}||<p>{}|"
    text = "|".join(one.format("Wed, 1 May 2024 00:00:00 +0000" if n else "never", n, n) for n in range(3))
    code, found = mirrored(tmp_path, "c.mbox", text.replace("|", end).encode())
    assert code == 0
    assert sorted(found) == ["h/0.html", "h/1.html", "h/2.html"]
    assert b"<p>2" in found["h/2.html"]


def test_multiparts_of_a_thousand_levels_end() -> None:
    data = b"MIME-Version: 1.0\n"
    for number in range(1000):
        data += b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number)
    found = absolve.mirror_plan([absolve.Document(data, name="c.eml", media_type="message/rfc822")])
    assert list(found) == []


AT_X = "Content-Location: http://h/x\nContent-Transfer-Encoding: "
STATUS = b"Reporting-MTA: dns; h\r\n\r\nAction: failed\r\n"
OCTETS = "application/octet-stream"
HELD: dict[str, tuple[list[tuple[str, str, bytes]], dict[str, bytes]]] = {
    "the charset of the header is declared": (
        [("Content-Location: http://h/", "text/html; charset=windows-1251", b"<p>\xff")],
        {"h/index.html": b'<meta charset="windows-1251"><p>\xff'},
    ),
    "quoted-printable is decoded": (
        [(f"{AT_X}quoted-printable", "text/html; charset=utf-8", b"<meta charset=3D'utf-8'>=C3=A9")],
        {"h/x.html": "<meta charset='utf-8'>\u00e9".encode()},
    ),
    "base64 is decoded": ([(f"{AT_X}base64", "text/plain", b"AAEC")], {"h/x.txt": b"\0\1\2"}),
    "base64 with more behind it": ([(f"{AT_X}base64", OCTETS, b"AAEC;")], {"h/x": b"\0\1\2"}),
    "base64 that is cut": ([(f"{AT_X}base64", OCTETS, b"AAE")], {"h/x": b"\0\1"}),
    "an unknown coding": ([(f"{AT_X}8-bit", OCTETS, b"AAEC")], {"h/x": b"AAEC"}),
    "a delivery status is one document": (
        [("", "text/plain", b"it failed"), ("", "message/delivery-status", STATUS)],
        {"c.eml/1/part-1.txt": b"it failed", "c.eml/2/part-2": STATUS},
    ),
    "two parts with one relative location": (
        [("Content-Location: i.png", "image/png", b"PNG1"), ("Content-Location: i.png", "image/png", b"PNG2")],
        {"c.eml/i.png": b"PNG1", "c.eml/2/part-2.png": b"PNG2"},
    ),
    "a location of ten thousand characters": ([("Content-Location: http://h/" + "a" * 10_000, "text/plain", b"x")], {"c.eml/1/part-1.txt": b"x"}),
}


@pytest.mark.parametrize("what", HELD)
def test_the_parts_of_a_message_are_held_as_mail_programs_read_them(tmp_path: Path, what: str) -> None:
    parts, files = HELD[what]
    assert mirrored(tmp_path, "c.eml", mhtml(*parts))[1] == files


def test_a_multipart_that_cannot_be_read_is_reported_and_the_other_parts_are_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = mhtml(("", 'multipart/mixed; boundary="nowhere"', b"x"), ("Content-Location: http://h/x.txt", "text/plain", b"y"))
    code, found = mirrored(tmp_path, "c.mhtml", data)
    assert (code, found) == (3, {"h/x.txt": b"y"})
    assert "no-boundary" in capsys.readouterr().err


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="names of files are characters")


@pytest.mark.parametrize("name", ["m.eml", pytest.param(os.fsdecode(b"m\xff.eml"), marks=ON_LINUX)])
@pytest.mark.parametrize(("field", "link"), [("Content-ID: <?@x>", "cid:%FF@x"), ("Content-Location: ?.png", "")])
def test_a_name_with_bytes_that_are_no_character_is_held(tmp_path: Path, name: str, field: str, link: str) -> None:
    page = f"<meta charset=utf-8><img src='{link}'>".encode()
    saved = mhtml(("Content-Location: http://h/a", "text/html", page), (field, "image/png", PNG))
    code, found = mirrored(tmp_path, name, saved.replace(b"?@x", b"\xff@x").replace(b"?.png", b"\xff.png"))
    assert code == 0
    assert PNG in found.values()
    assert not link or b"cid:" not in found["h/a.html"]


IMAGE = "<meta charset=utf-8><img src='{}'>"


def related(name: str, *parts: tuple[str, bytes]) -> str:
    """A multipart of pages (by reference) and of images (by fields)."""
    text = f"Content-Type: multipart/related; boundary={name}\n\n"
    for fields, data in parts:
        text += f"--{name}\n{fields}\n\n{data.decode('latin-1')}\n"
    return f"{text}--{name}--\n"


def with_page(reference: str) -> tuple[str, bytes]:
    return "Content-Type: text/html", IMAGE.format(reference).encode()


def with_image(field: str, data: bytes) -> tuple[str, bytes]:
    return f"Content-Type: image/png\n{field}", data


def shown(root: Path, found: dict[str, bytes]) -> list[bytes]:
    """Return the image that each page of a mirror shows, in the order of the pages."""
    pages = [(path, re.search(rb"<img src='([^']*)'>", data)) for path, data in sorted(found.items())]
    return [(root / "m" / path / ".." / link[1].decode()).resolve().read_bytes() for path, link in pages if link]


@pytest.mark.parametrize(("field", "reference"), [("Content-ID: <i@x>", "cid:i@x"), ("Content-Location: i.png", "i.png"), ("Content-Location: /i.png", "./a/../i.png")])
def test_a_page_shows_the_part_of_its_own_message(tmp_path: Path, field: str, reference: str) -> None:
    mails = [related(f"b{n}", with_page(reference), with_image(field, f"PNG{n}".encode())) for n in range(3)]
    forwarded = related("f", ("Content-Type: message/rfc822", f"From: d@x\n{mails[1]}".encode()), *[with_page(reference), with_image(field, b"PNG3")])
    box = "".join(f"From a@x Wed May  1 00:00:00 2024\nFrom: a@x\n{mail}\n" for mail in (mails[0], forwarded, mails[2]))
    code, found = mirrored(tmp_path, "c.mbox", box.encode())
    assert code == 0
    assert shown(tmp_path, found) == [b"PNG0", b"PNG1", b"PNG3", b"PNG2"]
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_a_part_of_the_same_related_precedes_one_around_it(tmp_path: Path) -> None:
    inside = related("i", with_page("cid:a@x"), with_image("Content-ID: <a@x>", b"inner"))
    beside = related("n", with_page("cid:a@x"), with_image("Content-ID: <other@x>", b"other"))
    parts = [part.partition("\n\n")[::2] for part in (inside, beside)]
    mail = related("o", with_image("Content-ID: <a@x>", b"outer"), *((head, body.encode()) for head, body in parts))
    _, found = mirrored(tmp_path, "c.eml", f"From: a@x\n{mail}".encode())
    assert shown(tmp_path, found) == [b"inner", b"outer"]


def test_a_content_id_of_another_message_or_of_no_part_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mails = [related("b0", with_page("cid:i@x")), related("b1", with_page("cid:none@x"), with_image("Content-ID: <i@x>", b"PNG"))]
    box = "".join(f"From a@x Wed May  1 00:00:00 2024\nFrom: a@x\n{mail}\n" for mail in mails)
    (tmp_path / "c.mbox").write_text(box)
    assert main(["mirror", str(tmp_path / "c.mbox"), "-o", str(tmp_path / "m")]) == 0
    assert "2 missing files" in capsys.readouterr().err
    pages = {data for path, data in tree(tmp_path / "m").items() if path.endswith(".html") and "/" in path}
    assert pages == {IMAGE.format("cid:i@x").encode(), IMAGE.format("cid:none@x").encode()}


def test_the_base_element_of_a_message_is_emptied_and_the_index_lists_its_pages(tmp_path: Path) -> None:
    page = b"<meta charset=utf-8><title>T</title><base href=http://away/><a href=b>b</a><img src=cid:i@x>"
    mail = related("b", ("Content-Type: text/html", page), with_image("Content-ID: <i@x>", b"PNG"))
    (tmp_path / "c&d.eml").write_text(f"From: a@x\n{mail}")
    assert main(["mirror", str(tmp_path / "c&d.eml"), "-o", str(tmp_path / "m"), "-q"]) == 0
    found = tree(tmp_path / "m")
    assert found["c&d.eml/1/part-1.html"] == page.replace(b"href=http://away/", b'href=""').replace(b"href=b", b"href=http://away/b").replace(b"cid:i@x", b"../2/part-2.png")
    index = (tmp_path / "m/index.html").read_text()
    assert '<a href="c&amp;d.eml/1/part-1.html">T</a><small>c&amp;d.eml/1/part-1.html</small>' in index


@pytest.mark.parametrize("field", [
    'Content-Type: image/png\nContent-Disposition: attachment; filename="=?utf-8?B?w7xiZXIucG5n?="',
    'Content-Type: image/png\nContent-Disposition: attachment; filename="=?iso-8859-1?Q?=FCb?= =?iso-8859-1?Q?er.png?="',
    'Content-Type: image/png; name="=?UTF-8?Q?=C3=BCber=2Epng?="', "Content-Type: image/png; name==?utf-8?B?w7xiZXIucG5n?=",
    "Content-Type: image/png\nContent-Disposition: attachment; filename*=utf-8''%C3%BCber.png",
])
def test_a_file_name_in_encoded_words_is_decoded(tmp_path: Path, field: str) -> None:
    mail = related("b", (field, PNG), ('Content-Disposition: attachment; filename="=?utf-8?Q?../=2Fevil.txt?="', b"two"))
    _, found = mirrored(tmp_path, "c.eml", f"From: a@x\n{mail}".encode("latin-1"))
    assert found["c.eml/1/\xfcber.png"] == PNG
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.eml", "m"]


def listed(root: Path, *messages: str) -> list[tuple[str, str]]:
    """Return the pages in the index of the mirror of a mailbox: path and name."""
    box = "".join(f"From a@x Wed May  1 00:00:00 2024\nFrom: a@x\n{message}\n\n" for message in messages)
    (root / "c.mbox").write_bytes(box.encode("utf-8", "surrogateescape"))
    assert main(["mirror", str(root / "c.mbox"), "-o", str(root / "m"), "-q"]) == 0
    assert main(["mirror", "--check", str(root / "m"), "-q"]) == 0
    text = (root / "m/index.html").read_text()
    return re.findall(r'<li><a href="c.mbox/([^"]*)">([^<]*)</a>', text)


def test_the_index_lists_each_message_by_its_title_or_its_subject(tmp_path: Path) -> None:
    forwarded = related("f", ("Content-Type: text/plain", b"see"), ("Content-Type: message/rfc822", b"Subject: inner\nContent-Type: text/html\n\n<p>"))
    both = related("a", ("Content-Type: text/plain", b"x"), ("Content-Type: text/html", b"<p>x"), ("Content-Type: text/html", b"<p>y"))
    attached = related("t", ("Content-Disposition: attachment; filename=a.txt", b"a"), ("Content-Type: text/html; name=a.html", b"<p>"), ("", b"b"))
    found = listed(
        tmp_path,
        "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe_&?=\n =?utf-8?B?IEvDvHNzZQ==?=\n\nhello",
        "Subject: two\n words\nContent-Type: text/html\n\n<p>hi", "Subject: no\nContent-Type: text/html\n\n<title>T</title>", "\nwithout a subject",
        f"Subject: outer\n{forwarded}", f"Subject: both\n{both}", f"Subject: bytes \udce9\n{attached}",
    )
    assert sorted(found, key=lambda one: int(one[0].partition("/")[0])) == [
        ("1/part-1.txt", "Gr\xfc\xdfe &amp; K\xfcsse"), ("2/part-2.html", "two words"), ("3/part-3.html", "T"), ("4/part-4.txt", "part-4.txt"),
        ("5/part-5.txt", "outer"), ("6/part-6.html", "inner"), ("8/part-8.html", "both"), ("9/part-9.html", "part-9.html"), ("11/a.html", "a.html"),
        ("12/part-12.txt", "bytes \ufffd"),
    ]


def test_the_pages_that_a_feed_without_any_page_names_are_of_its_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/feed.xml").write_text('<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://h.example/p/"/></feed>')
    assert main(["mirror", str(tmp_path / "site"), "--url", "https://h.example/", "-o", str(tmp_path / "mirror")]) == 0
    assert "1 document, 1 linked page not captured; open" in capsys.readouterr().err


# --- web archives of Safari as captures -------------------------------------------------------------------------------

URL = "http://h/d/p.html"
PNG_WEB_ARCHIVE = resource("http://h/d/i.png", b"\x89PNG\r\n", "image/png")
FRAME = web_archive(resource("http://h/d/f.html", b"<meta charset=utf-8><a href=p.html>p</a>"))
PAGE_WEB_ARCHIVE = b"<meta charset=utf-8><img src=i.png><iframe src=f.html></iframe><a href=x>x</a>"


@pytest.mark.parametrize("form", [plistlib.FMT_BINARY, plistlib.FMT_XML], ids=["binary", "xml"])
def test_a_page_keeps_its_parts_and_frames(tmp_path: Path, form: Any) -> None:
    archive = web_archive(resource(URL, PAGE_WEB_ARCHIVE), PNG_WEB_ARCHIVE, frames=(FRAME,))
    assert mirrored(tmp_path, "a.webarchive", plistlib.dumps(archive, fmt=form))[1] == {
        "h/d/p.html": PAGE_WEB_ARCHIVE.replace(b"href=x", b"href=http://h/d/x"), "h/d/f.html": b"<meta charset=utf-8><a href=p.html>p</a>",
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
    ("x-msg://4/", "x-msg://4/i%20j.png", "x-msg://4/i j.png"), ("x-msg://4/", "x-msg://4/i.png", "i.png#f"),
    ("x-msg://4/d/", "x-msg://4/i.png", "/i.png"),
    ("applewebdata://0A-1B/", "applewebdata://0A-1B/i.png", "applewebdata://0A-1B/i.png"),
    ("about:blank", "cid:i@x", "CID:i@x"), ("http://h/", "cid:i%20j@x", "cid:i%20j@x"), ("", "x-msg://4/i.png", "x-msg://4/i.png"),
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
    (tmp_path / "a.webarchive").write_bytes(plistlib.dumps(web_archive(resource("x-msg://4/", page), PNG_WEB_ARCHIVE)))
    assert main(["mirror", str(tmp_path / "a.webarchive"), "-o", str(tmp_path / "m")]) == 0
    assert "3 missing files" in capsys.readouterr().err
    assert (tmp_path / "m/a.webarchive/1/resource-1.html").read_bytes() == page
