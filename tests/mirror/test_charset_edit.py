"""The charset that only a header stated is declared in the document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.encodings.charsets import declared_in_html
from absolve.mirror.edits import declaration
from absolve.rewriting.edits import splice

HTML = "text/html"
XML = "application/xml"
MARK = b"\xef\xbb\xbf"


def declared(data: bytes, media_type: str, label: str | None) -> bytes:
    found = declaration(data, media_type, label)
    return splice(data, [found[0]]) if found is not None else data


@pytest.mark.parametrize(
    ("data", "media_type", "label", "result"),
    [
        (b"<p>", HTML, None, b"<p>"),
        (b"<p>", HTML, "unknown", b"<p>"),
        (MARK + b"<p>", HTML, "koi8-r", MARK + b"<p>"),
        (b"<p>", HTML, "koi8-r", b'<meta charset="koi8-r"><p>'),
        (b"<meta charset=koi8-r><p>", HTML, "KOI8-R", b"<meta charset=koi8-r><p>"),
        (b"<meta charset=koi8-r>", HTML, "utf-8", b'<meta charset="utf-8"><meta charset=koi8-r>'),
        (
            b"<!-- > --><!DOCTYPE html>\n<HTML lang='a>b'>\n<Head x=\">\"><title>",
            *(HTML, "utf-8", b'<!-- > --><!DOCTYPE html>\n<HTML lang=\'a>b\'>\n<Head x=">"><meta charset="utf-8"><title>'),
        ),
        (b"<header>", HTML, "utf-8", b'<meta charset="utf-8"><header>'),
        (b"<!--" + b"x" * 1100 + b"-->", HTML, "utf-8", MARK + b"<!--" + b"x" * 1100 + b"-->"),
        (b"<\0p\0>\0", HTML, "utf-16le", b"\xff\xfe<\0p\0>\0"),
        (b"\0<\0p\0>", HTML, "utf-16be", b"\xfe\xff\0<\0p\0>"),
        (b"p{}", "text/css", "utf-8", b"p{}"),
        (b"p{} /* \xe4 */", "text/css", "koi8-r", b'@charset "koi8-r";p{} /* \xe4 */'),
        (b'@charset "KOI8-R";\xe4', "text/css", "koi8-r", b'@charset "KOI8-R";\xe4'),
        (b'@charset "utf-8";\xe4', "text/css", "koi8-r", b'@charset "koi8-r";\xe4'),
        (b"@charset 'utf-8';\xe4", "text/css", "koi8-r", b"@charset \"koi8-r\";@charset 'utf-8';\xe4"),
        (MARK + b"\xe4", "text/css", "koi8-r", MARK + b"\xe4"),
        (b"p\0{\0}\0", "text/css", "utf-16le", b"\xff\xfep\0{\0}\0"),
        (b"\xc3\xa4", "text/plain", "utf-8", MARK + b"\xc3\xa4"),
        (b"a", "text/plain", "utf-8", b"a"),
        (b"\xe4", "text/plain", "koi8-r", b"\xe4"),
        (b"\xc3\xa4", "text/x-shellscript", "utf-8", b"\xc3\xa4"),
        (b"\xc3\xa4", "text/javascript", "utf-8", b"\xc3\xa4"),
        (b"<a/>", XML, "utf-8", b"<a/>"),
        (b"<a/>", XML, "koi8-r", b'<?xml version="1.0" encoding="koi8-r"?><a/>'),
        (b"<?xml version='1.0'?><a/>", XML, "koi8-r", b"<?xml version='1.0' encoding=\"koi8-r\"?><a/>"),
        (
            b'<?xml version="1.0" encoding="utf-8"?><a/>',
            *(XML, "koi8-r", b'<?xml version="1.0" encoding="koi8-r"?><a/>'),
        ),
        (
            b"<?xml version='1.0' encoding = 'x' standalone='yes'?><a/>",
            *(XML, "utf-8", b"<?xml version='1.0' encoding = 'utf-8' standalone='yes'?><a/>"),
        ),
        (b"<?xml version='1.0' encoding='KOI8-R'?><a/>", XML, "koi8-r", b"<?xml version='1.0' encoding='KOI8-R'?><a/>"),
        (b"<\0a\0/\0>\0", XML, "utf-16le", b"\xff\xfe<\0a\0/\0>\0"),
    ],
)
def test_a_document_declares_the_charset_of_its_header(
    data: bytes, media_type: str, label: str | None, result: bytes
) -> None:
    assert declared(data, media_type, label) == result


HEADS = st.lists(
    st.sampled_from([b"<!doctype html>", b"<html a='>'>", b"<head>", b"<!--x-->", b"<title>", b"\n", b"<meta charset=utf-8>"])
).map(b"".join)


@given(HEADS, st.sampled_from(["koi8-r", "shift_jis", "windows-1252"]))
def test_a_browser_finds_the_declared_charset_and_no_second_edit_is_needed(data: bytes, label: str) -> None:
    once = declared(data, HTML, label)
    found = declared_in_html(once)
    assert found is not None
    assert found.name == label
    assert declared(once, HTML, label) == once
