"""Real pages: `absolve.trees` finds in a tree the links and targets that `absolve.links` finds in the bytes.

What a tree's own parser made otherwise is pinned in data/tree_pins.json, by page, with its class. Of html5lib, which
changes no more, a page that begins to pass must be taken out; Python's and libxml2's parsers differ from version to
version, so there only a share of equal pages is asked for. The quick run takes every 200th page, the slow one every 20th; `ABSOLVE_EVERY=1` takes all of
them. With `-s` the figures are printed.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import pytest
from tree_pages import PARSERS, PINS, SHARED, Difference, difference, explained, pages

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=f"there is no {SHARED} (set ABSOLVE_SHARED)")
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))


@pytest.mark.parametrize("kind", PARSERS)
def test_a_tree_has_the_links_of_the_page(kind: str) -> None:
    verdict(kind, 200, [difference(kind, page) for page in pages(200)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARSERS)
def test_the_tree_of_every_page_has_its_links(kind: str) -> None:
    with ProcessPoolExecutor() as pool:
        verdict(kind, EVERY, list(pool.map(partial(difference, kind), pages(EVERY), chunksize=4)))


def verdict(kind: str, every: int, found: list[Difference]) -> None:
    """Say how many pages are equal. With html5lib's parser just the pinned ones differ; with others a few more may."""
    differing = {one.page: one for one in found if one.matters}
    repeated = Counter(fact.element for one in found for fact in one.again)
    pinned: dict[str, str] = PINS["pages"][kind]
    classes = Counter(pinned.get(page) or explained(one) for page, one in differing.items())
    print(f"\n{kind}: {len(found)} pages, {sum(one.same_order for one in found)} the same in the same order,", end=" ")
    print(f"{len(found) - len(differing)} without repetitions; {dict(classes)}; repeated {dict(repeated)}")
    if kind in PINS["exact"]:
        said = "\n".join(f"{page}\n  - {one.missing[:3]}\n  + {one.extra[:3]}" for page, one in differing.items())
        assert set(differing) == {page.path for page in pages(every)} & set(pinned), said
        assert set(repeated) <= set(PINS["repeated"][kind])
    else:
        assert len(found) - len(differing) >= PINS["at_least"][kind] * len(found) - 1


def test_every_class_says_its_reason() -> None:
    used = {name for table in ("pages", "repeated") for names in PINS[table].values() for name in names.values()}
    assert used <= set(PINS["classes"])
