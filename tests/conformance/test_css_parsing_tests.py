"""css-parsing-tests, a test for each file: url and string tokens, and the charset of a sheet, are as expected.

The scanner reports only tokens that are links, so each case is read three times: unchanged, followed by a link (which is
found if every token before it ended correctly), and as the arguments of image-set(), where strings are links.
`data/css_pins.json` lists the cases with a different purpose, with reasons.
"""

from css_parsing_tests import BytesCase, Case, bytes_cases, cases
from material import SHARED, needs, pins
from vectors import by_file, each_file

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings
from absolve.document.walk import walk as walk_document
from absolve.formats.css import walk

SUITE = SHARED / "suites" / "css-parsing-tests"
PINS: dict[str, str] = pins("css")
CASES = by_file(cases(SUITE)) if SUITE.is_dir() else {}


def links(css: str) -> list[str]:
    data = css.encode()
    return [link.coding.decode(data[link.start : link.end]).decode() for link in walk(data)]


def trimmed(values: list[str]) -> list[str]:
    """Strip white space around a reference: it belongs to the surrounding grammar."""
    return [value.strip("\t\n\f\r ") for value in values]


@each_file(CASES, CASES.__getitem__, SUITE, PINS)
def test_url_tokens_are_those_of_css_parsing_tests(case: Case) -> None:
    assert links(case.css) == trimmed(case.references)


@each_file(CASES, CASES.__getitem__, SUITE, PINS)
def test_a_link_after_each_case_of_css_parsing_tests_is_found(case: Case) -> None:
    """The inserted text ends a name, an escape and a comment, but no string or url."""
    assert ("behind" in links(f"{case.css}*/; url(behind)")) is not case.ends_open


@each_file(["component_value_list"], CASES.__getitem__, SUITE, PINS)
def test_string_tokens_are_those_of_css_parsing_tests(case: Case) -> None:
    assert links(f"image-set({case.css}") == trimmed(case.strings)


@each_file(["stylesheet_bytes"], lambda _: bytes_cases(SUITE), SUITE, PINS)
def test_style_sheets_have_the_charset_that_css_parsing_tests_expects(case: BytesCase) -> None:
    media_type = f"text/css; charset={case.protocol}" if case.protocol else "text/css"
    assert walk_document(Document(case.data, media_type=media_type), Settings()).charset.name == case.charset
    assert not list(absolve.links(case.data, media_type=media_type))


@needs(SUITE)
def test_the_suite_has_the_expected_number_of_vectors() -> None:
    """Check the number of tokens: a reader that finds none would let every case pass."""
    assert len(list(cases(SUITE))) == 137
    assert {*PINS} <= {case.name for case in bytes_cases(SUITE)}
    assert sum(len(case.references) for case in cases(SUITE)) == 29
    assert sum(len(case.strings) for case in cases(SUITE, ("component_value_list",))) == 37
