"""The values of content matching: pages with their text, and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class PageText(NamedTuple):
    """A page: a key of the caller's choice (its URL), the digest of its bytes, its title, its blocks of text."""

    url: str
    digest: str | None
    title: str | None
    blocks: Sequence[str]


class Match(NamedTuple):
    """The new page that has the content of an old one. `second` is another that is close in score, None without one.

    `method`: digest (equal bytes) or content. A score is between 0 and 1; 1 means equal text.
    """

    old: str
    new: str
    score: float
    second: str | None = None
    second_score: float | None = None
    method: str = "content"


class Pair(NamedTuple):
    """The score of a pair that the caller asked for, and whether both have a title or heading in common.

    `names`: 2 for one that no other page has, 1 for one that few other pages have, 0 for none.
    """

    old: str
    new: str
    score: float
    names: int = 0
