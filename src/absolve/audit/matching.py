"""Match the pages of an old site to the pages of a new site by their content.

In: the pages of both sites. Out: for each old page the new one with its content, if there is one, and scores of pairs
that the caller names. Equal text first, then pages with equal blocks, then pages in which every block was edited. A new
page is the match of one old page, unless it has all of the text of several: equal copies, or merged pages. Text that
most pages of a site share does not count. A block counts by its length, less if other pages have it, too.

    >>> match([PageText("old", None, "A", ["some text"])], [PageText("new", None, "A", ["some text"])])[0]
    [Match(old='old', new='new', score=1.0, second=None)]
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from math import log
from operator import eq
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

from absolve.audit.text_blocks import HEADING, LINKS, MARKS, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Key = Any  # the caller's name for a page
    Block = tuple[str, int, bool]  # a text, how many times it is there, whether it is in links only

_FEWEST: Final = 3  # pages that must have a block before it is taken for a part of the template
_SHARE: Final = 0.5
_ALIKE: Final = 0.7  # of the words of two titles: one was edited
_SHARED_BY: Final = 0.25  # of the pages: a title or heading of more pages identifies none
_SEPARATOR: Final = re.compile(r" [|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab~/]+ ")  # before the name of the site
_LINK: Final = 0.2  # how much text in links counts: menus, and links to the previous and next page
_CLOSE: Final = 0.05  # between the best score and a second one that is reported
_PAIR: Final = 0.02  # by which a pair that the caller named is preferred
_INSIDE: Final = 0.97  # of an old page, in a new one that is the match of another
_LEAST_INSIDE: Final = 60.0  # weight of an old page that can be a part of another
_PART: Final = 0.95  # the score of a page that is a part of another, as a share of how much of it is there


class PageText(NamedTuple):
    """A page: a key of the caller's choice, the digest of its bytes, its title, its blocks of text."""

    key: Key
    digest: str | None
    title: str | None
    blocks: Sequence[str]


class Match(NamedTuple):
    """The new page that has the content of an old one. `second` is another that is close in score, None without one.

    A score is between 0 and 1; 1 means equal text.
    """

    old: Key
    new: Key
    score: float
    second: Key | None = None


class Pair(NamedTuple):
    """The score of a pair that the caller named, and whether both have a title or heading in common.

    `names`: 2 for a title that no other page has, 1 for a title that few other pages have, or for titles with nearly
    the same words, otherwise 0.
    """

    old: Key
    new: Key
    score: float
    names: int = 0


# --- the pages of one site --------------------------------------------------------------------------------------------


class Page:
    """One page: its own blocks by hash, the hashes of its text in order, its weight, its titles and headings."""

    __slots__ = ("blocks", "digest", "key", "names", "number", "text", "title", "weight")

    def __init__(self, number: int, page: PageText, blocks: dict[int, Block], text: tuple[object, ...]) -> None:
        self.number = number
        self.key = page.key
        self.digest = page.digest
        self.title = " ".join((page.title or "").split()).lower()
        self.blocks = blocks
        self.text = text
        self.names = frozenset(_names(page))
        self.weight = 0.0


def _names(page: PageText) -> Iterator[str]:
    """Yield the names of a page: the parts of its title and its headings, for example `news` and `my site`."""
    title = " ".join((page.title or "").split())
    yield from (part.lower() for part in _SEPARATOR.split(title) if part)
    yield from (block.lower() for block in page.blocks if block[0] == HEADING)


class Site:
    """All pages of one site, by number, with the number of pages that have each block (`frequency`)."""

    def __init__(self, pages: Iterable[PageText]) -> None:
        texts = list(pages)
        self.frequency: Counter[int] = Counter()
        for text in texts:
            self.frequency.update({hash(block.lstrip(MARKS)) for block in text.blocks})
        most = max(_FEWEST - 1, _SHARE * len(texts))
        self.pages = [self._page(number, text, most) for number, text in enumerate(texts)]
        self.by_key = {page.key: page for page in self.pages}
        self.names = Counter(name for page in self.pages for name in page.names)

    def names_few(self, name: str) -> bool:
        """Return whether few pages have a title or heading, so that it is not a part of the template."""
        return self.names[name] <= max(1, _SHARED_BY * len(self.pages))

    def _page(self, number: int, text: PageText, most: float) -> Page:
        own: dict[int, Block] = {}
        order: list[int] = []
        for marked in text.blocks:
            block = marked.lstrip(MARKS)
            hashed = hash(block)
            if self.frequency[hashed] > most:
                continue
            order.append(hashed)
            is_link = marked.startswith(LINKS) and own.get(hashed, ("", 0, True))[2]
            own[hashed] = block, own.get(hashed, ("", 0))[1] + 1, is_link
        # A page without own text is compared by all of its text and its title.
        key = tuple(order) if order else ("", tuple(hash(block.lstrip(MARKS)) for block in text.blocks), text.title)
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


