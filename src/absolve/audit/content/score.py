"""Score how much two pages have in common: equal blocks, and by rapidfuzz the text of all others, and the titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.content.pages import rest_words

if TYPE_CHECKING:
    from absolve.audit.content.pages import Page, Weights

_MOST_WORDS: Final = 20_000  # of the unequal rest of a page, which is compared in squared time
_SIMILAR_LENGTH: Final = 2
_TITLE: Final = 0.15  # the share of the title; it may raise a score, and never lowers it


class Score(NamedTuple):
    """`same`: how equal two pages are. `inside`: how much of the old one is in the new one."""

    same: float
    inside: float


class Scorer:
    """Scores pairs of pages, each once."""

    def __init__(self, weights: Weights) -> None:
        from rapidfuzz.distance import LCSseq
        from rapidfuzz.fuzz import ratio

        self.weights = weights
        self._common_words = LCSseq.similarity
        self._ratio = ratio
        self._known: dict[tuple[int, int], Score] = {}

    def __call__(self, old: Page, new: Page) -> Score:
        key = old.number, new.number
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._scored(old, new)
        return found

    def _scored(self, old: Page, new: Page) -> Score:
        if old.key == new.key:
            return Score(1.0, 1.0)
        if not old.weight or not new.weight:
            return Score(0.0, 0.0)
        common = old.blocks.keys() & new.blocks.keys()
        shared = sum(
            self.weights(hashed, old.blocks[hashed]) * min(old.blocks[hashed][1], new.blocks[hashed][1])
            for hashed in common
        )
        rest_old, rest_new = max(old.weight - shared, 0.0), max(new.weight - shared, 0.0)
        one, other = (rest_words(page, common)[:_MOST_WORDS] for page in (old, new))
        words = self._common_words(one, other) if one and other else 0
        # The rest counts as far as its words are the same, in the same order.
        part_old = rest_old * words / len(one) if one else 0.0
        part_new = rest_new * words / len(other) if other else 0.0
        same = (2 * shared + part_old + part_new) / (old.weight + new.weight)
        # The words of a short text are found in order in any long one.
        inside = (shared + (part_old if len(other) <= _SIMILAR_LENGTH * len(one) else 0.0)) / old.weight
        title = self._ratio(old.title, new.title) / 100 if old.title and new.title else 0.0
        return Score(max(same, (1 - _TITLE) * same + _TITLE * title), inside)
