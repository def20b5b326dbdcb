"""Instructions are counted on systems that support it."""

import pytest

from benchmarks import instructions


def looped(times: int) -> int:
    counting = instructions.counter()
    if counting is None:
        pytest.skip("this system does not count instructions")
    before = counting.count()
    for _ in range(times):
        pass
    counted = counting.count() - before
    counting.close()
    return counted


def test_a_loop_of_twice_the_length_executes_about_twice_the_instructions() -> None:
    assert looped(200_000) == pytest.approx(2 * looped(100_000), rel=0.05)


@pytest.mark.parametrize(("name", "value"), [("sys.platform", "darwin"), ("platform.machine", lambda: "pdp11")])
def test_unsupported_systems_have_no_counter_of_instructions(name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"benchmarks.instructions.{name}", value)
    assert instructions.counter() is None
