"""Running one part of the benchmarks keeps the results of the others."""

from pathlib import Path

from benchmarks.__main__ import PARTS
from benchmarks.results import HEAD, merged, section

ONE = section("One", "Measured on Monday.", "| a |\n| - |\n| 1 |")
TWO = section("Two", "Measured on Tuesday.", "Words of it.\n\n### Within it\n\n| b |\n")
BOTH = f"{HEAD}\n{ONE}\n{TWO}"


def test_a_section_begins_with_the_line_about_its_measurement() -> None:
    assert ONE == "## One\n\nMeasured on Monday.\n\n| a |\n| - |\n| 1 |\n"


def test_merging_the_same_section_again_changes_nothing() -> None:
    assert merged(BOTH, ONE) == BOTH
    assert merged(BOTH, TWO) == BOTH


def test_a_section_replaces_the_one_with_the_same_title_and_the_others_stay() -> None:
    again = section("One", "Measured on Friday.", "Nothing.")
    assert merged(BOTH, again) == f"{HEAD}\n{again}\n{TWO}"


def test_a_section_whose_title_begins_like_another_is_appended() -> None:
    more = section("One more", "Measured on Friday.", "Nothing.")
    assert merged(BOTH, more) == f"{BOTH}\n{more}"


def test_the_first_section_creates_the_file() -> None:
    assert merged("", ONE) == f"{HEAD}\n{ONE}"


def test_the_results_file_has_only_sections_of_existing_parts() -> None:
    kept = (Path(__file__).parents[2] / "benchmarks" / "RESULTS.md").read_text("utf-8")
    titles = [line.removeprefix("## ") for line in kept.splitlines() if line.startswith("## ")]
    assert kept.startswith(HEAD)
    assert set(titles) <= {part.title for part in PARTS.values()}
    assert len(titles) == len(set(titles))
    assert kept.count("\n\nMeasured on 20") == len(titles)
