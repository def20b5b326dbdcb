"""The pages of one site as matching sees them: without the text that most of its pages share.

In: `PageText`. Out: `Page` with hashes and weights of blocks: a block counts by its length, less if other pages have
it, too.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.content.text_blocks import HEADING, LINKS, MARKS, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FEWEST: Final = 3  # pages that must have a block before it is taken for a part of the template
_SHARE: Final = 0.5
_OF_MANY: Final = 0.25  # of the pages: a title or heading that more of them have names none of them
_SEPARATOR: Final = re.compile(r" [|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab~/]+ ")  # before the name of the site
_LINK: Final = 0.2  # how much text in links counts: menus, and links to the previous and next page


Block = tuple[str, int, bool]


class Page:
    """One page: its own blocks by hash, all of them as a key, the weight of its text, its titles and headings."""

    __slots__ = ("blocks", "digest", "key", "names", "number", "title", "url", "weight")

    def __init__(self, number: int, page: PageText, blocks: dict[int, Block], key: tuple[object, ...]) -> None:
        self.number = number
        self.url = page.url
        self.digest = page.digest
        self.title = " ".join((page.title or "").split()).lower()
        self.blocks = blocks  # hash: text, how many times, whether it is in links only
        self.key = key
        self.names = frozenset(_names(page))
        self.weight = 0.0


def _names(page: PageText) -> Iterator[str]:
    """Yield what names a page: the parts of its title, of which one is often the site's, and its headings (marked)."""
    title = " ".join((page.title or "").split())
    yield from (part.lower() for part in _SEPARATOR.split(title) if part)
    yield from (block.lower() for block in page.blocks if block[0] == HEADING)


class Site:
    """All pages of one site, by number, with the number of pages that have each block (`frequency`)."""

    def __init__(self, given: Iterable[PageText]) -> None:
        texts = list(given)
        self.frequency: Counter[int] = Counter()
        for text in texts:
            self.frequency.update({hash(block.lstrip(MARKS)) for block in text.blocks})
        most = max(_FEWEST - 1, _SHARE * len(texts))
        self.pages = [self._page(number, text, most) for number, text in enumerate(texts)]
        self.by_url = {page.url: page for page in self.pages}
        self.names = Counter(name for page in self.pages for name in page.names)

    def names_few(self, name: str) -> bool:
        """Return whether a title or heading is that of a few pages: not of the template."""
        return self.names[name] <= max(1, _OF_MANY * len(self.pages))

    def _page(self, number: int, text: PageText, most: float) -> Page:
        own: dict[int, Block] = {}
        order: list[int] = []
        for given in text.blocks:
            block = given.lstrip(MARKS)
            hashed = hash(block)
            if self.frequency[hashed] > most:
                continue
            order.append(hashed)
            is_link = given.startswith(LINKS) and own.get(hashed, ("", 0, True))[2]
            own[hashed] = block, own.get(hashed, ("", 0))[1] + 1, is_link
        # A page without text of its own is known by all of its text and its title.
        key = (
            tuple(order) if order else ("", tuple(hash(block.lstrip(MARKS)) for block in text.blocks), text.title)
        )
        return Page(number, text, own, key)


class Weights:
    """How much a block counts: by its length, and by how rare it is on both sites."""

    def __init__(self, old: Site, new: Site) -> None:
        self._old, self._new = old.frequency, new.frequency
        self._scale = log(max(len(old.pages), len(new.pages)) + 2)
        for site in (old, new):
            for page in site.pages:
                page.weight = sum(self(hashed, block) * block[1] for hashed, block in page.blocks.items())

    def __call__(self, hashed: int, block: Block) -> float:
        often = max(self._old.get(hashed, 0), self._new.get(hashed, 0), 1)
        return (len(block[0]) + 1) * (1 - log(often) / self._scale) * (_LINK if block[2] else 1.0)


def rest_words(page: Page, common: Sequence[int] | set[int]) -> list[str]:
    """Return the words of a page outside the blocks that it has in common with another."""
    return words(text for hashed, (text, _, _) in page.blocks.items() if hashed not in common)


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
