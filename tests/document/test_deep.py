"""Deeply nested documents: all documents from the third level on share one limit of bytes (NestingBudget)."""

import html
from typing import Any

import pytest

import absolve
from absolve.core.model import Document
from absolve.document import entity as entities
from absolve.document import walk as walking
from absolve.document.entity import MOST_DEEP
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.rewriting import rewriter
from tests.shapes.scale import COMPILED, scaled

URL = "http://h/"
LARGE = 5000  # bytes; documents of less than 4096 do not count


def page(size: int = LARGE, links: str = "<a href=x>") -> str:
    """Return a document of this many bytes, with a link."""
    return links.ljust(size, "-")


def around(*pages: str) -> str:
    return "".join(f'<iframe srcdoc="{html.escape(one)}"></iframe>' for one in pages) + "<a href=y>"


def deep(levels: int, *innermost: str) -> str:
    """Return these documents, nested this many levels deep."""
    return around(*innermost) if levels == 1 else around(deep(levels - 1, *innermost))


def targets(text: str | bytes, **options: Any) -> list[tuple[int, str | None]]:
    """Return the depths of the links, and their targets."""
    return [(row.entity.count("["), row.target) for row in absolve.links(text, url=URL, **options)]


def reported(text: str | bytes, media_type: str = "text/html") -> list[str]:
    entity = walk(Document(text, media_type=media_type, url=URL), Settings())
    return [f"{one.line}:{one.column}: {one.code}" for one in entity.diagnostics]


@pytest.fixture(params=[0, LARGE, 3 * LARGE])
def most(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(entities, "MOST_DEEP", request.param)
    return int(request.param)


# --- documents within the limit ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("most")
def test_two_levels_of_documents_and_small_deep_ones_have_no_limit_of_bytes() -> None:
    for text, number in ((deep(1, page(20 * LARGE), page(LARGE)), 2), (deep(2, page(20 * LARGE), page(LARGE)), 2), (deep(6, *[page(200)] * 10), 10)):
        assert sum(target == "http://h/x" for _, target in targets(text)) == number
        assert reported(text) == []


def test_a_megabyte_of_deep_documents_is_within_the_nesting_budget() -> None:
    assert MOST_DEEP == 16 << 20
    text = deep(5, page(1 << 20))
    assert targets(text)[0] == (5, "http://h/x")


@pytest.mark.usefixtures("most")
def test_containers_are_no_levels_and_each_document_has_its_own_nesting_budget() -> None:
    body = deep(2, page())
    mail = "Content-Type: multipart/mixed; boundary=B\n\n"
    inner = f"--B\nContent-Type: message/rfc822\n\nContent-Type: text/html\n\n{body}\n"
    text = mail + inner * 3 + "--B--\n"
    found = targets(text, media_type="message/rfc822")
    assert sum(target == "http://h/x" for _, target in found) == 3
    assert reported(text, "message/rfc822") == []


# --- documents beyond the limit ---------------------------------------------------------------------------------------


def test_deeper_documents_are_entered_until_the_nesting_budget_is_spent(most: int) -> None:
    text = deep(3, *[page()] * 5)
    entered = most // LARGE
    found = targets(text)
    assert sum(target == "http://h/x" for _, target in found) == entered
    assert sum(target == "http://h/y" for _, target in found) == 3
    assert len(reported(text)) == 5 - entered
    assert {one.partition(": ")[2] for one in reported(text)} == {"too-deep"}


def test_one_byte_beyond_the_nesting_budget_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "MOST_DEEP", 2 * LARGE)
    assert reported(deep(3, page(), page())) == []
    text = "<p>\n" + deep(3, page(), page(LARGE + 1))
    quote = "&amp;quot;"
    column = text.rindex(quote, 0, text.rindex(quote)) + len(quote) - text.index("\n")
    assert reported(text) == [f"2:{column}: too-deep"]
    entity = walk(Document(text, url=URL), Settings())
    assert "nested more than 2 deep" in entity.diagnostics[0].text
    assert not entity.diagnostics[0].failed


@pytest.mark.usefixtures("most")
def test_after_a_skipped_document_no_large_one_is_entered() -> None:
    text = deep(3, page(4 * LARGE), page(), page(100))
    assert [depth for depth, target in targets(text) if target == "http://h/x"] == [3]
    assert len(reported(text)) == 2


def test_skipped_documents_stay_and_all_others_are_rewritten_and_verified(most: int) -> None:
    text = deep(3, *[page()] * 5)
    new = absolve.rewrite(text, url=URL)
    assert new.count("http://h/x") == most // LARGE
    assert new.count("http://h/y") == 3
    assert absolve.rewrite(new, url=URL) == new
    assert absolve.verify(text, new, url=URL) == []
    assert absolve.verify(text, new.replace("http://h/y", "http://h/z", 1), url=URL) != []


@pytest.mark.parametrize("most", [LARGE], indirect=True)
def test_html_in_a_feed_is_a_nesting_level(most: int) -> None:
    feed = f"<rss><description>{html.escape(deep(2, page(), page()))}</description></rss>"
    assert sum(target == "http://h/x" for _, target in targets(feed, media_type="application/xml")) == most // LARGE
    assert reported(feed, "application/xml")[0].endswith("too-deep")
    new = absolve.rewrite(feed, media_type="application/xml", url=URL)
    assert absolve.verify(feed, new, media_type="application/xml", url=URL) == []


@pytest.mark.parametrize("most", [0], indirect=True)
@pytest.mark.usefixtures("most")
def test_documents_that_are_walked_again_have_the_same_inner_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    number = scaled(2000)
    if not COMPILED:  # keep fewer documents in memory, in the same proportion
        monkeypatch.setattr(walking, "_MOST_KEPT", scaled(walking._MOST_KEPT))
    large = "&nGt;" * 750  # each reference decodes to six bytes
    small = f'<iframe srcdoc="{large}&lt;a href=x>"></iframe>'
    text = around(*[around(small)] * number)
    document = Document(text, url=URL)
    entity = walk(document, Settings())
    assert entity.diagnostics == []
    assert rewriter.rewrite(entity).count(b"http://h/x") == number
