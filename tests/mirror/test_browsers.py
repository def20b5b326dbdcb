"""What browsers do with a file from a disk, by its name; what a response and a Content Security Policy allowed."""

from collections.abc import Callable

import pytest
from linear import measure

from absolve.formats.html import security_policy
from absolve.formats.html.security_policy import allows, as_meta, for_copy, of_header
from absolve.mirror import browsers, edits
from absolve.mirror.browsers import (
    ACTED_ON,
    DEMOTED,
    HARMLESS,
    SNIFFED,
    by_content,
    by_name,
    file_type,
    lacking,
    may_need_server,
    needs_server,
    suffix,
)
from absolve.urls.source_lists import directives, matches

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"
CSP = "content-security-policy: "


OPENED = {
    "text/html": ("html", "HTM", "shtml", "shtm", "ehtml", "stm", "dhtml"),
    "application/xhtml+xml": ("xhtml", "xht", "xhtm"), "image/svg+xml": ("svg", "svgz"),
    "application/xml": ("xml", "xsl", "xbl", "rdf", "xsd", "rss", "atom", "xul"),
    "multipart/related": ("mht", "mhtml"), HARMLESS: ("txt", "js", "css", "json", "png", "pdf", "woff.gz"), SNIFFED: ("c", "foo", "woff2", "orig"),
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
    ("text/html; charset=utf-8", "", b"", "text/html"), ("image/png", "content-disposition: attachment", b"", "image/png"),
    ("text/html; charset=ISO-2022-KR", "", b"<p>", DEMOTED), ("image/svg+xml; charset=hz-gb-2312", "", SVG, DEMOTED),
    ("text/html; charset=iso-2022-kr; charset=utf-8", "", b"<p>", DEMOTED),
    ("text/html; charset=utf-8; charset=iso-2022-kr", "", b"<p>", "text/html"),
    ("text/html; charset=iso-2022-cn", "", b"\xef\xbb\xbf<p>", "text/html"),
    ("text/html; charset=utf-7", "", b"<p>", "text/html"),
    ("text/html", 'content-disposition: ATTACHMENT ; filename="x"', b"", DEMOTED),
    ("text/html", "content-disposition: foo", b"", DEMOTED),
    ("text/html", "content-disposition: filename=attachment", b"", "text/html"),
    ("text/html", "content-disposition: Inline; filename=attachment", b"", "text/html"),
    ("text/html", f"{CSP}script-src 'none'", b"<script>", "text/html"), ("image/svg+xml", f"{CSP}default-src 'none'; sandbox", SVG, DEMOTED),
    ("image/svg+xml", f"{CSP}default-src 'none'; sandbox", b"<svg><rect/></svg>", "image/svg+xml"),
    ("image/svg+xml", f"{CSP}sandbox", b"<svg><a href='java&#115;cript:1'/></svg>", DEMOTED),
    ("image/svg+xml", f"{CSP}sandbox", b"<svg><g\nonclick = 'x'/></svg>", DEMOTED),
    ("image/svg+xml", f"{CSP}sandbox", SVG.decode().encode("utf-16"), DEMOTED),
    ("image/svg+xml", f"{CSP}script-src 'unsafe-inline'", SVG, "image/svg+xml"),
    ("image/svg+xml", f"{CSP}script-src 'unsafe-inline' 'nonce-a'", SVG, DEMOTED),
    ("application/xhtml+xml", f"{CSP}script-src 'self'", b"<html><script/></html>", DEMOTED),
    ("multipart/related", "", b"", DEMOTED), ("text/xsl", f"{CSP}img-src 'none'", SVG, "text/xsl"),
])
def test_a_response_is_a_document_only_as_its_header_allows(media_type: str, fields: str, data: bytes, shown: str) -> None:
    assert browsers.allowed(media_type, fields, data) == shown


@pytest.mark.parametrize(("values", "stated"), [
    ([], ""), (["text/html"], "text/html"), (["text/html", "text/plain"], "text/plain"), (["text/html, text/plain"], "text/plain"),
    (["text/html, */*", "nothing"], "text/html"), (['text/html; charset="a,b"'], 'text/html; charset="a,b"'),
    ([r'text/html; charset="a\",b"'], r'text/html; charset="a\",b"'), (['text/html, text/plain; charset="a,b'], 'text/plain; charset="a,b'),
    (["nothing"], "nothing"),
])
def test_the_last_of_several_content_types_counts(values: list[str], stated: str) -> None:
    assert browsers.stated_type(values) == stated


