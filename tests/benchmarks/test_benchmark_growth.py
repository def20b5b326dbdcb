"""The definition of linear growth."""

import pytest

from benchmarks.growth import Growth, Took, growth_table


def grown(real: tuple[float, ...], seconds: tuple[float, ...], instructions: tuple[int, ...] = ()) -> Growth:
    sizes = tuple(float(1 << power) for power in range(len(real)))
    took = zip(seconds, instructions or [0] * len(seconds), strict=True)
    return Growth("shape", "links", sizes, real, tuple(Took(second, 0.0, number) for second, number in took))


@pytest.mark.parametrize(
    ("real", "seconds", "ratios"),
    [
        ((1, 2, 4), (1, 2, 4), [2, 2]),
        ((1, 2, 4), (1, 3, 6), [3, 2]),
        ((0.8, 2.4, 3.2), (1, 3, 4), [2, 2]),  # a shape that grows in steps
        ((0.9, 1.9), (0.9, 3.8), [4]),
    ],
)
def test_ratios_are_computed_for_twice_the_bytes(real: tuple[float, ...], seconds: tuple[float, ...], ratios: list[float]) -> None:
    assert grown(real, seconds).ratios == pytest.approx(ratios)


@pytest.mark.parametrize(
    ("seconds", "is_linear"), [((1, 2, 4), True), ((1, 2.5, 4.5), True), ((1, 2.3, 5.2), False), ((0.01, 0.03, 0.09), True)]
)
def test_growth_is_not_linear_above_the_limit_for_an_average_doubling(seconds: tuple[float, ...], is_linear: bool) -> None:
    assert grown((1, 2, 4), seconds).is_linear is is_linear


def test_the_minimum_of_two_runs_is_taken_for_time_and_for_instructions() -> None:
    assert Took(1.0, 0.5, 20).or_less(Took(2.0, 0.1, 10)) == Took(1.0, 0.5, 10)


def test_the_growth_table_has_ratios_of_times_and_instructions() -> None:
    text = growth_table([grown((1, 2, 4), (1, 3, 5.4), (10, 21, 43)), grown((1, 2), (1, 2), (10, 23))])
    assert text.startswith("1 of 2 take more than 2.2 times as much time for some doubling, 1 as many instructions (i).")
    assert "| 2 MB | 4 MB | 2 MB i | 4 MB i |" in text
    assert "| 3.00 | 1.80 |   2.10 |   2.05 |" in text
    assert "| 2.00 |    - |   2.30 |      - |" in text


def test_without_counted_instructions_the_table_has_no_column_for_them() -> None:
    text = growth_table([grown((1, 2), (1, 3))])
    assert "instructions are not counted here" in text
    assert " i |" not in text