# --- matching ---------------------------------------------------------------------------------------------------------


def match(
    old: Iterable[PageText], new: Iterable[PageText], *, threshold: float = 0.8, pairs: Sequence[tuple[Key, Key]] = ()
) -> tuple[list[Match], list[Pair]]:
    """Return the matches of old pages, in the order of the pages, and a `Pair` for each of `pairs`.

    `pairs` are keys of pages; a pair with an unknown key has the score 0. They are preferred where scores are close.
    """
    matching = _Matching(Site(old), Site(new), threshold)
    known = [(matching.old.by_key.get(one), matching.new.by_key.get(other)) for one, other in pairs]
    for page, its_page in known:
        if page is not None and its_page is not None:
            matching.named[page.number].add(its_page.number)
    matching.run()
    return (
        [matching.found[number] for number in sorted(matching.found)],
        [Pair(*keys, *matching.scored(*pages)) for keys, pages in zip(pairs, known, strict=True)],
    )


class _Matching:
    """The state of one run: `found` by the number of the old page, `taken` new pages by number."""

    def __init__(self, old: Site, new: Site, threshold: float) -> None:
        self.old, self.new = old, new
        self.score = Scorer(Weights(old, new))
        self.found: dict[int, Match] = {}
        self.named: dict[int, set[int]] = defaultdict(set)
        self._threshold = threshold
        self._taken: set[int] = set()
        self._weights = self.score.weights
        self._copies: list[tuple[Page, list[Page]]] = []
        self._candidates: dict[int, list[Page]] = {}

    def run(self) -> None:
        self._equal()
        by_blocks = ByBlocks(self.new.pages, self._weights)
        self._assign(by_blocks)
        rest = [page for page in self.new.pages if page.number not in self._taken and page.blocks]
        if rest and any(page.number not in self.found and page.blocks for page in self.old.pages):
            self._assign(ByWords(rest))
        for page, others in self._copies:  # more old copies than new ones: the first new page has their content
            if page.number not in self.found:
                self._put_equal(page, others[0], others)
        self._match_merged_pages()

    def scored(self, page: Page | None, other: Page | None) -> tuple[float, int]:
        """Return the score of a named pair, and whether both pages have a name in common, as in `Pair`."""
        if page is None or other is None:
            return 0.0, 0
        return round(self._named_score(page, other), 4), self._names(page, other)

    def _named_score(self, page: Page, other: Page) -> float:
        """Return the score of a named pair: the new page may have more than the old one."""
        score = self.score(page, other)
        return max(score.same, _PART * score.inside)

    def _names(self, page: Page, other: Page) -> int:
        common = page.names & other.names
        if any(self.old.names[name] == self.new.names[name] == 1 for name in common):
            return 2
        few = any(self.old.names_few(name) and self.new.names_few(name) for name in common)
        return int(few or self._alike(page, other))

    def _alike(self, page: Page, other: Page) -> bool:
        """Return whether a part of both titles has nearly the same words: a title that was edited."""
        olds, news = (
            [{*part.split()} for part in _SEPARATOR.split(one.title) if site.names_few(part)]
            for one, site in ((page, self.old), (other, self.new))
        )
        return any(2 * len(old & new) >= _ALIKE * (len(old) + len(new)) for old in olds for new in news if old)

    # --- equal text ---------------------------------------------------------------------------------------------------

    def _equal(self) -> None:
        """Match pages with equal bytes or equal text, one to one: by named pairs, then titles, then in order."""
        for name in ("digest", "text"):
            old, new = (_grouped(site.pages, name) for site in (self.old, self.new))
            for key, pages in old.items():
                if key in new:
                    self._equal_group(pages, new[key])

    def _equal_group(self, old: list[Page], new: list[Page]) -> None:
        """Match equal pages; pages with only the text of the template need the same title, or a named pair."""
        left = {page.number: page for page in old if page.number not in self.found}
        free = {page.number: page for page in new if page.number not in self._taken}
        for page in list(left.values()):
            other = next((free[number] for number in sorted(self.named.get(page.number, ())) if number in free), None)
            if other is not None:
                self._put_equal(left.pop(page.number), free.pop(other.number), new)
        by_title: dict[str, list[Page]] = defaultdict(list)
        for other in reversed(free.values()):
            by_title[other.title].append(other)
        for page in list(left.values()):
            if page.title and by_title.get(page.title):
                other = by_title[page.title].pop()
                self._put_equal(left.pop(page.number), free.pop(other.number), new)
        if not new[0].blocks and (len(old) > 1 or len(new) > 1):
            return
        for page, other in zip(list(left.values()), list(free.values()), strict=False):
            self._put_equal(left.pop(page.number), other, new)
        self._copies += [(page, new) for page in left.values()]

    def _put_equal(self, page: Page, other: Page, others: list[Page]) -> None:
        self._put(page, other, 1.0, next((one for one in others if one is not other), None))

    def _put(self, page: Page, other: Page, score: float, second: Page | None = None) -> None:
        self._taken.add(other.number)
        self.found[page.number] = Match(page.key, other.key, round(score, 4), second.key if second else None)

    # --- similar text -------------------------------------------------------------------------------------------------

    def _assign(self, candidates: Callable[[Page], list[Page]]) -> None:
        """Match the remaining pages, the best scores first."""
        scored: list[tuple[float, int, int, float]] = []
        for page in self.old.pages:
            if page.number in self.found or not page.blocks:
                continue
            others = {other.number: other for other in candidates(page)}
            others |= {number: self.new.pages[number] for number in self.named.get(page.number, ())}
            self._candidates.setdefault(page.number, []).extend(others.values())
            for number, other in others.items():
                is_named = number in self.named.get(page.number, ())
                score = self._named_score(page, other) if is_named else self.score(page, other).same
                if score >= self._threshold:
                    bonus = _PAIR if is_named else 0.0
                    scored.append((-score - bonus, page.number, number, score))
        for _, one, number, score in sorted(scored):
            if one not in self.found and number not in self._taken:
                self._put_best(self.old.pages[one], self.new.pages[number], score)

    def _put_best(self, page: Page, other: Page, score: float) -> None:
        second, second_score = None, 0.0
        for one in self._candidates.get(page.number, ()):
            its_score = self.score(page, one).same
            if one is not other and its_score > second_score:
                second, second_score = one, its_score
        self._put(page, other, score, second if second_score >= score - _CLOSE else None)

    def _match_merged_pages(self) -> None:
        """Match old pages whose text is a part of a new page: merged pages."""
        for page in self.old.pages:
            if page.number in self.found or page.weight < _LEAST_INSIDE:
                continue
            least = max(self._threshold, _INSIDE)
            parts = [(self.score(page, other).inside, other) for other in self._candidates.get(page.number, ())]
            best = max(parts, key=lambda part: (part[0], -part[1].number), default=None)
            if best is not None and best[0] >= least:
                self._put(page, best[1], _PART * best[0])


