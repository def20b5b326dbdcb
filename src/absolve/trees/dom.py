"""Adapter for trees of xml.dom.minidom, which html5lib's dom tree builder makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from xml.dom import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
