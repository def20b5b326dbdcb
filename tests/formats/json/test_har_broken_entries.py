"""Entries of a HAR that HAR 1.2 does not allow: each is reported at its place, and the others are read."""

import json
from typing import Any

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk

URL = "http://h.example/d/page.html"
CONTENT = {"mimeType": "text/html", "text": "<a href=x>", "size": 10}
WHOLE: dict[str, Any] = {"request": {"method": "GET", "url": URL}, "response": {"status": 200, "headers": [], "content": CONTENT}}


def har(*entries: Any) -> bytes:
    return json.dumps({"log": {"entries": list(entries)}}).encode()


def reported(data: bytes) -> list[tuple[str, bool]]:
    return [(one.code, one.failed) for one in walk(Document(data, name="x.har"), Settings()).diagnostics]


@pytest.mark.parametrize(
    "entry",
    [
        WHOLE,
        {**WHOLE, "response": {**WHOLE["response"], "content": {}}},
        {**WHOLE, "response": {**WHOLE["response"], "content": {"text": None}}},
        {"request": {"url": URL}, "response": {"headers": None, "content": None}},
        {"request": {"url": URL}, "response": {}},
    ],
)
def test_an_entry_that_lacks_only_values_is_not_reported(entry: dict[str, Any]) -> None:
    assert reported(har(entry)) == []


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (5, "an entry is a number or word, not an object"),
        ("x", "an entry is a string, not an object"),
        (None, "an entry is a number or word, not an object"),
        ([1], "an entry is an array, not an object"),
        ({}, "its request is missing"),
        ({"request": {"url": URL}}, "its response is missing"),
        ({"request": {"url": URL}, "response": None}, "its response is a number or word, not an object"),
        ({"request": "x", "response": {}}, "its request is a string, not an object"),
        ({"request": {"url": 5}, "response": {}}, "the URL of its request is a number or word, not a string"),
        ({"request": {"url": URL}, "response": {"headers": 5}}, "its headers are a number or word, not an array"),
        ({"request": {"url": URL}, "response": {"content": []}}, "its content is an array, not an object"),
        ({"request": {"url": URL}, "response": {"content": {"text": 5}}}, "the text of its content is a number or word, not a string"),
    ],
)
def test_a_broken_entry_is_reported_and_the_others_are_read(entry: Any, text: str) -> None:
    data = har(WHOLE, entry, WHOLE)
    found = walk(Document(data, name="x.har"), Settings()).diagnostics
    assert {(one.code, one.failed) for one in found} == {("broken-entry", True)}
    assert text in found[0].text
    assert [row.target for row in absolve.links(data, name="x.har")] == [f"{URL[:-9]}x"] * 2
    assert absolve.rewrite(data, name="x.har") == har(WHOLE, entry, WHOLE).replace(b"<a href=x>", f"<a href={URL[:-9]}x>".encode()).replace(b'"size": 10', b'"size": 29')


def test_of_very_many_broken_entries_the_first_are_reported() -> None:
    found = walk(Document(har(*range(10_000)), name="x.har"), Settings()).diagnostics
    assert len(found) == 100
    assert "further ones are not reported" in found[-1].text
