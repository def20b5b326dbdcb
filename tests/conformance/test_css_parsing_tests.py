"""css-parsing-tests: the scanner has the url and string tokens that the suite expects, and a sheet its charset.

The scanner tells only of tokens that are links, so each case is read three times: as it is, with a link behind it (which
is found where every token before it ended where it should), and as the arguments of image-set(), where strings are links.
`data/css_pins.json` names the cases in which something else is meant, each with its reason.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from css_parsing_tests import BytesCase, Case, bytes_cases, cases
from material import SHARED, each, missing

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings
from absolve.document.walk import walk as walk_document
from absolve.formats.css.walker import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from _pytest.mark import ParameterSet

SUITE = SHARED / "suites" / "css-parsing-tests"
PINS: dict[str, str] = json.loads(Path(__file__).with_name("data").joinpath("css_pins.json").read_text("utf-8"))


def rows(found: Iterable[Case | BytesCase]) -> Iterator[ParameterSet]:
    pinned = {
        name: pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason) for name, reason in PINS.items()
    }
    for case in found:
        yield pytest.param(case, id=case.name, marks=pinned.get(case.name, ()))


CASES = each("case", rows(cases(SUITE)), SUITE)
TOKENS = each("case", rows(cases(SUITE, ("component_value_list",))), SUITE)
SHEETS = each("case", rows(bytes_cases(SUITE)), SUITE)


def links(css: str) -> list[str]:
    data = css.encode()
    return [link.coding.decode(data[link.start : link.end]).decode() for link in walk(data)]


def trimmed(values: list[str]) -> list[str]:
    """White space around a reference belongs to the grammar that it is in, not to the reference."""
    return [value.strip("\t\n\f\r ") for value in values]


@CASES
def test_the_url_tokens_are_those_of_the_suite(case: Case) -> None:
    assert links(case.css) == trimmed(case.references)


@CASES
def test_what_follows_is_found_where_every_token_ends_where_it_should(case: Case) -> None:
    """What is put between ends a name, an escape and a comment, and no string or url."""
    assert ("behind" in links(f"{case.css}*/; url(behind)")) is not case.ends_open


@TOKENS
def test_the_string_tokens_are_those_of_the_suite(case: Case) -> None:
    assert links(f"image-set({case.css}") == trimmed(case.strings)


@SHEETS
def test_a_sheet_is_read_in_the_charset_that_the_suite_expects(case: BytesCase) -> None:
    media_type = f"text/css; charset={case.protocol}" if case.protocol else "text/css"
    assert walk_document(Document(case.data, media_type=media_type), Settings()).charset.name == case.charset
    assert not list(absolve.links(case.data, media_type=media_type))


def test_the_suite_is_read() -> None:
    """As many tokens as it has: a reader that finds none would let every case pass."""
    if not SUITE.is_dir():
        pytest.skip(missing(SUITE))
    assert len(list(cases(SUITE))) == 137
    assert sum(len(case.references) for case in cases(SUITE)) == 29
    assert sum(len(case.strings) for case in cases(SUITE, ("component_value_list",))) == 37
