"""The picture of README shows the races of RESULTS.md."""

from xml.etree import ElementTree as ET

import pytest

from benchmarks import picture

RESULTS = picture.RESULTS.read_text("utf-8")


def test_the_picture_is_the_one_of_the_results() -> None:
    assert picture.PICTURE.read_text("utf-8") == picture.drawn(RESULTS), "run python -m benchmarks.picture"


def test_each_bar_is_as_long_as_its_library_takes() -> None:
    root = ET.fromstring(picture.drawn(RESULTS))  # noqa: S314 - our own
    widths = [float(one.get("width", "")) for one in root.iter("{http://www.w3.org/2000/svg}rect")]
    times = [bar.times for name in picture.RACES for bar in picture.races(RESULTS)[1][name]]
    assert len(widths) == len(times) > 5
    pages = len(picture.races(RESULTS)[1]["pages"])
    for first, last in ((0, pages), (pages, len(times))):
        longest = max(times[first:last])
        assert widths[first:last] == [pytest.approx(max(2.0, 350 * one / longest), abs=0.1) for one in times[first:last]]


def test_results_without_the_races_are_refused() -> None:
    with pytest.raises(ValueError, match="Beside the peers"):
        picture.races("# Results\n")
