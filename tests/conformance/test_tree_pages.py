"""Real pages: `absolve.trees` finds the same links and targets in a tree as `absolve.links` in the bytes.

Differences caused by a tree's parser are pinned in data/tree_pins.json, by page, with a class; a page that begins to
pass must be removed. Differences only in how a reference was decoded (line ends, character references) are computed, not
pinned.

Python's and libxml2's parsers change between versions: with other versions than those of the pins only a share of the
pages must be equal. The default run takes every 200th page, the slow one every 20th;
`ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_tree_pages.py` takes all. `-s` prints the figures.
"""

import os
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import pytest
from material import SHARED, needs, pages
from tree_pages import PARSERS, PINS, VERSIONS, Difference, difference, explained

from absolve import trees

pytestmark = needs(SHARED)
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))


@pytest.mark.parametrize("kind", PARSERS)
def test_trees_of_a_sample_of_pages_have_the_links_of_the_pages(kind: str) -> None:
    verdict(kind, 200, [difference(kind, page) for page in pages(200)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARSERS)
def test_trees_of_all_pages_have_the_links_of_the_pages(kind: str) -> None:
    with ProcessPoolExecutor() as pool:
        verdict(kind, EVERY, list(pool.map(partial(difference, kind), pages(EVERY), chunksize=4)))


def verdict(kind: str, every: int, found: list[Difference]) -> None:
    """Assert that exactly the pinned pages differ; print how many are equal."""
    differing = {one.page: one for one in found if one.matters}
    read_otherwise = {page: name for page, one in differing.items() if not one.refused and (name := explained(one))}
    repeated = Counter(fact.element for one in found for fact in one.again)
    pinned: dict[str, str] = PINS["pages"][kind]
    classes = Counter(pinned.get(page) or read_otherwise.get(page) for page in differing)
    print(f"\n{kind}: {len(found)} pages, {sum(one.same_order for one in found)} the same in the same order,", end=" ")
    print(f"{len(found) - len(differing)} without repetitions; {dict(classes)}; repeated {dict(repeated)}")
    if VERSIONS.get(kind) == PINS["versions"].get(kind):
        report = "\n".join(f"{page}\n  - {one.missing[:3]}\n  + {one.extra[:3]}" for page, one in differing.items())
        assert differing.keys() - read_otherwise == {page.path for page in pages(every)} & pinned.keys(), report
        assert repeated.keys() <= PINS["repeated"][kind].keys()
    else:
        assert len(found) - len(differing) >= PINS["at_least"][kind] * len(found) - 1


@pytest.mark.slow
def test_a_tree_without_its_base_has_no_saved_from_comment() -> None:
    lost = {page for page, name in PINS["pages"]["html5lib etree"].items() if name == "prolog"}
    assert lost
    for page in lost:
        text = (SHARED / "pages" / page).read_bytes().decode("utf-8", "replace")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = PARSERS["html5lib etree"](text)
        assert trees.base(tree).layer.label == "default"
        layers = [claim.base.layer.label for claim in trees.base(PARSERS["lxml.html"](text)).chain]
        assert layers in (["retrieval"], ["embedded", "retrieval"])  # alone, or with the base against which a relative one is resolved


def test_every_class_of_tree_pins_has_a_reason() -> None:
    used = {name for table in ("pages", "repeated") for names in PINS[table].values() for name in names.values()}
    assert used <= set(PINS["classes"])
