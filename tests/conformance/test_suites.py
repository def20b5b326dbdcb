"""Suites of others: html5lib-tests, css-parsing-tests, feedparser and web-platform-tests give the expected tags, tokens, bases and URLs."""

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import html5lib_view
import pytest
import scanner_view
from html5lib_tests import TokenTest, TreeTest, token_tests, tree_tests
from html5lib_view import Element
from material import SHARED, each, needs, pins
from vectors import by_file, each_file

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings
from absolve.document.walk import walk as walk_document
from absolve.formats.css import walk
from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer
from absolve.urls import resolve, whatwg

SUITE = SHARED / "suites" / "html5lib-tests"
PINS: dict[str, str] = pins("html5lib")

TREES = by_file(tree_tests(SUITE / "tree-construction"))
TOKENS = by_file(token_tests(SUITE / "tokenizer"))


@each_file(TREES, TREES.__getitem__, SUITE, PINS)
def test_the_scanner_reports_the_start_tags_that_reach_the_tree(case: TreeTest) -> None:
    data = case.data.encode("utf-8", "surrogateescape")
    assert without_text(scanner_view.elements(data)) == without_text(html5lib_view.elements(case.data))


@needs(SUITE)
def test_every_pinned_document_is_marked_as_guessed() -> None:
    data = {case.name: case.data.encode() for cases in TREES.values() for case in cases if case.name in PINS}
    assert [name for name in PINS if not guessed(data[name])] == []


def guessed(data: bytes) -> bool:
    scanner = Tokenizer(data, bytes(ROWS * ATTRIBUTES))
    while scanner.next():
        pass
    return bool(scanner.tree.guessed)


@each_file(TREES, TREES.__getitem__, SUITE)
def test_html5lib_view_has_the_trees_that_the_suite_expects(case: TreeTest) -> None:
    judged = {attributed(element) for element in html5lib_view.elements(case.data)} - {None}
    expected = {attributed(element) for element in case.expected} - {None}
    merged = {"html", "body"}  # html5lib_view has attributes of a second tag separately, the expected tree merges them
    assert {element for element in judged ^ expected if element and element[1] not in merged} == set()
    assert attributes_of(html5lib_view.elements(case.data), merged) == attributes_of(case.expected, merged)


@each_file(TOKENS, TOKENS.__getitem__, SUITE)
def test_the_scanner_reports_the_start_tags_of_the_tokenizer_tests(case: TokenTest) -> None:
    prefix = len(case.prefix)
    data = (case.prefix + case.data).encode("utf-8", "surrogatepass")
    record: list[tuple[int, int, int, int, int]] = []
    scanner = Tokenizer(data, bytes(ROWS * ATTRIBUTES), record)
    found = [tag for start, tag in scanner_view.tags(scanner, record) if start >= prefix]
    assert found == case.expected


@needs(SUITE)
def test_the_suite_has_the_expected_number_of_vectors() -> None:
    """Check the number of vectors: a reader that finds none would let every file pass."""
    assert (len(TREES), sum(map(len, TREES.values()))) == (52, 1592)
    assert (len(TOKENS), sum(map(len, TOKENS.values()))) == (14, 7036)


def without_text(elements: list[Element]) -> list[tuple[str, str, dict[str, str]]]:
    return [(element.namespace, element.name, normalized(element.attributes)) for element in elements]


def normalized(attributes: dict[str, str]) -> dict[str, str]:
    return {name: value.replace("\r\n", "\n").replace("\r", "\n") for name, value in attributes.items()}


def attributed(element: Element) -> tuple[str, str, frozenset[tuple[str, str]]] | None:
    return (element.namespace, element.name, frozenset(element.attributes.items())) if element.attributes else None


def attributes_of(elements: list[Element], names: set[str]) -> set[tuple[str, str, str]]:
    return {
        (element.name, *item)
        for element in elements
        if element.namespace == "html" and element.name in names
        for item in element.attributes.items()
    }


# --- css-parsing-tests, a test for each file --------------------------------------------------------------------------

CSS_SUITE = SHARED / "suites" / "css-parsing-tests"
CSS_PINS: dict[str, str] = pins("css")

_FILES: Final = ("component_value_list", "one_component_value", "declaration_list", "one_declaration", "rule_list", "one_rule", "stylesheet")
_AT_RULE, _RULE, _DECLARATION = "at-rule", "qualified rule", "declaration"
_NESTED: Final = ("function", "{}", "[]", "()")
_OPEN: Final = ("eof-in-string", "eof-in-url")


