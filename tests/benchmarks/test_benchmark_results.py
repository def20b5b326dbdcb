"""What a run of a part of the benchmarks leaves of the others' results."""

from __future__ import annotations

from pathlib import Path

from benchmarks.__main__ import PARTS
from benchmarks.results import HEAD, merged, section

ONE = section("One", "Measured on Monday.", "| a |\n| - |\n| 1 |")
TWO = section("Two", "Measured on Tuesday.", "Words of it.\n\n### Within it\n\n| b |\n")
BOTH = f"{HEAD}\n{ONE}\n{TWO}"


def test_a_section_says_how_it_was_measured_before_anything_else() -> None:
    assert ONE == "## One\n\nMeasured on Monday.\n\n| a |\n| - |\n| 1 |\n"


def test_the_same_section_again_changes_nothing() -> None:
    assert merged(BOTH, ONE) == BOTH
    assert merged(BOTH, TWO) == BOTH


def test_a_section_takes_the_place_of_the_one_with_its_title_and_the_others_stay() -> None:
    again = section("One", "Measured on Friday.", "Nothing.")
    assert merged(BOTH, again) == f"{HEAD}\n{again}\n{TWO}"


def test_a_section_of_a_title_that_begins_as_another_one_s_is_new() -> None:
    more = section("One more", "Measured on Friday.", "Nothing.")
    assert merged(BOTH, more) == f"{BOTH}\n{more}"


def test_the_first_section_makes_the_file() -> None:
    assert merged("", ONE) == f"{HEAD}\n{ONE}"


def test_the_results_that_are_kept_have_sections_of_the_parts_and_no_others() -> None:
    kept = (Path(__file__).parents[2] / "benchmarks" / "RESULTS.md").read_text("utf-8")
    titles = [line.removeprefix("## ") for line in kept.splitlines() if line.startswith("## ")]
    assert kept.startswith(HEAD)
    assert set(titles) <= {part.title for part in PARTS.values()}
    assert len(titles) == len(set(titles))
    assert kept.count("\n\nMeasured on 20") == len(titles)
