"""Documents in documents in documents: the third level and what is deeper may have so many bytes together."""

from __future__ import annotations

import html

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
LARGE = 5000  # bytes; what has less than 4096 does not count


def page(size: int = LARGE, links: str = "<a href=x>") -> str:
    """A document of so many bytes, with a link."""
    return links.ljust(size, "-")


def around(*pages: str) -> str:
    return "".join(f'<iframe srcdoc="{html.escape(one)}"></iframe>' for one in pages) + "<a href=y>"


def deep(levels: int, *innermost: str) -> str:
    """These documents, so many levels deep."""
    return around(*innermost) if levels == 1 else around(deep(levels - 1, *innermost))


def targets(text: str | bytes, **options: object) -> list[tuple[int, str | None]]:
    """How deep the links are, and where they lead."""
    return [(row.entity.count("["), row.target) for row in absolve.links(text, url=URL, **options)]


def reported(text: str | bytes, media_type: str = "text/html") -> list[str]:
    entity = walk(Document(text, media_type=media_type, url=URL), Settings())
    return [f"{one.line}:{one.column}: {one.code}" for one in entity.diagnostics]


@pytest.fixture(params=[0, LARGE, 3 * LARGE])
def most(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(entities, "MOST_DEEP", request.param)
    return int(request.param)


# --- what is entered as ever ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("most")
@pytest.mark.parametrize("levels", [1, 2])
def test_two_levels_may_have_as_many_bytes_as_they_like(levels: int) -> None:
    text = deep(levels, page(20 * LARGE), page(LARGE))
    assert sum(target == "http://h/x" for _, target in targets(text)) == 2
    assert reported(text) == []


@pytest.mark.usefixtures("most")
def test_small_documents_may_be_as_deep_as_they_like() -> None:
    text = deep(6, *[page(200)] * 10)
    assert sum(target == "http://h/x" for _, target in targets(text)) == 10
    assert reported(text) == []


def test_nobody_is_likely_to_meet_the_limit() -> None:
    assert MOST_DEEP == 16 << 20
    text = deep(5, page(1 << 20))
    assert targets(text)[0] == (5, "http://h/x")


@pytest.mark.usefixtures("most")
def test_containers_are_no_levels_and_each_document_has_its_own_count() -> None:
    body = deep(2, page())
    mail = "Content-Type: multipart/mixed; boundary=B\n\n"
    inner = f"--B\nContent-Type: message/rfc822\n\nContent-Type: text/html\n\n{body}\n"
    text = mail + inner * 3 + "--B--\n"
    found = targets(text, media_type="message/rfc822")
    assert sum(target == "http://h/x" for _, target in found) == 3
    assert reported(text, "message/rfc822") == []


# --- what is left ---------------------------------------------------------------------------------------------------


def test_of_what_is_deeper_only_so_many_bytes_are_entered(most: int) -> None:
    text = deep(3, *[page()] * 5)
    entered = most // LARGE
    found = targets(text)
    assert sum(target == "http://h/x" for _, target in found) == entered
    assert sum(target == "http://h/y" for _, target in found) == 3
    assert len(reported(text)) == 5 - entered
    assert {one.partition(": ")[2] for one in reported(text)} == {"too-deep"}


def test_one_byte_decides(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_behind_one_that_is_left_no_large_one_is_entered() -> None:
    text = deep(3, page(4 * LARGE), page(), page(100))
    assert [depth for depth, target in targets(text) if target == "http://h/x"] == [3]
    assert len(reported(text)) == 2


def test_what_is_left_stays_and_all_else_is_rewritten_and_verified(most: int) -> None:
    text = deep(3, *[page()] * 5)
    new = absolve.rewrite(text, url=URL)
    assert new.count("http://h/x") == most // LARGE
    assert new.count("http://h/y") == 3
    assert absolve.rewrite(new, url=URL) == new
    assert absolve.verify(text, new, url=URL) == []
    assert absolve.verify(text, new.replace("http://h/y", "http://h/z", 1), url=URL) != []


def test_a_policy_is_not_expected_to_change_what_was_left(most: int) -> None:
    def policy(resolved: absolve.Resolved) -> str:
        return resolved.reference + "z"

    text = deep(3, *[page()] * 5)
    new = absolve.rewrite(text, url=URL, policy=policy)
    assert new.count("xz") == most // LARGE
    found = absolve.verify(text, new, url=URL, policy=policy)
    assert found == []


@pytest.mark.parametrize("most", [LARGE], indirect=True)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "windows-1252", "shift_jis"])
def test_the_charset_has_no_say(most: int, encoding: str) -> None:
    text = deep(3, page(), page())
    new = absolve.rewrite(text.encode(encoding), url=URL, charset=encoding)
    assert new.decode(encoding).count("http://h/x") == most // LARGE


@pytest.mark.parametrize("most", [LARGE], indirect=True)
def test_html_in_a_feed_is_a_level(most: int) -> None:
    feed = f"<rss><description>{html.escape(deep(2, page(), page()))}</description></rss>"
    assert sum(target == "http://h/x" for _, target in targets(feed, media_type="application/xml")) == most // LARGE
    assert reported(feed, "application/xml")[0].endswith("too-deep")
    new = absolve.rewrite(feed, media_type="application/xml", url=URL)
    assert absolve.verify(feed, new, media_type="application/xml", url=URL) == []


@pytest.mark.parametrize("most", [0, LARGE], indirect=True)
def test_a_conditional_comment_is_no_level(most: int) -> None:
    text = around(f"<!--[if IE]>{deep(2, page())}<![endif]-->")
    found = targets(text, conditional_comments=True)
    assert sum(target == "http://h/x" for _, target in found) == bool(most)


@pytest.mark.usefixtures("most")
def test_documents_that_are_walked_again_have_the_same_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    number = scaled(2000)
    if not COMPILED:  # as many fewer are kept
        monkeypatch.setattr(walking, "_MOST_KEPT", scaled(walking._MOST_KEPT))
    large = "&nGt;" * 750  # of six bytes each, once decoded
    small = f'<iframe srcdoc="{large}&lt;a href=x>"></iframe>'
    text = around(*[around(small)] * number)
    document = Document(text, url=URL)
    entity = walk(document, Settings())
    assert entity.diagnostics == []
    assert rewriter.rewrite(entity).count(b"http://h/x") == number
