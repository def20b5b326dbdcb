"""The numbers of exact rules by path: a dictionary, or sorted hashes where there are very many.

In: keys with numbers, in ascending order of the numbers. Out: the numbers of a key, ascending; with hashes, perhaps
those of other keys, too.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_MANY: Final = 500_000  # keys in a dictionary; each more takes 12 bytes instead of some 200
_MOST: Final = 64  # numbers of one key among the hashes: the first of them count


class HashTable:
    """Numbers by the hash of their key, for a large number of keys."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self._numbers = array("I")
        self._sorted: tuple[Any, Any] | None = None

    def add(self, key: str, number: int) -> None:
        self._hashes.append(hash(key))
        self._numbers.append(number)

    def get(self, key: str) -> Sequence[int]:
        """Return the first numbers of a key."""
        if not self._hashes and self._sorted is None:
            return ()
        hashes, numbers = self._tables()
        start = int(hashes.searchsorted(hash(key)))
        end = start
        while end < len(hashes) and end - start < _MOST and hashes[end] == hash(key):
            end += 1
        return [int(number) for number in numbers[start:end]]

    def _tables(self) -> tuple[Any, Any]:
        """Return the sorted hashes, and the numbers in the same order."""
        if self._sorted is None:
            import numpy as np

            hashes = np.frombuffer(self._hashes, dtype=np.int64)
            order = np.argsort(hashes, kind="stable")
            self._sorted = hashes[order], np.frombuffer(self._numbers, dtype=np.uint32)[order]
            self._hashes, self._numbers = array("q"), array("I")
        return self._sorted

    def first_numbers(self, asked: array[int]) -> Sequence[int] | None:
        """Return the first number for each of many hashes, -1 for none; None without any keys."""
        if not self._hashes and self._sorted is None:
            return None
        import numpy as np

        hashes, numbers = self._tables()
        wanted = np.frombuffer(asked, dtype=np.int64)
        places = np.searchsorted(hashes, wanted)
        places[places == len(hashes)] = 0
        found = np.where(hashes[places] == wanted, numbers[places].astype(np.int64), -1)
        return array("q", found.tobytes())


def is_large(count: int) -> bool:
    """Return whether so many rules belong into a `HashTable`: if there is numpy, which sorts it."""
    if count <= _MANY:
        return False
    try:
        import numpy as np
    except ImportError:
        return False
    return np is not None
