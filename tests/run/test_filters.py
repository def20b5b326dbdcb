"""Filters of links by the values of their rows."""

import pytest

import absolve
from absolve.core.errors import UsageError
from absolve.core.model import SCOPES
from absolve.inventory import PROBLEMS
from absolve.run.filters import Selection, only

URL = "https://h/d/p"
PAGE = b"<a href='#f'>1</a><a href=x>2</a><img src=i.png><img src=//g/j.png><a href='http://h/x'>3</a>"


def of(words: str) -> frozenset[str]:
    return frozenset(words.split())


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        (Selection(), ["#f", "x", "i.png", "//g/j.png", "http://h/x"]),
        (Selection(kinds=of("image")), ["i.png", "//g/j.png"]),
        (Selection(kinds=of("image navigation")), ["#f", "x", "i.png", "//g/j.png", "http://h/x"]),
        (Selection(scopes=of("external same-document")), ["#f", "//g/j.png"]),
        (Selection(problems=of("insecure scheme-relative")), ["//g/j.png", "http://h/x"]),
        (Selection(of("image"), of("internal")), ["i.png"]),
        (Selection(of("navigation"), problems=of("scheme-relative")), []),
    ],
)
def test_a_link_is_selected_if_it_passes_every_filter(selection: Selection, found: list[str]) -> None:
    assert [row.reference for row in absolve.links(PAGE, url=URL) if selection.wants(row)] == found


@pytest.mark.parametrize(
    "selection", [Selection(of("picture")), Selection(scopes=of("near")), Selection(problems=of("x"))]
)
def test_an_unknown_value_of_a_filter_is_rejected(selection: Selection) -> None:
    with pytest.raises(UsageError, match="choose from"):
        selection.checked()


def test_filters_select_by_the_values_of_rows() -> None:
    page = (
        b"<base href='d/'>"
        + PAGE
        + b"<a href=''><a href=' x y '><a href='http://[x'><a href='a\\b'><a href='../../../x'>"
    )
    rows = list(absolve.links(page, url=URL)) + list(absolve.links(PAGE + b"<base href=data:,x>"))
    assert {code for row in rows for code in row.problems} <= set(PROBLEMS)
    assert {row.scope for row in rows} == set(SCOPES)


@pytest.mark.parametrize(
    ("selection", "new"),
    [
        (Selection(scopes=of("external")), PAGE.replace(b"//g", b"https://g")),
        (Selection(kinds=of("image"), scopes=of("internal")), PAGE.replace(b"i.png", b"https://h/d/i.png")),
        (Selection(problems=of("malformed")), PAGE),
    ],
)
def test_only_selected_links_change(selection: Selection, new: bytes) -> None:
    policy = only(selection)
    assert absolve.rewrite(PAGE, url=URL, policy=policy) == new
    assert not absolve.verify(PAGE, new, url=URL, policy=policy)


def test_links_that_are_not_selected_keep_their_base() -> None:
    page = b"<base href=/e/><a href=x><img src=y>"
    policy = only(Selection(kinds=of("image")), lambda resolved: f"http://new/{resolved.reference}")
    assert absolve.rewrite(page, url=URL, policy=policy) == b"<base href=/e/><a href=x><img src=http://new/y>"


def test_filters_keep_no_state_between_documents() -> None:
    policy = only(Selection(scopes=of("internal")), lambda _: "new")
    page = b"<a href=http://h/x>"
    assert absolve.rewrite(page, url="http://g/", policy=policy) == page
    assert absolve.rewrite(page, url="http://h/", policy=policy) == b"<a href=new>"
    assert absolve.rewrite(page, url="http://g/", policy=policy) == page
