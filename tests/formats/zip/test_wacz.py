"""WACZ: its records are listed, each under its own URL, and nothing in it is rewritten."""

import json

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from tests.shapes.captures import page as record
from tests.shapes.captures import zipped

URL = "http://a.example/d/"


def wacz(page: bytes = b'<a href="x">x</a>') -> bytes:
    return zipped({
        "archive/data.warc": record(URL, page),
        "indexes/index.cdx": b'http://a.example/d/ 20250508195248245 {"offset": 0}\n',
        "datapackage.json": json.dumps({"profile": "data-package", "homepage": "y"}).encode(),
    })


def test_each_record_has_its_own_url() -> None:
    assert [row.target for row in absolve.links(wacz(), name="x.wacz")] == [f"{URL}x"]


def test_a_package_stays_as_it_is_with_one_finding() -> None:
    data = wacz(b'<a href="x">x</a><style>a { background: url(y) }</style>')
    assert absolve.rewrite(data, name="x.wacz", url="http://h.example/") is data
    found = walk(Document(data, name="x.wacz"), Settings(), for_rewrite=True).diagnostics
    assert [(one.code, one.failed) for one in found] == [("only-read", False)]


def test_a_package_without_a_description_is_a_zip_file() -> None:
    data = zipped({"archive/data.warc": record(URL, b'<a href="x">x</a>')}, stored=True)
    assert b"http://a.example/d/x" in absolve.rewrite(data, name="x.zip")
