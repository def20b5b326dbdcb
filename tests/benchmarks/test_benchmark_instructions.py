"""Instructions are counted where the system can."""

from __future__ import annotations

import pytest

from benchmarks import instructions


def looped(times: int) -> int:
    counting = instructions.counter()
    if counting is None:
        pytest.skip("this system counts no instructions")
    before = counting.count()
    for _ in range(times):
        pass
    counted = counting.count() - before
    counting.close()
    return counted


def test_a_loop_of_twice_the_length_is_about_twice_as_many() -> None:
    assert looped(200_000) == pytest.approx(2 * looped(100_000), rel=0.05)


@pytest.mark.parametrize(("name", "value"), [("sys.platform", "darwin"), ("platform.machine", lambda: "pdp11")])
def test_where_it_is_not_known_how_they_are_counted_there_is_no_counter(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"benchmarks.instructions.{name}", value)
    assert instructions.counter() is None
