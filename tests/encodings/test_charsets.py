"""Charsets: labels, declarations in documents, and lossless decoding of any bytes."""

import html
import re
from itertools import product
from typing import NamedTuple
from urllib.parse import unquote

import pytest
import webencodings
from hypothesis import example, given
from hypothesis import strategies as st
from material import SHARED
from vectors import each_file
from webencodings.labels import LABELS

import absolve
from absolve.core.errors import UsageError
from absolve.encodings.charsets import (
    UTF_8,
    Charset,
    by_label,
    byte_order_mark,
    declared_in_html,
    inside,
    lookup,
    of_html,
    of_text,
)

SUITE = SHARED / "suites" / "html5lib-tests" / "encoding"

NAMES = sorted({encoding.name for label in LABELS if (encoding := webencodings.lookup(label)) is not None})
CHARSETS = [charset for name in NAMES if (charset := lookup(name)) is not None]
TRANSPARENT = [charset for charset in CHARSETS if charset.transparent]


# --- labels -----------------------------------------------------------------------------------------------------------


def test_labels_of_unsupported_charsets_or_with_other_characters_than_ascii_are_unknown() -> None:
    odd = [*map("".join, product(["", " ", "utf-7", "klingon", "utf 8", "replacement", "hz-gb-2312", "x-user-defined"], ["", "\udc81", "\u212a", "\0"]))]
    for label in (*odd, "ut\udc81-8", "\u212aoi8-r", "utf-8\u2003", "utf\0-8"):
        assert lookup(label) is None
        with pytest.raises(UsageError, match="unknown charset"):
            by_label(label)
        data = b'Content-Type: text/html; charset="' + label.encode("utf-8", "surrogateescape") + b'"\n\n<a href=x>'
        if label not in odd:
            assert absolve.rewrite(data, media_type="message/rfc822", url="http://h/").endswith(b"<a href=http://h/x>")


@pytest.mark.parametrize(("label", "name"), [
    ("utf-8", "utf-8"), ("UTF8", "utf-8"), ("\n Utf-8\t", "utf-8"), ("latin1", "windows-1252"), ("iso-8859-1", "windows-1252"),
    ("us-ascii", "windows-1252"), ("ISO-8859-9", "windows-1254"), ("gb2312", "gbk"), ("sjis", "shift_jis"), ("ks_c_5601-1987", "euc-kr"),
    ("unicode", "utf-16le"), ("utf-16", "utf-16le"), ("logical", "iso-8859-8-i"),
])
def test_labels_are_matched_as_in_the_encoding_standard(label: str, name: str) -> None:
    assert by_label(label).name == name


def test_all_charsets_but_utf_16_and_iso_2022_jp_are_ascii_compatible() -> None:
    assert {charset.name for charset in CHARSETS} - {charset.name for charset in TRANSPARENT} == {"iso-2022-jp", "utf-16be", "utf-16le"}


# --- bytes ------------------------------------------------------------------------------------------------------------

LOSSY = {"big5", "shift_jis"}  # some of their characters have two byte sequences


@given(st.sampled_from([charset for charset in TRANSPARENT if charset.name not in LOSSY]), st.binary(max_size=12))
@example(by_label("euc-jp"), b"\xa1\x8e\xa1\xa1")
@example(by_label("euc-kr"), b"\xc6\x81a")
def test_decoding_and_encoding_restores_every_byte(charset: Charset, raw: bytes) -> None:
    text = charset.decode(raw)
    for errors, read in (("absolve.references", html.unescape), ("absolve.percent", unquote)):
        restored = charset.decode(charset.encode(text, errors))
        # A character is escaped behind bytes that decode to nothing and could be read together with it.
        assert restored == text or read(restored) == text


