"""What people type first: each hint names commands and options that there are."""

import re

import pytest

from absolve.cli import meanings, option_table
from absolve.cli.commands import COMMANDS


@pytest.mark.parametrize("rows", [meanings._OPTIONS, meanings._COMMANDS], ids=["options", "commands"])
def test_every_hint_names_what_there_is(rows: tuple[tuple[str, str], ...]) -> None:
    assert len(rows) > 10
    for words, hint in rows:
        named = re.findall(r"absolve (?:([a-z]+) )?", hint)
        assert {word for word in named if word} <= {*COMMANDS, "reads"}, hint
        for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", hint):
            assert option == "--version" or option_table.having(option), (words, hint)


def test_a_word_has_one_meaning() -> None:
    for rows in (meanings._OPTIONS, meanings._COMMANDS):
        words = [word for words, _ in rows for word in words.split()]
        assert len(words) == len(set(words))


@pytest.mark.parametrize("name", ["--base-url", "--baseurl", "--base_url", "--BaseURL"])
def test_an_option_is_found_in_any_spelling(name: str) -> None:
    assert (meanings.of_option(name) or "").startswith("--url URL")
