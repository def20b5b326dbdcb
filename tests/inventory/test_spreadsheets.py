"""Formulas for spreadsheets become text by a preceding apostrophe."""

from __future__ import annotations

import pytest

from absolve.inventory.sinks.spreadsheets import literal


@pytest.mark.parametrize("text", ["", "a=b", "'", "http://h/", " =1", "#x", "/x"])
def test_cells_without_formulas_are_unchanged(text: str) -> None:
    assert literal(text) == text


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"])
def test_a_formula_gets_an_apostrophe(first: str) -> None:
    assert literal(f"{first}x") == f"'{first}x"


def test_a_formula_behind_a_separator_or_a_line_break_gets_an_apostrophe() -> None:
    assert literal("a;=1\n-2\r\n+3\t@4\n\n\uff1d5") == "a;'=1\n'-2\r\n'+3\t'@4\n\n'\uff1d5"
    assert literal("\t=1") == "'\t'=1"
    assert literal("a=b;c a,-b ; =c") == "a=b;c a,-b ; =c"
