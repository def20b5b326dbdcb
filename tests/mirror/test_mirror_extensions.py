"""Extensions by media type, and media types by content."""

import pytest

from absolve.mirror.browsers import by_content, by_name, file_type, lacking, suffix

EXTENSIONS = {
    ".html": [
        ("text/html", "page"), ("text/html", "page.php"), ("text/html", ".html"), ("text/html", "v1.2."), ("text/html", "a.svg"),
        ("text/html", "a.lnk"),
    ],
    "": [
        ("text/html", "page.HTM"), ("image/jpeg", "a.jpeg"), ("application/manifest+json", "a.webmanifest"), ("text/plain", "a.c"),
        ("text/plain", "a.css"), ("application/x-own+xml", "a.own"), ("application/x-own+xml", "a.svg"),
        ("application/hal+json", "a.hal"), ("application/octet-stream", "a"), ("image/svg+xml", "a.svg"), ("application/xml", "a.svg"),
        ("message/rfc822", "a.mht"),
    ],
    ".jpg": [("image/jpeg", "a.png")],
    ".css": [("text/css", "style.php")],
    ".txt": [
        ("text/plain", "README"), ("text/plain", "a.html"), ("", "a.html"), ("text/plain", "a.shtml"),
        ("application/octet-stream", "a.svg"), ("application/x-own", "a.xsl"), ("text/plain", "a.mht"), ("text/plain", "a.xsd"),
        ("application/octet-stream", "a.exe"), ("application/octet-stream", "a.lnk"), ("application/octet-stream", "a.LIBRARY-MS"),
        ("application/octet-stream", "a.desktop"), ("text/plain", "a.url"), ("application/json+x", "a.url"), ("", "a.url"),
        ("text/x-own", "a.url"), ("application/zip", "a.jar"),
    ],
    ".xml": [("application/x-own+xml", "a"), ("application/x-own+xml", "a.html"), ("application/rss+xml", "a.xhtml")],
    ".json": [("application/hal+json", "a"), ("application/hal+json", "a.html")],
}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_name_gets_the_extension_of_its_media_type_where_none_fits(extension: str) -> None:
    for media_type, name in EXTENSIONS[extension]:
        assert lacking(media_type, name) == extension, (media_type, name)


@pytest.mark.parametrize(("media_type", "name", "looks", "extension"), [
    ("text/plain", "a.c", "markup", ".txt"),
    ("application/octet-stream", "a", "markup", ".txt"),
    ("application/octet-stream", "a.foo", "xml", ".txt"),
    ("font/woff2", "a.woff2", "markup", ".txt"),
    ("image/png", "a.png", "markup", ""),
    ("application/rss+xml", "a.rss", "markup", ""),
    ("application/x-own+xml", "a.own", "xml", ""),
    ("application/x-own+xml", "a.own", "markup", ".xml"),
])
def test_a_name_of_no_known_type_stays_only_where_the_content_is_no_markup(
    media_type: str, name: str, looks: str, extension: str
) -> None:
    assert lacking(media_type, name, looks) == extension


FILES = {
    "text/html": [
        ("a.html", b"x"), ("a.shtml", b"x"), ("a", b"<html>"), ("index.php", b"<html>"), ("index.php@id=3", b"<html>"),
        ("a.txt\\b", b"<html>"),
    ],
    "text/plain": [("a.txt", b"<html>")],
    "": [
        ("a.foo", b"<html>"), ("a.foo", b"<?xml version='1.0'?><svg/>"), ("a.dat", b"<svg></svg>"), ("a.html/b", b"x"),
        ("d/.htaccess", b"<html>"),
    ],
    "image/png": [("a.foo", b"\x89PNG\r\n\x1a\n"), ("a", b"\x89PNG\r\n\x1a\n")],
    "application/xml": [("a.xspf", b"<playlist/>")],
    "message/rfc822": [("a.mht", b"x")],
    "application/manifest+json": [("manifest.json", b'{"start_url": "/"}')],
}


@pytest.mark.parametrize("media_type", FILES)
def test_the_ending_of_a_file_in_a_folder_says_what_it_is_before_its_content(media_type: str) -> None:
    for name, data in FILES[media_type]:
        assert file_type(name, data) == media_type, name


BY_NAME = {
    "a.HTML": "text/html", "a.js": "text/javascript", "a.json": "application/json", "a.xml": "application/xml",
    "a.svg": "image/svg+xml", "a.webmanifest": "application/manifest+json", "a.mp4": "video/mp4",
    "a.webm": "video/webm", "a.otf": "font/otf", "a.jpe": "image/jpeg", "a.epub": "application/epub+zip",
    "a.txt": "text/plain", "a.unknown": "", "html": "",
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
