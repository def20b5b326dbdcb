"""Adapters for trees of lxml and html5lib (lxml, ElementTree, minidom) and of BeautifulSoup, made with any parser.

In: a node. Out: its name, attributes, texts and line, as `Adapter` has them; and the same node with other values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Protocol
from xml.dom import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Adapter(Protocol):
    """The interface to one kind of tree. Nodes are the library's own objects; only elements and comments count."""

    def tops(self, tree: Any) -> tuple[list[Any], bool]:
        """Return the top-level nodes of the document that contains a tree, and whether the tree is all of it."""

    def url(self, tree: Any) -> str | None:
        """Return the URL that the tree records for its document, or None."""

    def name(self, node: Any) -> tuple[str | None, str] | None:
        """Return the namespace (None in trees without) and the name of an element; None for a comment."""

    def content(self, node: Any) -> Iterable[Any]:
        """Yield the child elements, comments and texts of an element, in order; of a comment its text.

        Texts are of the exact type `str`.
        """

    def attributes(self, node: Any) -> Iterable[tuple[Any, str, str]]:
        """Return the attributes of an element in order: the key for `set_attribute`, the name, the value."""

    def set_attribute(self, node: Any, key: Any, value: str) -> None:
        """Set the value of an existing attribute."""

    def set_text(self, node: Any, value: str) -> None:
        """Replace the text before an element's first child node, or the text of a comment."""

    def line(self, node: Any) -> int:
        """Return the 1-based line on which the node begins; 0 if the tree does not record it."""


class ElementTree:
    """Adapter for elements with tag, text, tail and attrib, without links to their parents, lines or URLs."""

    def __init__(self) -> None:
        from xml.etree import ElementTree as ET

        self._comment: Any = ET.Comment

    def tops(self, tree: Any) -> tuple[list[Any], bool]:
        root = tree.getroot() if hasattr(tree, "getroot") else tree
        return ([] if root is None else [root]), True

    def url(self, tree: Any) -> str | None:  # noqa: ARG002 - ElementTree records no URL
        return None

    def name(self, node: Any) -> tuple[str | None, str] | None:
        tag = node.tag
        if not isinstance(tag, str):
            return None
        if tag.startswith("{"):
            uri, _, name = tag[1:].partition("}")
            return uri, name
        return None, tag

    def content(self, node: Any) -> Iterator[Any]:
        if node.text:
            yield str(node.text)
        for child in node:
            if isinstance(child.tag, str) or child.tag is self._comment:
                yield child
            if child.tail:
                yield str(child.tail)

    def attributes(self, node: Any) -> Iterable[tuple[Any, str, str]]:
        return [(key, key, value) for key, value in node.attrib.items()]

    def set_attribute(self, node: Any, key: Any, value: str) -> None:
        node.set(key, value)

    def set_text(self, node: Any, value: str) -> None:
        node.text = value

    def line(self, node: Any) -> int:  # noqa: ARG002 - ElementTree records no lines
        return 0


class Lxml(ElementTree):
    """Adapter for lxml's elements, with links to parents and siblings, lines, and the URL of their document."""

    def __init__(self) -> None:
        from lxml import etree

        self._comment = etree.Comment

    def tops(self, tree: Any) -> tuple[list[Any], bool]:
        root = (tree if hasattr(tree, "getroot") else tree.getroottree()).getroot()
        if root is None:
            return [], True
        before = [node for node in root.itersiblings(preceding=True) if self._is_node(node)]
        after = filter(self._is_node, root.itersiblings())  # libxml2 puts elements behind </html> there
        return [*reversed(before), root, *after], tree is root or hasattr(tree, "getroot")

    def _is_node(self, node: Any) -> bool:
        return isinstance(node.tag, str) or node.tag is self._comment

    def url(self, tree: Any) -> str | None:
        found: str | None = (tree if hasattr(tree, "getroot") else tree.getroottree()).docinfo.URL
        return found

    def set_attribute(self, node: Any, key: Any, value: str) -> None:
        try:
            node.set(key, value)
        except ValueError:
            node.set(key, _percent_escaped(value))

    def set_text(self, node: Any, value: str) -> None:
        try:
            node.text = value
        except ValueError:
            node.text = _percent_escaped(value)

    def line(self, node: Any) -> int:
        return node.sourceline or 0


