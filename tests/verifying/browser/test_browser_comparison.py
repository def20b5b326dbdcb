"""Comparison of a browser's view, given by hand here, with absolve's rows."""


import pytest
from browser_view import View, differences

from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.document.entity import Entity
from absolve.document.walk import Settings, walk

Links = list[tuple[str, str, str, str | None]]
CLONED = b"<p><a href=x>1<p>2<p>3"  # the end of the paragraph does not close the a element: each of the next ones gets a clone


def compare(page: bytes, links: Links, character_set: str = "UTF-8") -> list[Diagnostic]:
    return differences(walked(page), View("p", "http://h/d/", "text/html", character_set, "http://h/d/", links))


def walked(page: bytes) -> Entity:
    document = Document(page, name="p", media_type="text/html", url="http://h/d/")
    return walk(document, Settings(profile="whatwg"))


def a(reference: str, url: str | None) -> tuple[str, str, str, str | None]:
    return ("a", "href", reference, url)


X = a("x", "http://h/d/x")


@pytest.mark.parametrize(
    ("page", "links"),
    [
        (b"", []),
        (b"<a href=x>", [X]),
        (b"<a href=' x\n'>", [a(" x\n", "http://h/d/x")]),
        (b"<a href=x></a><a href=y></a>", [a("y", "http://h/d/y"), X]),
        (b"<a href=x></a><a href=x></a>", [X, X]),
        (CLONED, [X, X, X]),
        (b"<a href=''></a><img src=' '>", [a("", "http://h/d/"), ("img", "src", " ", "http://h/d/")]),
        (b"<a href='http://[x'>", [a("http://[x", None)]),
        (b"<img srcset='a 2x'><p style='background: url(b)'><iframe srcdoc='<a href=c>'></iframe>", []),
        (b"<applet code=a></applet><html manifest=b>", []),
    ],
)
def test_equal_links_give_no_difference(page: bytes, links: Links) -> None:
    assert compare(page, links, "windows-1252") == []


@pytest.mark.parametrize(
    ("page", "links", "expected"),
    [
        (b"<p>\n<a href=x>", [], ["p:2:9: only-absolve: a href leads to http://h/d/x"]),
        (b"", [X], ["p: only-browser: a href leads to http://h/d/x"]),
        (b"<a href=x></a>", [X, X], ["p: only-browser: a href leads to http://h/d/x"]),
        (b"<a href=x></a><a href=x></a>", [X], ["p:1:9: only-absolve: a href leads to http://h/d/x"]),
        (b"<a href=x>", [a("x", "http://h/x")], ["p:1:9: target: a href leads to http://h/d/x, in the browser to http://h/x"]),
        (b"<a href=x>", [a("x", None)], ["p:1:9: only-absolve: a href leads to http://h/d/x"]),
        (b"<a href='http://[x'>", [a("http://[x", "http://h/")], ["p: only-browser: a href leads to http://h/"]),
        (b"<a href=x>", [("area", "href", "x", "http://h/d/x")], ["p:1:9: only-absolve: a href leads to http://h/d/x", "p: only-browser: area href leads to http://h/d/x"]),
        (CLONED, [X, X, X, X], ["p: only-browser: a href leads to http://h/d/x"]),
        (CLONED.replace(b"a href", b"a id=i href") + b"<a href=x>", [X, X, X], ["p:1:17: only-absolve: a href leads to http://h/d/x"]),
    ],
)  # fmt: skip
def test_differences_to_the_browser_have_their_position(page: bytes, links: Links, expected: list[str]) -> None:
    assert [str(difference) for difference in compare(page, links)] == expected


def test_another_charset_is_reported_if_links_differ() -> None:
    assert [difference.code for difference in compare(b"<a href=x>", [], "windows-1252")] == ["only-absolve", "charset"]
    assert [difference.code for difference in compare(b"<a href=x>", [], "UTF-8")] == ["only-absolve"]


def test_cloned_elements_are_not_recognized_if_html5lib_fails() -> None:
    page = CLONED + b"<b>" * 2000
    assert [difference.code for difference in compare(page, [X, X, X])] == ["only-browser", "only-browser"]
