"""ZIP packages: unchanged members, changed members with all fields about them, and broken archives."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk

PAGE = b'<base href="http://b.example/d/"><a href="x">x</a>' + b"<p>text</p>" * 50
ABSOLUTE = PAGE.replace(b'"x"', b'"http://b.example/d/x"')
XHTML = b'<html xmlns="http://www.w3.org/1999/xhtml"><a href="%b">x</a></html>'
CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="O/p.opf"'
    b' media-type="application/oebps-package+xml"/></rootfiles><link href="O/p.opf"/></container>'
)
OPF = (
    b'<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
    b'<item href="c%20h.html" media-type="application/xhtml+xml"/><item href="../img.bin" media-type="image/png"/>'
    b"</manifest></package>"
)


class Unseekable(io.BytesIO):
    """An output to which zipfile writes data descriptors."""

    def tell(self) -> int:
        raise OSError


def package(members: dict[str, bytes] | list[tuple[str, bytes]], **options: Any) -> bytes:
    file: Any = Unseekable() if options.get("streamed") else io.BytesIO()
    with zipfile.ZipFile(file, "w", options.get("method", zipfile.ZIP_DEFLATED)) as made:
        made.comment = options.get("comment", b"")
        for name, data in members.items() if isinstance(members, dict) else members:
            entry = zipfile.ZipInfo(name, (2001, 2, 3, 4, 5, 6))
            entry.compress_type = (zipfile.ZIP_STORED if name == "mimetype" else options.get("method", zipfile.ZIP_DEFLATED))
            entry.extra = options.get("extra", b"") if name != "mimetype" else b""
            with made.open(entry, "w", force_zip64=options.get("zip64", False)) as member:
                member.write(data)
    raw: bytes = file.getvalue()
    return raw


def epub(**members: bytes) -> bytes:
    return package({"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER, "O/p.opf": OPF, **members})


def opened(data: bytes) -> zipfile.ZipFile:
    """Read packages as zipfile did before Python 3.11.8, overlapping members included."""
    found = zipfile.ZipFile(io.BytesIO(data))
    for member in found.infolist():
        if hasattr(member, "_end_offset"):
            member._end_offset = None
    return found


def read(data: bytes) -> list[tuple[Any, ...]]:
    """Return all that zipfile reads about each member except its offset."""
    with opened(data) as found:
        assert found.testzip() is None
        return [(entry.filename, found.read(entry), entry.extra, entry.flag_bits, entry.date_time, entry.compress_type) for entry in found.infolist()]


def contents(data: bytes) -> list[bytes]:
    return [entry[1] for entry in read(data)]


def rewritten(data: bytes, **options: Any) -> bytes:
    return absolve.rewrite(data, name="x.zip", **options)


def reported(data: bytes, **options: Any) -> list[tuple[str, bool]]:
    entity = walk(Document(data, name="x.zip"), Settings(**options))
    return [(found.code, found.failed) for found in entity.diagnostics]


def links(data: bytes, **options: Any) -> list[tuple[str, str | None, str]]:
    return [(row.reference, row.target, row.scope) for row in absolve.links(data, name="x.zip", **options)]


STAYS = {
    "nothing in it": package({}),
    "no documents": package({"a.png": b"\x89PNG", "b.txt": b"<a href=x>", "c": b"\0\1"}),
    "links between members": package({"a.html": b"<a href=d/b.html>", "d/b.html": b"<a href=../a.html#f>"}),
    "a link to what is not there": package({"a.html": b"<a href=b.html>"}),
    "a link out of the package": package({"a.html": b"<a href=../../b.html><a href=//h/x><form action=''>"}),
    "a relative base": package({"a.html": b"<base href=d/><a href=b.html><form action=''><a href=#f>"}),
    "a folder": package({"d/": b"", "d/a.html": b"<p>"}), "a comment": package({"a.html": b"<p>"}, comment=b"PK\5\6 is here"),
    "an epub": epub(**{"O/c h.html": XHTML % b"c%20h.html#x"}),
}


def test_unchanged_data_is_returned_as_the_same_object() -> None:
    for name, data in STAYS.items():
        assert all(rewritten(data, **options) is data for options in ({}, {"base": "empty"}, {"fragments": "absolute"}, {"profile": "whatwg"})), name
        assert reported(data) == [], name


ZIPS = {
    "deflated": {}, "stored": {"method": zipfile.ZIP_STORED}, "with data descriptors": {"streamed": True},
    "stored with data descriptors": {"streamed": True, "method": zipfile.ZIP_STORED},
    "zip64": {"zip64": True},
    "zip64 with data descriptors": {"zip64": True, "streamed": True},
    "with extra fields": {"extra": struct.pack("<HH4s", 0xCAFE, 4, b"abcd"), "comment": b"a comment"},
}


@pytest.mark.parametrize("options", ZIPS.values(), ids=ZIPS)
def test_all_fields_about_a_changed_member_are_updated(options: dict[str, Any]) -> None:
    members = {"mimetype": b"application/zip", "a.html": PAGE, "b.png": b"\x89PNG" * 99, "c/c.html": PAGE, "d.txt": b"x"}
    data = package(members, **options)
    changed = rewritten(data)
    expected = [ABSOLUTE if entry[1] == PAGE else entry[1] for entry in read(data)]
    assert contents(changed) == expected
    assert [(entry[0], *entry[2:]) for entry in read(changed)] == [(entry[0], *entry[2:]) for entry in read(data)]
    assert rewritten(changed) is changed
    assert absolve.verify(data, changed, name="x.zip") == []


def test_unchanged_members_are_copied_compressed_and_bytes_before_the_archive_stay() -> None:
    data = b"#!/bin/sh\n" + package({"a.html": PAGE, "b.html": b"<p>" * 99})
    changed = rewritten(data)
    assert (changed[:12], contents(changed)[0]) == (b"#!/bin/sh\nPK", ABSOLUTE)
    with zipfile.ZipFile(io.BytesIO(data)) as one, zipfile.ZipFile(io.BytesIO(changed)) as other:
        entry, its = one.getinfo("b.html"), other.getinfo("b.html")
        size = 30 + len("b.html") + entry.compress_size
        assert data[entry.header_offset :][:size] == changed[its.header_offset :][:size]


def test_the_zip64_end_of_the_directory_moves() -> None:
    plain = package({"a.html": PAGE, "b.html": PAGE})
    end = plain.rfind(b"PK\5\6")
    size, start = struct.unpack_from("<LL", plain, end + 12)
    long_end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2, 2, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    for short_end in (plain[end : end + 20], plain[end : end + 8] + b"\xff" * 12):  # the place is there, too, or in the long one alone
        changed = rewritten(plain[:end] + long_end + locator + short_end + plain[end + 20 :])
        assert contents(changed) == [ABSOLUTE, ABSOLUTE]
        entries, longer = changed.find(b"PK\1\2"), changed.find(b"PK\6\6")
        assert struct.unpack_from("<Q", changed, longer + 48) == (entries,)
        assert struct.unpack_from("<Q", changed, changed.find(b"PK\6\7") + 8) == (longer,)
        assert struct.unpack_from("<L", changed, len(changed) - 6) == ((0xFFFFFFFF if short_end.endswith(b"\xff") else entries),)


def test_the_number_of_members_and_their_decompressed_size_are_limited() -> None:
    data = package({"a.png": b"", "b.png": b""})
    assert rewritten(data, max_links=2) is data
    with pytest.raises(absolve.DocumentError, match="more than 1 members") as caught:
        rewritten(data, max_links=1)
    assert caught.value.diagnostic.code == "too-many-links"
    data = package({"a.html": b" " * 3_000_000, "b.html": b" " * 3_000_000, "c.html": PAGE})
    assert reported(data, max_decompressed=4_000_000) == [("too-large", True)]
    assert contents(rewritten(data, max_decompressed=4_000_000))[2] == ABSOLUTE


def test_an_end_signature_in_the_comment_is_ignored() -> None:
    comment = b"PK\5\6" + b"\0" * 16 + b"\x09\0"  # zipfile takes this for the end record
    with_comment, plain = (package({"a.html": PAGE}, comment=text) for text in (comment, b"-" * len(comment)))
    assert rewritten(with_comment) == rewritten(plain).removesuffix(b"-" * len(comment)) + comment != with_comment


def named(raw: bytes, *, is_utf_8: bool) -> bytes:
    """Return an archive of one page whose name has these bytes."""
    data = package({"x" * len(raw): PAGE}).replace(b"x" * len(raw), raw)
    flags = b"\0\x08" if is_utf_8 else b"\0\0"
    start = data.find(b"PK\1\2")
    return data[:6] + flags + data[8 : start + 8] + flags + data[start + 10 :]


def test_member_names_are_utf_8_if_valid_else_code_page_437() -> None:
    for raw, is_utf_8, name in ((b"\x81", False, "\xfc"), (b"\xc3\xbc", False, "\xfc"), (b"\xc3\xbc", True, "\xfc"), (b"\x81", True, "\ufffd")):
        assert [row.entity for row in absolve.links(named(raw + b".html", is_utf_8=is_utf_8), name="x.zip")] == [f"{name}.html[1]"] * 2


# --- data in a package about its files --------------------------------------------------------------------------------


def test_links_between_members_are_internal() -> None:
    data = package({"a b.html": "<a href='d/é.html'><a href='d/%C3%A9.html'><a href=no.html><a href=//h/>".encode(), "d/é.html": b""})
    assert links(data) == [
        ("d/é.html", "package:///d/é.html", "internal"), ("d/%C3%A9.html", "package:///d/%C3%A9.html", "internal"),
        ("no.html", "package:///no.html", "internal"), ("//h/", "package://h/", "external"),
    ]
    row = absolve.links(data, name="x.zip")[0]
    assert (row.entity, row.base, row.base_source) == ("a b.html[1]", "package:///a%20b.html", "path in the package")


def in_order(data: bytes, order: Callable[[int], int]) -> bytes:
    """Return the archive with the entries of its central directory in another order, by a function of their numbers."""
    end = data.rfind(b"PK\5\6")
    start = position = struct.unpack_from("<L", data, end + 16)[0]
    entries = []
    while position < end:
        entries.append(data[position : position + 46 + sum(struct.unpack_from("<HHH", data, position + 28))])
        position += len(entries[-1])
    return data[:start] + b"".join(entries[number] for number in sorted(range(len(entries)), key=order)) + data[end:]


ORDERS: list[Callable[[int], int]] = [lambda number: -number, lambda number: number * 7 % 90]


@pytest.mark.parametrize("options", [{}, {"streamed": True}, {"zip64": True, "method": zipfile.ZIP_STORED}], ids=str)
def test_members_may_be_in_any_order(options: dict[str, Any]) -> None:
    kinds = ["txt" if number % 9 == 1 else "html" for number in range(90)]
    members = [(f"{number}.{kind}", b"<a href=x%d>" % number) for number, kind in enumerate(kinds)]
    plain = package(members, **options)
    for order in ORDERS:
        data = in_order(plain, order)
        numbers = sorted(range(90), key=order)
        assert [name for name, *_ in read(data)] == [members[number][0] for number in numbers]
        rows = absolve.links(data, name="x.zip", url="http://h/")
        assert [row.reference for row in rows] == [f"x{number}" for number in numbers if kinds[number] == "html"]
        changed = rewritten(data, url="http://h/")
        assert changed == in_order(rewritten(plain, url="http://h/"), order)
        assert contents(changed) == [b"<a href=%bx%d>" % (b"http://h/" if kinds[n] == "html" else b"", n) for n in numbers]
        assert absolve.verify(data, changed, name="x.zip", url="http://h/") == []


def test_each_of_thousands_of_members_has_its_own_path_and_its_own_fields() -> None:
    pages = [(f"{number}/a.html", b"<a href=%d><a href=//h/>" % number) for number in range(1200)]
    data = package([page for page in pages for page in (page, (f"{page[0]}.png", b""))])
    rows = list(absolve.links(data, name="x.zip", url="http://h/p/"))[::2]
    assert [row.target for row in rows] == [f"http://h/p/{number}/{number}" for number in range(1200)]
    found = contents(rewritten(data, url="http://h/p/"))[::2]
    assert found == [b"<a href=http://h/p/%d/%d><a href=http://h/>" % (n, n) for n in range(1200)]


HAR = '{"log": {"entries": [{"request": {"url": "http://h.example/"}, "response": {"redirectURL": "§x"}}]}}'
# Members, in which `§` is where a rewrite puts a URL, this URL, and options.
MEMBERS: list[tuple[dict[str, str], str, dict[str, Any]]] = [
    ({"a.html": "<!-- saved from url=(0017)http://s.example/ --><a href=§x>"}, "http://s.example/", {}),  # precedes the path
    ({"d/a b.html": "<a href=é.html><a href='%C3%A9.html'><a href=§no.html>", "d/é.html": ""}, "http://u.example/r/d/", {"url": "http://u.example/r/"}),
    ({"a.css": "a{b:url(§c)}", "b.png": "", "c.html": "<a href=§d>", "e.css": "@import '§f'"}, "http://h/p/", {"url": "http://h/p/"}),
    ({"a.html": "<a href=no.html>"}, "", {"url": "http://u.example/r/x.zip"}),  # its own URL gives its members none
    ({"a.har": HAR}, "http://h.example/", {}), ({"a.har": HAR}, "http://h.example/", {"url": "http://u.example/"}),
    ({"a.html": "<a href=§>", "b.html": "<p>"}, "http://n.example/", {"policy": lambda _: "http://n.example/"}),
    *(({"a.html": "<base href=http://b/><a href=§x>"}, "http://b/", {"name": name}) for name in (None, "x", "x.epub", "X.EPUB", "x.html")),
]


def test_links_of_members_have_the_url_of_their_member() -> None:
    for texts, base, options in MEMBERS:
        before, after = ([text.replace("§", url).encode() for text in texts.values()] for url in ("" if "policy" not in options else "b.html", base))
        data = package(dict(zip(texts, before, strict=True)))
        assert contents(absolve.rewrite(data, **{"name": "x.zip", **options})) == after


def test_paths_in_meta_inf_and_a_package_in_a_response_have_no_other_root() -> None:
    found = links(epub(**{"META-INF/metadata.xml": b"<?xml-stylesheet href='O/p.opf'?><m/>"}))
    assert found[-1] == ("O/p.opf", "package:///O/p.opf", "internal")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n\r\n"
    (row,) = absolve.links(head + package({"a.html": b"<a href=no.html>"}), url="http://u.example/r/", media_type="message/http")
    assert row.target == "package:///no.html"


def test_media_types_come_from_the_package_document() -> None:
    page = (b'<html xmlns="http://www.w3.org/1999/xhtml"><title/><p xml:base="http://x.example/"><a href="y"/></p></html>')
    data = epub(**{"O/c h.html": page, "img.bin": page})
    changed = contents(rewritten(data))
    assert changed[-2:] == [page.replace(b'"y"', b'"http://x.example/y"'), page]
    assert reported(epub(**{"O/c h.html": b"<p>"})) == [("not-well-formed", True)]
    for href in (b"../T/ch.bin", b"./../T/./ch.bin", b"x/../../T/ch.bin#f"):  # in other folders
        assert links(epub(**{"O/p.opf": OPF.replace(b"c%20h.html", href), "T/ch.bin": XHTML % b"http://h/x"}))[-1][0] == "http://h/x"


ENCRYPTION = (
    b'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData xmlns="http://www.w3.org/2001/04/'
    b'xmlenc#"><CipherData><CipherReference URI="O/c%20h.html"/></CipherData></EncryptedData></encryption>'
)


def test_encrypted_or_signed_members_stay_with_a_diagnostic() -> None:
    page = XHTML % b"x"
    page = page.replace(b"<a", b'<a xml:base="http://x.example/"')
    data = epub(**{"META-INF/encryption.xml": ENCRYPTION, "O/c h.html": page, "O/o.xhtml": page})
    assert reported(data) == [("encrypted", True)]
    assert contents(rewritten(data))[-2:] == [page, page.replace(b'"x"', b'"http://x.example/x"')]
    data = epub(**{"META-INF/signatures.xml": b"<signatures/>", "O/o.xhtml": page})
    assert rewritten(data) is data
    assert ("signed", False) in reported(data)


# --- broken packages --------------------------------------------------------------------------------------------------

WHOLE = package({"a.html": PAGE, "b.html": PAGE, "c.html": PAGE})
DIRECTORY = struct.unpack_from("<L", WHOLE, WHOLE.rfind(b"PK\5\6") + 16)[0]
SECOND = WHOLE.find(b"PK\1\2", DIRECTORY + 1)


def edited(position: int, new: bytes, data: bytes = WHOLE) -> bytes:
    return data[:position] + new + data[position + len(new) :]


BROKEN_WHOLES = {
    "nothing": (b"", "truncated"), "truncated": (WHOLE[:-30], "truncated"), "no directory": (WHOLE[: DIRECTORY // 2], "truncated"),
    "an entry that is none": (edited(SECOND, b"XX"), "broken"),
    "a directory that is elsewhere": (edited(len(WHOLE) - 6, b"\xff\xff\xff\x0f"), "broken"),
    "another number of members": (edited(len(WHOLE) - 12, b"\x02"), "broken"),
    "a name that is too long": (edited(SECOND + 28, b"\xff\xff"), "broken"),
    "one of several": (edited(len(WHOLE) - 18, b"\x01"), "split"),
    "begun in another one": (edited(len(WHOLE) - 16, b"\x01"), "split"),
    "a directory larger than the file": (edited(len(WHOLE) - 10, b"\0\0\0\x0f"), "broken"),
    "an entry that is cut off": (edited(len(WHOLE) - 10, struct.pack("<L", len(WHOLE) - 22 - DIRECTORY - 20)), "broken"),
    "a locator of nothing": (WHOLE[:-22] + struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1) + WHOLE[-22:], "broken"),
}


def test_an_unreadable_zip_file_is_an_error() -> None:
    for name, (data, code) in BROKEN_WHOLES.items():
        with pytest.raises(absolve.DocumentError, match=r"at byte [0-9]+") as caught:
            rewritten(data)
        assert caught.value.diagnostic.code == code, name


LOCAL = WHOLE.find(b"PK\3\4", 1)
BROKEN_MEMBERS = {
    "encrypted": (edited(SECOND + 8, b"\x01"), "encrypted"),
    "another method": (edited(LOCAL + 8, b"\x0c", edited(SECOND + 10, b"\x0c")), "unknown-coding"),
    "methods that differ": (edited(LOCAL + 8, b"\x0c"), "broken"),
    "names that differ": (edited(LOCAL + 30, b"z"), "broken"),
    "checksums that differ": (edited(LOCAL + 14, b"\0\0\0\0"), "broken"),
    "a wrong checksum": (edited(LOCAL + 14, b"\0\0\0\0", edited(SECOND + 16, b"\0\0\0\0")), "broken"),
    "too small a size": (edited(LOCAL + 22, b"\1\0\0\0", edited(SECOND + 24, b"\1\0\0\0")), "wrong-length"),
    "broken data": (edited(LOCAL + 36, b"\xff\xff\xff\xff"), "broken"),
    "no header": (edited(SECOND + 42, b"\x03\0\0\0"), "broken"),
    "past the directory": (edited(SECOND + 42, struct.pack("<L", DIRECTORY)), "broken"),
    "data past the directory": (edited(LOCAL + 18, b"\0\0\1\0", edited(SECOND + 20, b"\0\0\1\0")), "truncated"),
}


def test_a_broken_member_stays_and_the_others_are_rewritten() -> None:
    for name, (data, code) in BROKEN_MEMBERS.items():
        (found,) = walk(Document(data, name="x.zip"), Settings()).diagnostics
        assert (found.code, found.failed, "b.html" in found.text, "at byte" in found.text) == (code, True, True, True), name
        with opened(rewritten(data)) as made:
            assert [made.read(name) for name in ("a.html", "c.html")] == [ABSOLUTE, ABSOLUTE]


def test_a_member_offset_beyond_the_file_is_reported() -> None:
    end = WHOLE.rfind(b"PK\5\6")
    extra = struct.pack("<HHQ", 1, 8, (1 << 64) - 1)
    third = WHOLE.find(b"PK\1\2", SECOND + 1)
    entry = edited(42, b"\xff" * 4, edited(30, struct.pack("<H", len(extra)), WHOLE[third:end]))
    size = end - DIRECTORY + len(extra)
    data = WHOLE[:third] + entry + extra + edited(12, struct.pack("<L", size), WHOLE[end:])
    assert reported(data) == [("broken", True)]


def test_a_data_descriptor_is_not_read_as_a_directory_entry() -> None:
    size = int.from_bytes(b"PK\1\2", "little")  # the last field of the descriptor equals the signature of a directory entry
    data = package({"a.html": PAGE + b" " * (size - len(PAGE))}, streamed=True)
    end = data.rfind(b"PK\5\6")
    start = struct.unpack_from("<L", data, end + 16)[0]
    assert data[start - 4 : start] == data[start : start + 4]
    data = data[: start - 4] + data[start:end] + edited(16, struct.pack("<L", start - 4), data[end:])
    assert reported(data) == [("truncated", True)]
    assert rewritten(data) is data


def test_an_unsafe_member_name_is_reported() -> None:
    for name in ("../a.html", "/a.html", "d/../../a.html", "..\\a.html", "C:\\a.html", "\\a.html"):
        data = package([(name, PAGE), ("b.html", PAGE)])
        assert (reported(data), contents(rewritten(data))) == ([("unsafe-name", True)], [PAGE, ABSOLUTE])


def test_overlapping_members_stay() -> None:
    first = WHOLE.find(b"PK\1\2")
    entry = WHOLE[first:SECOND]
    data = WHOLE[:SECOND] + entry + WHOLE[SECOND:]
    end = data.rfind(b"PK\5\6")
    data = data[:end] + struct.pack("<4s4H2L", b"PK\5\6", 0, 0, 4, 4, end - DIRECTORY, DIRECTORY) + b"\0\0"
    assert reported(data) == [("overlap", True), ("overlap", True)]
    assert contents(rewritten(data)) == [PAGE, PAGE, ABSOLUTE, ABSOLUTE]


def test_two_members_of_one_name_are_both_read_and_a_nested_package_stays() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        data = package([("a.html", PAGE), ("a.html", PAGE)])
    assert contents(rewritten(data)) == [ABSOLUTE, ABSOLUTE]
    data = package({"a.zip": package({"a.html": PAGE}), "b.html": PAGE})
    assert (reported(data), contents(rewritten(data))[1]) == ([("package-inside", False)], ABSOLUTE)


def old_package(name: bytes, page: bytes) -> bytes:
    """Return a package as a program of Windows made it: this name is in the charset of the system, without the flag."""
    place = b"?" * len(name)
    return package({"index.html": page, place.decode(): b"<p>"}, method=zipfile.ZIP_STORED).replace(place, name)


NAMES = [  # the name of a member, its charset, the charset of a page, and the link in it
    ("表.html", "cp932", "shift_jis", "表.html"),  # whose last byte is that of a backslash
    ("表/ソ能.html", "cp932", "utf-8", "表/ソ能.html"), ("表\\十.html", "cp932", "utf-8", quote("表/十.html")),
    ("表.html", "cp932", "euc-jp", "表.html"), ("山.html", "gbk", "gbk", "山.html"), ("誠/联通.html", "gbk", "utf-8", "誠/联通.html"),
    ("許功.html", "cp950", "big5", "許功.html"), ("배.html", "cp949", "euc-kr", "배.html"), ("лодка.html", "cp866", "windows-1251", "лодка.html"),
    ("лодка.html", "cp1251", "windows-1251", "лодка.html"), ("лодка.html", "cp866", "utf-8", quote("лодка.html")),
    ("Müller.html", "cp850", "iso-8859-1", "M&#252;ller.html"), ("łódź.html", "cp852", "windows-1250", "łódź.html"),
    ("Ø.html", "cp850", "utf-8", "Ø.html"), ("表.html", "cp932", "shift_jis", "%95%5C.html"),
]


def test_a_name_without_the_flag_of_utf_8_is_in_the_charset_in_which_pages_have_it() -> None:
    for name, charset, declared, reference in NAMES:
        text = f"<!DOCTYPE html><meta charset={declared}><a href={reference}>"
        data = old_package(name.encode(charset), text.encode(declared))
        assert reported(data) == []
        assert rewritten(data, url="http://h/") is data  # the link leads to a member
        urls = [row.url for row in absolve.documents(data, name="x.zip") if row.url is not None]
        assert urls == ["package:///index.html", f"package:///{quote(name.replace(chr(92), '/'))}"], name


def test_a_name_has_the_unicode_path_that_is_said_beside_it() -> None:
    raw, text = b"\x95\\.html", "山.html".encode()
    said = struct.pack("<HHBL", 0x7075, 5 + len(text), 1, zlib.crc32(raw)) + text
    place = b"?" * len(raw)
    data = package({"index.html": "<meta charset=utf-8><a href=山.html>".encode(), place.decode(): b""}, method=zipfile.ZIP_STORED, extra=said).replace(place, raw)
    assert links(data)[0][1] == "package:///山.html"
    assert rewritten(data, url="http://h/") is data


def test_a_charset_of_names_that_no_page_shows_is_reported() -> None:
    assert reported(old_package(b"\xa4\xa4.html", b"<a href=x>")) == [("name-charset", False)]
    assert reported(package({"index.html": b"", "\xa4.html": b""})) == []


def test_verify_compares_packages_as_zipfile_reads_them() -> None:
    data = package({"a.html": PAGE, "b.png": b"\x89PNG" * 99})
    changed = rewritten(data)
    assert absolve.verify(data, changed, name="x.zip") == []
    for other in (
        package({"a.html": ABSOLUTE, "b.png": b"\x89PNH" * 99}),
        package({"a.html": ABSOLUTE, "c.png": b"\x89PNG" * 99}),
        package({"a.html": ABSOLUTE.replace(b"text", b"test", 1), "b.png": b"\x89PNG" * 99}),
        changed[:-30] + changed[-29:] + b"\0",
    ):
        assert absolve.verify(data, other, name="x.zip")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_rewriting_a_corrupt_package_breaks_no_further_member() -> None:
    chance = random.Random(1808)  # noqa: S311 - no secret
    original = package({"mimetype": b"application/zip", "a.html": PAGE, "d/b.html": PAGE}, streamed=True)
    changed = 0
    for _ in range(120):
        data = bytearray(original)
        start = data.rfind(chance.choice((b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\7\x08")), 0, chance.randrange(len(data)))
        place = min(max(start, 0) + chance.randrange(40), len(data) - 1)
        data[place : place + chance.randrange(2)] = bytes((chance.randrange(256),))
        try:
            new = rewritten(bytes(data))
        except absolve.DocumentError:
            continue
        assert rewritten(new) == new
        assert {found.code for found in absolve.verify(bytes(data), new, name="x.zip")} <= {"unjudged"}
        changed += new != data
    assert changed > 25


def test_a_package_that_would_exceed_its_size_fields_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    data = package({"a.html": PAGE})
    huge = {"crc": 0, "size": 1 << 32, "value": 0}
    monkeypatch.setattr("absolve.formats.zip.members._Facts._members_by_name", lambda *_: huge)
    with pytest.raises(absolve.DocumentError, match="too-large"):
        rewritten(data)


def test_a_member_with_the_name_of_a_template_has_its_placeholders() -> None:
    data = package({"v/a.cshtml": b"<a href=~/x><a href=y>", "v/b.html": b"<a href=~/x>"})
    assert [row.problems for row in absolve.links(data, name="a.zip", url="http://h/a/")] == [["placeholder"], [], []]
