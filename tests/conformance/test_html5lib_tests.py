"""html5lib-tests: the scanner reports the start tags, with the attributes, that the suite's tokens and trees have.

`data/html5lib_pins.json` names the cases in which a scanner without a tree cannot, each with its reason. Trees show
implied and cloned elements as well, so html5lib tells which of their elements are tags; that it is right about the
suite is a test of its own. Its version 1.1 is not: html5lib_view.py mends it.
"""

from __future__ import annotations

import json
from pathlib import Path

import html5lib_view
import pytest
import scanner_view
from html5lib_tests import TokenTest, TreeTest, token_tests, tree_tests
from html5lib_view import Element
from material import SHARED, each, missing

from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

pytestmark = pytest.mark.slow
SUITE = SHARED / "suites" / "html5lib-tests"
PINS: dict[str, str] = json.loads(Path(__file__).with_name("data").joinpath("html5lib_pins.json").read_text("utf-8"))

TREES = [pytest.param(case, id=case.name) for case in tree_tests(SUITE / "tree-construction")]
TOKENS = [pytest.param(case, id=case.name) for case in token_tests(SUITE / "tokenizer")]


@each("case", TREES, SUITE)
def test_the_scanner_reports_the_start_tags_that_reach_the_tree(case: TreeTest, request: pytest.FixtureRequest) -> None:
    if case.name in PINS:
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason=PINS[case.name]))
    data = case.data.encode("utf-8", "surrogateescape")
    assert without_text(scanner_view.elements(data)) == without_text(html5lib_view.elements(case.data))


@pytest.mark.parametrize("name", PINS)
def test_a_document_that_is_pinned_is_known_to_be_guessed(name: str) -> None:
    case = next((case.values[0] for case in TREES if case.id == name), None)
    if case is None:
        pytest.skip(missing(SUITE))
    assert isinstance(case, TreeTest)
    scanner = Tokenizer(case.data.encode(), bytes(ROWS * ATTRIBUTES))
    while scanner.next():
        pass
    assert scanner.tree.guessed


@each("case", TREES, SUITE)
def test_the_judge_has_the_tree_that_the_suite_expects(case: TreeTest) -> None:
    judged = {attributed(element) for element in html5lib_view.elements(case.data)} - {None}
    expected = {attributed(element) for element in case.expected} - {None}
    merged = {"html", "body"}  # elements of a second tag's attributes at the judge, of all attributes in the tree
    assert {element for element in judged ^ expected if element and element[1] not in merged} == set()
    assert attributes_of(html5lib_view.elements(case.data), merged) == attributes_of(case.expected, merged)


@each("case", TOKENS, SUITE)
def test_the_scanner_reports_the_start_tags_of_the_tokenizer(case: TokenTest) -> None:
    prefix = len(case.prefix)
    data = (case.prefix + case.data).encode("utf-8", "surrogatepass")
    record: list[tuple[int, int, int, int, int]] = []
    scanner = Tokenizer(data, bytes(ROWS * ATTRIBUTES), record)
    found = [tag for start, tag in scanner_view.tags(scanner, record) if start >= prefix]
    assert found == case.expected


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
