"""Signatures of sets (MinHash): two agree in about the share of places that the sets have in common.

In: hashes of 32 bits, such as those of the word pairs of a page. Out: PLACES numbers, and bands of them.

Each round maps the hashes to other numbers and puts those into bins by their remainder; a bin has its least one (one
permutation hashing). An empty bin, as small sets have, takes that of another bin, in an order that is fixed for each
bin (Shrivastava, "Optimal Densification for Fast and Accurate Minwise Hashing", 2017). So the time is that of three
passes, however many places there are.
"""

from __future__ import annotations

from operator import eq
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ROUNDS: Final = 3  # a band has a place of each: finds 97 of 100 pages with 43 % of word pairs in common
_BINS: Final = 42
PLACES: Final = _ROUNDS * _BINS
_MOST: Final = 256  # smallest hashes of a set, by which it is compared
_PRIME: Final = 4294967311  # the first one above 32 bits
_CHANCE: Final = Random(1808)  # noqa: S311 - the same numbers each time
_FACTORS: Final = [(_CHANCE.randrange(1, _PRIME), _CHANCE.randrange(_PRIME)) for _ in range(_ROUNDS)]
_ORDERS: Final = [_CHANCE.sample(range(_BINS), _BINS) for _ in range(_BINS)]

Signature = list[int]


def signature(hashes: Iterable[int]) -> Signature:
    """Return the signature of a set that is not empty."""
    few = sorted(hashes)[:_MOST]
    return [least for factor, more in _FACTORS for least in _least([(factor * one + more) % _PRIME for one in few])]


def _least(numbers: list[int]) -> Iterator[int]:
    """Yield the least number of each bin."""
    numbers.sort(reverse=True)
    bins = {number % _BINS: number for number in numbers}
    for at, order in enumerate(_ORDERS):
        yield bins[at] if at in bins else bins[min(bins, key=order.__getitem__)]


def bands(signature: Signature) -> Iterator[int]:
    """Yield the hash of each band with its number: sets that have much in common agree in one at least."""
    for at in range(_BINS):
        yield hash((at, *signature[at::_BINS]))


def share(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the estimated share of what two sets have in common."""
    return [*map(eq, one, other)].count(True) / PLACES
