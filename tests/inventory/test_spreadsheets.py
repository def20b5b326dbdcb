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