@pytest.mark.parametrize(("name", "text", "references", "percent"), [
    ("gb18030", "\udcfea", b"%FEa", b"%FEa"), ("gb18030", "\udcfe/", b"\xfe/", b"\xfe/"),
    ("gb18030", "a\ufffd", b"a\x841\xa47", b"a\x841\xa47"), ("gb18030", "\udcfe\ufffd", b"\xfe&#65533;", b"\xfe%EF%BF%BD"),
    ("euc-kr", "\udca1\uac00", b"\xa1&#44032;", b"\xa1%EA%B0%80"), ("euc-jp", "\udc80\u3000", b"\x80\xa1\xa1", b"\x80\xa1\xa1"),
])
def test_an_incomplete_character_does_not_consume_the_next_one(name: str, text: str, references: bytes, percent: bytes) -> None:
    charset = by_label(name)
    assert charset.encode(text, "absolve.references") == references
    assert charset.encode(text, "absolve.percent") == percent


@given(st.sampled_from([charset for charset in CHARSETS if charset.one_byte]), st.binary(max_size=12))
def test_each_byte_of_a_single_byte_charset_is_a_character_and_each_utf_16_code_unit_is_restored(charset: Charset, raw: bytes) -> None:
    text = charset.decode(raw)
    assert len(text) == len(raw)
    assert charset.encode(text, "absolve.percent") == raw
    for name in ("utf-16le", "utf-16be"):
        assert by_label(name).encode(by_label(name).decode(raw[: len(raw) & ~1]), "absolve.percent") == raw[: len(raw) & ~1]


@pytest.mark.parametrize(("label", "raw", "text"), [
    ("windows-1252", b"\x80\x81\x9d\xa0", "\u20ac\x81\x9d\xa0"), ("windows-1251", b"\x98", "\x98"), ("windows-1253", b"\xd2", "\udcd2"),
    ("utf-8", b"a\xffb\xc3", "a\udcffb\udcc3"), ("shift_jis", b"\x83\x5c\x85", "\u30bd\udc85"),
    ("gbk", b"\x810a", "\udc810a"),  # the ASCII byte after it is not part of the error
    ("euc-jp", b"\x8fP", "\udc8fP"), ("iso-2022-jp", b'\x1b$B$"\x1b(B', "\u3042"), ("utf-16le", b"a\0\x00\xd8", "a\ud800"),
    ("utf-16be", b"\0a\x01", "a\ufffd"),
])
def test_invalid_bytes_are_decoded_without_an_error(label: str, raw: bytes, text: str) -> None:
    assert by_label(label).decode(raw) == text


@pytest.mark.parametrize(("label", "references", "percent"), [
    ("windows-1252", b"\xe9&#1087;", b"\xe9%D0%BF"), ("koi8-r", b"&#233;\xd0", b"%C3%A9\xd0"),
    ("iso-2022-jp", b"&#233;\x1b$B'a\x1b(B", b"%C3%A9\x1b$B'a\x1b(B"), ("utf-8", "éп".encode(), "éп".encode()),
    ("utf-16le", "éп".encode("utf-16-le"), "éп".encode("utf-16-le")),
])
def test_characters_missing_in_the_charset_are_escaped_for_their_place(label: str, references: bytes, percent: bytes) -> None:
    assert by_label(label).encode("éп", "absolve.references") == references
    assert by_label(label).encode("éп", "absolve.percent") == percent


def test_text_decoded_from_iso_2022_jp_can_be_encoded_again() -> None:
    assert inside(UTF_8) is inside(by_label("utf-16be")) is UTF_8
    view = inside(by_label("iso-2022-jp"))
    assert view.name == "iso-2022-jp"
    assert view.decode("あ".encode()) == "あ"
    assert view.encode("éあ", "absolve.references") == "&#233;あ".encode()


# --- charset declarations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "mark"), [
    (b"", None), (b"\xef\xbb", None), (b"\xff", None), (b"x\xef\xbb\xbf", None), (b"\xef\xbb\xbfx", ("utf-8", 3)),
    (b"\xff\xfex\0", ("utf-16le", 2)), (b"\xfe\xff\0x", ("utf-16be", 2)),
])
def test_a_byte_order_mark_decides_the_charset(data: bytes, mark: tuple[str, int] | None) -> None:
    found = byte_order_mark(data)
    assert (found and (found[0].name, found[1])) == mark


