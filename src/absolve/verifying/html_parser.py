"""Parse HTML with html5lib, which shares no code with absolve, with the position of each node in the text.

In: the text of a document. Out: a `Tree`; or the attributes of cloned elements.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes

from absolve.verifying.html5lib_today import Parser
from absolve.verifying.html_nodes import Builder, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.verifying.html_nodes import Tree

_CHARACTERS, _SPACES, _ERROR = (tokenTypes[name] for name in ("Characters", "SpaceCharacters", "ParseError"))


DEEPEST = 1024  # open elements; browsers allow 512, and html5lib searches all of them for most tags


class TooDeepError(Exception):
    """More elements are open than html5lib can search in reasonable time."""


def parse(text: str, *, scripting: bool = False) -> Tree:
    """Return the tree of an HTML document. Raise TooDeepError, or any exception of html5lib where it fails."""
    parser = _Parser(_Builder, scripting=scripting)
    parser.parse(_Text(text))
    builder: _Builder = parser.tree
    return builder.tree()


def clones(text: str) -> Counter[tuple[str, str, str]]:
    """Return the attributes (element, attribute, value) of cloned elements, which have no tag of their own.

    They result from formatting elements that stay open across others (HTML Standard 13.2.4.3, 13.2.6.4.7). Raise the
    same exceptions as `parse`.
    """
    found: Counter[tuple[str, str, str]] = Counter()

    class Cloned(Node):
        __slots__ = ()

        def cloneNode(self) -> Node:  # noqa: N802 - html5lib's name
            found.update((self.name, *attribute) for attribute in self.attributes.items())
            return super().cloneNode()

    class Clones(_Builder):
        elementClass = Cloned  # noqa: N815

    _Parser(Clones).parse(_Text(text))
    return found


class _Text:
    """A text with `read`: given a str, html5lib would make a copy of four bytes per character."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read = 0

    def read(self, size: int = 0, /) -> str:
        piece = self._text[self._read : self._read + size]
        self._read += size
        return piece


class _Tokenizer(HTMLTokenizer):
    """A tokenizer that records the position of the last tag or comment, and yields a run of text as one token.

    html5lib appends each piece of text to the node, in scripts with comments character by character: the time would be
    quadratic in the text.
    """

    opened: tuple[int, int] = (0, 0)
    swept: Builder

    def __iter__(self) -> Iterator[Any]:
        run: list[str] = []
        tokens: Iterator[Any] = super().__iter__()
        for token in tokens:
            self.swept.sweep()  # between two tokens the parser has no reference to a closed node
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


class _Builder(Builder):
    """A builder that records the position of each node's tag; an implied element gets that of the implying token."""

    tokenizer: _Tokenizer

    def createElement(self, token: Any) -> Any:  # noqa: N802
        element: Node = super().createElement(token)  # type: ignore[no-untyped-call]
        return self._placed(element)

    def insertElementNormal(self, token: Any) -> Any:  # noqa: N802
        if len(self.openElements) > DEEPEST:
            raise TooDeepError(f"elements are nested more than {DEEPEST} deep")
        element: Node = super().insertElementNormal(token)  # type: ignore[no-untyped-call]
        return self._placed(element)

    def insertComment(self, token: Any, parent: Any = None) -> None:  # noqa: N802
        parent = self.openElements[-1] if parent is None else parent
        super().insertComment(token, parent)
        self._placed(parent.childNodes[-1])

    def _placed(self, node: Node) -> Node:
        line, column = self.tokenizer.opened
        node.place = line << 32 | column
        self.added += 1
        return node


class _Parser(Parser):
    """A parser with this tokenizer and builder, which stores no errors: real pages have thousands."""

    def __init__(self, tree: type[_Builder], *, scripting: bool = False) -> None:
        super().__init__(tree, _Tokenizer, scripting=scripting)

    def reset(self) -> None:
        super().reset()
        self.tree.tokenizer = self.tokenizer
        tokenizer: Any = self.tokenizer
        tokenizer.swept = self.tree

    def parseError(self, errorcode: Any = None, datavars: Any = None) -> None:  # noqa: N802 - html5lib's name
        """Ignore a parse error: every text has a tree, and both documents have the same errors."""
