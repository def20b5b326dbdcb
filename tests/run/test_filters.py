"""Filters of links by the values of their rows."""


import absolve
from absolve.core.model import SCOPES
from absolve.inventory import PROBLEMS
from absolve.run.filters import Selection, only

URL = "https://h/d/p"
PAGE = b"<a href='#f'>1</a><a href=x>2</a><img src=i.png><img src=//g/j.png><a href='http://h/x'>3</a>"


def of(words: str) -> frozenset[str]:
    return frozenset(words.split())


def test_filters_select_by_the_values_of_rows() -> None:
    page = (b"<base href='d/'>" + PAGE + b"<a href=''><a href=' x y '><a href='http://[x'><a href='a\\b'><a href='../../../x'>")
    rows = list(absolve.links(page, url=URL)) + list(absolve.links(PAGE + b"<base href=data:,x>"))
    assert {code for row in rows for code in row.problems} <= set(PROBLEMS)
    assert {row.scope for row in rows} == set(SCOPES)


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
