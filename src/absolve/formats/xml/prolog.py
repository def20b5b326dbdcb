"""What expat says of an XML document: whether it is well-formed, and what the declarations in it are.

Nothing outside the document is read: no external entity and no DTD. Expat bounds what entities can expand to.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Final, NoReturn
from xml.parsers import expat

from absolve.core.errors import WalkError
from absolve.formats.xml import limits
from absolve.formats.xml.codings import PREDEFINED
from absolve.formats.xml.names import SEPARATOR
from absolve.formats.xml.shortened import shortened

NOT_WELL_FORMED: Final = "not-well-formed"
_DOCTYPE: Final = b"<!DOCTYPE"


class Prolog:
    """The declarations of the internal subset (2.8), by byte positions in the document.

    `entities` are those whose text is no more than text, `nested` those with references in it, `marked` those with
    either references or markup. `namespaces` are what attributes declare that a start tag need not have, by the name of
    the element: prefixes, without one empty, and URIs. `expansion` bounds what entities stand for, where any are known
    that are not those of 4.6. `inside` says where comments and instructions begin in the
    subset, `end` where the document type declaration ends.
    """

    def __init__(self) -> None:
        self.entities = PREDEFINED
        self.nested: dict[bytes, bytes] = {}
        self.marked: set[str] = set()
        self.namespaces: dict[bytes, dict[bytes, str]] = {}
        self.expansion: limits.Expansion | None = None
        self.inside: list[int] = []
        self.end = 0


_NOTHING: Final = Prolog()


def checked(data: bytes) -> Prolog:
    """What is declared in a document in UTF-8.

    WalkError where it is not well-formed, or its namespaces are not, or it has more of something than is read.
    """
    if (nul := data.find(0)) >= 0:  # not even expat may see it: it would guess UTF-16
        raise WalkError(NOT_WELL_FORMED, f"a NUL byte ({limits.HINT})", nul)
    begins = _behind_declarations(data)
    short = shortened(data, begins)
    if short is not data:
        with suppress(WalkError):
            found = _declared(data, short)
            if found.end <= begins:
                return found
    try:
        return _declared(data, data)
    except WalkError as error:
        if error.code in limits.AHEAD:
            _well_formed_before(data, error.position)
        raise


def _well_formed_before(data: bytes, position: int) -> None:
    """WalkError where a document is not well-formed before an element that begins there."""
    before = data[:position]
    try:
        _declared(before, before)
    except WalkError as error:
        if error.position < position:  # else it is that elements are open at the end
            raise


def _behind_declarations(data: bytes) -> int:
    """Behind where the document type declaration seems to end; 0 where there is none."""
    start = data.find(_DOCTYPE)
    if start < 0:
        return 0
    end = data.find(b">", start)
    if data.find(b"[", start, end) >= 0:
        end = data.find(b"]>", start) + 1
    return end + 1 if end > 0 else len(data)


def _declared(data: bytes, seen: bytes | bytearray) -> Prolog:
    """The same by what expat says of these bytes in its place."""
    limits.check_elements(data, 0)
    parser = expat.ParserCreate("utf-8", SEPARATOR, None)  # None: it need not remember every name that it tells us
    reader = _Reader(parser, data) if data.find(_DOCTYPE) >= 0 else None
    try:
        parser.Parse(seen, True)
    except expat.ExpatError as error:
        position = parser.ErrorByteIndex
        if position < 0:  # at the end of an empty document
            position = len(seen)
        words = expat.ErrorString(error.code)
        raise WalkError(NOT_WELL_FORMED, f"{words} ({limits.HINT})", position) from None
    finally:
        if reader is not None:
            del reader.parser  # which has the reader's methods: together they would wait for the garbage collector
    return reader.prolog if reader is not None else _NOTHING


class _Reader:
    """Takes down what a parser meets in a document type declaration; behind it elements may be nested too deep."""

    def __init__(self, parser: expat.XMLParserType, data: bytes) -> None:
        self.prolog = Prolog()
        self.prolog.entities = dict(PREDEFINED)
        self.parser = parser
        self.data = data
        parser.StartDoctypeDeclHandler = self.begin
        parser.EndDoctypeDeclHandler = self.end
        self.refers = data.find(b"&") >= 0
        self.declared = {"entities": 0, "attributes": 0}
        self.defaults: Counter[str] = Counter()  # by the names of elements
        parser.EntityDeclHandler = self.entity
        parser.AttlistDeclHandler = self.attribute

    def begin(self, *_names: object) -> None:
        self.parser.CommentHandler = self.parser.ProcessingInstructionHandler = self.inside

    def inside(self, *_texts: str) -> None:
        self.prolog.inside.append(self.parser.CurrentByteIndex)

    def end(self) -> None:
        self.parser.CommentHandler = self.parser.ProcessingInstructionHandler = None
        self.prolog.end = self.parser.CurrentByteIndex + 1
        limits.check_elements(self.data, self.prolog.end)

    def entity(self, name: str, is_parameter: bool, value: str | None, *_external: str | None) -> None:
        """An entity of the internal subset. Its text is known where it is no more than text."""
        self.count("entities")
        if not self.refers:
            return
        self.parser.DefaultHandler = _nothing  # while there is one, no entity is expanded in content
        key = name.encode()
        if is_parameter or value is None or key in self.prolog.entities:
            return
        if "<" in value or "&" in value:
            self.prolog.marked.add(name)
            self.prolog.nested.setdefault(key, value.encode())
        else:
            self.prolog.entities[key] = value.encode()
        if self.prolog.expansion is None:
            self.prolog.expansion = limits.Expansion(self.data, self.prolog.entities, self.prolog.nested)

    def attribute(self, element: str, name: str, _type: str, default: str | None, _required: bool) -> None:
        """An attribute's default (3.3.2), where that declares a namespace: the other ones are not written anywhere."""
        self.count("attributes")
        if default is None:
            return
        self.defaults[element] += 1
        if self.defaults[element] > limits.MOST_DEFAULTS:
            self.refuse(f"an element with more than {limits.MOST_DEFAULTS} attributes that have a default")
        prefix, _, local = name.rpartition(":")
        if name == "xmlns" or prefix == "xmlns":
            declared = self.prolog.namespaces.setdefault(element.encode(), {})
            declared.setdefault(local.encode() if prefix else b"", default)  # of two the first counts (3.3)

    def count(self, what: str) -> None:
        self.declared[what] += 1
        if self.declared[what] > limits.MOST_DECLARED:
            self.refuse(f"more than {limits.MOST_DECLARED} {what} declared")

    def refuse(self, words: str) -> NoReturn:
        position = self.parser.CurrentByteIndex
        raise WalkError(limits.TOO_MANY_DECLARATIONS, f"{words} ({limits.HINT})", position)


def _nothing(_text: str) -> None:
    pass
