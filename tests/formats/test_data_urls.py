"""Documents in `data:` URLs: listed, never changed, and without the base of the document around them."""

import base64
from typing import Any
from urllib.parse import quote

import pytest

import absolve

URL = "http://h/d/p.html"
SVG = "xmlns='http://www.w3.org/2000/svg'"


def in_base64(text: str, media_type: str = "text/html") -> str:
    return f"data:{media_type};base64,{base64.b64encode(text.encode()).decode()}"


def inside(page: Any, **options: Any) -> list[tuple[str, str | None]]:
    return [(row.reference, row.target) for row in absolve.links(page, url=URL, **options) if "data[" in row.entity]


LINK = "<a href=http://o/x>"
NONE = [  # public reports of link checkers and savers, where nothing is a link
    '<img src="data:image/png;base64, blah"><img src="data:,"><img src="data:image/jpg;base64,"><img src="data:">',
    f"<img src=\"data:image/svg+xml;utf8,<svg {SVG} width='16'><path fill='#DDDDDD' d='M6 7z'/></svg>\">",
    f'<style>a {{ b: url("data:image/svg+xml,%3Csvg {SVG}%3E%3Crect filter=\'url(%23n)\'/%3E%3C/svg%3E") }}</style>',
    f"<img src=\"data:image/svg+xml,<svg {SVG}><use href='%23ai:radix-icons'/></svg>#ai\">",
    "<link rel=stylesheet href='data:text/css; charset=utf-8,div {width:100%}'>",
    "<img srcset='data:image/png;base64,AAAA 1x,data:image/gif;base64,R0lG 2x'>",
    "<a href='data:text/plain,<a href=x>'><a href='data:application/json,{}'><a href='data:<a href=x>'>",
    "<iframe src='data:text/html;base64,PGEgaHJlZj14>'></iframe><iframe src='data:text/html#,<a href=x>'></iframe>",
    "<img src='data:image/svg+xml,'><a href=data.html?data:text/html,x><base href='data:text/html,<a href=x>'>",
]


@pytest.mark.parametrize("page", NONE)
def test_nothing_is_in_an_image_nor_in_a_drawing_of_its_own_parts(page: str) -> None:
    assert not inside(page)


FOUND = [
    (f"<iframe src='data:text/html,{LINK}'></iframe>", "http://o/x"),
    (f"<iframe src='DATA:Text/HTML;charset=utf-8,%3Ca%20href=http://o/x%3e#{LINK}'></iframe>", "http://o/x"),
    (f"<iframe src='{in_base64(LINK)}#frag'></iframe>", "http://o/x"),
    (f"<iframe src='{in_base64(LINK).rstrip('=')}'></iframe>", "http://o/x"),
    ("<iframe src='&#100;ata&colon;text/html,&lt;a href=http:&#47;/o/x>'></iframe>", "http://o/x"),
    (f"<a href=data:image/svg+xml,%EF%BB%BF%3Csvg%20{SVG.replace(chr(39), '%22')}%3E%3Ca%20href=%22//o/x%22/%3E%3C/svg%3E>", "//o/x"),
    ("<link rel=stylesheet href='data:text/css;charset=utf-8,a{b:url(http://o/x)}'>", "http://o/x"),
    ("<style>a { b: url(data:text/css\\,\\@import%20\\22//o/x\\22 ) }</style>", "//o/x"),
    ("<p style='b: url(data:text/css,@import%20%22//o/x%22)'>", "//o/x"),
    (f"<img srcset='data:image/svg+xml,%3Csvg%20{SVG.replace(chr(39), '%27')}%3E%3Cimage%20href=%27x%27/%3E%3C/svg%3E 1x, y'>", "x"),
    ("<a href='data:application/xhtml+xml,<html xmlns=\"http://www.w3.org/1999/xhtml\"><a href=\"x\"/></html>'>", "x"),
    ("<a href='data:text/html,\n<a \thr\nef=x>'>", "x"),
    (f"<iframe src='data:text/html,<iframe src=&apos;{in_base64(LINK)}&apos;>'></iframe>", "http://o/x"),
]


@pytest.mark.parametrize(("page", "reference"), FOUND)
def test_a_document_in_a_data_url_is_listed(page: str, reference: str) -> None:
    found = inside(page)
    assert found[-1] == (reference, reference if reference.startswith("http") else None)
    assert absolve.rewrite(page, url=URL) == page.replace(" y'", " http://h/d/y'")
    assert not absolve.verify(page, absolve.rewrite(page, url=URL), url=URL)


def test_only_its_own_base_rules_it() -> None:
    page = f"<base href=http://b/><iframe src=\"{in_base64('<a href=x>')}\"></iframe>"
    assert inside(page) == [("x", None)]
    assert [row.problems for row in absolve.links(page, url=URL)][-1] == ["unresolved"]
    assert inside(f"<iframe src=\"{in_base64('<base href=http://o/p/><a href=x>')}\"></iframe>")[1] == ("x", "http://o/p/x")
    assert inside(f"<iframe src=\"{in_base64('<base href=/p/><a href=x>')}\"></iframe>")[1] == ("x", None)


@pytest.mark.parametrize("target", ["http://n/", None])
def test_a_policy_sees_the_url_and_no_link_in_it(target: str | None) -> None:
    page = f"<iframe src='{in_base64('<base href=http://o/p/><a href=x>')}'></iframe>"
    assert absolve.rewrite(page, url=URL, policy=lambda _: target) == (f"<iframe src='{target}'></iframe>" if target else page)


def test_documents_nested_too_deep_stay() -> None:
    page = LINK
    for _ in range(40):
        page = f"<iframe src='data:text/html,{quote(page, safe='/:=')}'></iframe>"
    with pytest.warns(absolve.DiagnosticWarning, match="max-depth"):
        assert not [row for row in absolve.links(page, url=URL) if row.reference == "http://o/x"]
    with pytest.raises(absolve.DocumentError, match="links"):
        absolve.links(f"<a href='data:text/html,{LINK}'>" * 10, max_links=15)


def test_a_drawing_that_is_not_well_formed_is_reported_and_left() -> None:
    page = "<img src='data:image/svg+xml,<svg><a href=x>'><a href=y>"
    found: list[absolve.Diagnostic] = []
    assert len(list(absolve.links(page, url=URL, on_diagnostic=found.append))) == 2
    assert [(one.code, one.line, one.failed) for one in found] == [("not-well-formed", 1, False)]
