"""Character references, against html5lib-tests' token lists and html5lib itself."""

from __future__ import annotations

import html
import json
import re
import time
from html.entities import html5
from typing import Any, NamedTuple

import all_references
import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from material import SHARED, missing
from vectors import check

from absolve.encodings.character_references import needs_escape

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
    if not path.is_file():
        pytest.skip(missing(TOKENIZER))
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    return [
        Case(f"{path.name}:{number}:{test['description']}", test["input"], test["output"])
        for number, test in enumerate(tests)
    ]


def decode(value: str, attribute: bool) -> str:
    return all_references.decode(value.encode(), attribute).decode()


CASES = [
    # value, decoded as an attribute, decoded as text; None: unchanged
    ("", None, None),
    ("no reference", None, None),
    ("&", None, None),
    ("& &&", None, None),
    ("&;", None, None),
    ("&#", None, None),
    ("&#;", None, None),
    ("&#x", None, None),
    ("&#xg;", None, None),
    ("&x", None, None),
    ("&unknown;", None, None),
    ("&AMp;", None, None),
    ("&hellip", None, None),
    ("&1;", None, None),
    ("?a=1&b=2&c=3", None, None),
    # without a semicolon
    ("&copy=3", None, "©=3"),
    ("&copya", None, "©a"),
    ("&copy1", None, "©1"),
    ("&amp=1&region=2&notit;=3", None, "&=1®ion=2¬it;=3"),
    ("&copy", "©", "©"),
    ("&copy&copy", "©©", "©©"),
    ("&copy/", "©/", "©/"),
    ("&copyé", "©é", "©é"),
    ("&not.in;", "¬.in;", "¬.in;"),
    # with one; the longest name is used
    ("&copy;=3", "©=3", "©=3"),
    ("&notin;", "∉", "∉"),
    ("&amp;copy;", "&copy;", "&copy;"),
    ("&CounterClockwiseContourIntegral;", "∳", "∳"),
    ("&CounterClockwiseContourIntegrals;", None, None),
    ("&NotEqualTilde;", "≂\u0338", "≂\u0338"),
    ("a&lt;b&gt;", "a<b>", "a<b>"),
    # numeric references
    ("&#65;&#x41;&#X41;&#65&#x41 &#065;", "AAAAA A", "AAAAA A"),
    ("&#65=", "A=", "A="),
    ("&#x80;&#129;&#x9f;", "€\x81Ÿ", "€\x81Ÿ"),
    ("&#0;&#xD800;&#xDFFF;&#x110000;&#1114112;", "\ufffd" * 5, "\ufffd" * 5),
    ("&#x10FFFF;&#1114111;", "\U0010ffff" * 2, "\U0010ffff" * 2),
    ("&#13;&#1;&#xFFFF;&#xB;", "\r\x01\uffff\x0b", "\r\x01\uffff\x0b"),
    (f"&#{'9' * 5000};&#{'0' * 5000}65;", "\ufffdA", "\ufffdA"),
]


@pytest.mark.parametrize(("value", "attribute", "text"), CASES, ids=[case[0][:30] for case in CASES])
def test_a_character_reference_is_decoded_as_in_the_html_standard(value: str, attribute: str | None, text: str | None) -> None:
    assert decode(value, attribute=True) == (value if attribute is None else attribute)
    assert decode(value, attribute=False) == (value if text is None else text)


def test_all_named_references_agree_with_the_table_of_python() -> None:
    for name in html5:
        for reference in (f"&{name}", f"&{name.rstrip(';')}", f"&{name.rstrip(';')}=", f"&{name.rstrip(';')}x"):
            assert decode(reference, attribute=False) == html.unescape(reference)


def test_spans_of_character_references_are_in_bytes() -> None:
    assert all_references.references("é&amp;&copy=&#x41;".encode(), attribute=True) == [(2, 7, b"&"), (13, 19, b"A")]


@pytest.mark.parametrize("name", ["namedEntities", "numericEntities"])
def test_references_of_the_suite_are_decoded_in_text(name: str) -> None:
    check(suite(name), is_decoded_in_text)


def is_decoded_in_text(case: Case) -> None:
    assert decode(case.markup, attribute=False) == case.text


@pytest.mark.parametrize("name", ["namedEntities", "numericEntities"])
def test_references_of_the_suite_are_decoded_at_the_end_of_an_attribute(name: str) -> None:
    check(suite(name), is_decoded_at_the_end_of_an_attribute)


def is_decoded_at_the_end_of_an_attribute(case: Case) -> None:
    unfinished = re.fullmatch(r"&[A-Za-z0-9]+", case.markup) and case.markup[1:] not in html5
    assert decode(case.markup, attribute=True) == (case.markup if unfinished else case.text)


def test_references_of_the_suite_are_decoded_in_attributes() -> None:
    cases = suite("entities")
    check(cases, is_decoded_where_it_is)
    assert any(case.markup.startswith("<h a=") for case in cases)


def is_decoded_where_it_is(case: Case) -> None:
    if tag := re.fullmatch(r"""<h a=(["']?)(.*)\1>""", case.markup, re.DOTALL):
        assert decode(tag[2], attribute=True) == case.output[0][2]["a"]
    elif "<" not in case.markup:
        assert decode(case.markup, attribute=False) == case.text


PIECES = st.sampled_from(
    ["&", "&#", "&#x", ";", "=", "a", "1", "F", " ", "é", "/", "&amp", "&not", "in", "it;", "&lang", "&copy", *html5]
).map(str) | st.text("&#;=xX0123456789abcdefABCDEF ")


@given(st.lists(PIECES, max_size=8).map("".join))
def test_html5lib_decodes_the_same_references(value: str) -> None:
    parsed = html5lib.parseFragment(f'<p a="{value}">x{value}', container="div", namespaceHTMLElements=False)
    assert decode(value, attribute=True) == parsed[0].get("a")
    assert "x" + decode(value, attribute=False) == parsed[0].text


@given(st.lists(PIECES, max_size=8).map("".join), st.booleans())
def test_exactly_the_values_that_need_an_escape_would_be_decoded(value: str, attribute: bool) -> None:
    raw = value.encode()
    needed = [at for at, byte in enumerate(raw) if byte == 0x26 and needs_escape(raw, at, attribute)]
    pieces = [b"&amp;" if at in needed else raw[at : at + 1] for at in range(len(raw))]
    assert all_references.decode(b"".join(pieces), attribute) == raw
    assert needed == [start for start, _, _ in all_references.references(raw, attribute)]


@pytest.mark.parametrize("unit", ["&", "&a", "&#", "&amp", "&amp;", "a", "&#1", "&#x1;", "9", "&CounterClockwise"])
def test_decoding_references_of_a_long_value_takes_linear_time(unit: str) -> None:
    for start in ("", "&", "&#", "&#x"):
        value = start + unit * (200_000 // len(unit))
        began = time.process_time()
        decode(value, attribute=True)
        decode(value, attribute=False)
        assert time.process_time() - began < 10  # well under a second; quadratic time would be minutes
