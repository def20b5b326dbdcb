"""Walk the nodes of a tree in tree order, with names and namespaces as in the HTML Standard (13.2.6).

In: a tree and the adapter of its kind. Out: `Seen` values. They are equal for trees
with and without namespaces, and omit elements inside of those whose content is text in HTML.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.formats.html.names import ELEMENT_ID, ELEMENT_TRAITS, HTML, MATHML, SVG, Trait

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.trees.adapters import Adapter


class Seen(NamedTuple):
    """A node with its context: `name` is in lower case, `namespace` a constant of formats.html.names or OTHER.

    `inside`: the node is part of the tree given, not only of the document that contains it.
    """

    node: Any
    namespace: int
    name: str
    in_template: bool
    in_noscript: bool
    inside: bool


COMMENT: Final = "#comment"
OTHER: Final = -1  # any namespace but HTML, SVG and MathML
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


def _names(traits: int) -> frozenset[str]:
    return frozenset(name.decode() for name, number in ELEMENT_ID.items() if ELEMENT_TRAITS[number] & traits)


_TEXT: Final = _names(Trait.RCDATA | Trait.RAWTEXT) | {"plaintext", "script"}  # their child elements are ignored
_BREAKOUT: Final = _names(Trait.BREAKOUT)
_POINTS: Final = {SVG: _names(Trait.SVG_POINT), MATHML: _names(Trait.MATHML_POINT)}


def nodes(adapter: Adapter, tree: Any) -> Iterator[Seen]:
    """Yield every element and comment of the document that contains a tree, in tree order.

    Children of elements whose content is text in HTML are omitted.
    """
    tops, whole = adapter.tops(tree)
    stack = [(node, HTML, False, False, whole) for node in reversed(tops)]
    while stack:
        node, around, in_template, in_noscript, inside = stack.pop()
        inside = inside or node is tree
        named = adapter.name(node)
        if named is None:
            yield Seen(node, around, COMMENT, in_template, in_noscript, inside)
            continue
        name = element_name(named[1])
        namespace = _NAMESPACES.get(named[0], OTHER) if named[0] is not None else _namespace(name, around)
        yield Seen(node, namespace, name, in_template, in_noscript, inside)
        if namespace == HTML and name in _TEXT:
            continue
        if namespace == HTML:
            in_template = in_template or name == "template"
            in_noscript = in_noscript or name == "noscript"
        around = _around(adapter, node, namespace, name)
        children = [child for child in adapter.content(node) if type(child) is not str]
        stack += [(child, around, in_template, in_noscript, inside) for child in reversed(children)]


def _namespace(name: str, around: int) -> int:
    """Return the namespace of an element in a tree without namespaces, by its context (13.2.6.5)."""
    if name in {"svg", "math"}:
        return SVG if name == "svg" else MATHML
    return HTML if name in _BREAKOUT else around


def _around(adapter: Adapter, node: Any, namespace: int, name: str) -> int:
    """Return the namespace of an element's children: HTML in integration points (13.2.6)."""
    if name in _POINTS.get(namespace, ()):
        return HTML
    if namespace == MATHML and name == "annotation-xml":
        encoding = keyword([(key, value) for _, key, value in adapter.attributes(node)], "encoding")
        return HTML if encoding in {"text/html", "application/xhtml+xml"} else namespace
    return namespace


def keyword(attributes: Iterable[tuple[str, str]], name: str) -> str:
    """Return the value of an attribute, stripped and in lower case; "" if it is absent."""
    return lower(next((value for key, value in attributes if key == name), "").strip("\t\n\f\r "))


_UPPER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def lower(name: str) -> str:
    """Return a name with its ASCII letters in lower case, as in HTML."""
    return name.lower() if name.isascii() else name.translate(_UPPER)


_ESCAPE: Final = re.compile(r"U([0-9A-F]{5})")


@lru_cache(1024)
def element_name(name: str) -> str:
    """Return an element name in lower case, with the escapes of html5lib's lxml trees decoded (`vU0003Aimagedata`).

    html5lib escapes characters that XML does not allow in names.
    """
    return lower(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), name) if "U000" in name else name)


@lru_cache(1024)
def attribute_name(key: str) -> str:
    """Return an attribute name in the form of rows (`xlink:href`), from that form or Clark's notation (`{uri}href`)."""
    if key.startswith("{"):
        uri, _, key = key[1:].partition("}")
        key = _PREFIXES.get(uri, f"{{{uri}}}") + key
    return element_name(key)
