"""What browsers do with a file from a disk, by its name, and what a response allowed."""

from collections.abc import Callable

import pytest
from linear import measure

from absolve.mirror import browsers
from absolve.mirror.browsers import ACTED_ON, DEMOTED, HARMLESS, SNIFFED

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"
CSP = "content-security-policy: "


@pytest.mark.parametrize(
    ("name", "opened"),
    [
        *((f"a.{ending}", "text/html") for ending in ("html", "HTM", "shtml", "shtm", "ehtml", "stm", "dhtml")),
        *((f"a.{ending}", "application/xhtml+xml") for ending in ("xhtml", "xht", "xhtm")),
        *((f"a.{ending}", "image/svg+xml") for ending in ("svg", "svgz")),
        *((f"a.{ending}", "application/xml") for ending in ("xml", "xsl", "xbl", "rdf", "xsd", "rss", "atom", "xul")),
        *((f"a.{ending}", "multipart/related") for ending in ("mht", "mhtml")),
        *((f"a.{ending}", HARMLESS) for ending in ("txt", "js", "css", "json", "png", "pdf", "woff.gz")),
        *((f"a.{ending}", SNIFFED) for ending in ("c", "foo", "woff2", "orig")),
        *((name, SNIFFED) for name in ("README", "html")),
        *((f"a.{ending}", ACTED_ON) for ending in ("exe", "URL", "lnk", "desktop", "library-ms", "settingcontent-ms")),
        *(
            (f"a.{ending}", ACTED_ON)
            for ending in ("hta", "webloc", "jar", "ps1", "vbs", "reg", "{3050f4d8-98b5-11cf}")
        ),
    ],
)
def test_the_last_ending_of_a_name_decides_what_a_browser_or_a_shell_does(name: str, opened: str) -> None:
    assert browsers.from_disk(name) == opened


@pytest.mark.parametrize(
    ("media_type", "fields", "data", "shown"),
    [
        ("text/html; charset=utf-8", "", b"", "text/html"),
        ("image/png", "content-disposition: attachment", b"", "image/png"),
        ("text/html; charset=ISO-2022-KR", "", b"<p>", DEMOTED),
        ("image/svg+xml; charset=hz-gb-2312", "", SVG, DEMOTED),
        ("text/html; charset=iso-2022-kr; charset=utf-8", "", b"<p>", DEMOTED),
        ("text/html; charset=utf-8; charset=iso-2022-kr", "", b"<p>", "text/html"),
        ("text/html; charset=iso-2022-cn", "", b"\xef\xbb\xbf<p>", "text/html"),
        ("text/html; charset=utf-7", "", b"<p>", "text/html"),
        ("text/html", 'content-disposition: ATTACHMENT ; filename="x"', b"", DEMOTED),
        ("text/html", "content-disposition: foo", b"", DEMOTED),
        ("text/html", "content-disposition: filename=attachment", b"", "text/html"),
        ("text/html", "content-disposition: Inline; filename=attachment", b"", "text/html"),
        ("text/html", f"{CSP}script-src 'none'", b"<script>", "text/html"),
        ("image/svg+xml", f"{CSP}default-src 'none'; sandbox", SVG, DEMOTED),
        ("image/svg+xml", f"{CSP}default-src 'none'; sandbox", b"<svg><rect/></svg>", "image/svg+xml"),
        ("image/svg+xml", f"{CSP}sandbox", b"<svg><a href='java&#115;cript:1'/></svg>", DEMOTED),
        ("image/svg+xml", f"{CSP}sandbox", b"<svg><g\nonclick = 'x'/></svg>", DEMOTED),
        ("image/svg+xml", f"{CSP}sandbox", SVG.decode().encode("utf-16"), DEMOTED),
        ("image/svg+xml", f"{CSP}script-src 'unsafe-inline'", SVG, "image/svg+xml"),
        ("image/svg+xml", f"{CSP}script-src 'unsafe-inline' 'nonce-a'", SVG, DEMOTED),
        ("application/xhtml+xml", f"{CSP}script-src 'self'", b"<html><script/></html>", DEMOTED),
        ("multipart/related", "", b"", DEMOTED),
        ("text/xsl", f"{CSP}img-src 'none'", SVG, "text/xsl"),
    ],
)
def test_a_response_is_a_document_only_as_its_header_allows(
    media_type: str, fields: str, data: bytes, shown: str
) -> None:
    assert browsers.allowed(media_type, fields, data) == shown