def _grouped(pages: Iterable[Page], name: str) -> dict[object, list[Page]]:
    """Group pages by an attribute, without pages that lack it."""
    found: dict[object, list[Page]] = {}
    for page in pages:
        if (key := getattr(page, name)) is not None:
            found.setdefault(key, []).append(page)
    return found


_MOST_PAGES: Final = 24  # that have a block, where that block is a hint
_SHORTEST: Final = 12  # characters of a block that is a hint
_MOST: Final = 5  # candidates of a page
_LEAST: Final = 0.25  # estimated share of word pairs


class ByBlocks:
    """An index of the blocks of new pages."""

    def __init__(self, pages: Iterable[Page], weights: Weights) -> None:
        self._weights = weights
        self._pages: dict[int, list[Page]] = defaultdict(list)
        for page in pages:
            for hashed, (text, _, _) in page.blocks.items():
                if len(text) >= _SHORTEST and len(self._pages[hashed]) <= _MOST_PAGES:
                    self._pages[hashed].append(page)

    def __call__(self, page: Page) -> list[Page]:
        """Return the new pages with most in common with an old one."""
        votes: dict[int, float] = defaultdict(float)
        found: dict[int, Page] = {}
        for hashed, block in page.blocks.items():
            pages = self._pages.get(hashed, ())
            if 0 < len(pages) <= _MOST_PAGES:
                weight = self._weights(hashed, block)
                for other in pages:
                    votes[other.number] += weight
                    found[other.number] = other
        best = sorted(votes, key=lambda number: (-votes[number], number))[:_MOST]
        return [found[number] for number in best]


class ByWords:
    """An index of the word pairs of new pages, as MinHash signatures in bands.

    Pages that agree in a band are candidates of each other. Where very many agree (calendars, products), each old page
    gets the next few of them, so that all have some, and the time is linear.
    """

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages: list[Page] = []
        self._buckets: dict[int, list[int]] = defaultdict(list)
        self._asked: Counter[int] = Counter()
        self._signatures: list[Signature] = []
        for page in pages:
            if signature := _signature(page):
                for band in bands(signature):
                    self._buckets[band].append(len(self._pages))
                self._pages.append(page)
                self._signatures.append(signature)

    def __call__(self, page: Page) -> list[Page]:
        """Return the new pages that are like an old one, by the estimated share of word pairs."""
        signature = _signature(page)
        found = {number for band in bands(signature) for number in self._some(band)} if signature else set()
        shares = ((share(self._signatures[number], signature), number) for number in found)
        likely = sorted((-share, number) for share, number in shares if share >= _LEAST)
        return [self._pages[number] for _, number in likely[:_MOST]]

    def _some(self, band: int) -> Sequence[int]:
        """Return the pages with a band; if there are very many, the next few."""
        bucket = self._buckets.get(band, ())
        if len(bucket) <= _MOST_PAGES:
            return bucket
        at = self._asked[band] % len(bucket)
        self._asked[band] += 1
        return bucket[at : at + _MOST]


