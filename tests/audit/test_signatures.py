"""Signatures estimate what two sets have in common, for small sets and large ones."""

import random

import pytest

from absolve.audit.matching import bands, share, signature

CHANCE = random.Random(1808)  # noqa: S311 - the same sets each time


def pair(size: int, common: float) -> tuple[set[int], set[int]]:
    """Return two sets of a size with this share of all their members in common."""
    both = round(2 * size * common / (1 + common))
    numbers = CHANCE.sample(range(1 << 32), 2 * size - both)
    return set(numbers[:size]), set(numbers[size - both :])


@pytest.mark.parametrize(("size", "common"), [(10, 0.5), (60, 0.25), (200, 0.0), (200, 0.9), (3000, 0.5)])
def test_the_share_of_equal_places_is_that_of_the_sets(size: int, common: float) -> None:
    faults = []
    for _ in range(100):
        one, other = pair(size, common)
        faults.append(share(signature(one), signature(other)) - len(one & other) / len(one | other))
    assert abs(sum(faults)) / 100 < 0.03  # on average
    assert sum(fault**2 for fault in faults) / 100 < 0.08**2


@pytest.mark.parametrize(("common", "least", "most"), [(0.43, 0.9, 1.0), (0.6, 0.97, 1.0), (0.05, 0.0, 0.1)])
def test_sets_with_much_in_common_agree_in_a_band(common: float, least: float, most: float) -> None:
    pairs = [pair(200, common) for _ in range(200)]
    found = sum(not set(bands(signature(one))).isdisjoint(bands(signature(other))) for one, other in pairs)
    assert least <= found / len(pairs) <= most
