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


IS_HELD: dict[bool, list[dict[str, Any]]] = {
    True: [{}, {"method": "HEAD"}, {"method": "get"}, {"content": None, "size": 0}],
    False: [
        {"method": "POST"}, {"method": "PROPFIND"}, {"status": 404}, {"status": 0}, {"status": None}, {"status": 206},
        {"content": None, "size": 100},
    ],
}  # fmt: skip


@pytest.mark.parametrize("is_held", IS_HELD)
def test_only_a_saved_success_that_answers_a_get_is_held(is_held: bool) -> None:
    for more in IS_HELD[is_held]:
        assert (URL in absolve.mirror_plan([har(entry(URL, **{"content": PAGE, **more}))])) is is_held, more


def test_the_map_names_the_charset_of_the_file_where_the_text_does_not_fit_the_stated_one(tmp_path: Path) -> None:
    pages = (entry(URL, "<p>\u0416", "text/html; charset=iso-8859-1"), entry("http://h/q", "\xe9", "text/plain; charset=iso-8859-1"))
    mirrored(tmp_path, "c.har", har(*pages))
    with closing(sqlite3.connect(tmp_path / "m/mirror.sqlite")) as db:
        found = dict(db.execute("SELECT url, media_type FROM resources"))
    assert found == {URL: "text/html; charset=utf-8", "http://h/q": "text/plain; charset=iso-8859-1"}


@pytest.mark.parametrize("url", ["data:text/html,x", "about:blank", "blob:http://h/1", "chrome://x/", "http://[", ""])
def test_what_is_no_url_of_the_web_is_no_document(url: str) -> None:
    assert list(absolve.mirror_plan([har(entry(url, PAGE), entry(URL, PAGE))])) == [URL]


@pytest.mark.parametrize("key", ["redirectURL", "Location"])
def test_a_recorded_redirect_is_followed(tmp_path: Path, key: str) -> None:
    moved = entry("http://h/old", "", status=302, **({"location": "/p.html#x"} if key == "Location" else {}))
    if key == "redirectURL":
        moved["response"]["redirectURL"] = "/p.html#x"
    home = entry("http://h/", "<meta charset=utf-8><a href=/old>o</a>")
    found = mirrored(tmp_path, "c.har", har(moved, home, entry(URL, PAGE)))[1]
    assert found["h/index.html"] == b"<meta charset=utf-8><a href=p.html#x>o</a>"


@pytest.mark.parametrize(("media_type", "text", "data"), [
    ("application/octet-stream", bytes(range(256)), bytes(range(256))),
    ("text/html", "<p>\u044f", '<meta charset="utf-8"><p>\u044f'.encode()),
    ("text/html", "<meta charset=windows-1251>\u044f", b"<meta charset=windows-1251>\xff"),
    ("text/html; charset=windows-1251", "<meta charset=windows-1251>\u044f", b"<meta charset=windows-1251>\xff"),
    ("text/plain; charset=koi8-r", "\u044f", b"\xd1"),
    ("text/plain; charset=windows-1251", "\u4e2d", "\ufeff\u4e2d".encode()),
    ("text/plain; charset=none-such", "\u044f", "\ufeff\u044f".encode()),
    ("text/plain", "\u044f", "\ufeff\u044f".encode()),
])
def test_decoded_text_is_encoded_as_declared_where_nothing_is_lost(tmp_path: Path, media_type: str, text: str | bytes, data: bytes) -> None:
    name = {"text/html": "x.html", "text/plain": "x.txt"}.get(media_type.partition(";")[0], "x.bin")
    older = entry(f"http://h/{name}", "older", media_type, date="2021-01-01T00:00:00Z")
    newest = entry(f"http://h/{name}", text, media_type)
    assert mirrored(tmp_path, "c.har", har(newest, older))[1] == {f"h/{name}": data}


@pytest.mark.parametrize("broken", [
    1,
    {},
    {"request": {"url": URL}},
    {"request": [], "response": {}},
    entry("http://h/n", PAGE, status="many"),
    {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "A", "encoding": "base64"}}},
    {**entry("http://h/n", PAGE), "response": {"status": 200, "headers": [{}]}},
    {**entry("http://h/n", PAGE), "response": {"status": 200, "headers": [{"name": "Link", "comment": "x"}]}},
    {**entry("http://h/n", PAGE), "response": {"status": 200, "content": {"text": "x", "mimeType": "a"}, "headers": 5}},
])
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


@pytest.mark.parametrize("text", ["null", '"log"', "[]", '{"log": 1}', '{"log": {}}', '{"log": {"entries": {"a": 1}}}', '{"log"', "[" * 100_000, "\x00", '{"log": {"entries": {}}}'])
def test_json_that_is_no_archive_is_reported(text: str) -> None:
    document = absolve.Document(text.encode(), name="c.har", media_type="application/har+json")
    plan = absolve.mirror_plan([document, har(entry(URL, PAGE))])
    assert list(plan) == [URL]
    is_empty = text == '{"log": {"entries": {}}}'
    assert is_empty or next(one.code for one in plan.diagnostics) in {"no-har", "malformed-json", "too-deep"}
