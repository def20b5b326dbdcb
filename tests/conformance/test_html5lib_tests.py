"""html5lib-tests, a test for each file: the scanner reports the expected start tags with their attributes.

`data/html5lib_pins.json` lists the cases that need a full tree, with reasons. Trees also contain implied and cloned
elements, so html5lib is used to find which elements are tags; another test checks that html5lib is right about the
suite. Its version 1.1 is not, so html5lib_view.py corrects it.
"""

import html5lib_view
import scanner_view
from html5lib_tests import TokenTest, TreeTest, token_tests, tree_tests
from html5lib_view import Element
from material import SHARED, needs, pins
from vectors import by_file, each_file

from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

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
