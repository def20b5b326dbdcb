"""Saved pages read twice: links that `absolve.links` finds in their bytes, and that `absolve.trees` finds in a tree.

The tree is parsed from the text that absolve decodes; characters that XML does not allow are U+FFFD on both sides.
"""

import html
import platform
import re
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import html5lib
import lxml.html
from lxml import etree
from material import SHARED, Page, pins

import absolve
from absolve import trees
from absolve.encodings import charsets
from absolve.inventory.columns import Row

try:
    import bs4
except ImportError:
    BUILDERS: tuple[str, ...] = ()
else:
    BUILDERS = ("html.parser", "lxml", "html5lib")

PINS: Final[dict[str, Any]] = pins("tree")


def _lxml(text: str) -> Any:
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)  # a charset declaration in text must be ignored
    return lxml.html.document_fromstring(text.encode(), parser=parser)


PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "lxml.html": _lxml,
    **{f"html5lib {kind}": partial(html5lib.parse, treebuilder=kind) for kind in ("etree", "lxml", "dom")},
    **{f"bs4 {kind}": partial(bs4.BeautifulSoup, features=kind) for kind in BUILDERS},
}


# Results of Python's and libxml2's parsers depend on their versions.
VERSIONS: Final = {
    "lxml.html": f"libxml2 {'.'.join(map(str, etree.LIBXML_VERSION))}",
    "bs4 lxml": f"libxml2 {'.'.join(map(str, etree.LIBXML_VERSION))}",
    "bs4 html.parser": f"Python {platform.python_version()}",
}


_NO_CHARACTER: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffd-\uffff]+")


def _readable(text: str) -> str:
    return _NO_CHARACTER.sub("\ufffd", text)


class Fact(NamedTuple):
    """Return all values of a row except the position of the link."""

    element: str
    attribute: str
    kind: str
    reference: str
    base: str
    base_layer: str
    target: str | None
    scope: str
    problems: tuple[str, ...]


def fact(row: Row) -> Fact:
    target = row.target and _readable(row.target)
    reference = _readable(row.reference)
    named = (row.element, row.attribute, row.kind)
    return Fact(*named, reference, row.base, row.base_layer, target, row.scope, tuple(row.problems))


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

    @property
    def matters(self) -> bool:
        return bool(self.missing or self.extra or self.refused)


def difference(kind: str, page: Page) -> Difference:
    data = (SHARED / "pages" / page.path).read_bytes()
    charset, mark = charsets.of_html(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = PARSERS[kind](_readable(charset.decode(data[mark:])))
        except ValueError:
            return Difference(page.path, [], [], [], same_order=False, refused=True)
    there = [fact(row) for row in absolve.links(data, media_type="text/html", url=page.url)]
    found = [fact(row) for row in trees.links(tree, page.url)]
    more = list((Counter(found) - Counter(there)).elements())
    known = set(there)
    missing = list((Counter(there) - Counter(found)).elements())
    return Difference(page.path, missing, [one for one in more if one not in known], [one for one in more if one in known], there == found)


def explained(found: Difference) -> str | None:
    """Return the class of a difference only in how references were decoded; None if something else differs too."""
    for name, change in _CHANGES.items():
        sides = ([(*one[:3], change(one.reference), one.base) for one in side] for side in (found.missing, found.extra))
        missing, extra = map(Counter, sides)
        if missing == extra:
            return name
    return None


_CHANGES: Final[dict[str, Callable[[str], str]]] = {
    "line ends": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
    "references": lambda text: html.unescape(text).replace("\r\n", "\n").replace("\r", "\n"),
}
