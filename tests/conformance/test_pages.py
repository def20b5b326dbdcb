"""Real pages: html5lib's tree has the start tags and references that the walker finds.

The default run takes every 20th page; `ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_pages.py` takes all.
"""

import os

import html5lib_view
import link_view
import pytest
import scanner_view
from material import SHARED, Page, each, pages

import absolve
from absolve.encodings import charsets

pytestmark = pytest.mark.slow
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))


PAGES = each("page", (pytest.param(page, id=page.path) for page in pages(EVERY)), SHARED / "pages")


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
