"""Trees of xml.dom.minidom (html5lib's dom trees)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from xml.dom import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TEXTS: Final = (Node.TEXT_NODE, Node.CDATA_SECTION_NODE)
_NODES: Final = (Node.ELEMENT_NODE, Node.COMMENT_NODE)


class Dom:
    """Documents, fragments and elements of minidom; their lines are not known."""

    def tops(self, tree: Any) -> tuple[list[Any], bool]:
        top = tree
        while top.parentNode is not None:
            top = top.parentNode
        return [top], top is tree

    def url(self, tree: Any) -> str | None:  # noqa: ARG002 - the tree keeps none
        return None

    def name(self, node: Any) -> tuple[str | None, str] | None:
        if node.nodeType == Node.COMMENT_NODE:
            return None
        if node.nodeType == Node.ELEMENT_NODE:  # no prefixes are taken off: html5lib has `v:fill` as a whole name
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
            child.data, value = value, ""  # all of it into the first

    def line(self, node: Any) -> int:  # noqa: ARG002 - likewise
        return 0