class Case(NamedTuple):
    """One case: `tree` is the expected tree of `css`."""

    name: str
    css: str
    tree: list[Any]

    @property
    def references(self) -> list[str]:
        """Yield the values of url tokens, of strings that begin a url(), and of strings after @import."""
        return list(_references(self.tree))

    @property
    def strings(self) -> list[str]:
        """Yield string tokens outside of blocks, and urls, up to an unmatched closing parenthesis."""
        return list(_strings(self.tree))

    @property
    def ends_open(self) -> bool:
        """Return whether the end of the file ended a string or url, so that appended text would be inside it."""
        return any(f"'{error}'" in str(self.tree) for error in _OPEN)


class BytesCase(NamedTuple):
    """A style sheet as bytes: its external charset declarations, and the expected charset."""

    name: str
    data: bytes
    protocol: str | None
    environment: str | None
    charset: str


def cases(folder: Path, files: tuple[str, ...] = _FILES) -> Iterator[Case]:
    for file in files:
        content = json.loads(folder.joinpath(f"{file}.json").read_text("utf-8"))
        for number, (css, tree) in enumerate(zip(content[::2], content[1::2], strict=True)):
            one = file.startswith("one_")
            yield Case(f"{file}:{number}", css, [tree] if one else tree)


def bytes_cases(folder: Path) -> Iterator[BytesCase]:
    content = json.loads(folder.joinpath("stylesheet_bytes.json").read_text("utf-8"))
    for number, (given, (_, charset)) in enumerate(zip(content[::2], content[1::2], strict=True)):
        encodings = given.get("protocol_encoding"), given.get("environment_encoding")
        yield BytesCase(f"stylesheet_bytes:{number}", given["css_bytes"].encode("latin-1"), *encodings, charset)


def _references(values: list[Any]) -> Iterator[str]:
    for value in values:
        kind = value[0] if isinstance(value, list) else None
        if kind == _AT_RULE:
            yield from _references(value[2] if value[1].lower() != "import" else _marked(value[2]))
            yield from _references(value[3] or [])
        elif kind == _RULE:
            yield from _references(value[1])
            yield from _references(value[2])
        elif kind == _DECLARATION:
            yield from _references(value[2])
        elif kind == "url":
            yield value[1]
        elif kind == "function" and value[1].lower() == "url":
            yield from _references(_marked(value[2:]))
        elif kind in _NESTED:
            yield from _references(value[1:])


def _marked(values: list[Any]) -> list[Any]:
    """Return the values with an initial string, if any, as a url."""
    at = 1 if values[:1] == [" "] else 0
    if at < len(values) and isinstance(values[at], list) and values[at][0] == "string":
        return [["url", values[at][1]], *values[at + 1 :]]
    return values


def _strings(values: list[Any]) -> Iterator[str]:
    for number, value in enumerate(values):
        if value == ["error", ")"]:
            yield from _references(values[number + 1 :])
            return
        yield from [value[1]] if isinstance(value, list) and value[0] == "string" else _references([value])


CASES = by_file(cases(CSS_SUITE)) if CSS_SUITE.is_dir() else {}


def links(css: str) -> list[str]:
    data = css.encode()
    return [link.coding.decode(data[link.start : link.end]).decode() for link in walk(data)]


def trimmed(values: list[str]) -> list[str]:
    """Strip white space around a reference: it belongs to the surrounding grammar."""
    return [value.strip("\t\n\f\r ") for value in values]


@each_file(CASES, CASES.__getitem__, CSS_SUITE, CSS_PINS)
def test_url_tokens_are_those_of_css_parsing_tests(case: Case) -> None:
    assert links(case.css) == trimmed(case.references)


@each_file(CASES, CASES.__getitem__, CSS_SUITE, CSS_PINS)
def test_a_link_after_each_case_of_css_parsing_tests_is_found(case: Case) -> None:
    """The inserted text ends a name, an escape and a comment, but no string or url."""
    assert ("behind" in links(f"{case.css}*/; url(behind)")) is not case.ends_open


@each_file(["component_value_list"], CASES.__getitem__, CSS_SUITE, CSS_PINS)
def test_string_tokens_are_those_of_css_parsing_tests(case: Case) -> None:
    assert links(f"image-set({case.css}") == trimmed(case.strings)


@each_file(["stylesheet_bytes"], lambda _: bytes_cases(CSS_SUITE), CSS_SUITE, CSS_PINS)
def test_style_sheets_have_the_charset_that_css_parsing_tests_expects(case: BytesCase) -> None:
    media_type = f"text/css; charset={case.protocol}" if case.protocol else "text/css"
    assert walk_document(Document(case.data, media_type=media_type), Settings()).charset.name == case.charset
    assert not list(absolve.links(case.data, media_type=media_type))


