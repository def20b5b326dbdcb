"""WAT: the links that a crawler extracted from a page, in metadata records of a WARC file."""

import gzip
import json
import warnings
from typing import Any

import absolve

ENVELOPE: dict[str, Any] = {
    "Payload-Metadata": {
        "HTTP-Response-Metadata": {
            "Headers": {"Location": "/moved"},
            "HTML-Metadata": {
                "Head": {
                    "Base": "/b/",
                    "Link": [{"path": "LINK@/href", "url": "s.css", "rel": "stylesheet"}],
                    "Scripts": [{"path": "SCRIPT@/src", "url": "s.js"}],
                },
                "Links": [
                    {"path": "A@/href", "url": "a.html", "text": "<t>"}, {"url": "i.png", "path": "IMG@/src"}, {"path": "IMG@/srcset", "url": "1.png 1x, 2.png 2x"},
                    {"path": "STYLE/#text", "href": "c.png"}, {"path": "FORM@/action"}, {"path": "X" * 99, "url": "y"},
                ],
            },
        }
    }
}  # fmt: skip
ROWS = [
    ("header", "location", "navigation", "http://p/moved"), ("base", "href", "other", "http://p/b/"), ("link", "href", "stylesheet", "http://p/b/s.css"),
    ("script", "src", "script", "http://p/b/s.js"), ("a", "href", "navigation", "http://p/b/a.html"), ("img", "src", "image", "http://p/b/i.png"),
    ("img", "srcset", "image", "http://p/b/1.png"), ("img", "srcset", "image", "http://p/b/2.png"), ("style", "", "image", "http://p/b/c.png"), ("wat", "", "other", "http://p/b/y"),
]  # fmt: skip


def record(body: object, kind: str = "metadata") -> bytes:
    data = json.dumps(body).encode()
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://p/d/x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data + b"\r\n\r\n"


WAT = record({"Container": {"Offset": "1"}, "Envelope": ENVELOPE}) + record({"Envelope": "x"}) + record({"a": "b"}) + record({"Envelope": {}})


def rows(data: bytes) -> list[tuple[str, str, str, str | None]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(row.element, row.attribute, row.kind, row.target) for row in absolve.links(data, name="x.warc.wat.gz")]


def test_links_are_resolved_by_the_page_and_its_base() -> None:
    assert rows(WAT) == ROWS
    assert rows(gzip.compress(WAT)) == ROWS


def test_nothing_in_them_is_changed() -> None:
    assert absolve.rewrite(WAT, policy=lambda _: "http://new/") == WAT


def test_other_metadata_has_no_links() -> None:
    assert rows(record({"Envelope": ENVELOPE}, "warcinfo") + record({"links": ["http://h/"]})) == []


def test_a_mirror_does_not_take_them_for_pages() -> None:
    from absolve.document.settings import Settings
    from absolve.encodings.charsets import UTF_8
    from absolve.formats.warc.walker import walk

    assert not list(walk(WAT, UTF_8, Settings(documents=True, captures=True)))
