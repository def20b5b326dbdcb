"""Answers that are remembered beyond the document that asked for them; those about long texts are not."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Rest = TypeVarTuple("Rest")
    Answer = TypeVar("Answer")

LONGEST: Final = 4096  # characters of a text, mostly a base, of which something outlives the document


def remembered(most: int) -> Callable[[Callable[[str, *Rest], Answer]], Callable[[str, *Rest], Answer]]:
    """Remember so many answers of a function by its arguments, of which the first is a text that is not long."""

    def of(function: Callable[[str, *Rest], Answer]) -> Callable[[str, *Rest], Answer]:
        known = lru_cache(maxsize=most)(function)

        @wraps(function)
        def answer(text: str, /, *rest: *Rest) -> Answer:
            return (known if len(text) <= LONGEST else function)(text, *rest)

        return answer

    return of
