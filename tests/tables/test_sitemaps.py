"""Sitemaps, which are made of the table of documents."""

import io
from typing import Any

import pytest
from lxml import etree

from absolve.tables import FORMATS, by_name, plain, typed_table

A, B = "http://h.example/a", "http://h.example/b?x=1&y=<2>"

def made(format_: str, *chunks: list[tuple[Any, ...]]) -> bytes:
    form, sink, file = FORMATS[format_], by_name(format_), io.BytesIO()
    encoded = [(form.source, memoryview(sink.encode(form.needs, rows))) for rows in chunks]
    sink.write([typed_table(form.source, form.needs)], encoded, file)
    return file.getvalue()


def test_no_rows_are_an_empty_but_valid_file() -> None:
    nothing: list[list[list[tuple[Any, ...]]]] = [[], [[]]]
    for rows in nothing:
        text = made("sitemap", *rows).decode()
        assert "//h" not in text
        assert text.endswith(">\n")


def page(url: str | None, status: int | None = 200, media_type: str = "text/html", canonical: str | None = None, robots: str | None = None) -> tuple[Any, ...]:
    return url, status, media_type, canonical, robots


def urls(*rows: tuple[Any, ...]) -> list[str]:
    root = etree.fromstring(made("sitemap", list(rows)))
    assert root.tag == "{http://www.sitemaps.org/schemas/sitemap/0.9}urlset"
    return [str(loc.text) for loc in root.iter("{*}loc")]


def test_a_sitemap_has_each_page_that_may_be_indexed_once_and_in_ascii() -> None:
    assert urls(page(B), page(A, None), page(f"{A}#x"), page("HTTP://Bücher.example/ü?<é>"), page(A, canonical=A)) == [
        "http://h.example/b?x=1&y=%3C2%3E", A, "http://xn--bcher-kva.example/%C3%BC?%3C%C3%A9%3E",
    ]


@pytest.mark.parametrize("row", [
    page(None), page(A, 404), page(A, 301), page(A, media_type="image/png"), page(A, canonical=B),
    *(page(A, robots=text) for text in ("noindex", "nofollow, NOINDEX", "none", "index googlebot: noindex,nofollow")),
    page("file:///p.html"), page("package:///p.html"), page("http://user:pass@h.example/"), page(f"http://h.example/{'x' * 2048}"),
], ids=repr)
def test_other_documents_are_in_no_sitemap(row: tuple[Any, ...]) -> None:
    assert urls(row, page(B, robots="max-snippet:-1, nonesuch")) == ["http://h.example/b?x=1&y=%3C2%3E"]


def test_more_urls_than_a_sitemap_can_have_are_an_error_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain.MOST_URLS == 50_000
    monkeypatch.setattr(plain, "MOST_URLS", 3)
    rows = [page(f"http://h.example/{number}") for number in range(4)]
    assert len(urls(*rows[:-1])) == 3
    with pytest.raises(OSError, match="at most 3 URLs"):
        made("sitemap", rows)
