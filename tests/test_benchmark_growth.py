"""What counts as linear growth."""

from __future__ import annotations

import pytest

from benchmarks.growth import Growth, Took


def grown(real: tuple[float, ...], seconds: tuple[float, ...]) -> Growth:
    sizes = tuple(float(1 << power) for power in range(len(real)))
    return Growth("shape", "links", sizes, real, tuple(Took(second, 0.0) for second in seconds))


@pytest.mark.parametrize(
    ("real", "seconds", "ratios"),
    [
        ((1, 2, 4), (1, 2, 4), [2, 2]),
        ((1, 2, 4), (1, 3, 6), [3, 2]),
        ((0.8, 2.4, 3.2), (1, 3, 4), [2, 2]),  # a shape that grows by steps of its own
        ((0.9, 1.9), (0.9, 3.8), [4]),
    ],
)
def test_twice_the_bytes_are_what_a_doubling_is(
    real: tuple[float, ...], seconds: tuple[float, ...], ratios: list[float]
) -> None:
    assert grown(real, seconds).ratios == pytest.approx(ratios)


@pytest.mark.parametrize(
    ("seconds", "is_linear"), [((1, 2, 4), True), ((1, 2.5, 4.5), True), ((1, 2.3, 5.2), False), ((0.01, 0.03, 0.09), True)]
)
def test_more_than_enough_for_a_doubling_on_the_average_of_a_tenth_of_a_second_is_not_linear(
    seconds: tuple[float, ...], is_linear: bool
) -> None:
    assert grown((1, 2, 4), seconds).is_linear is is_linear