META = b"<meta charset=koi8-r>"
FILL = b"<!-- " + b"x" * 1024 + b" -->"


DECLARED: dict[str | None, list[bytes]] = {
    None: [
        b"", b"<meta>", b"<metacharset=koi8-r>", b"<meta name=charset content=koi8-r>", b"<meta content='text/html; charset=koi8-r'>",
        b"<meta http-equiv=refresh content='text/html; charset=koi8-r'>", b"<meta http-equiv=content-type content='text/html; koi8-r'>",
        b"<meta charset=klingon>", b"<meta charset>", b"<!-- " + META + b" -->", b"<p title='" + META + b"'>", b"<p " + META[1:],
        b"<script>'" + META + b"'</script>", b"<style>" + META + b"</style>", b"<title>" + META + b"</title>", b"<textarea>" + META,
        b"</meta charset=koi8-r>", b"<?" + META[1:], b"<body>" + FILL + META, FILL + b"<p>" + META, b"<div>" + FILL + b"<head>" + META,
        b"<head></head>" + FILL + META, b" <?xml version='1.0' encoding='koi8-r'?>", b"<?xml version='1.0'?>",
        b"<?xml version='1.0' encoding='koi8-r", b"<?xml version='1.0' encoding='koi8 r'?>", b"koi8-r",
    ],
    "koi8-r": [
        META, b"<META CHARSET='KOI8-R'/>", b'<meta charset = " koi8-r " >', b"<meta charset=koi8-r charset=utf-8>",
        b"<meta charset=klingon>" + META, b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>",
        b"<meta content='text/html;charset = \"koi8-r\"' http-equiv='content-type'>",
        b"<meta content=charset=koi8-r; http-equiv=content-type>",
        b"<meta http-equiv=content-type content='charset=klingon'><meta charset=koi8-r>", b"<p>" + META,
        b"<script>'<p>'</script><style>p{}</style><title><p></title>" + META, b"<head>" + FILL + META,
        b"<html><head><link href=x><base href=y><noscript></noscript>" + FILL + META,
        b"<p>" + b"x" * 1000 + b"<meta name=" + b"y" * 100 + b" charset=koi8-r>", b'<p title=a"b>' + META,
        b"<!--><!-- > --><meta name='>' content=\">\"><link title=it's href=x>" + META, b"<?xml version='1.0' encoding='koi8-r'?><p>",
        b'<?xml version="1.0" encoding = "koi8-r" ?>', b"<?xml version='1.0' encoding='utf-8'?>" + META,
    ],
    "utf-8": [b"<meta charset=utf-16>", b"<meta charset=utf-16be>", b"<?xml version='1.0' encoding='utf-16'?>"],  # a meta element that was read as ASCII cannot be in UTF-16
    "windows-1252": [b"<meta charset=x-user-defined>"],
}


@pytest.mark.parametrize("name", DECLARED)
def test_the_first_declaration_of_a_known_charset_is_used(name: str | None) -> None:
    for data in DECLARED[name]:
        found = declared_in_html(data)
        assert (found and found.name) == name, data


