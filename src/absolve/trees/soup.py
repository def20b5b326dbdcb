"""Adapter for trees of BeautifulSoup, made with any parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
