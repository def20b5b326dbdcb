"""What browsers do with a file from a disk, by its name, and what a response allowed."""

from collections.abc import Callable

import pytest
from linear import measure

from absolve.mirror import browsers
from absolve.mirror.browsers import ACTED_ON, DEMOTED, HARMLESS, SNIFFED, may_need_server, needs_server

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"
CSP = "content-security-policy: "


OPENED = {
    "text/html": ("html", "HTM", "shtml", "shtm", "ehtml", "stm", "dhtml"),
    "application/xhtml+xml": ("xhtml", "xht", "xhtm"),
    "image/svg+xml": ("svg", "svgz"),
    "application/xml": ("xml", "xsl", "xbl", "rdf", "xsd", "rss", "atom", "xul"),
    "multipart/related": ("mht", "mhtml"),
    HARMLESS: ("txt", "js", "css", "json", "png", "pdf", "woff.gz"),
    SNIFFED: ("c", "foo", "woff2", "orig"),
    ACTED_ON: (
        *("exe", "URL", "lnk", "desktop", "library-ms", "settingcontent-ms", "hta", "webloc", "jar", "ps1", "vbs", "reg"),
        "{3050f4d8-98b5-11cf}",
    ),
}


@pytest.mark.parametrize("opened", OPENED)
def test_the_last_ending_of_a_name_decides_what_a_browser_or_a_shell_does(opened: str) -> None:
    assert {browsers.from_disk(f"a.{ending}") for ending in OPENED[opened]} == {opened}
    assert {browsers.from_disk(name) for name in ("README", "html")} == {SNIFFED}


@pytest.mark.parametrize(("media_type", "fields", "data", "shown"), [
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
])
def test_a_response_is_a_document_only_as_its_header_allows(media_type: str, fields: str, data: bytes, shown: str) -> None:
    assert browsers.allowed(media_type, fields, data) == shown


@pytest.mark.parametrize(("values", "stated"), [
    ([], ""),
    (["text/html"], "text/html"),
    (["text/html", "text/plain"], "text/plain"),
    (["text/html, text/plain"], "text/plain"),
    (["text/html, */*", "nothing"], "text/html"),
    (['text/html; charset="a,b"'], 'text/html; charset="a,b"'),
    ([r'text/html; charset="a\",b"'], r'text/html; charset="a\",b"'),
    (['text/html, text/plain; charset="a,b'], 'text/plain; charset="a,b'),
    (["nothing"], "nothing"),
])
def test_the_last_of_several_content_types_counts(values: list[str], stated: str) -> None:
    assert browsers.stated_type(values) == stated


@pytest.mark.parametrize(("data", "fields", "media_type"), [
    (b"\n<!DOCTYPE html>", "", "text/html"),
    (b"<script>", "", "text/html"),
    (b"<?xml version='1.0'?><svg/>", "", "application/xml"),
    (SVG, "", ""),
    (b"hello <script>", "", ""),
    (b"\xef\xbb\xbf<html>", "", ""),
    (b"<html>", "x-content-type-options: NoSniff, x", ""),
])
def test_a_response_without_a_media_type_is_what_browsers_sniff(data: bytes, fields: str, media_type: str) -> None:
    assert browsers.sniffed(fields, data) == media_type


NOSNIFF = "x-content-type-options: nosniff"


def test_a_response_is_run_as_a_script_unless_its_type_forbids_it() -> None:
    for media_type, fields in (("text/javascript; charset=utf-8", NOSNIFF), ("text/plain", ""), ("", "")):
        assert browsers.may_be_script(media_type, fields)
    for media_type, fields in (("text/plain", NOSNIFF), ("image/png", ""), ("text/csv", "")):
        assert not browsers.may_be_script(media_type, fields)


@pytest.mark.parametrize(("fields", "page", "may"), [
    ("", "http://o/", True),
    ("x-frame-options: DENY", "http://h/", False),
    ("x-frame-options: sameorigin", "http://h/a", True),
    ("x-frame-options: sameorigin", "http://o/", False),
    (f"{CSP}frame-ancestors 'none'", "http://h/", False),
    (f"x-frame-options: deny\n{CSP}frame-ancestors http://o", "http://o/", True),
])
def test_a_frame_shows_only_what_its_header_allows(fields: str, page: str, *, may: bool) -> None:
    assert browsers.may_be_framed(fields, "http://h/f", page) is may


def test_only_fields_that_limit_a_response_are_kept_each_in_one_line() -> None:
    header = [("Set-Cookie", "a=b"), ("Content-Security-Policy", "img-src a;\r\n  font-src b"), ("X-Frame-Options", "deny")]
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


# --- scripts that work from a server only ----------------------------------------------------------------------------


@pytest.mark.parametrize(("script", "position", "why"), [
    (b"x; fetch('/a')", 3, "makes requests of its own (fetch)"),
    (b"fetch (u)", 0, "(fetch)"),
    (b"new XMLHttpRequest", 4, "(XMLHttpRequest)"),
    (b"import('./a.js')", 0, "(import)"),
    (b"if (location.host)", 4, "reads location.host,"),
    (b"location.hostname", 0, "reads location.hostname,"),
    (b"document.domain", 0, "reads document.domain,"),
    (b"navigator.serviceWorker", 10, "asks for a serviceWorker"),
    (b"importScripts('a.js')", 0, "importScripts"),
    (b"navigator.sendBeacon(u)", 10, "(sendBeacon)"),
    (b"new Image().src = u", 0, "asks for an image (new Image)"),
    (b"location.href = u", 0, "goes to a page (location.href)"),
    (b"window.location=u", 7, "goes to a page (location)"),
    (b"location.replace(u)", 0, "(location.replace)"),
])
def test_a_script_needs_a_server_by_a_word(script: bytes, position: int, why: str) -> None:
    assert may_need_server(b"<p><SCRIPT>a</script><p><script>" + script)
    assert not may_need_server(b"<script>a</script>" + script)
    ((at, text),) = needs_server(script)
    assert at == position
    assert why in text


def test_other_scripts_need_none_and_the_first_place_of_each_reason_is_returned() -> None:
    others = (b"", b"prefetch(a)", b"fetched()", b"location.hash = 1", b"location == a", b"open(u, '', 'location=no')")
    for script in (*others, b"newImage()", b"import a from './a.js'"):
        assert needs_server(script) == []
    assert needs_server(b"fetch() a fetch()", 7, 10) == [], "the span of the script"
    found = needs_server(b"fetch(a); location = b; fetch(c); new Image; location.assign(d)" + b"fetch(a);" * 9)
    assert [at for at, _ in found] == [0, 10, 34]
