"""Caches with bounded memory that outlive a document, and fingerprints as keys in place of long texts.

In: keys that documents or users choose, and values or functions. Out: the values, as long as they are in the cache.
"""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Final, Generic, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Rest = TypeVarTuple("Rest")
    Answer = TypeVar("Answer")


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


LONGEST: Final = 4096  # most characters of a text (a base URL, mostly) in a cache that outlives the document


def remembered(most: int) -> Callable[[Callable[[str, *Rest], Answer]], Callable[[str, *Rest], Answer]]:
    """Return a decorator that caches up to `most` results; calls whose first argument is long bypass the cache."""

    def of(function: Callable[[str, *Rest], Answer]) -> Callable[[str, *Rest], Answer]:
        known = lru_cache(maxsize=most)(function)

        @wraps(function)
        def answer(text: str, /, *rest: *Rest) -> Answer:
            return (known if len(text) <= LONGEST else function)(text, *rest)

        return answer

    return of


_AT_ONCE: Final = 1 << 16  # characters


def fingerprint(text: str) -> bytes:
    """Return a BLAKE2b digest of 16 bytes of a text, which may contain lone surrogates."""
    from hashlib import blake2b  # loads OpenSSL, 4 MB, which few runs need

    digest = blake2b(digest_size=16)
    for at in range(0, len(text), _AT_ONCE):
        digest.update(text[at : at + _AT_ONCE].encode("utf-8", "surrogatepass"))
    return digest.digest()
