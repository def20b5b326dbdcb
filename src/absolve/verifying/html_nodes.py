"""Compact trees for html5lib's parser: closed elements are stored in lists and arrays, not as node objects.

In: the calls of html5lib's tree builder interface. Out: a `Tree`, iterated in tree order.
A hostile document of a few megabytes has a million elements, and a node of html5lib's own classes takes half a
kilobyte.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from html5lib.treebuilders import base

from absolve.verifying.differences import Position
from absolve.verifying.html5lib_today import Templates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Content = tuple[dict[str, str], str, str]

COMMENT: Final = "<!---->"  # the tag of a comment; those of elements begin with a brace
DOCTYPE: Final = "<!DOCTYPE>"
_NOWHERE: Final = -1
NOTHING: Final[Content] = ({}, "", "")


class _Block:
    """A run of nodes in tree order: the tag, number of children, position and content of each."""

    __slots__ = ("contents", "places", "sizes", "tags")

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.sizes = array("I")
        self.places = array("q")
        self.contents: list[Content | None] = []

    def add_text(self, index: int, text: str, *, inside: bool) -> None:
        """Add text before the first child of a node, or after the node."""
        attributes, inner, tail = self.contents[index] or NOTHING
        self.contents[index] = (attributes, inner + text, tail) if inside else (attributes, inner, tail + text)


_MOST: Final = 8192  # nodes in a block: a larger one would be copied as it grows, and fragment the memory
_known: Final = lru_cache(maxsize=1024)(str)  # interns tags


class Tree:
    """Nodes of one or more roots, in tree order.

    Tags are in the form of ElementTree, or `COMMENT` or `DOCTYPE`. The content of a node is its attributes, the text
    before its first child (the text of a comment), and the text after it; None where all are empty.
    """

    __slots__ = ("_blocks", "_last", "roots")

    def __init__(self) -> None:
        self._blocks = [_Block()]
        self._last = (self._blocks[0], -1)  # block and index of the last root
        self.roots = 0

    def __len__(self) -> int:
        return sum(len(block.tags) for block in self._blocks)

    def tags(self) -> Iterator[str]:
        """Yield the tag of each node."""
        return chain.from_iterable(block.tags for block in self._blocks)

    def sizes(self) -> Iterator[int]:
        """Yield the number of children of each node."""
        return chain.from_iterable(block.sizes for block in self._blocks)

    def contents(self) -> Iterator[Content | None]:
        """Yield the content of each node."""
        return chain.from_iterable(block.contents for block in self._blocks)

    def position(self, index: int) -> Position:
        """Return the position of a node, or of the last one before it with a known position."""
        places = chain.from_iterable(block.places for block in self._blocks)
        known = [place for place in islice(places, index + 1) if place != _NOWHERE]
        return Position((known[-1] >> 32) + 1, (known[-1] & 0xFFFFFFFF) + 1) if known else Position(1, 1)

    def add(self, root: Node) -> None:
        """Add a node that no longer changes, and all its descendants."""
        self.roots += 1
        self._last = self._put(root)
        levels = [_Level(*self._last, root)]
        while levels:
            level = levels[-1]
            for child in level.children:
                if isinstance(child, str):
                    level.text.append(child)
                    continue
                level.end_text()
                if isinstance(child, Tree):
                    level.block.sizes[level.index] += child.roots
                    level.last = self._join(child)
                else:
                    level.block.sizes[level.index] += 1
                    level.last = self._put(child)
                    if child.childNodes:
                        levels.append(_Level(*level.last, child))
                        break
            else:
                level.end_text()
                levels.pop()

    def add_tree(self, other: Tree) -> None:
        """Move the nodes of another tree to the end of this one."""
        self.roots += other.roots
        self._last = self._join(other)

    def add_text(self, text: str) -> None:
        """Add text after the last root."""
        block, index = self._last
        block.add_text(index, text, inside=False)

    def _join(self, other: Tree) -> tuple[_Block, int]:
        """Append the blocks of another tree; return the block and index of its last root."""
        mine, first = self._blocks[-1], other._blocks[0]
        block, index = other._last
        size = len(mine.tags)
        if size + len(first.tags) > _MOST:
            self._blocks += other._blocks
            return block, index
        mine.tags += first.tags
        mine.sizes += first.sizes
        mine.places += first.places
        mine.contents += first.contents
        self._blocks += other._blocks[1:]
        return (mine, size + index) if block is first else (block, index)

    def _put(self, node: Node) -> tuple[_Block, int]:
        block = self._blocks[-1]
        if len(block.tags) >= _MOST:
            block = _Block()
            self._blocks.append(block)
        block.tags.append(_known(f"{{{node.namespace}}}{node.name}" if node.namespace else node.name))
        block.sizes.append(0)
        block.places.append(node.place)
        attributes = {_key(key): value for key, value in node.attributes.items()}
        block.contents.append((attributes, "", "") if attributes else None)
        return block, len(block.tags) - 1


def _key(key: str | tuple[str, str, str]) -> str:
    return key if isinstance(key, str) else f"{{{key[2]}}}{key[1]}"


class _Level:
    """An element whose children are being moved to a tree."""

    __slots__ = ("block", "children", "index", "last", "text")

    def __init__(self, block: _Block, index: int, node: Node) -> None:
        self.block = block
        self.index = index
        self.last: tuple[_Block, int] | None = None  # the child that was added last
        self.text: list[str] = []
        self.children: Iterator[Node | Tree | str] = iter(node.childNodes)
        node.childNodes = []

    def end_text(self) -> None:
        """Store the text before the next child, or before the end of the element."""
        if self.text:
            block, index = self.last or (self.block, self.index)
            block.add_text(index, "".join(self.text), inside=self.last is None)
            self.text.clear()


class Node:
    """A node that may still change. Its children are nodes, texts, and trees of nodes that no longer change."""

    __slots__ = ("attributes", "childNodes", "name", "nameTuple", "namespace", "parent", "place")

    def __init__(self, name: str, namespace: str) -> None:
        self.name = name
        self.namespace = namespace  # empty for other nodes than elements
        self.nameTuple = (namespace, name)
        self.attributes: dict[Any, str] = {}
        self.childNodes: list[Node | Tree | str] = []
        self.parent: Node | None = None
        self.place = _NOWHERE

    def hasContent(self) -> bool:  # noqa: N802 - html5lib's names, from here on
        return bool(self.childNodes)

    def appendChild(self, node: Node) -> None:  # noqa: N802
        self.childNodes.append(node)
        node.parent = self

    def insertBefore(self, node: Node, refNode: Node) -> None:  # noqa: N802, N803
        self.childNodes.insert(self._index(refNode), node)
        node.parent = self

    def insertText(self, data: str, insertBefore: Node | None = None) -> None:  # noqa: N802, N803
        if insertBefore is None:
            self.childNodes.append(data)
        else:
            self.childNodes.insert(self._index(insertBefore), data)

    def removeChild(self, node: Node) -> None:  # noqa: N802
        del self.childNodes[self._index(node)]
        node.parent = None

    def reparentChildren(self, newParent: Node) -> None:  # noqa: N802, N803
        for child in self.childNodes:
            if isinstance(child, Node):
                child.parent = newParent
        newParent.childNodes += self.childNodes
        self.childNodes = []

    def cloneNode(self) -> Node:  # noqa: N802
        clone = type(self)(self.name, self.namespace)
        clone.attributes = dict(self.attributes)
        return clone

    def _index(self, node: Node) -> int:
        """Return the index of a child, searched from the end: most are near it."""
        at = len(self.childNodes) - 1
        while self.childNodes[at] is not node:
            at -= 1
        return at

    def close(self, live: set[Node]) -> None:
        """Replace the children that are not in `live`, the nodes that may still change, by trees."""
        kept: list[Node | Tree | str] = []
        text: list[str] = []
        for child in self.childNodes:
            if isinstance(child, str):
                text.append(child)
            elif isinstance(child, Node) and child in live:
                kept += _in_few(text)
                kept.append(child)
                text.clear()
            else:
                last = kept[-1] if kept else None
                if isinstance(last, Tree):
                    if text:
                        last.add_text("".join(text))
                else:
                    kept += text
                    last = Tree()
                    kept.append(last)
                text.clear()
                if isinstance(child, Tree):
                    last.add_tree(child)
                else:
                    last.add(child)
        self.childNodes = [*kept, *_in_few(text)]


def _in_few(texts: Iterable[str]) -> list[str]:
    """Join texts to pieces each less than half as long as the one before: few pieces, and linear copying in total."""
    pieces: list[str] = []
    for text in texts:
        pieces.append(text)
        while len(pieces) > 1 and len(pieces[-2]) <= 2 * len(pieces[-1]):
            pieces[-2:] = [pieces[-2] + pieces[-1]]
    return pieces


class _Comment(Node):
    __slots__ = ()

    def __init__(self, data: str) -> None:
        super().__init__(COMMENT, "")
        self.childNodes.append(data)


class _Doctype(Node):
    __slots__ = ()

    def __init__(self, name: str | None, public: str | None, system: str | None) -> None:
        super().__init__(DOCTYPE, "")
        self.childNodes.append(name or "")
        identifiers = {"publicId": public, "systemId": system}
        self.attributes = {key: value for key, value in identifiers.items() if value is not None}


class _Document(Node):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("DOCUMENT_ROOT", "")


class Builder(Templates, base.TreeBuilder):
    """html5lib's tree builder with these nodes.

    Call `sweep` only while the parser has no reference to a closed node.
    """

    documentClass = _Document  # noqa: N815 - html5lib's names
    elementClass = Node  # noqa: N815
    commentClass = _Comment  # noqa: N815
    doctypeClass = _Doctype  # noqa: N815
    most = 4096  # nodes and texts added between two sweeps

    def reset(self) -> None:
        super().reset()
        self.added = 0

    def insertText(self, data: str, parent: Any = None) -> None:  # noqa: N802
        self.added += 1
        super().insertText(data, parent)

    def sweep(self) -> None:
        """Convert closed nodes to trees, once enough are added: only open elements and the head may still change."""
        if self.added < self.most:
            return
        self.added = 0
        live: set[Node] = set()
        for held in (*self.openElements, self.headPointer, self.document):
            node = held
            while node is not None and node not in live:
                live.add(node)
                node = node.parent
        for node in live:
            node.close(live)

    def tree(self) -> Tree:
        """Return the tree of the whole document, and reset the builder."""
        tree = Tree()
        tree.add(self.document)
        self.reset()
        return tree
