"""Real pages: html5lib's tree has the start tags and references that the walker finds, and only links change.

The default run takes every 20th page; `ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_pages.py` takes all.
"""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, NamedTuple

import html5lib_view
import link_view
import pytest
import scanner_view
from material import SHARED, each

import absolve
from absolve.encodings import charsets
from absolve.urls.predicates import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark import ParameterSet

    from absolve.inventory.columns import Row

pytestmark = pytest.mark.slow
FOLDER = SHARED / "pages"
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))


class Page(NamedTuple):
    """A saved page, and its URL."""

    path: str
    url: str | None

    @property
    def data(self) -> bytes:
        return (FOLDER / self.path).read_bytes()


def _pages() -> Iterator[ParameterSet]:
    with (FOLDER / "index.tsv").open(encoding="utf-8", newline="") as index:
        for row in list(csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE))[::EVERY]:
            usable = has_scheme(row["url"]) and not is_malformed(row["url"])
            yield pytest.param(Page(row["path"], row["url"] if usable else None), id=row["path"])


PAGES = each("page", _pages(), FOLDER)


@PAGES
def test_the_tree_of_html5lib_has_the_start_tags_that_the_scanner_reports(page: Page) -> None:
    data, charset, text = decoded(page)
    found = scanner_view.elements(data, charset)
    assert [element[:3] for element in found] == [element[:3] for element in html5lib_view.elements(text)]


@PAGES
def test_the_tree_of_html5lib_has_the_references_that_the_walker_finds(page: Page) -> None:
    data, charset, text = decoded(page)
    errors = "surrogateescape" if charset is charsets.UTF_8 else "surrogatepass"
    document = absolve.Document(data, media_type="text/html", charset=charset.name)
    assert link_view.walked(document) == link_view.judged(text, errors)


@PAGES
def test_the_tree_of_html5lib_has_the_title_language_and_anchors_of_the_table_of_documents(page: Page) -> None:
    data, charset, text = decoded(page)
    row = next(absolve.documents(data, media_type="text/html", charset=charset.name, max_depth=0))
    errors = "surrogateescape" if charset is charsets.UTF_8 else "surrogatepass"
    facts = html5lib_view.facts(text.encode("utf-8", errors).decode("utf-8", "replace"))
    assert (row.title, row.lang or "", {*row.anchors}) == facts


def decoded(page: Page) -> tuple[bytes, charsets.Charset, str]:
    """Return the page without a byte order mark, its charset, its text; unscannable bytes become UTF-8."""
    charset, mark = charsets.of_html(page.data)
    data = page.data[mark:]
    text = charset.decode(data)
    if charset.transparent:
        return data, charset, text
    return text.encode("utf-8", "surrogateescape"), charsets.UTF_8, text


@PAGES
def test_only_the_spans_of_rows_change(page: Page) -> None:
    before = page.data
    after = absolve.rewrite(before, media_type="text/html", url=page.url)
    old, new = spans(before, page.url), spans(after, page.url)
    assert len(old) == len(new)
    assert gaps(before, old) == gaps(after, new)


def spans(data: bytes, url: str | None) -> list[tuple[int, int]]:
    """Return the byte spans of the links, in order; those in a srcdoc are compared in their own entity."""
    rows: list[Row] = [row for row in absolve.links(data, media_type="text/html", url=url) if not row.entity]
    return sorted((row.start, row.end) for row in rows)


def gaps(data: bytes, spans: list[tuple[int, int]]) -> list[bytes]:
    """Return the bytes between the spans, without quotes that a value may have got."""
    edges = [0, *(edge for span in spans for edge in span), len(data)]
    return [data[start:end].strip(b'"') for start, end in zip(edges[::2], edges[1::2], strict=True)]


@PAGES
def test_a_second_rewrite_changes_nothing(page: Page) -> None:
    once = absolve.rewrite(page.data, media_type="text/html", url=page.url)
    assert absolve.rewrite(once, media_type="text/html", url=page.url) is once


@PAGES
def test_pages_without_a_base_are_returned_unchanged(page: Page) -> None:
    data = page.data
    if absolve.base(data, media_type="text/html").url or b"codebase" in data.lower():
        pytest.skip("the page states its base")
    assert absolve.rewrite(data, media_type="text/html") is data
