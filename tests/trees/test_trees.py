"""Trees of other libraries: links, bases and targets equal those of the parsed page, and links change in place."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

import html5lib
import lxml.html
import pytest

import absolve
from absolve import trees
from absolve.inventory.columns import Row
from tests.shapes.scale import not_traced

URL = "http://h/d/page"

PARSERS: dict[str, Callable[[str], Any]] = {
    "lxml.html": lxml.html.document_fromstring,
    **{f"html5lib {kind}": partial(html5lib.parse, treebuilder=kind) for kind in ("etree", "lxml", "dom")},
}
try:
    import bs4
except ImportError:
    pass
else:
    PARSERS |= {f"bs4 {kind}": partial(bs4.BeautifulSoup, features=kind) for kind in ("html.parser", "lxml", "html5lib")}

every_kind = pytest.mark.parametrize("parse", PARSERS.values(), ids=list(PARSERS))

PAGE = """<!DOCTYPE html><html><head><base target=x><base href="/b/"><base href=/c/><title><a href=title></title>
<meta property=og:image content=i.png><meta http-equiv=refresh content="5; url='next'"><link rel=icon href=" f.ico ">
<style>@import "a.css"; p { background: url(x.png) }</style><style type=text/less>a { b: url(no) }</style>
<script type=importmap>{"imports": {"a": "./a.js"}}</script><script>"<a href=script>"</script></head>
<body background=bg.gif><a href=q?a&amp;b rel="x  y">Hello <b>big</b> world</a><a href=#f><img src=in alt=Picture></a>
<img srcset="a.png 1x, b.png 2x" alt=A style="background: image-set('z.png' 1x)">
<iframe src=frame srcdoc="<a href=inner>in</a><img src=y>"><a href=iframe></a></iframe><video poster=p.jpg></video>
<svg><a xlink:href=s></a><image xlink:href="im.png"/><use href="#u"/><rect fill="url(#g)"/>
<foreignObject><img src=fo></foreignObject><style>a { b: url(svg.png) }</style></svg><math><mi href=m></mi></math>
<object codebase="cb/" data=d archive="a.jar b.jar"></object><template><img src=t><base href=no></template>
<textarea><a href=textarea></a></textarea><a ping="p1 p2" href="mailto:a@b">m</a><p style="color: red">plain</p></body></html>"""


def facts(row: Row) -> tuple[Any, ...]:
    """Return all values of a row except the position of the link."""
    return (*row[6:12], row.base, row.base_layer, row.target, row.scope, row.problems)


def references(tree: Any, **options: Any) -> list[str]:
    return [row.reference for row in trees.links(tree, **options)]


# --- trees and their source text --------------------------------------------------------------------------------------


@every_kind
def test_a_tree_has_the_links_of_its_source_text(parse: Callable[[str], Any]) -> None:
    expected = [facts(row) for row in absolve.links(PAGE, url=URL)]
    assert [facts(row) for row in trees.links(parse(PAGE), URL)] == expected


@every_kind
def test_a_changed_tree_has_the_links_of_the_rewritten_text(parse: Callable[[str], Any]) -> None:
    tree = parse(PAGE)
    expected = [row.reference for row in absolve.links(absolve.rewrite(PAGE, url=URL))]
    for _ in range(2):  # and the same by a second rewrite
        assert trees.make_links_absolute(tree, URL) is tree
        assert references(tree) == expected


@every_kind
@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
def test_a_tree_has_the_base_of_its_source_text(parse: Callable[[str], Any], profile: absolve.Profile) -> None:
    expected = absolve.base(PAGE, url=URL, profile=profile)
    found = trees.base(parse(PAGE), URL, profile=profile)
    assert (found.url, found.layer) == (expected.url, expected.layer) == ("http://h/b/", absolve.Layer.EMBEDDED)
    assert [claim.verdict for claim in found.chain] == ["won", "resolved against"]


# --- changed and unchanged trees --------------------------------------------------------------------------------------


@every_kind
def test_a_tree_without_a_base_is_unchanged(parse: Callable[[str], Any]) -> None:
    tree = parse("<a href=x>y</a><img srcset='a 1x, b 2x' style='background:url(z)'><style>@import 'c'</style>")
    before = references(tree)
    assert trees.base(tree).layer is absolve.Layer.DEFAULT
    assert references(trees.make_links_absolute(tree)) == before == ["x", "a", "b", "z", "c"]


@every_kind
@pytest.mark.parametrize(("options", "expected"), [
    ({"base": "empty"}, ["", "http://h/b/x", "http://h/b/#f"]),
    ({"resolve_base_href": False}, ["/b/", "http://h/d/x", "#f"]),
    ({"policy": lambda link: f"seen:{link.reference}"}, ["seen:/b/", "seen:x", "seen:#f"]),
    ({"policy": lambda link: None}, ["/b/", "x", "#f"]),  # noqa: ARG005 - a policy takes a link
], ids=["base empty", "no base elements", "policy", "policy that changes nothing"])
def test_tree_functions_have_the_options_of_the_library(parse: Callable[[str], Any], options: Any, expected: list[str]) -> None:
    tree = parse("<base href=/b/><a href=x></a><a href=#f></a>")
    trees.make_links_absolute(tree, URL, **options)
    assert references(tree) == expected


@every_kind
def test_fragments_change_with_an_option_and_conditional_comments_stay(parse: Callable[[str], Any]) -> None:
    tree = parse("<body><a href=#f></a><img data-src=l.png><!--[if IE]><i><img src=ie.png></i><![endif]--></body>")
    assert references(tree) == ["#f", "l.png"]
    trees.make_links_absolute(tree, URL, fragments="absolute")
    assert references(tree) == ["http://h/d/page#f", "http://h/d/l.png"]


@pytest.mark.parametrize(("kind", "find"), [
    ("lxml.html", lambda tree: tree.find(".//div")), ("html5lib dom", lambda tree: tree.getElementsByTagName("div")[0]),
    ("bs4 html.parser", lambda tree: tree.div),
])
def test_only_the_given_element_changes_using_the_base_of_its_document(kind: str, find: Callable[[Any], Any]) -> None:
    if kind not in PARSERS:
        pytest.skip("bs4 is not installed")
    tree = PARSERS[kind]("<base href=/b/><a href=x></a><div><a href=y></a></div><a href=z></a>")
    part = find(tree)
    assert references(part) == ["y"]
    trees.make_links_absolute(part, URL)
    assert references(tree) == ["/b/", "x", "http://h/b/y", "z"]


@pytest.mark.parametrize("kind", ["lxml.html", "bs4 html.parser", "bs4 html5lib", "html5lib lxml", "html5lib dom"])
def test_a_saved_from_comment_before_the_root_of_a_tree_is_used(kind: str) -> None:
    if kind not in PARSERS:
        pytest.skip("bs4 is not installed")
    tree = PARSERS[kind]("<!-- saved from url=(0014)http://h/d/pag --><html><body><a href=x></a></body></html>")
    assert trees.base(tree).layer is absolve.Layer.RETRIEVAL
    assert references(trees.make_links_absolute(tree)) == ["http://h/d/x"]


# --- namespaces -------------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.filterwarnings("ignore::html5lib.constants.DataLossWarning")
def test_xlink_is_found_in_every_spelling_of_trees(parse: Callable[[str], Any]) -> None:
    tree = trees.make_links_absolute(parse("<svg><image xlink:href=i.png></image></svg><p xlink:href=no></p>"), URL)
    assert [(row.attribute, row.reference) for row in trees.links(tree)] == [("xlink:href", "http://h/d/i.png")]
    tree = html5lib.parse("<v:imagedata src=i.png>", treebuilder="lxml")  # which had to escape this name
    assert references(trees.make_links_absolute(tree, URL)) == ["http://h/d/i.png"]


@pytest.mark.parametrize(("text", "expected"), [
    ("<script href='s'/>", []),
    ("<svg><script href='s'/></svg>", [("script", "href")]),
    ("<svg><frame src='f'/><desc><frame src='f'/></desc></svg>", [("frame", "src")]),
    ("<svg><table background='b'><frame src='f'/></table></svg>", [("table", "background"), ("frame", "src")]),
    ("<math><annotation-xml src='a'><frame src='f'/></annotation-xml></math>", [("annotation-xml", "src")]),
    ("<math><annotation-xml encoding='Text/HTML'><a href='h'/></annotation-xml></math>", [("a", "href")]),
    ("<math><annotation-xml><svg><a href='h'/></svg></annotation-xml></math>", [("a", "href")]),
    ("<image src='i'/><svg><image src='i'/></svg>", [("img", "src")]),
    ("<iframe><a href='x'/></iframe><noembed><a href='x'/></noembed><xmp><a href='x'/></xmp>", []),
])
def test_a_tree_without_namespaces_infers_them_from_ancestors(text: str, expected: list[tuple[str, str]]) -> None:
    root = ET.fromstring(f"<html><body>{text}</body></html>")  # noqa: S314 - written here
    assert [(row.element, row.attribute) for row in trees.links(root)] == expected


# --- values and texts -------------------------------------------------------------------------------------------------


@every_kind
def test_non_ascii_values_of_trees_are_kept(parse: Callable[[str], Any]) -> None:
    tree = trees.make_links_absolute(parse("<a href='\xe4\U0001f600&quot;&lt;'></a>"), URL)
    assert references(tree) == ['http://h/d/\xe4\U0001f600"<']


def test_lone_surrogates_are_kept_and_characters_that_lxml_cannot_store_are_percent_escaped() -> None:
    for value in ("\udc80", "\udc80\ud800", "\ud800"):
        element = ET.Element("a", {"href": value})
        assert trees.make_links_absolute(element, URL).get("href", "").startswith("http://h/d/")
    tree = lxml.html.fromstring("<a href='?\xe4'></a>")
    assert [row.target for row in trees.links(tree, URL, profile="whatwg", charset="windows-1252")] == [f"{URL}?%E4"]
    tree = lxml.html.fromstring("<a href='x&#1;y'></a>")
    if "\x01" not in tree.get("href", ""):
        pytest.skip("this libxml2 leaves them out")
    assert trees.make_links_absolute(tree, URL).get("href") == "http://h/d/x%01y"


def test_text_in_several_nodes_is_joined() -> None:
    tree = html5lib.parse("<style></style>", treebuilder="dom")
    style = tree.getElementsByTagName("style")[0]
    for text in ("a { b: ", "url(x", ".png) }"):
        style.appendChild(tree.createTextNode(text))
    trees.make_links_absolute(tree, URL)
    assert "".join(child.data for child in style.childNodes) == "a { b: url(http://h/d/x.png) }"
    drawing = lxml.etree.fromstring('<svg xmlns="http://www.w3.org/2000/svg"><style>@import "htt<!-- -->p://x/";</style></svg>')
    trees.make_links_absolute(drawing, URL)
    assert drawing[0].text == '@import "htt'


def test_values_of_beautifulsoup_keep_their_type() -> None:
    soup = pytest.importorskip("bs4").BeautifulSoup("<object archive='a b'></object><style>@import 'c'</style>", "html.parser")
    types = type(soup.object["archive"]), type(soup.style.string)
    trees.make_links_absolute(soup, URL)
    assert (type(soup.object["archive"]), type(soup.style.string)) == types
    assert soup.object["archive"] == ["http://h/d/a", "http://h/d/b"]
    assert soup.style.string == "@import 'http://h/d/c'"


def test_a_deep_tree_is_read() -> None:
    root = here = ET.Element("div")
    for _ in range(20_000):
        here = ET.SubElement(here, "div")
    ET.SubElement(here, "a", {"href": "x"})
    assert references(trees.make_links_absolute(root, URL)) == ["http://h/d/x"]


# --- rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "line"), [("lxml.html", 3), ("bs4 html.parser", 3), ("html5lib etree", 0), ("html5lib dom", 0)])
def test_a_row_of_a_tree_has_the_line_of_its_library_and_no_span(kind: str, line: int) -> None:
    if kind not in PARSERS:
        pytest.skip("bs4 is not installed")
    (row,) = trees.links(PARSERS[kind]("<html><body>\n\n<a href=x>\n</a></body></html>"), URL, name="page")
    assert row[:6] == ("page", "", line, 0, -1, -1)
    tree = PARSERS[kind]("<html><head>\n<base href=http://h/></head></html>")
    assert trees.base(tree).source == ("base element, line 2" if line else "base element")


@every_kind
def test_a_row_in_a_srcdoc_of_a_tree_has_its_position_in_that_text(parse: Callable[[str], Any]) -> None:
    (row,) = trees.links(parse("<iframe srcdoc='\n<a href=x>'></iframe>"), URL)
    assert row[1:6] == ("srcdoc[1]", 2, 9, 9, 10)


def test_make_links_absolute_accepts_the_call_of_lxml() -> None:
    tree = lxml.html.fromstring("<a href=x></a>")
    assert references(trees.make_links_absolute(tree, base_url=URL)) == ["http://h/d/x"]
    tree = lxml.html.fromstring("<a href=x></a><a href='http://[x'></a>")
    assert references(trees.make_links_absolute(tree, URL, True, "ignore")) == ["http://h/d/x", "http://[x"]
    with pytest.raises(absolve.UsageError, match="discard"):
        trees.make_links_absolute(tree, URL, handle_failures="discard")


@pytest.mark.parametrize(("base_url", "expected"), [(URL, "http://h/d/x"), ("/pages/page.html", "x"), ("file:///page.html", "x"), (None, "x")])
def test_the_url_of_an_lxml_tree_is_the_default(base_url: str | None, expected: str) -> None:
    tree = lxml.html.document_fromstring("<a href=x></a>", base_url=base_url)
    assert references(trees.make_links_absolute(tree)) == [expected]
    assert references(trees.make_links_absolute(tree, "http://other/")) == [expected if base_url == URL else "http://other/x"]


# --- errors and imports -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [trees.make_links_absolute, trees.links, trees.base])
def test_other_objects_than_trees_are_rejected_with_the_supported_libraries_or_the_right_function(function: Callable[..., Any]) -> None:
    others: list[Any] = [None, 1, {}, [], object()]
    for tree in others:
        with pytest.raises(TypeError, match=r"no tree that absolve knows; lxml, html5lib \(etree, lxml, dom\) and BeautifulSoup"):
            function(tree, URL)
    for text in ("<a href=x>", b"<a href=x>"):
        with pytest.raises(TypeError, match=r"absolve\.rewrite"):
            trees.make_links_absolute(text, URL)


def test_unknown_options_of_tree_functions_are_rejected() -> None:
    tree = lxml.html.fromstring("<a href=x></a>")
    with pytest.raises(absolve.UsageError, match="profile"):
        trees.links(tree, URL, profile="rfc9999")  # type: ignore[arg-type]
    with pytest.raises(absolve.UsageError, match="absolute URL"):
        trees.base(tree, "page.html")
    with pytest.raises(TypeError, match="no_such"):
        trees.make_links_absolute(tree, URL, no_such=True)  # type: ignore[call-arg]


@not_traced
@pytest.mark.parametrize(("library", "make"), [
    ("xml.etree.ElementTree", "tree = library.Element('a', {'href': 'x'})"),
    ("xml.dom.minidom", "tree = library.Document().createElement('a'); tree.setAttribute('href', 'x')"),
])
def test_trees_import_no_other_library_than_their_own(library: str, make: str) -> None:
    code = f"""
import sys, absolve.trees
assert not {{"bs4", "html5lib", "lxml", "xml.etree.ElementTree", "xml.dom.minidom"}} & set(sys.modules)
import {library} as library
{make}
absolve.trees.make_links_absolute(tree, "{URL}")
assert list(absolve.trees.links(tree))[0].reference == "http://h/d/x"
others = {{"bs4", "html5lib", "lxml", "xml.etree.ElementTree", "xml.dom.minidom"}} - {{"{library}"}}
assert not others & set(sys.modules), others & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