@needs(CSS_SUITE)
def test_the_suite_has_the_expected_number_of_vectors_of_css_parsing_tests() -> None:
    """Check the number of tokens: a reader that finds none would let every case pass."""
    assert len(list(cases(CSS_SUITE))) == 137
    assert {*CSS_PINS} <= {case.name for case in bytes_cases(CSS_SUITE)}
    assert sum(len(case.references) for case in cases(CSS_SUITE)) == 29
    assert sum(len(case.strings) for case in cases(CSS_SUITE, ("component_value_list",))) == 37


# --- feedparser's suite for bases in feeds ----------------------------------------------------------------------------

FEEDS = SHARED / "xml" / "feedparser" / "tests" / "wellformed" / "base"
FEED_PINS: dict[str, str] = pins("feedparser")
SERVER = "http://127.0.0.1:8097/tests/wellformed/base/"  # the server of feedparser's tests

HEADER = re.compile(r"^Header:\s*Content-Location:\s*(\S+)", re.MULTILINE)
EXPECT = re.compile(r"^Expect:\s*not bozo and (.+)", re.MULTILINE)
URL = re.compile(r"https?://[^'\"<>\s]+")


def names() -> list[str]:
    return sorted(path.name for path in FEEDS.glob("*.xml"))


def expected(comment: str) -> tuple[bool, list[str]]:
    """Return whether a base or targets are expected, and their URLs."""
    found = EXPECT.search(comment)
    assert found, comment
    _, _, value = found[1].partition("==")
    return "['base']" in found[1], URL.findall(codecs.decode(value, "unicode_escape"))


@each("name", [pytest.param(name) for name in names()], FEEDS)
def test_links_have_the_targets_that_feedparser_expects(name: str) -> None:
    data = (FEEDS / name).read_bytes()
    comment = data.decode().partition("-->")[0]
    location = HEADER.search(comment)
    rows = list(absolve.links(data, name=name, url=location[1] if location else SERVER + name))
    is_base, urls = expected(comment)
    assert urls
    seen = {row.base for row in rows if row.attribute != "xml:base"} if is_base else {row.target for row in rows}
    passes = seen.issuperset(urls)
    assert passes != (name in FEED_PINS), f"{name}: expected {urls}, found {seen}; pinned: {FEED_PINS.get(name)}"


def test_every_feedparser_pin_names_a_file_of_the_suite() -> None:
    assert set(FEED_PINS) <= set(names()) or not names()


# --- the web-platform-tests of URLs and hosts -------------------------------------------------------------------------

WPT = SHARED / "suites" / "urls" / "tests" / "wpt"
URLS = ("urltestdata.json", "urltestdata-javascript-only.json", "ada_extra_urltestdata.json", "ada_long_urltestdata.json")
HOSTS = ("toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json")


class UrlCase(NamedTuple):
    """A reference, its base, and the expected URL (None: parsing fails)."""

    name: str
    reference: str
    base: str | None
    target: str | None


def urls(name: str) -> Iterator[UrlCase]:
    for number, row in enumerate(json.loads((WPT / name).read_text("utf-8"))):
        if isinstance(row, dict):  # strings between the cases are headings
            target = None if row.get("failure") else row["href"]
            yield UrlCase(f"{name}:{number}", row["input"], row.get("base"), target)


def hosts(name: str) -> Iterator[UrlCase]:
    for number, row in enumerate(json.loads((WPT / name).read_text("utf-8"))):
        if isinstance(row, dict) and row["input"]:  # no URL has an empty host
            target = None if row["output"] is None else f"https://{row['output']}/x"
            yield UrlCase(f"{name}:{number}", f"https://{row['input']}/x", None, target)


@each_file(URLS, urls, WPT)
def test_references_resolve_to_the_urls_of_the_web_platform_tests(case: UrlCase) -> None:
    assert whatwg.parse(case.reference, case.base) == case.target
    if case.base is None or whatwg.parse(case.base) is not None:  # for documents an unusable base is no base
        assert resolve(case.base or "", case.reference, "whatwg") == case.target


@each_file(HOSTS, hosts, WPT)
def test_hosts_are_serialized_as_in_the_web_platform_tests(case: UrlCase) -> None:
    assert resolve("", case.reference, "whatwg") == case.target


@needs(WPT)
def test_the_suite_has_the_expected_number_of_vectors_of_url_suites() -> None:
    """Check the number of vectors: a reader that finds none would let every file pass."""
    assert sum(len(list(urls(name))) for name in URLS) == 921
    assert sum(len(list(hosts(name))) for name in HOSTS) == 2777
