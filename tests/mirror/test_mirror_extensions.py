"""Extensions by media type, and media types by content."""

from __future__ import annotations

import pytest

from absolve.mirror.extensions import by_name, lacking, of_file, sniffed, suffix


@pytest.mark.parametrize(
    ("media_type", "name", "extension"),
    [
        ("text/html", "page", ".html"),
        ("text/html", "page.php", ".html"),
        ("text/html", "page.HTM", ""),
        ("text/html", ".html", ".html"),
        ("text/html", "v1.2.", ".html"),
        ("image/jpeg", "a.jpeg", ""),
        ("application/manifest+json", "a.webmanifest", ""),
        ("image/jpeg", "a.png", ".jpg"),
        ("text/css", "style.php", ".css"),
        ("text/plain", "README", ".txt"),
        ("text/plain", "a.html", ".txt"),
        ("text/plain", "a.c", ""),
        ("text/plain", "a.css", ""),
        ("application/x-own+xml", "a", ".xml"),
        ("application/x-own+xml", "a.own", ""),
        ("application/x-own+xml", "a.svg", ""),
        ("application/x-own+xml", "a.html", ".xml"),
        ("application/hal+json", "a", ".json"),
        ("application/hal+json", "a.hal", ""),
        ("application/hal+json", "a.html", ".json"),
        ("application/octet-stream", "a", ""),
        ("", "a.html", ".txt"),
        ("text/html", "a.svg", ".html"),
        ("image/svg+xml", "a.svg", ""),
        ("application/xml", "a.svg", ""),
        ("application/rss+xml", "a.xhtml", ".xml"),
        ("text/plain", "a.shtml", ".txt"),
        ("application/octet-stream", "a.svg", ".txt"),
        ("application/x-own", "a.xsl", ".txt"),
        ("message/rfc822", "a.mht", ""),
        ("text/plain", "a.mht", ".txt"),
        ("text/plain", "a.xsd", ".txt"),
        *(("application/octet-stream", f"a.{ending}", ".txt") for ending in ("exe", "lnk", "LIBRARY-MS", "desktop")),
        *((media_type, "a.url", ".txt") for media_type in ("text/plain", "application/json+x", "", "text/x-own")),
        ("text/html", "a.lnk", ".html"),
        ("application/zip", "a.jar", ".txt"),
    ],
)
def test_a_name_gets_the_extension_of_its_media_type_where_none_fits(
    media_type: str, name: str, extension: str
) -> None:
    assert lacking(media_type, name) == extension


@pytest.mark.parametrize(
    ("media_type", "name", "looks", "extension"),
    [
        ("text/plain", "a.c", "markup", ".txt"),
        ("application/octet-stream", "a", "markup", ".txt"),
        ("application/octet-stream", "a.foo", "xml", ".txt"),
        ("font/woff2", "a.woff2", "markup", ".txt"),
        ("image/png", "a.png", "markup", ""),
        ("application/rss+xml", "a.rss", "markup", ""),
        ("application/x-own+xml", "a.own", "xml", ""),
        ("application/x-own+xml", "a.own", "markup", ".xml"),
    ],
)
def test_a_name_of_no_known_type_stays_only_where_the_content_is_no_markup(
    media_type: str, name: str, looks: str, extension: str
) -> None:
    assert lacking(media_type, name, looks) == extension


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.html", b"x", "text/html"),
        ("a.shtml", b"x", "text/html"),
        ("a.txt", b"<html>", "text/plain"),
        ("a.foo", b"<html>", ""),
        ("a.foo", b"<?xml version='1.0'?><svg/>", ""),
        ("a.foo", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("a.dat", b"<svg></svg>", ""),
        ("a", b"<html>", "text/html"),
        ("a", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("index.php", b"<html>", "text/html"),
        ("index.php@id=3", b"<html>", "text/html"),
        ("a.html/b", b"x", ""),
        ("a.txt\\b", b"<html>", "text/html"),
        ("d/.htaccess", b"<html>", ""),
        ("a.xspf", b"<playlist/>", "application/xml"),
        ("a.mht", b"x", "message/rfc822"),
        ("manifest.json", b'{"start_url": "/"}', "application/manifest+json"),
    ],
)
def test_the_ending_of_a_file_in_a_folder_says_what_it_is_before_its_content(
    name: str, data: bytes, media_type: str
) -> None:
    assert of_file(name, data) == media_type


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.HTML", "text/html"),
        ("a.js", "text/javascript"),
        ("a.json", "application/json"),
        ("a.xml", "application/xml"),
        ("a.svg", "image/svg+xml"),
        ("a.webmanifest", "application/manifest+json"),
        ("a.mp4", "video/mp4"),
        ("a.webm", "video/webm"),
        ("a.otf", "font/otf"),
        ("a.jpe", "image/jpeg"),
        ("a.epub", "application/epub+zip"),
        ("a.txt", "text/plain"),
        ("a.unknown", ""),
        ("html", ""),
    ],
)
def test_an_extension_has_a_media_type(name: str, media_type: str) -> None:
    assert by_name(name) == media_type


@pytest.mark.parametrize(("name", "found"), [("a.B", "b"), (".b", ""), ("a", ""), ("a.b-c", ""), ("a." + "x" * 12, "")])
def test_a_suffix_is_short_and_behind_a_stem(name: str, found: str) -> None:
    assert suffix(name) == found


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"wOF2", "font/woff2"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"RIFF\0\0\0\0AVI ", ""),
        (b"\0\0\0\x1cftypavif", "image/avif"),
        (b"\0\0\0\x1cftypisom", "video/mp4"),
        (b"<!doctype html><p>", "text/html"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        (b'<?xml version="1.0"?><a/>', "application/xml"),
        (b"plain words", ""),
        (b"", ""),
    ],
)
def test_a_payload_without_a_media_type_is_recognised_by_its_first_bytes(data: bytes, media_type: str) -> None:
    assert sniffed(data) == media_type
