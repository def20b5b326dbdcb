"""The test of a vector file fails with the names of all unexpected vectors."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import vectors


class Number(NamedTuple):
    """A vector that passes if its value is even."""

    name: str
    value: int


def even(number: Number) -> None:
    assert number.value % 2 == 0, number.value


def zero_divided(number: Number) -> None:
    raise ZeroDivisionError(number.value)


FILE = [Number(f"file:{value}", value) for value in range(5)]
ODD = {"file:1": "one is odd", "file:3": "three is odd"}


def test_a_vector_file_passes_if_its_pins_are_the_failing_vectors() -> None:
    vectors.check(FILE, even, {**ODD, "other:1": "of another file"})


def test_every_vector_that_fails_is_named_with_its_message() -> None:
    with pytest.raises(AssertionError) as caught:
        vectors.check(FILE, even)
    lines = str(caught.value).splitlines()
    assert lines[0] == "2 of 5 vectors:"
    assert [line for line in lines if line.startswith("file:")] == ["file:1 fails: 1", "file:3 fails: 3"]


def test_a_pinned_vector_that_passes_is_named_with_its_reason() -> None:
    with pytest.raises(AssertionError, match=r"1 of 5 vectors:\nfile:2 passes: take its pin out \(once it failed\)"):
        vectors.check(FILE, even, {**ODD, "file:2": "once it failed"})


def test_a_pin_without_a_vector_is_named() -> None:
    with pytest.raises(AssertionError, match="file:9 is pinned, and there is no such vector"):
        vectors.check(FILE, even, {**ODD, "file:9": "gone"})


def test_a_pin_does_not_cover_other_errors() -> None:
    with pytest.raises(AssertionError, match=r"file:1 raises ZeroDivisionError\(1\)"):
        vectors.check(FILE[1:2], zero_divided, ODD | {"file:1": "one is odd"})


@pytest.mark.parametrize("given", [[], [Number("one:1", 2), Number("two:1", 2)]])
def test_vectors_of_no_file_or_of_two_files_are_rejected(given: list[Number]) -> None:
    with pytest.raises(ValueError, match="vectors of one file are wanted"):
        vectors.check(given, even)


def test_vectors_are_grouped_by_their_file() -> None:
    other = Number("other:0", 0)
    assert vectors.by_file([*FILE, other]) == {"file": FILE, "other": [other]}
