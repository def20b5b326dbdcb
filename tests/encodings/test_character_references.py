"""Character references, against html5lib-tests' token lists and html5lib itself."""

import html
import json
import re
from html.entities import html5
from typing import Any, NamedTuple

import all_references
import fuzz_references
from material import SHARED
from vectors import each_file

TOKENIZER = SHARED / "suites" / "html5lib-tests" / "tokenizer"


class Case(NamedTuple):
    """One case of a file of the suite: its markup, and the expected tokens."""

    name: str
    markup: str
    output: list[list[Any]]

    @property
    def text(self) -> str:
        return "".join(token[1] for token in self.output)


def suite(name: str) -> list[Case]:
    path = TOKENIZER / f"{name}.test"
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    return [Case(f"{path.name}:{number}:{test['description']}", test["input"], test["output"]) for number, test in enumerate(tests)]


def decode(value: str, attribute: bool) -> str:
    return all_references.decode(value.encode(), attribute).decode()


VALUES = [
    "", "no reference", "&", "& &&", "&;", "&#", "&#;", "&#x", "&#xg;", "&x", "&unknown;", "&AMp;", "&hellip", "&1;",
    "?a=1&b=2&c=3", "&copy=3", "&copya", "&copy1", "&amp=1&region=2&notit;=3", "&copy", "&copy&copy", "&copy/",
    "&copyé", "&not.in;", "&copy;=3", "&notin;", "&amp;copy;", "&CounterClockwiseContourIntegral;",
    "&CounterClockwiseContourIntegrals;", "&NotEqualTilde;", "a&lt;b&gt;", "&#65;&#x41;&#X41;&#65&#x41 &#065;",
    "&#65=", "&#x80;&#129;&#x9f;", "&#0;&#xD800;&#xDFFF;&#x110000;&#1114112;", "&#x10FFFF;&#1114111;",
    "&#13;&#1;&#xFFFF;&#xB;", "a\r\nb\rc", "&#13;\n", "a\0b",
]


def test_html5lib_decodes_the_same_references_and_exactly_those_need_an_escape() -> None:
    for value in VALUES:
        fuzz_references.check(value.encode())


def test_numbers_of_any_length_are_decoded_and_named_references_agree_with_the_table_of_python() -> None:
    assert [decode(f"&#{'9' * 5000};&#{'0' * 5000}65;", attribute) for attribute in (True, False)] == ["\ufffdA"] * 2
    for name in html5:
        for reference in (f"&{name}", f"&{name.rstrip(';')}", f"&{name.rstrip(';')}=", f"&{name.rstrip(';')}x"):
            assert decode(reference, attribute=False) == html.unescape(reference)


def test_spans_of_character_references_are_in_bytes() -> None:
    assert all_references.references("é&amp;&copy=&#x41;".encode(), attribute=True) == [(2, 7, b"&"), (13, 19, b"A")]


@each_file(["namedEntities", "numericEntities"], suite, TOKENIZER)
def test_references_of_the_suite_are_decoded_in_text_and_at_the_end_of_an_attribute(case: Case) -> None:
    assert decode(case.markup, attribute=False) == case.text
    unfinished = re.fullmatch(r"&[A-Za-z0-9]+", case.markup) and case.markup[1:] not in html5
    assert decode(case.markup, attribute=True) == (case.markup if unfinished else case.text)


@each_file(["entities"], suite, TOKENIZER)
def test_references_of_the_suite_are_decoded_in_attributes(case: Case) -> None:
    if tag := re.fullmatch(r"""<h a=(["']?)(.*)\1>""", case.markup, re.DOTALL):
        assert decode(tag[2], attribute=True) == case.output[0][2]["a"]
    elif "<" not in case.markup:
        assert decode(case.markup, attribute=False) == case.text
