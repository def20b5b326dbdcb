"""The picture of README shows the races of RESULTS.md, and running one part of the benchmarks keeps the results of the others."""

from xml.etree import ElementTree as ET

import pytest

from benchmarks import picture
from benchmarks.__main__ import PARTS
from benchmarks.growth import Growth, Took
from benchmarks.results import HEAD, merged, section

RESULTS = picture.RESULTS.read_text("utf-8")


def test_a_section_replaces_the_one_with_the_same_title_and_the_others_stay() -> None:
    one, two = section("One", "Measured on Monday.", "| a |\n| - |"), section("Two", "Measured on Tuesday.", "Words.\n\n### Within it\n")
    both = f"{HEAD}\n{one}\n{two}"
    again, more = (section(title, "Measured on Friday.", "Nothing.") for title in ("One", "One more"))
    assert merged("", one) == f"{HEAD}\n{one}"
    assert merged(both, one) == merged(both, two) == both
    assert merged(both, again) == f"{HEAD}\n{again}\n{two}"
    assert merged(both, more) == f"{both}\n{more}"


def test_the_results_have_only_sections_of_existing_parts_and_the_picture_is_theirs() -> None:
    titles = [line.removeprefix("## ") for line in RESULTS.splitlines() if line.startswith("## ")]
    assert RESULTS.startswith(HEAD)
    assert titles.count("Races by commit") == 1  # a table that people keep, with a row for each commit
    assert set(titles) - {"Races by commit"} <= {part.title for part in PARTS.values()}
    assert RESULTS.count("\n\nMeasured on 20") == len(set(titles)) - 1 == len(titles) - 1
    assert picture.PICTURE.read_text("utf-8") == picture.drawn(RESULTS), "run python -m benchmarks.picture"
    root = ET.fromstring(picture.drawn(RESULTS))  # noqa: S314 - our own
    widths = [float(one.get("width", "")) for one in root.iter("{http://www.w3.org/2000/svg}rect")]
    races = picture.races(RESULTS)[1]
    longest = [max(bar.times for bar in races[name]) for name in picture.RACES for _ in races[name]]
    times = [bar.times for name in picture.RACES for bar in races[name]]
    assert widths == [pytest.approx(max(2.0, 350 * one / most), abs=0.1) for one, most in zip(times, longest, strict=True)]


def test_growth_is_linear_up_to_a_limit_for_an_average_doubling() -> None:
    for real, seconds, ratios, is_linear in (
        ((1, 2, 4), (1, 2, 4), [2, 2], True), ((1, 2, 4), (1, 2.3, 5.2), [2.3, 5.2 / 2.3], False), ((0.9, 1.9), (0.9, 3.8), [4], False),
        ((0.8, 2.4, 3.2), (1, 3, 4), [2, 2], True),  # a shape that grows in steps
    ):  # fmt: skip
        sizes = tuple(float(1 << power) for power in range(len(real)))
        growth = Growth("shape", "links", sizes, real, tuple(Took(second, 0.0, 0) for second in seconds))
        assert growth.ratios == pytest.approx(ratios)
        assert growth.is_linear is is_linear