@pytest.mark.parametrize(("data", "given_by_user", "header", "name", "mark"), [
    (b"", None, None, "utf-8", 0), (b"abc", None, None, "utf-8", 0), ("é".encode(), None, None, "utf-8", 0),
    ("é".encode()[:1], None, None, "utf-8", 0),  # truncated inside a character
    (b"\xe9", None, None, "utf-8", 0), (b"\xe9t\xe9", None, None, "windows-1252", 0), (META, None, None, "koi8-r", 0),
    (META, None, "windows-1251", "windows-1251", 0), (META, None, "klingon", "koi8-r", 0), (META, "big5", "windows-1251", "big5", 0),
    (b"\xef\xbb\xbf" + META, "big5", "windows-1251", "utf-8", 3), (b"\xff\xfe<\0", "big5", None, "utf-16le", 2),
    (b"<\0", "utf-16", None, "utf-16le", 0), (b"<\0", None, "utf-16be", "utf-16be", 0),
])
def test_the_charset_comes_from_mark_user_header_meta_or_a_guess_in_this_order(
    data: bytes, given_by_user: str | None, header: str | None, name: str, mark: int
) -> None:
    charset, length = of_html(data, given_by_user, header)
    assert (charset.name, length) == (name, mark)


@pytest.mark.parametrize(("data", "given_by_user", "header", "name"), [
    (b"", None, None, "utf-8"), (b'@charset "koi8-r";', None, None, "koi8-r"), (b'@charset "utf-16";', None, None, "utf-8"),
    (b'@charset "klingon";\xe9a', None, None, "windows-1252"), (b"@charset 'koi8-r';", None, None, "utf-8"),
    (b' @charset "koi8-r";', None, None, "utf-8"), (b'@charset  "koi8-r";', None, None, "utf-8"),
    (b'@charset "koi8-r"', None, None, "utf-8"), (b'@charset "koi8-r";', None, "windows-1251", "windows-1251"),
    (b'@charset "koi8-r";', "big5", "windows-1251", "big5"), (b'\xef\xbb\xbf@charset "koi8-r";', "big5", None, "utf-8"),
])
def test_a_style_sheet_declares_its_charset_in_its_first_bytes(data: bytes, given_by_user: str | None, header: str | None, name: str) -> None:
    assert of_text(data, given_by_user, header)[0].name == name


# The standard's prescan also reads scripts and style sheets; Chromium, which absolve follows, does not.
INTO_TEXT = {
    b"<!DOCTYPE HTML>\n<script>document.write('<meta charset=\"ISO-8859-' + '2\">')</script>",
    b"<!DOCTYPE HTML>\n<script>document.write('<meta charset=\"iso8859-2\">')</script>",
    b'<!DOCTYPE HTML>\n<script type="text/plain"><meta charset="iso8859-2"></script>',
    b'<!DOCTYPE HTML>\n<style type="text/plain"><meta charset="iso8859-2"></style>',
}


class Case(NamedTuple):
    """A document of the suite, and the label of its charset."""

    name: str
    data: bytes
    label: str


def suite(name: str) -> list[Case]:
    blocks = re.split(rb"(?:\A|\n)#data\n", (SUITE / name).read_bytes())[1:]
    pairs = (block.split(b"\n#encoding\n") for block in blocks)
    return [Case(f"{name}:{number}", data, encoding.split(b"\n")[0].decode()) for number, (data, encoding) in enumerate(pairs)]


@each_file(["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"], suite, SUITE)
def test_documents_of_the_suite_have_the_expected_charset(case: Case) -> None:
    if declared_in_html(case.data) or byte_order_mark(case.data):
        assert of_html(case.data)[0].name == by_label(case.label).name
    else:  # the suite falls back to windows-1252; absolve may choose UTF-8
        assert case.data in INTO_TEXT or by_label(case.label).name == "windows-1252"


@given(st.lists(st.sampled_from([b"a", b"<p>", *(bytes((n,)) for n in (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF)),
                                 *(bytes((n,)) for n in (0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5)),
                                 "\u00e9".encode(), "\u20ac".encode(), "\U0001f600".encode()])).map(b"".join))
def test_a_document_without_declaration_is_utf_8_if_all_of_it_is_valid(data: bytes) -> None:
    try:
        data.decode("utf-8")
        expected = "utf-8"
    except UnicodeDecodeError as error:
        is_cut_off = error.end == len(data) and error.reason == "unexpected end of data"
        expected = "utf-8" if is_cut_off else "windows-1252"
    assert of_html(data)[0].name == expected
