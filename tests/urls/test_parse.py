"""Parsing in the order of RFC 1808 section 2.4, and serialization."""

import pytest
from hypothesis import given
from resolver_strategies import references

from absolve.core.model import Reference
from absolve.urls import rfc3986
from absolve.urls.rfc1808 import split, unsplit

PARSED = [
    ("", Reference(None, None, "", None, None, None)), ("s://n/p;a?q#f", Reference("s", "n", "/p", "a", "q", "f")),
    ("s://n/;?#", Reference("s", "n", "/", "", "", "")),
    ("#f#g?q;a", Reference(None, None, "", None, None, "f#g?q;a")),  # 2.4.1 comes first
    ("?q;a?r", Reference(None, None, "", None, "q;a?r", None)),  # 2.4.4 comes before 2.4.5
    (";a;b/c", Reference(None, None, "", "a;b/c", None, None)),
    ("a/b:c", Reference(None, None, "a/b:c", None, None, None)),
    (":a", Reference(None, None, ":a", None, None, None)),  # 2.4.2: after the first character
    ("+1-a.b:c", Reference("+1-a.b", None, "c", None, None, None)),
    ("é:a", Reference(None, None, "é:a", None, None, None)),
    ("//h?q;a/p", Reference(None, "h?q;a", "/p", None, None, None)),  # 2.4.3 comes before 2.4.4
    ("//", Reference(None, "", "", None, None, None)), ("///p", Reference(None, "", "/p", None, None, None)),
    ("//h#f", Reference(None, "h", "", None, None, "f")), ("s:#f", Reference("s", None, "", None, None, "f")),
]


@pytest.mark.parametrize(("text", "reference"), PARSED)
def test_components_are_parsed_in_the_order_of_section_2_4(text: str, reference: Reference) -> None:
    assert split(text) == reference
    assert unsplit(reference) == text


@given(references)
def test_parsing_loses_nothing(text: str) -> None:
    assert unsplit(split(text)) == unsplit(rfc3986.split(text)) == text