@pytest.mark.parametrize(("data", "fields", "media_type"), [
    (b"\n<!DOCTYPE html>", "", "text/html"), (b"<script>", "", "text/html"), (b"<?xml version='1.0'?><svg/>", "", "application/xml"), (SVG, "", ""),
    (b"hello <script>", "", ""), (b"\xef\xbb\xbf<html>", "", ""), (b"<html>", "x-content-type-options: NoSniff, x", ""),
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
    ("", "http://o/", True), ("x-frame-options: DENY", "http://h/", False), ("x-frame-options: sameorigin", "http://h/a", True),
    ("x-frame-options: sameorigin", "http://o/", False), (f"{CSP}frame-ancestors 'none'", "http://h/", False),
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
        lambda text: edits._substituted(b"src(" + text.replace(b" ", b"--a")),
    ],
    ids=["commas in a media type", "blanks behind an equals sign", "dashes in src()"],
)
def test_time_grows_linearly_with_the_length_of_a_response(work: Callable[[bytes], object]) -> None:
    measure(work, b" " * 10_000)


# --- scripts that work from a server only ----------------------------------------------------------------------------


@pytest.mark.parametrize(("script", "position", "why"), [
    (b"x; fetch('/a')", 3, "makes requests of its own (fetch)"), (b"fetch (u)", 0, "(fetch)"), (b"new XMLHttpRequest", 4, "(XMLHttpRequest)"),
    (b"import('./a.js')", 0, "(import)"), (b"if (location.host)", 4, "reads location.host,"), (b"location.hostname", 0, "reads location.hostname,"),
    (b"document.domain", 0, "reads document.domain,"), (b"navigator.serviceWorker", 10, "asks for a serviceWorker"),
    (b"importScripts('a.js')", 0, "importScripts"), (b"navigator.sendBeacon(u)", 10, "(sendBeacon)"),
    (b"new Image().src = u", 0, "asks for an image (new Image)"), (b"location.href = u", 0, "goes to a page (location.href)"),
    (b"window.location=u", 7, "goes to a page (location)"), (b"location.replace(u)", 0, "(location.replace)"),
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


# --- extensions by media type, and media types by content -------------------------------------------------------------

EXTENSIONS = {
    ".html": [
        ("text/html", "page"), ("text/html", "page.php"), ("text/html", ".html"), ("text/html", "v1.2."), ("text/html", "a.svg"),
        ("text/html", "a.lnk"),
    ],
    "": [
        ("text/html", "page.HTM"), ("image/jpeg", "a.jpeg"), ("application/manifest+json", "a.webmanifest"), ("text/plain", "a.c"),
        ("text/plain", "a.css"), ("application/x-own+xml", "a.own"), ("application/x-own+xml", "a.svg"), ("application/hal+json", "a.hal"),
        ("application/octet-stream", "a"), ("image/svg+xml", "a.svg"), ("application/xml", "a.svg"), ("message/rfc822", "a.mht"),
    ],
    ".jpg": [("image/jpeg", "a.png")], ".css": [("text/css", "style.php")],
    ".txt": [
        ("text/plain", "README"), ("text/plain", "a.html"), ("", "a.html"), ("text/plain", "a.shtml"), ("application/octet-stream", "a.svg"),
        ("application/x-own", "a.xsl"), ("text/plain", "a.mht"), ("text/plain", "a.xsd"), ("application/octet-stream", "a.exe"),
        ("application/octet-stream", "a.lnk"), ("application/octet-stream", "a.LIBRARY-MS"), ("application/octet-stream", "a.desktop"),
        ("text/plain", "a.url"), ("application/json+x", "a.url"), ("", "a.url"), ("text/x-own", "a.url"), ("application/zip", "a.jar"),
    ],
    ".xml": [("application/x-own+xml", "a"), ("application/x-own+xml", "a.html"), ("application/rss+xml", "a.xhtml")],
    ".json": [("application/hal+json", "a"), ("application/hal+json", "a.html")],
}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_name_gets_the_extension_of_its_media_type_where_none_fits(extension: str) -> None:
    for media_type, name in EXTENSIONS[extension]:
        assert lacking(media_type, name) == extension, (media_type, name)


@pytest.mark.parametrize(("media_type", "name", "looks", "extension"), [
    ("text/plain", "a.c", "markup", ".txt"), ("application/octet-stream", "a", "markup", ".txt"),
    ("application/octet-stream", "a.foo", "xml", ".txt"), ("font/woff2", "a.woff2", "markup", ".txt"), ("image/png", "a.png", "markup", ""),
    ("application/rss+xml", "a.rss", "markup", ""), ("application/x-own+xml", "a.own", "xml", ""),
    ("application/x-own+xml", "a.own", "markup", ".xml"),
])
def test_a_name_of_no_known_type_stays_only_where_the_content_is_no_markup(media_type: str, name: str, looks: str, extension: str) -> None:
    assert lacking(media_type, name, looks) == extension


FILES = {
    "text/html": [
        ("a.html", b"x"), ("a.shtml", b"x"), ("a", b"<html>"), ("index.php", b"<html>"), ("index.php@id=3", b"<html>"), ("a.txt\\b", b"<html>"),
    ],
    "text/plain": [("a.txt", b"<html>")],
    "": [("a.foo", b"<html>"), ("a.foo", b"<?xml version='1.0'?><svg/>"), ("a.dat", b"<svg></svg>"), ("a.html/b", b"x"), ("d/.htaccess", b"<html>")],
    "image/png": [("a.foo", b"\x89PNG\r\n\x1a\n"), ("a", b"\x89PNG\r\n\x1a\n")],
    "application/xml": [("a.xspf", b"<playlist/>")], "message/rfc822": [("a.mht", b"x")],
    "application/manifest+json": [("manifest.json", b'{"start_url": "/"}')],
}


@pytest.mark.parametrize("media_type", FILES)
def test_the_ending_of_a_file_in_a_folder_says_what_it_is_before_its_content(media_type: str) -> None:
    for name, data in FILES[media_type]:
        assert file_type(name, data) == media_type, name


BY_NAME = {
    "a.HTML": "text/html", "a.js": "text/javascript", "a.json": "application/json", "a.xml": "application/xml", "a.svg": "image/svg+xml",
    "a.webmanifest": "application/manifest+json", "a.mp4": "video/mp4", "a.webm": "video/webm", "a.otf": "font/otf", "a.jpe": "image/jpeg",
    "a.epub": "application/epub+zip", "a.txt": "text/plain", "a.unknown": "", "html": "",
}


def test_an_extension_has_a_media_type() -> None:
    assert {name: by_name(name) for name in BY_NAME} == BY_NAME
    stems = {"a.B": "b", ".b": "", "a": "", "a.b-c": "", "a." + "x" * 12: ""}
    assert {name: suffix(name) for name in stems} == stems


BY_BYTES = {
    b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff\xe0": "image/jpeg", b"wOF2": "font/woff2",
    b"RIFF\0\0\0\0WEBP": "image/webp", b"RIFF\0\0\0\0WAVE": "audio/wav", b"RIFF\0\0\0\0AVI ": "",
    b"\0\0\0\x1cftypavif": "image/avif", b"\0\0\0\x1cftypisom": "video/mp4", b"<!doctype html><p>": "text/html",
    b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>': "image/svg+xml",
    b'<?xml version="1.0"?><a/>': "application/xml", b"plain words": "", b"": "",
}


def test_a_payload_without_a_media_type_is_recognised_by_its_first_bytes() -> None:
    assert {data: by_content(data) for data in BY_BYTES} == BY_BYTES


# --- Content Security Policies ----------------------------------------------------------------------------------------

PAGE = "http://h/a/b"


@pytest.mark.parametrize(("policy", "new"), [
    *((same, same) for same in ("", ";;", "img-src *", "img-src file:", "script-src 'nonce-a'", "script-src 'NONE'")),
    *((same, same) for same in ("img-src data: blob:", "default-src 'self'", "img-src http://away", "upgrade-insecure-requests")),
    ("IMG-SRC http://h", "IMG-SRC http://h 'self' file: http://*.localhost:*"),
    ("img-src data: http: ; font-src *.h", "img-src data: http: 'self' file: http://*.localhost:* ; font-src *.h"),
    ("style-src 'SELF' http:;script-src 'none'", "style-src 'SELF' http: file: http://*.localhost:*;script-src 'none'"),
    ("script-src h/x.js 'nonce-a'; frame-ancestors h", "script-src h/x.js 'nonce-a' 'self' file: http://*.localhost:*; frame-ancestors h"),
])
def test_a_directive_gets_local_sources_where_it_names_a_host_of_which_the_mirror_has_files(policy: str, new: str) -> None:
    assert for_copy(policy, lambda source: matches([source], "http://h/", PAGE, by_path=False)) == new


METAS: dict[str, list[str]] = {
    "script-src 'self'; frame-ancestors 'none'; report-uri /r": ["script-src 'self'"], "frame-ancestors 'none'": [],
    "sandbox allow-scripts allow-forms": [],
    "Sandbox": ["script-src 'none'; object-src 'none'; frame-src 'none'; form-action 'none'"],
    "img-src a; sandbox allow-scripts": ["img-src a", "form-action 'none'"],
}


def test_what_a_meta_element_cannot_express_is_made_stricter() -> None:
    assert {policy: as_meta(policy) for policy in METAS} == METAS
    fields = "content-security-policy: a b, c\nx-frame-options: deny\ncontent-security-policy: d"
    assert of_header(fields) == ["a b", "c", "d"], "several headers are several policies"


LIMITS = {
    "img-src 'none'": False, "script-src 'unsafe-inline'": False, "script-src 'unsafe-inline' 'sha256-a'": True,
    "default-src 'none'; script-src 'unsafe-inline'": False, "default-src 'none'": True, "script-src 'unsafe-inline'; script-src-attr 'none'": True,
    "sandbox allow-forms": True, "sandbox allow-Scripts": False, "require-trusted-types-for 'script'": True,
}


def test_a_policy_limits_scripts_unless_every_inline_one_may_run() -> None:
    assert {policy: security_policy.limits_scripts(policy) for policy in LIMITS} == LIMITS


@pytest.mark.parametrize(("policy", "kind", "urls"), [
    ("img-src 'none'", "script", {"http://o/s.js": True}),
    ("script-src 'self'", "script", {"http://h/s.js": True, "http://o/s.js": False, "https://h/s.js": True}),
    ("script-src o", "script", {"http://o/s.js": True}), ("script-src o/s/", "script", {"http://o/q/s.js": False}),
    ("script-src o/q/", "script", {"http://o/q/s.js": True}), ("script-src o:8080", "script", {"http://o/s.js": False}),
    ("script-src o:*", "script", {"http://o:9/s.js": True}),
    ("script-src *.o", "script", {"http://o/s.js": False, "http://a.b.o/s.js": True}),
    ("script-src https:", "script", {"http://o/s.js": False}), ("script-src *", "script", {"http://o/s.js": True}),
    ("script-src 'none'", "script", {"http://h/s.js": False}),
    ("script-src 'none'; script-src *", "script", {"http://h/s.js": False}),
    ("script-src * 'strict-dynamic'", "script", {"http://h/s.js": False}),
    ("default-src 'self'; script-src o", "script", {"http://h/s.js": False}),
    ("script-src-elem o; script-src 'none'", "script", {"http://o/s.js": True}),
    ("default-src 'self'", "frame", {"http://o/": False}), ("child-src o; default-src 'self'", "frame", {"http://o/": True}),
    ("object-src 'none'", "object", {"http://h/": False}), (f"script-src o:{'1' * 5000}", "script", {"http://o/s.js": False}),
    (f"script-src {'x ' * 499}o", "script", {"http://o/s.js": True}), (f"script-src {'x ' * 500}o", "script", {"http://o/s.js": False}),
])
def test_a_policy_allows_the_urls_of_its_sources(policy: str, kind: str, urls: dict[str, bool]) -> None:
    assert {url: allows(directives(policy), kind, url, PAGE) for url in urls} == urls


def test_a_nonce_allows_a_script_and_a_redirect_is_not_judged_by_its_path() -> None:
    found = directives("script-src 'nonce-a' o/s/")
    assert allows(found, "script", "http://x/", PAGE, "a")
    assert not allows(found, "script", "http://x/", PAGE, "A")
    assert allows(found, "script", "http://o/q", PAGE, by_path=False)
