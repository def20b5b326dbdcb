"""Real pages: `absolve.trees` finds the same links and targets in a tree as `absolve.links` in the bytes.

The tree is parsed from the text that absolve decodes; characters that XML does not allow are U+FFFD on both sides.
Differences caused by a tree's parser are pinned in data/tree_pins.json, by page, with a class; a page that begins to
pass must be removed. Differences only in how a reference was decoded (line ends, character references) are computed, not
pinned.

Python's and libxml2's parsers change between versions: with other versions than those of the pins only a share of the
pages must be equal. The default run takes every 400th page, the slow one every 20th;
`ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_tree_pages.py` takes all. `-s` prints the figures.
"""

import html
import os
import platform
import re
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple

import bs4
import html5lib
import lxml.html
import pytest
from lxml import etree
from material import SHARED, Page, needs, pages, pins

import absolve
from absolve import trees
from absolve.encodings import charsets

pytestmark = needs(SHARED)
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))
PINS: Final[dict[str, Any]] = pins("tree")


def _lxml(text: str) -> Any:
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)  # a charset declaration in text must be ignored
    return lxml.html.document_fromstring(text.encode(), parser=parser)


PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "lxml.html": _lxml,
    **{f"html5lib {kind}": partial(html5lib.parse, treebuilder=kind) for kind in ("etree", "lxml", "dom")},
    **{f"bs4 {kind}": partial(bs4.BeautifulSoup, features=kind) for kind in ("html.parser", "lxml", "html5lib")},
}
# Results of Python's and libxml2's parsers depend on their versions.
LIBXML: Final = f"libxml2 {'.'.join(map(str, etree.LIBXML_VERSION))}"
VERSIONS: Final = {"lxml.html": LIBXML, "bs4 lxml": LIBXML, "bs4 html.parser": f"Python {platform.python_version()}"}
_NO_CHARACTER: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffd-\uffff]+")


def _readable(text: str) -> str:
    return _NO_CHARACTER.sub("\ufffd", text)


class Fact(NamedTuple):
    """All values of a row except the position of the link."""

    element: str
    attribute: str
    kind: str
    reference: str
    base: str
    base_layer: str
    target: str | None
    scope: str
    problems: tuple[str, ...]


def fact(row: absolve.Row) -> Fact:
    target = row.target and _readable(row.target)
    named = (row.element, row.attribute, row.kind)
    return Fact(*named, _readable(row.reference), row.base, row.base_layer, target, row.scope, tuple(row.problems))


class Difference(NamedTuple):
    """Differences between a tree and its page: `again` are links that the page has more often.

    `refused`: the parser made no tree.
    """

    page: str
    missing: list[Fact]
    extra: list[Fact]
    again: list[Fact]
    same_order: bool
    refused: bool = False


def difference(kind: str, page: Page) -> Difference:
    data = page.data
    charset, mark = charsets.of_html(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = PARSERS[kind](_readable(charset.decode(data[mark:])))
        except ValueError:
            return Difference(page.path, [], [], [], same_order=False, refused=True)
    rows = absolve.links(data, media_type="text/html", url=page.url)
    there = [fact(row) for row in rows if row.element != "include"]  # in comments, which trees do not read
    found = [fact(row) for row in trees.links(tree, page.url)]
    more = list((Counter(found) - Counter(there)).elements())
    missing = list((Counter(there) - Counter(found)).elements())
    known = set(there)
    return Difference(page.path, missing, [one for one in more if one not in known], [one for one in more if one in known], there == found)


_CHANGES: Final[dict[str, Callable[[str], str]]] = {
    "line ends": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
    "references": lambda text: html.unescape(text).replace("\r\n", "\n").replace("\r", "\n"),
}


def explained(found: Difference) -> str | None:
    """Return the class of a difference only in how references were decoded; None if something else differs too."""
    for name, change in _CHANGES.items():
        sides = ([(*one[:3], change(one.reference), one.base) for one in side] for side in (found.missing, found.extra))
        missing, extra = map(Counter, sides)
        if missing == extra:
            return name
    return None


@pytest.mark.parametrize("kind", PARSERS)
def test_trees_of_a_sample_of_pages_have_the_links_of_the_pages(kind: str) -> None:
    verdict(kind, 400, [difference(kind, page) for page in pages(400)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARSERS)
def test_trees_of_all_pages_have_the_links_of_the_pages(kind: str) -> None:
    with ProcessPoolExecutor() as pool:
        verdict(kind, EVERY, list(pool.map(partial(difference, kind), pages(EVERY), chunksize=4)))


def verdict(kind: str, every: int, found: list[Difference]) -> None:
    """Assert that exactly the pinned pages differ; print how many are equal."""
    differing = {one.page: one for one in found if one.missing or one.extra or one.refused}
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