_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _percent_escaped(value: str) -> str:
    """Return a value that lxml accepts: for example, `a%01` for `a`, U+0001, which lxml reads and refuses to set."""
    return _NOT_XML.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), value)


# --- minidom ----------------------------------------------------------------------------------------------------------

_TEXTS: Final = (Node.TEXT_NODE, Node.CDATA_SECTION_NODE)
_NODES: Final = (Node.ELEMENT_NODE, Node.COMMENT_NODE)


class Dom:
    """Adapter for documents, fragments and elements of minidom, which have no line numbers."""

    def tops(self, tree: Any) -> tuple[list[Any], bool]:
        top = tree
        while top.parentNode is not None:
            top = top.parentNode
        return [top], top is tree

    def url(self, tree: Any) -> str | None:  # noqa: ARG002 - minidom records no URL
        return None

    def name(self, node: Any) -> tuple[str | None, str] | None:
        if node.nodeType == Node.COMMENT_NODE:
            return None
        if node.nodeType == Node.ELEMENT_NODE:  # with its prefix: in html5lib `v:fill` is a local name
            return node.namespaceURI, node.tagName
        return None, node.nodeName

    def content(self, node: Any) -> Iterator[Any]:
        if node.nodeType == Node.COMMENT_NODE:
            yield node.data
        for child in node.childNodes:
            if child.nodeType in _TEXTS:
                yield child.data
            elif child.nodeType in _NODES:
                yield child

    def attributes(self, node: Any) -> Iterable[tuple[Any, str, str]]:
        if node.nodeType != Node.ELEMENT_NODE or not node.hasAttributes():
            return []
        return [(attribute, attribute.name, attribute.value) for attribute in node.attributes.values()]

    def set_attribute(self, node: Any, key: Any, value: str) -> None:  # noqa: ARG002 - the attribute is a node itself
        key.value = value

    def set_text(self, node: Any, value: str) -> None:
        if node.nodeType == Node.COMMENT_NODE:
            node.data = value
            return
        for child in node.childNodes:
            if child.nodeType not in _TEXTS:
                break
            child.data, value = value, ""  # the first text node gets the whole value

    def line(self, node: Any) -> int:  # noqa: ARG002 - minidom records no lines
        return 0


# --- BeautifulSoup ----------------------------------------------------------------------------------------------------


class Soup:
    """Adapter for tags; comments are a subclass of str, and some attributes (`rel`, `archive`) are lists of words."""

    def __init__(self) -> None:
        import bs4

        self._tag: Any = bs4.Tag
        self._comment: Any = bs4.Comment
        self._not_text: Any = (bs4.element.Doctype, bs4.element.Declaration, bs4.element.ProcessingInstruction)

    def tops(self, tree: Any) -> tuple[list[Any], bool]:
        top = tree
        while top.parent is not None:
            top = top.parent
        return [top], top is tree

    def url(self, tree: Any) -> str | None:  # noqa: ARG002 - BeautifulSoup records no URL
        return None

    def name(self, node: Any) -> tuple[str | None, str] | None:
        return (node.namespace, node.name) if isinstance(node, self._tag) else None

    def content(self, node: Any) -> Iterator[Any]:
        if isinstance(node, self._comment):
            yield str(node)
            return
        for child in node.contents:
            if isinstance(child, (self._tag, self._comment)):
                yield child
            elif not isinstance(child, self._not_text):
                yield str(child)

    def attributes(self, node: Any) -> Iterable[tuple[Any, str, str]]:
        return [(key, str(key), _joined(value)) for key, value in node.attrs.items()]

    def set_attribute(self, node: Any, key: Any, value: str) -> None:
        old = node.attrs[key]
        node.attrs[key] = type(old)(value.split()) if isinstance(old, list) else value

    def set_text(self, node: Any, value: str) -> None:
        if isinstance(node, self._comment):
            node.replace_with(type(node)(value))
            return
        for child in list(node.contents):
            if isinstance(child, (self._tag, self._comment)):
                break
            child.replace_with(type(child)(value))  # the first text gets the whole value
            value = ""

    def line(self, node: Any) -> int:
        return getattr(node, "sourceline", None) or 0


def _joined(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
