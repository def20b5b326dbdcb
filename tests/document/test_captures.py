"""What a container holds: the URL of each document, what is stated about it, its content."""

import gzip

import pytest

from absolve.core.errors import CodingError
from absolve.core.model import Finding
from absolve.document.captures import Entry, entries
from absolve.document.settings import Settings
from absolve.formats import registry
from tests.shapes.captures import har, zipped

HEAD = b"From: a@b\r\nDate: Wed, 1 May 2024 00:00:00 +0000\r\nContent-Type: multipart/mixed; boundary=b\r\n"
PART = b"--b\r\nContent-Type: %b\r\nContent-Location: %b\r\n\r\n%b\r\n"


def found(data: bytes, media_type: str, url: str | None = None) -> list[Entry]:
    return [one for one in entries(data, media_type, Settings(), url) if isinstance(one, Entry)]


def entry(url: str, **response: object) -> dict[str, object]:
    return {"request": {"method": "GET", "url": url}, "response": response}


def test_an_entry_of_a_har_has_its_header_and_its_body_whatever_its_status() -> None:
    fields = [{"name": "ETag", "value": '"1"'}]
    one = entry("http://h/", status=206, headers=fields, content={"mimeType": "image/png", "text": "\u20ac", "size": 3})
    (held,) = found(har(one), registry.HAR)
    assert (held.url, held.media_type, held.content, held.is_text) == ("http://h/", "image/png", b"\xe2\x82\xac", True)
    assert (held.facts.status, held.facts.fields, held.facts.length) == (206, (("etag", '"1"'),), 3)


def test_an_entry_without_a_body_is_there_and_a_broken_one_is_reported() -> None:
    data = har(entry("http://h/", status=302, redirectURL="/b"), {"request": {"url": "http://h/x"}}, 5)
    empty, broken, number = list(entries(data, registry.HAR, Settings()))
    assert isinstance(empty, Entry)
    assert (empty.content, empty.facts.redirect) == (b"", "/b")
    assert all(isinstance(one, Finding) and one.code == "broken-entry" for one in (broken, number))


def test_a_part_of_a_message_is_at_its_location_below_the_base_around_it() -> None:
    data = HEAD + b"Content-Base: http://h/d/\r\n\r\n" + PART % (b"text/css", b"a.css", b"p{}") + PART % (b"image/png", b"/i", b"GIF")
    style, image = found(data + b"--b--\r\n", registry.MESSAGE)
    assert [one.url for one in (style, image)] == ["http://h/d/a.css", "http://h/i"]
    assert (style.content, style.facts.date) == (b"p{}", "Wed, 1 May 2024 00:00:00 +0000")


def test_a_message_in_a_message_is_opened_and_one_in_a_package_is_a_file() -> None:
    inner = b"Content-Type: text/html\r\n\r\n<p>"
    assert [one.content for one in found(HEAD + b"\r\n" + PART % (b"message/rfc822", b"", inner) + b"--b--", registry.MESSAGE)] == [b"<p>"]
    (held,) = found(zipped({"m.eml": inner}), registry.ZIP, "http://h/")
    assert (held.url, held.content) == ("http://h/m.eml", inner)


def test_the_messages_of_each_file_of_mail_are_opened() -> None:
    message = b"From: a\nContent-Type: text/html\n\n<p>\n"
    box = b"From a@h 10:00\n" + message + b"\nFrom a@h 10:00\n" + message
    files = [
        (gzip.compress(message), registry.COMPRESSED_MAIL, 1), (gzip.compress(box), registry.COMPRESSED_MAIL, 2),
        (message.replace(b"\n", b"\r"), registry.MESSAGE, 1), (box.replace(b"\n", b"\r"), registry.MAILBOX, 2),
        (b"%d\n" % len(message) + message + b"<?xml", registry.EMLX, 1),
    ]
    for data, media_type, number in files:
        held = found(data, media_type)
        assert [(one.media_type, one.content.strip()) for one in held] == [("text/html", b"<p>")] * number, media_type


def test_what_cannot_be_decoded_is_an_error_when_it_is_asked_for() -> None:
    (held,) = found(har(entry("http://h/", status=200, content={"text": "A", "encoding": "base64"})), registry.HAR)
    with pytest.raises(CodingError):
        _ = held.content
