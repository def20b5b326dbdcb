"""The test of a vector file fails with the names of all unexpected vectors."""

from typing import NamedTuple

import pytest
import vectors


class Number(NamedTuple):
    """A vector that passes if its value is even."""

    name: str
    value: int


def even(number: Number) -> None:
    assert number.value % 2 == 0, number.value


FILE = [Number(f"file:{value}", value) for value in range(5)]
ODD = {"file:1": "one is odd", "file:3": "three is odd"}


@pytest.mark.parametrize(("pins", "unexpected"), [
    ({}, "2 of 5 vectors:\nfile:1 fails: 1\nfile:3 fails: 3"),
    ({**ODD, "file:2": "once it failed"}, "1 of 5 vectors:\nfile:2 passes: take its pin out (once it failed)"),
    ({**ODD, "file:9": "gone"}, "1 of 5 vectors:\nfile:9 is pinned, and there is no such vector (gone)"),
    ({**ODD, "other:1": "of another file"}, ""),
])
def test_every_unexpected_vector_is_named_with_its_reason(pins: dict[str, str], unexpected: str) -> None:
    found = ""
    try:
        vectors.check(FILE, even, pins)
    except AssertionError as error:
        found = "\n".join(line for line in str(error).splitlines() if "vectors:" in line or line.startswith("file:"))
    assert found == unexpected
