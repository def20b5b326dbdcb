"""Adapters for trees of lxml (lxml.html, html5lib's lxml) and the standard library's ElementTree (html5lib's etree)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
        before = [node for node in root.itersiblings(preceding=True) if self._known(node)]
        after = filter(self._known, root.itersiblings())  # libxml2 puts elements behind </html> there
        return [*reversed(before), root, *after], tree is root or hasattr(tree, "getroot")

    def _known(self, node: Any) -> bool:
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
    """Return a value that lxml accepts: it parses characters outside of XML's, but refuses to set them."""
    return _NOT_XML.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), value)
