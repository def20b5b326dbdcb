"""css-parsing-tests, a test for each file: url and string tokens, and the charset of a sheet, are as expected.

The scanner reports only tokens that are links, so each case is read three times: unchanged, followed by a link (which is
found if every token before it ended correctly), and as the arguments of image-set(), where strings are links.
`data/css_pins.json` lists the cases with a different purpose, with reasons.
"""

import json
from pathlib import Path

import pytest
from css_parsing_tests import BytesCase, Case, bytes_cases, cases
from material import SHARED, each, missing
from vectors import by_file, check

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings
from absolve.document.walk import walk as walk_document
from absolve.formats.css.walker import walk

SUITE = SHARED / "suites" / "css-parsing-tests"
PINS: dict[str, str] = json.loads(Path(__file__).with_name("data").joinpath("css_pins.json").read_text("utf-8"))
CASES = by_file(cases(SUITE)) if SUITE.is_dir() else {}
FILES = each("file", [pytest.param(file) for file in CASES], SUITE)


def links(css: str) -> list[str]:
    data = css.encode()
    return [link.coding.decode(data[link.start : link.end]).decode() for link in walk(data)]


def trimmed(values: list[str]) -> list[str]:
    """Strip white space around a reference: it belongs to the surrounding grammar."""
    return [value.strip("\t\n\f\r ") for value in values]


@FILES
def test_url_tokens_are_those_of_css_parsing_tests(file: str) -> None:
    check(CASES[file], has_the_url_tokens, PINS)


def has_the_url_tokens(case: Case) -> None:
    assert links(case.css) == trimmed(case.references)


@FILES
def test_a_link_after_each_case_of_css_parsing_tests_is_found(file: str) -> None:
    """The inserted text ends a name, an escape and a comment, but no string or url."""
    check(CASES[file], what_follows_is_found, PINS)


def what_follows_is_found(case: Case) -> None:
    assert ("behind" in links(f"{case.css}*/; url(behind)")) is not case.ends_open


def test_string_tokens_are_those_of_css_parsing_tests() -> None:
    if not SUITE.is_dir():
        pytest.skip(missing(SUITE))
    check(CASES["component_value_list"], has_the_string_tokens, PINS)


def has_the_string_tokens(case: Case) -> None:
    assert links(f"image-set({case.css}") == trimmed(case.strings)


def test_style_sheets_have_the_charset_that_css_parsing_tests_expects() -> None:
    if not SUITE.is_dir():
        pytest.skip(missing(SUITE))
    check(bytes_cases(SUITE), has_the_charset, PINS)


def has_the_charset(case: BytesCase) -> None:
    media_type = f"text/css; charset={case.protocol}" if case.protocol else "text/css"
    assert walk_document(Document(case.data, media_type=media_type), Settings()).charset.name == case.charset
    assert not list(absolve.links(case.data, media_type=media_type))


def test_the_suite_has_the_expected_number_of_vectors() -> None:
    """Check the number of tokens: a reader that finds none would let every case pass."""
    if not SUITE.is_dir():
        pytest.skip(missing(SUITE))
    assert len(list(cases(SUITE))) == 137
    assert {*PINS} <= {case.name for case in bytes_cases(SUITE)}
    assert sum(len(case.references) for case in cases(SUITE)) == 29
    assert sum(len(case.strings) for case in cases(SUITE, ("component_value_list",))) == 37
