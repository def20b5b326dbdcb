"""Caches of function results that outlive a document; long texts are not cached, to bound memory.

In: a function whose first argument is text. Out: the same function with an LRU cache.
"""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Rest = TypeVarTuple("Rest")
    Answer = TypeVar("Answer")

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
