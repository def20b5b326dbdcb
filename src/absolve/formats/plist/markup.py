"""Read a property list in XML: the values that a walker asks for by name, with the spans of their data.

In: the bytes of the file. Out: the same nodes as those of a binary one. The document type is that of Apple's
PropertyList-1.0.dtd. Data is base64, in lines that are indented as the elements around it.
"""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

from absolve.core.errors import WalkError
from absolve.formats.plist.binary import Data, Node

_CONTAINERS: Final = ("dict", "array")


def tree(data: bytes, names: frozenset[str], most: int) -> Node:
    """Return the top value, with all below it that dictionaries have under one of these names.

    Raise WalkError for XML that is not well-formed or declares entities, and for more than `most` values.
    """
    parser = expat.ParserCreate()
    reader = _Reader(parser, data, names, most)
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = reader.text, reader.refuse
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise WalkError("not-well-formed", str(error), max(parser.ErrorByteIndex, 0)) from error
    return reader.top


class _Reader:
    """The handlers of expat: `_open` are the containers around the current element, `_skipped` the unknown ones."""

    def __init__(self, parser: expat.XMLParserType, data: bytes, names: frozenset[str], most: int) -> None:
        self.top: Node = None
        self._parser = parser
        self._data = data
        self._names = names
        self._left = most
        self._open: list[dict[str, Node] | list[Node]] = []
        self._keys: list[str] = []  # of the dictionaries among them, "" in an array or for an unknown one
        self._skipped = 0
        self._pieces: list[str] | None = None  # of the text of a key or string
        self._start = -1  # where data begins

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        if self._skipped or (self._open and name != "key" and not self._is_wanted()):
            self._skipped += 1
        elif name in _CONTAINERS:
            found: dict[str, Node] | list[Node] = {} if name == "dict" else []
            self._add(found)
            self._open.append(found)
            self._keys.append("")
        elif name == "data":
            self._start = self._data.find(b">", self._parser.CurrentByteIndex) + 1
        elif name in {"key", "string"}:
            self._pieces = []

    def _is_wanted(self) -> bool:
        return isinstance(self._open[-1], list) or bool(self._keys[-1])

    def text(self, text: str) -> None:
        if self._pieces is not None:
            self._pieces.append(text)

    def end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif name in _CONTAINERS:
            self._open.pop()
            self._keys.pop()
        elif name == "key" and self._pieces is not None and self._keys:
            key = "".join(self._pieces)
            self._keys[-1] = key if key in self._names else ""
        elif name == "string" and self._pieces is not None:
            self._add("".join(self._pieces))
        elif name == "data":
            self._add(Data(self._start, self._parser.CurrentByteIndex))
        elif name != "plist":
            self._add(None)
        self._pieces = None

    def _add(self, node: Node) -> None:
        """Add a value to the container around it."""
        self._left -= 1
        if self._left < 0:
            raise WalkError("too-many-links", "this property list has too many values", self._parser.CurrentByteIndex)
        if not self._open:
            self.top = node
        elif isinstance(around := self._open[-1], list):
            around.append(node)
        elif self._keys[-1]:
            around[self._keys[-1]] = node
            self._keys[-1] = ""

    def refuse(self, *_: object) -> None:
        """Refuse a document that declares entities: their text has no place in the file."""
        raise WalkError("not-well-formed", "a property list that declares entities", self._parser.CurrentByteIndex)
