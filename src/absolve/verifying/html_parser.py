"""html5lib, which shares no code with absolve, and where in the text the nodes of its trees stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from html5lib import HTMLParser, getTreeBuilder
from html5lib._tokenizer import HTMLTokenizer

from absolve.verifying.differences import Position

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


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
    """The tree of an HTML document, scripting off; whatever html5lib raises where it fails."""
    parser = _Parser(_Tree)
    parser.parse(text)
    builder: Any = parser.tree
    return Tree(list(builder.document._element.iter()), builder.places)  # noqa: SLF001 - getDocument() drops comments


class _Tokenizer(HTMLTokenizer):
    """Remembers where the last tag or comment began."""

    opened: tuple[int, int] = (0, 0)

    def tagOpenState(self) -> Any:  # noqa: N802 - html5lib's name
        stream: Any = self.stream
        self.opened = stream._position(stream.chunkOffset - 1)  # noqa: SLF001
        return super().tagOpenState()


class _Tree(getTreeBuilder("etree")):  # type: ignore[misc]
    """Remembers where the tag or comment of a node began; an element without a tag takes that of what implied it."""

    tokenizer: _Tokenizer

    def reset(self) -> None:
        super().reset()
        self.places: dict[int, Position] = {}

    def createElement(self, token: Any) -> Any:  # noqa: N802
        return self._placed(super().createElement(token))

    def insertElementNormal(self, token: Any) -> Any:  # noqa: N802
        return self._placed(super().insertElementNormal(token))

    def insertComment(self, token: Any, parent: Any = None) -> None:  # noqa: N802
        parent = self.openElements[-1] if parent is None else parent
        super().insertComment(token, parent)
        self._placed(parent.childNodes[-1])

    def _placed(self, node: Any) -> Any:
        line, column = self.tokenizer.opened
        self.places.setdefault(id(node._element), Position(line + 1, column + 1))  # noqa: SLF001
        return node


class _Parser(HTMLParser):
    """A parser with these two, which keeps no errors: real pages have thousands."""

    def _parse(
        self, stream: Any, innerHTML: Any = False, container: Any = "div", scripting: Any = False, **kwargs: Any  # noqa: FBT002, N803
    ) -> None:
        self.innerHTMLMode = innerHTML
        self.container = container
        self.scripting = scripting
        self.tokenizer = self.tree.tokenizer = _Tokenizer(stream, parser=self, **kwargs)
        self.reset()
        self.mainLoop()

    def parseError(self, errorcode: Any = None, datavars: Any = None) -> None:  # noqa: N802
        """Every text gives a tree; what is wrong with it is the same on both sides."""
