"""Chains of redirects and rules: where they end, in how many steps, or where their circle begins."""

import pytest

from absolve.urls.chain import LONGEST, Chain, follow


@pytest.mark.parametrize(("steps", "chain"), [
    ({}, Chain([], "a", None)), ({"a": "b", "b": "c"}, Chain([("a", "b"), ("b", "c")], "c", None)),
    ({"a": "a"}, Chain([("a", "a")], "a", 0)),
    ({"a": "b", "b": "c", "c": "b"}, Chain([("a", "b"), ("b", "c"), ("c", "b")], "b", 1)),
])
def test_a_chain_has_its_steps_its_end_and_its_circle(steps: dict[str, str], chain: Chain[str]) -> None:
    assert follow("a", steps.get, str) == chain


def test_a_chain_that_grows_is_a_circle_from_its_beginning() -> None:
    assert follow("a", lambda url: f"{url}a", str).circle == 0
    assert len(follow("a", lambda url: url * 1000, str).steps) == 2
    assert follow("a", lambda url: "b" * (LONGEST + 1) if url == "a" else None, str).circle is None