@pytest.mark.parametrize(
    ("values", "stated"),
    [
        ([], ""),
        (["text/html"], "text/html"),
        (["text/html", "text/plain"], "text/plain"),
        (["text/html, text/plain"], "text/plain"),
        (["text/html, */*", "nothing"], "text/html"),
        (['text/html; charset="a,b"'], 'text/html; charset="a,b"'),
        ([r'text/html; charset="a\",b"'], r'text/html; charset="a\",b"'),
        (['text/html, text/plain; charset="a,b'], 'text/plain; charset="a,b'),
        (["nothing"], "nothing"),
    ],
)
def test_the_last_of_several_content_types_counts(values: list[str], stated: str) -> None:
    assert browsers.stated_type(values) == stated


@pytest.mark.parametrize(
    ("data", "fields", "media_type"),
    [
        (b"\n<!DOCTYPE html>", "", "text/html"),
        (b"<script>", "", "text/html"),
        (b"<?xml version='1.0'?><svg/>", "", "application/xml"),
        (SVG, "", ""),
        (b"hello <script>", "", ""),
        (b"\xef\xbb\xbf<html>", "", ""),
        (b"<html>", "x-content-type-options: NoSniff, x", ""),
    ],
)
def test_a_response_without_a_media_type_is_what_browsers_sniff(data: bytes, fields: str, media_type: str) -> None:
    assert browsers.sniffed(fields, data) == media_type


@pytest.mark.parametrize(
    ("media_type", "fields", "may"),
    [
        ("text/javascript; charset=utf-8", "x-content-type-options: nosniff", True),
        ("text/plain", "", True),
        ("", "", True),
        ("text/plain", "x-content-type-options: nosniff", False),
        ("image/png", "", False),
        ("text/csv", "", False),
    ],
)
def test_a_response_is_run_as_a_script_unless_its_type_forbids_it(media_type: str, fields: str, *, may: bool) -> None:
    assert browsers.may_be_script(media_type, fields) is may


@pytest.mark.parametrize(
    ("fields", "page", "may"),
    [
        ("", "http://o/", True),
        ("x-frame-options: DENY", "http://h/", False),
        ("x-frame-options: sameorigin", "http://h/a", True),
        ("x-frame-options: sameorigin", "http://o/", False),
        (f"{CSP}frame-ancestors 'none'", "http://h/", False),
        (f"x-frame-options: deny\n{CSP}frame-ancestors http://o", "http://o/", True),
    ],
)
def test_a_frame_shows_only_what_its_header_allows(fields: str, page: str, *, may: bool) -> None:
    assert browsers.may_be_framed(fields, "http://h/f", page) is may


def test_only_fields_that_limit_a_response_are_kept_each_in_one_line() -> None:
    header = [
        ("Set-Cookie", "a=b"),
        ("Content-Security-Policy", "img-src a;\r\n  font-src b"),
        ("X-Frame-Options", "deny"),
    ]
    assert browsers.kept_fields(header) == f"{CSP}img-src a; font-src b\nx-frame-options: deny"


@pytest.mark.parametrize(
    "work",
    [
        lambda text: browsers.stated_type(["text/html" + "," * len(text)]),
        lambda text: browsers.allowed("application/rss+xml", "", b"<title>=" + text),
    ],
    ids=["commas in a media type", "blanks behind an equals sign"],
)
def test_time_grows_linearly_with_the_length_of_a_response(work: Callable[[bytes], object]) -> None:
    measure(work, b" " * 10_000)
