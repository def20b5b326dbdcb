"""html5lib, which shares no code with absolve, and where in the text the nodes of its trees stand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes

from absolve.verifying.differences import Position
from absolve.verifying.html5lib_today import Parser, TreeBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_CHARACTERS, _SPACES, _ERROR = (tokenTypes[name] for name in ("Characters", "SpaceCharacters", "ParseError"))


DEEPEST = 1024  # open elements; browsers stop at 512, and html5lib looks through all of them for most tags


class TooDeepError(Exception):
    """More elements are open than html5lib can look through in reasonable time."""


class Tree(NamedTuple):
    """A parsed document: every node in tree order, and where those stand that the text says (by identity)."""

    nodes: list[Element]
    places: dict[int, Position]

    def position(self, index: int) -> Position:
        """Where a node stands, or the last one before it of which that is known."""
        index = min(index, len(self.nodes) - 1)
        known = (self.places.get(id(node)) for node in reversed(self.nodes[: index + 1]))
        return next((place for place in known if place is not None), Position(1, 1))


def parse(text: str) -> Tree:
    """The tree of an HTML document, scripting off; TooDeepError, or whatever html5lib raises where it fails."""
    parser = _Parser(_Tree)
    parser.parse(text)
    builder: Any = parser.tree
    return Tree(list(builder.document._element.iter()), builder.places)  # noqa: SLF001 - getDocument() drops comments


def clones(text: str) -> Counter[tuple[str, str, str]]:
    """The attributes (element, attribute, value) of the elements that are clones of others, and have no tag.

    They come of formatting elements that stay open across others (HTML Standard 13.2.4.3, 13.2.6.4.7). Errors are those
    of `parse`.
    """
    found: Counter[tuple[str, str, str]] = Counter()

    class Node(_Node):
        def cloneNode(self) -> Any:  # noqa: N802 - html5lib's name
            found.update((self.name, *attribute) for attribute in self.attributes.items())
            return super().cloneNode()

    class Builder(_Tree):
        elementClass = Node  # noqa: N815

    _Parser(Builder).parse(text)
    return found


class _Tokenizer(HTMLTokenizer):
    """Remembers where the last tag or comment began, and gives a run of text as one token.

    html5lib adds each piece to the text that is there, in scripts with comments character by character: the time would
    grow with the square of the text.
    """

    opened: tuple[int, int] = (0, 0)

    def __iter__(self) -> Iterator[Any]:
        run: list[str] = []
        tokens: Iterator[Any] = super().__iter__()
        for token in tokens:
            kind, data = token["type"], token.get("data")
            if (kind == _CHARACTERS and data != "\0") or (kind == _SPACES and run):
                run.append(data)
            elif kind != _ERROR:
                if run:
                    yield {"type": _CHARACTERS, "data": "".join(run)}
                    run.clear()
                yield token
        if run:
            yield {"type": _CHARACTERS, "data": "".join(run)}

    def tagOpenState(self) -> Any:  # noqa: N802 - html5lib's name
        stream: Any = self.stream
        self.opened = stream._position(stream.chunkOffset - 1)  # noqa: SLF001
        return super().tagOpenState()


class _Node(TreeBuilder.elementClass):  # type: ignore[name-defined, misc]
    """An element that looks for a child from its end, where it is: html5lib copies the list of all children."""

    def insertBefore(self, node: Any, refNode: Any) -> None:  # noqa: N802, N803
        self._element.insert(self._index(refNode), node._element)  # noqa: SLF001
        node.parent = self

    def insertText(self, data: str, insertBefore: Any = None) -> None:  # noqa: N802, N803
        before = 0 if insertBefore is None else self._index(insertBefore)
        if before:
            last = self._element[before - 1]
            last.tail = (last.tail or "") + data
        elif insertBefore is not None:
            self._element.text = (self._element.text or "") + data
        else:
            super().insertText(data)

    def _index(self, node: Any) -> int:
        at = len(self._element) - 1
        while self._element[at] is not node._element:  # noqa: SLF001
            at -= 1
        return at


class _Tree(TreeBuilder):
    """Remembers where the tag or comment of a node began; an element without a tag takes that of what implied it."""

    elementClass = _Node  # noqa: N815
    tokenizer: _Tokenizer

    def reset(self) -> None:
        super().reset()
        self.places: dict[int, Position] = {}

    def createElement(self, token: Any) -> Any:  # noqa: N802
        return self._placed(super().createElement(token))

    def insertElementNormal(self, token: Any) -> Any:  # noqa: N802
        if len(self.openElements) > DEEPEST:
            raise TooDeepError(f"elements are nested more than {DEEPEST} deep")
        return self._placed(super().insertElementNormal(token))

    def insertComment(self, token: Any, parent: Any = None) -> None:  # noqa: N802
        parent = self.openElements[-1] if parent is None else parent
        super().insertComment(token, parent)
        self._placed(parent.childNodes[-1])

    def _placed(self, node: Any) -> Any:
        line, column = self.tokenizer.opened
        self.places.setdefault(id(node._element), Position(line + 1, column + 1))  # noqa: SLF001
        return node


class _Parser(Parser):
    """A parser with these two, which keeps no errors: real pages have thousands."""

    def __init__(self, tree: type[_Tree]) -> None:
        super().__init__(tree, _Tokenizer)

    def reset(self) -> None:
        super().reset()
        self.tree.tokenizer = self.tokenizer

    def parseError(self, errorcode: Any = None, datavars: Any = None) -> None:  # noqa: N802 - html5lib's name
        """Every text gives a tree; what is wrong with it is the same on both sides."""