def _signature(page: Page) -> Signature:
    """Return the signature of the word pairs of a page; empty for a page without words."""
    found = words(block[0] for block in page.blocks.values())
    following = zip(found, found[1:] or found, strict=False)
    pairs = {crc32(f"{one} {other}".encode("utf-8", "replace")) for one, other in following}
    return signature(pairs) if pairs else []


_MOST_WORDS: Final = 20_000  # of the unequal rest of a page, which is compared in squared time
_SIMILAR_LENGTH: Final = 2
_TITLE: Final = 0.15  # the share of the title; it may raise a score, and never lowers it


class Score(NamedTuple):
    """`same`: how equal two pages are. `inside`: how much of the old page is in the new one."""

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
        if old.text == new.text:
            return Score(1.0, 1.0)
        if not old.weight or not new.weight:
            return Score(0.0, 0.0)
        common = old.blocks.keys() & new.blocks.keys()
        shared = sum(
            self.weights(hashed, old.blocks[hashed]) * min(old.blocks[hashed][1], new.blocks[hashed][1])
            for hashed in common
        )
        rest_old, rest_new = max(old.weight - shared, 0.0), max(new.weight - shared, 0.0)
        one, other = (_rest_words(page, common)[:_MOST_WORDS] for page in (old, new))
        words = self._common_words(one, other) if one and other else 0
        # The rest counts as far as its words are the same, in the same order.
        part_old = rest_old * words / len(one) if one else 0.0
        part_new = rest_new * words / len(other) if other else 0.0
        same = (2 * shared + part_old + part_new) / (old.weight + new.weight)
        # The words of a short text are found in order in any long one.
        inside = (shared + (part_old if len(other) <= _SIMILAR_LENGTH * len(one) else 0.0)) / old.weight
        title = self._ratio(old.title, new.title) / 100 if old.title and new.title else 0.0
        return Score(max(same, (1 - _TITLE) * same + _TITLE * title), inside)


def _rest_words(page: Page, common: set[int]) -> list[str]:
    """Return the words of a page outside the blocks that it shares with another page."""
    return words(text for hashed, (text, _, _) in page.blocks.items() if hashed not in common)


# --- signatures of sets (MinHash) -------------------------------------------------------------------------------------

# Two signatures agree in about the share of places that their sets have in common. Each round maps the hashes of a set
# to other numbers and puts these into bins by their remainder; a bin keeps the least one (one permutation hashing). An
# empty bin, as small sets have, takes the hash of another bin, in an order that is fixed for each bin (Shrivastava,
# "Optimal Densification for Fast and Accurate Minwise Hashing", 2017). So three passes are enough.
_ROUNDS: Final = 3  # a band has a place of each round: finds 97 of 100 pages with 43 % of word pairs in common
_BINS: Final = 42
PLACES: Final = _ROUNDS * _BINS
_MOST_HASHES: Final = 256  # smallest hashes of a set, by which it is compared
_PRIME: Final = 4294967311  # the first one above 32 bits
_CHANCE: Final = Random(1808)  # noqa: S311 - the same numbers each time
_FACTORS: Final = [(_CHANCE.randrange(1, _PRIME), _CHANCE.randrange(_PRIME)) for _ in range(_ROUNDS)]
_ORDERS: Final = [_CHANCE.sample(range(_BINS), _BINS) for _ in range(_BINS)]

Signature = list[int]


def signature(hashes: Iterable[int]) -> Signature:
    """Return the signature of a non-empty set: for example, `share` of two equal signatures is 1."""
    few = sorted(hashes)[:_MOST_HASHES]
    return [least for factor, more in _FACTORS for least in _least([(factor * one + more) % _PRIME for one in few])]


def _least(numbers: list[int]) -> Iterator[int]:
    """Yield the least number of each bin."""
    numbers.sort(reverse=True)
    bins = {number % _BINS: number for number in numbers}
    for at, order in enumerate(_ORDERS):
        yield bins[at] if at in bins else bins[min(bins, key=order.__getitem__)]


def bands(signature: Signature) -> Iterator[int]:
    """Yield the hash of each band with its number: similar sets agree in at least one."""
    for at in range(_BINS):
        yield hash((at, *signature[at::_BINS]))


def share(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the estimated share of elements that two sets have in common."""
    return [*map(eq, one, other)].count(True) / PLACES
