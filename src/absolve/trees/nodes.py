"""What a tree must answer to be read, and its nodes in tree order as the HTML Standard would have them.

Some trees know namespaces and some do not; some have as elements what is text in HTML. Here they become alike.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from absolve.formats.html.names import ELEMENT_ID, ELEMENT_TRAITS, HTML, MATHML, SVG, Trait

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Adapter(Protocol):
    """One kind of tree. Nodes are the tree's own; only elements and comments are spoken of."""

    def tops(self, tree: Any) -> tuple[list[Any], bool]:
        """The outermost nodes of the document that a tree is of, and whether the tree is the whole document."""

    def url(self, tree: Any) -> str | None:
        """Where the tree itself says that it was read from."""

    def name(self, node: Any) -> tuple[str | None, str] | None:
        """The namespace (None where the tree has none) and the name of an element; None for a comment."""

    def content(self, node: Any) -> Iterable[Any]:
        """The elements and comments in an element and its text, in order; a comment's text. Texts are plain `str`."""

    def attributes(self, node: Any) -> Iterable[tuple[Any, str, str]]:
        """The attributes of an element in order: what `set_attribute` takes for the attribute, its name, its value."""

    def set_attribute(self, node: Any, key: Any, value: str) -> None:
        """Give an attribute that is there another value."""

    def set_text(self, node: Any, value: str) -> None:
        """Put text in the place of that before an element's first node, or of a comment's."""

    def line(self, node: Any) -> int:
        """The line that the node began on, 1-based; 0 where the tree does not know."""


class Seen(NamedTuple):
    """A node on the way through a tree: `name` is in lower case, `namespace` one of html_names or OTHER.

    `inside`: part of what was given, not only of the document around it.
    """

    node: Any
    namespace: int
    name: str
    in_template: bool
    inside: bool


COMMENT: Final = "#comment"
OTHER: Final = -1  # a namespace that is none of HTML's
_NAMESPACES: Final = {
    "http://www.w3.org/1999/xhtml": HTML,
    "http://www.w3.org/2000/svg": SVG,
    "http://www.w3.org/1998/Math/MathML": MATHML,
}
_PREFIXES: Final = {
    "http://www.w3.org/1999/xlink": "xlink:",
    "http://www.w3.org/XML/1998/namespace": "xml:",
    "http://www.w3.org/2000/xmlns/": "xmlns:",
}


def _names(traits: Trait) -> frozenset[str]:
    return frozenset(name.decode() for name, number in ELEMENT_ID.items() if ELEMENT_TRAITS[number] & traits)


_TEXT: Final = _names(Trait.RCDATA | Trait.RAWTEXT) | {"plaintext", "script"}  # hold no elements, whatever a tree has
_BREAKOUT: Final = _names(Trait.BREAKOUT)
_POINTS: Final = {SVG: _names(Trait.SVG_POINT), MATHML: _names(Trait.MATHML_POINT)}


def nodes(adapter: Adapter, tree: Any) -> Iterator[Seen]:
    """Every element and comment of the document that a tree is of, in tree order, without what is text in HTML."""
    tops, whole = adapter.tops(tree)
    stack = [(node, HTML, False, whole) for node in reversed(tops)]
    while stack:
        node, around, in_template, inside = stack.pop()
        inside = inside or node is tree
        named = adapter.name(node)
        if named is None:
            yield Seen(node, around, COMMENT, in_template, inside)
            continue
        name = element_name(named[1])
        namespace = _NAMESPACES.get(named[0], OTHER) if named[0] is not None else _namespace(name, around)
        yield Seen(node, namespace, name, in_template, inside)
        if namespace == HTML and name in _TEXT:
            continue
        if namespace == HTML and name == "template":
            in_template = True
        around = _around(adapter, node, namespace, name)
        children = [child for child in adapter.content(node) if type(child) is not str]
        stack += [(child, around, in_template, inside) for child in reversed(children)]


def _namespace(name: str, around: int) -> int:
    """13.2.6.5: the namespace of an element in a tree that has none, by where it stands."""
    if name in {"svg", "math"}:
        return SVG if name == "svg" else MATHML
    return HTML if name in _BREAKOUT else around


def _around(adapter: Adapter, node: Any, namespace: int, name: str) -> int:
    """The namespace that an element gives to those in it: HTML at integration points (13.2.6)."""
    if name in _POINTS.get(namespace, ()):
        return HTML
    if namespace == MATHML and name == "annotation-xml":
        encoding = keyword([(key, value) for _, key, value in adapter.attributes(node)], "encoding")
        return HTML if encoding in {"text/html", "application/xhtml+xml"} else namespace
    return namespace


def keyword(attributes: Iterable[tuple[str, str]], name: str) -> str:
    """The value of an attribute, trimmed and in lower case; empty where there is none."""
    return lower(next((value for key, value in attributes if key == name), "").strip("\t\n\f\r "))


_UPPER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def lower(name: str) -> str:
    """ASCII letters only, as HTML does."""
    return name.lower() if name.isascii() else name.translate(_UPPER)


_ESCAPE: Final = re.compile(r"U([0-9A-F]{5})")


@lru_cache(1024)
def element_name(name: str) -> str:
    """In lower case. html5lib's trees of lxml write what XML allows in no name by its number: `vU0003Aimagedata`."""
    return lower(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), name) if "U000" in name else name)


@lru_cache(1024)
def attribute_name(key: str) -> str:
    """An attribute's name as rows have it, from that or from Clark's notation."""
    if key.startswith("{"):
        uri, _, key = key[1:].partition("}")
        key = _PREFIXES.get(uri, f"{{{uri}}}") + key
    return element_name(key)
