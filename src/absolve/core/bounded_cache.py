"""A cache with a bounded number of entries, for keys that documents or users choose.

In: keys and values. Out: the values, as long as they are in the cache. It does not know how they are computed.
"""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A cache of at most `most` entries; a full one is emptied. Values must be cheap to compute again.

    Look a key up in `entries`, which is one and the same dict as long as the cache is there (so compiled code may keep
    it as a dict of its own); add it by `put`.
    """

    __slots__ = ("_most", "entries")

    def __init__(self, most: int) -> None:
        self._most = most
        self.entries: dict[K, V] = {}

    def put(self, key: K, value: V) -> V:
        """Add an entry, and return its value."""
        if len(self.entries) >= self._most:
            self.entries.clear()
        self.entries[key] = value
        return value
