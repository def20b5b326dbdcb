"""Responses of httpx, requests, Scrapy and urllib as documents; tables for pandas and polars: each by the real package."""

import urllib.request
from typing import Any

import httpx
import pytest
import requests
from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse

import absolve
from absolve import arrow
from tests.shapes.trap_server import moved, serving
from tests.shapes.trap_server import response as sent

PAGE = "<title>п</title><a href=п>".encode("koi8-r")
FIELDS = {"Content-Type": "text/html; charset=koi8-r", "Link": "<s.css>; rel=preload"}


def by_httpx(url: str) -> Any:
    with httpx.Client(trust_env=False) as client:
        return client.get(f"{url}/old", follow_redirects=True)


def by_requests(url: str) -> Any:
    with requests.Session() as session:
        session.trust_env = False
        return session.get(f"{url}/old", timeout=10)


def by_scrapy(url: str) -> Any:
    """Return a response as its downloader makes it; a crawl needs a process of its own."""
    return HtmlResponse(f"{url}/new/", body=PAGE, headers={name: [value] for name, value in FIELDS.items()})


def by_urllib(url: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(f"{url}/old", timeout=10)


@pytest.mark.parametrize("get", [by_httpx, by_requests, by_scrapy, by_urllib])
def test_a_response_is_a_document_with_its_url_charset_and_header(get: Any) -> None:
    answers = {"/old": moved("/new/"), "/new/": sent(PAGE, *(f"{name}: {value}" for name, value in FIELDS.items()))}
    with serving(answers) as server:
        url = server.url
        response = get(url)
        document = absolve.document_of(response)
        if get is by_urllib:
            response.close()
    rows = [(row.document, row.entity, row.reference, row.target) for row in absolve.links(document)]
    assert rows == [(f"{url}/new/", "header", "s.css", f"{url}/new/s.css"), (f"{url}/new/", "", "п", f"{url}/new/п")]
    assert absolve.rewrite(document) == f"<title>п</title><a href={url}/new/п>".encode("koi8-r")


def test_a_response_of_scrapy_gives_items() -> None:
    items = list(absolve.items(by_scrapy("http://h"), profile="whatwg"))
    assert [ItemAdapter(item)["target"] for item in items] == ["http://h/new/s.css", "http://h/new/%D0%BF"]
    assert all(type(item) is dict and type(item["base_layer"]) is str for item in items)
    assert ItemAdapter(items[1]).asdict() == items[1]


@pytest.mark.parametrize("wrong", [b"<a href=x>", "http://h/", None, absolve.Document(b"")], ids=lambda value: type(value).__name__)
def test_something_else_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="takes a response of httpx, requests, Scrapy or urllib"):
        absolve.document_of(wrong)


def table() -> Any:
    return arrow.links("<base href=/b/><a href=x><img src=y>", url="http://h/")


def test_pandas_reads_the_table() -> None:
    frame = table().to_pandas()
    assert list(frame.columns) == list(absolve.Row._fields)
    assert frame[frame.kind == "image"].target.tolist() == ["http://h/b/y"]
    assert frame.base_layer.tolist() == ["retrieval", "embedded", "embedded"]
