"""css-parsing-tests, a test for each file: url and string tokens, and the charset of a sheet, are as expected.

The scanner reports only tokens that are links, so each case is read three times: unchanged, followed by a link (which is
found if every token before it ended correctly), and as the arguments of image-set(), where strings are links.
`data/css_pins.json` lists the cases with a different purpose, with reasons. The README of the suite (SimonSapin/css-parsing-tests)
describes the format: a tree is a list of component values and rules. Files without tokens (An+B, colours) are skipped.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from material import SHARED, needs, pins
from vectors import by_file, each_file

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings
from absolve.document.walk import walk as walk_document
from absolve.formats.css import walk

SUITE = SHARED / "suites" / "css-parsing-tests"
PINS: dict[str, str] = pins("css")

_FILES: Final = (
    "component_value_list", "one_component_value", "declaration_list", "one_declaration", "rule_list", "one_rule", "stylesheet",
)
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
