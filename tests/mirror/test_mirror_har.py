"""HAR as a capture: entries that answer a GET, their contents, and what of them cannot be read."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from packed import mirrored

import absolve
from tests.shapes.captures import entry, har

URL = "http://h/p.html"
PAGE = "<meta charset=utf-8><p>p"


@pytest.mark.parametrize(
    ("more", "is_held"),
    [
        ({}, True),
        ({"method": "HEAD"}, True),
        ({"method": "get"}, True),
        ({"method": "POST"}, False),
        ({"method": "PROPFIND"}, False),
        ({"status": 404}, False),
        ({"status": 0}, False),
        ({"status": None}, False),
        ({"status": 206}, False),
    ],
)
def test_only_a_success_that_answers_a_get_is_held(more: dict[str, Any], is_held: bool) -> None:
    assert (URL in absolve.mirror_plan([har(entry(URL, PAGE, **more))])) is is_held


def test_the_map_names_the_charset_of_the_file_where_the_text_does_not_fit_the_stated_one(tmp_path: Path) -> None:
    pages = (entry(URL, "<p>\u0416", "text/html; charset=iso-8859-1"), entry("http://h/q", "\xe9", "text/plain; charset=iso-8859-1"))
    mirrored(tmp_path, "c.har", har(*pages))
    with closing(sqlite3.connect(tmp_path / "m/mirror.sqlite")) as db:
        found = dict(db.execute("SELECT url, media_type FROM resources"))
    assert found == {URL: "text/html; charset=utf-8", "http://h/q": "text/plain; charset=iso-8859-1"}


def test_a_body_that_was_not_saved_is_not_held() -> None:
    assert URL not in absolve.mirror_plan([har(entry(URL, None, size=100))])


def test_an_empty_body_is_held() -> None:
    assert URL in absolve.mirror_plan([har(entry(URL, None, size=0))])


@pytest.mark.parametrize("url", ["data:text/html,x", "about:blank", "blob:http://h/1", "chrome://x/", "http://[", ""])
def test_what_is_no_url_of_the_web_is_no_document(url: str) -> None:
    assert list(absolve.mirror_plan([har(entry(url, PAGE), entry(URL, PAGE))])) == [URL]


def test_of_several_entries_the_newest_is_held(tmp_path: Path) -> None:
    found = [entry(URL, f"<meta charset=utf-8>{year}", date=f"{year}-01-01T00:00:00Z") for year in (2021, 2023, 2022)]
    assert mirrored(tmp_path, "c.har", har(*found))[1] == {"h/p.html": b"<meta charset=utf-8>2023"}


@pytest.mark.parametrize("key", ["redirectURL", "Location"])
def test_a_recorded_redirect_is_followed(tmp_path: Path, key: str) -> None:
    moved = entry("http://h/old", "", status=302, **({"location": "/p.html#x"} if key == "Location" else {}))
    if key == "redirectURL":
        moved["response"]["redirectURL"] = "/p.html#x"
    home = entry("http://h/", "<meta charset=utf-8><a href=/old>o</a>")
    found = mirrored(tmp_path, "c.har", har(moved, home, entry(URL, PAGE)))[1]
    assert found["h/index.html"] == b"<meta charset=utf-8><a href=p.html#x>o</a>"


def test_content_in_base64_is_held_byte_for_byte(tmp_path: Path) -> None:
    data = bytes(range(256))
    found = mirrored(tmp_path, "c.har", har(entry("http://h/x.bin", data, "application/octet-stream")))[1]
    assert found == {"h/x.bin": data}


@pytest.mark.parametrize(
    ("media_type", "text", "data"),
    [
        ("text/html", "<meta charset=windows-1251>\u044f", b"<meta charset=windows-1251>\xff"),
        ("text/html; charset=windows-1251", "<meta charset=windows-1251>\u044f", b"<meta charset=windows-1251>\xff"),
        ("text/plain; charset=koi8-r", "\u044f", b"\xd1"),
        ("text/plain; charset=windows-1251", "\u4e2d", "\ufeff\u4e2d".encode()),
        ("text/plain; charset=none-such", "\u044f", "\ufeff\u044f".encode()),
        ("text/plain", "\u044f", "\ufeff\u044f".encode()),
    ],
)
def test_decoded_text_is_encoded_as_declared_where_nothing_is_lost(
    tmp_path: Path, media_type: str, text: str, data: bytes
) -> None:
    name = "x.html" if "html" in media_type else "x.txt"
    assert mirrored(tmp_path, "c.har", har(entry(f"http://h/{name}", text, media_type)))[1] == {f"h/{name}": data}


def test_a_page_that_declares_no_charset_declares_utf_8(tmp_path: Path) -> None:
    found = mirrored(tmp_path, "c.har", har(entry(URL, "<p>\u044f")))[1]
    assert found == {"h/p.html": '<meta charset="utf-8"><p>\u044f'.encode()}


@pytest.mark.parametrize(
    "broken",
    [
        1,
        {},
        {"request": {"url": URL}},
        {"request": [], "response": {}},
        entry("http://h/n", PAGE, status="many"),
        {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "A", "encoding": "base64"}}},
        {**entry("http://h/n", PAGE), "response": {"status": 200, "headers": [{}]}},
        {**entry("http://h/n", PAGE), "response": {"status": 200, "headers": [{"name": "Link", "comment": "x"}]}},
        {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "x", "mimeType": "a"}, "headers": 5}},
    ],
)
def test_a_broken_entry_is_reported_by_its_number_and_the_others_are_held(
    tmp_path: Path, broken: object, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = mirrored(tmp_path, "c.har", har(broken, entry(URL, PAGE)))
    assert (code, found) == (3, {"h/p.html": PAGE.encode()})
    assert "c.har: broken-entry: entry[1]" in capsys.readouterr().err.replace("\n", " ")


def test_a_broken_entry_has_its_number_in_the_array_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encoded = {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "A", "encoding": "base64"}}}
    mirrored(tmp_path, "c.har", har(None, entry(URL, PAGE), 5, {}, *[0] * 120, {"request": 5}, encoded))
    numbers = re.findall(r"entry\[(\d+)\]", capsys.readouterr().err)
    assert (numbers[:4], numbers[-2:]) == (["1", "3", "4", "5"], ["125", "126"])


@pytest.mark.parametrize("text", ["null", '"log"', "[]", '{"log": 1}', '{"log": {}}', '{"log": {"entries": {"a": 1}}}', '{"log"', "[" * 100_000, "\x00"])
def test_json_that_is_no_archive_is_reported(text: str) -> None:
    document = absolve.Document(text.encode(), name="c.har", media_type="application/har+json")
    plan = absolve.mirror_plan([document, har(entry(URL, PAGE))])
    assert list(plan) == [URL]
    assert next(one.code for one in plan.diagnostics) in {"no-har", "malformed-json", "too-deep"}


def test_entries_that_are_no_list_are_none() -> None:
    document = absolve.Document(b'{"log": {"entries": {}}}', name="c.har", media_type="application/har+json")
    assert list(absolve.mirror_plan([document])) == []
