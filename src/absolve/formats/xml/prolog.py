"""Check with expat that an XML document is well-formed, and collect the declarations of its internal subset.

In: the bytes of a document in UTF-8. Out: a `Prolog` with its entities and default namespaces; WalkError for a document
that is not well-formed (XML 1.0 2.1, Namespaces in XML 1.0) or exceeds a limit. Section numbers are those of XML 1.0.
Nothing outside the document is read: no external entity and no DTD. Expat bounds the expansion of entities.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from typing import Final, NoReturn
from xml.parsers import expat

from absolve.core.errors import WalkError
from absolve.formats.xml import limits
from absolve.formats.xml.codings import PREDEFINED
from absolve.formats.xml.names import SEPARATOR

_SHARE: Final = 4  # a copy pays only if it omits at least 1 / _SHARE of the document
_LONG_VALUE: Final = re.compile(rb'="([\t\n\r #%()+,./0-9:;=A-Z_a-z-]{128,}+)"')


def shortened(data: bytes, start: int) -> bytes | bytearray:
    """Return the document with empty long values from this offset on, which must be behind all declarations.

    The omitted bytes are between `="` and `"`, without quotes, markup, references and double hyphens. In a value, text,
    a comment, a CDATA section or a processing instruction, omitting them changes nothing. Anywhere else neither
    document is well-formed: the first quote would end a value, and the second one follow it directly. An emptied
    declaration of a prefix makes only the copy malformed: where the copy is not well-formed, check `data` itself.
    """
    short = bytearray()
    kept = 0
    left_out = 0
    for value in _LONG_VALUE.finditer(data, start):
        if b"--" not in value[1]:
            short += data[kept : value.start(1)]
            kept = value.end(1)
            left_out += kept - value.start(1)
    if left_out < len(data) // _SHARE:
        return data
    return short + data[kept:]


NOT_WELL_FORMED: Final = "not-well-formed"
_DOCTYPE: Final = b"<!DOCTYPE"
_LATE: Final = re.compile(rb"[\t\n\r ]+<\?xml[\t\n\r ][^?<>]*\?>")
# 2.2, Char; and a `<` that begins no markup
_WRONG: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]|<(?![A-Za-z_:\x80-\xff/!?])")
_NO_UTF_8: Final = re.compile("[\udc80-\udcff]")
# Comments, in which hyphens are wrong; what may have `]]>`, and where it is wrong
_MISPLACED: Final = re.compile(rb"(?s)<!--(.*?)(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|\]\]>")


class Prolog:
    """The declarations of the internal subset (2.8); offsets are bytes of the document.

    `entities` maps names to replacement texts without references and markup; `nested` to those with either; `marked`
    are the names of `nested`. `namespaces` maps an element's name to the namespaces that default attributes declare,
    URI by prefix ("" for the default namespace). `expansion` bounds the expanded size, if there are entities beyond
    those of 4.6. `inside` lists the offsets of comments and processing instructions in the subset, `end` is the end of
    the document type declaration.
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
    """Return the declarations of a document in UTF-8.

    Raise WalkError where it is not well-formed or not namespace-well-formed, or where it exceeds a limit.
    """
    if (nul := data.find(0)) >= 0:  # expat would guess UTF-16
        raise WalkError(NOT_WELL_FORMED, f"a NUL byte ({limits.HINT})", nul)
    begins = _behind_declarations(data)
    short = shortened(data, begins)
    if short is not data:
        with suppress(WalkError):
            found = _declared(data, short)
            if found.end <= begins:
                return found
    return _within_limits(data, data, SEPARATOR)


def _within_limits(data: bytes, seen: bytes, separator: str | None) -> Prolog:
    """Return the declarations. Raise WalkError at the first place that is not well-formed, or exceeds a limit."""
    try:
        return _declared(data, seen, separator)
    except WalkError as error:
        if error.code in limits.AHEAD:
            _well_formed_before(seen, error.position, separator)
        raise


def recovered(data: bytes) -> tuple[bytes, Prolog]:
    r"""Return a document that is not well-formed with blanks for what is no character, and its declarations.

    All offsets stay: `<a>x\x0b < & z</a>` becomes `<a>x    & z</a>`. White space may precede the XML declaration, and a
    prefix have no namespace. The walker takes a `&` that begins no known reference as text: the check takes each so.
    Raise WalkError for any other fault.
    """
    mended = _NO_UTF_8.sub("?", data.decode("utf-8", "surrogateescape")).encode()
    mended = _WRONG.sub(lambda found: b" " * len(found[0]), mended)
    begins = _behind_declarations(mended)
    seen = mended[:begins] + _MISPLACED.sub(_well_placed, mended[begins:].replace(b"&", b"_"))
    if (late := _LATE.match(seen)) is not None:
        seen = b" " * late.end() + seen[late.end() :]
    return mended, _within_limits(mended, seen, None)


def _well_placed(found: re.Match[bytes]) -> bytes:
    whole, comment = found.group(0, 1)
    if comment is not None:
        return whole[:4] + comment.replace(b"-", b" ") + whole[4 + len(comment) :]
    return whole if whole[:1] == b"<" else b"___"


def _well_formed_before(data: bytes, position: int, separator: str | None) -> None:
    """Raise WalkError where a document is not well-formed before this offset, at which an element begins."""
    before = data[:position]
    try:
        _declared(before, before, separator)
    except WalkError as error:
        if error.position < position:  # an error at the end is that of the open elements
            raise


def _behind_declarations(data: bytes) -> int:
    """Return the probable end of the document type declaration; 0 where there is none."""
    start = data.find(_DOCTYPE)
    if start < 0:
        return 0
    end = data.find(b">", start)
    if data.find(b"[", start, end) >= 0:
        end = data.find(b"]>", start) + 1
    return end + 1 if end > 0 else len(data)


def _declared(data: bytes, seen: bytes | bytearray, separator: str | None = SEPARATOR) -> Prolog:
    """Return the declarations by parsing `seen`, which is `data` or its shortened copy. Raise as `checked`.

    `separator` is None for a document that need not be namespace-well-formed.
    """
    limits.check_elements(data, 0)
    parser = expat.ParserCreate("utf-8", separator, None)  # None: do not intern every name
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
            del reader.parser  # breaks the reference cycle with the parser's handlers, for the garbage collector
    return reader.prolog if reader is not None else _NOTHING


class _Reader:
    """Handlers that record a document type declaration; at its end they check the elements behind it."""

    def __init__(self, parser: expat.XMLParserType, data: bytes) -> None:
        self.prolog = Prolog()
        self.prolog.entities = dict(PREDEFINED)
        self.parser = parser
        self.data = data
        parser.StartDoctypeDeclHandler = self.begin
        parser.EndDoctypeDeclHandler = self.end
        self.refers = data.find(b"&") >= 0
        self.declared = {"entities": 0, "attributes": 0}
        self.defaults: Counter[str] = Counter()  # by element name
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
        """Record an entity of the internal subset, unless it is external or a parameter entity."""
        self.count("entities")
        if not self.refers:
            return
        self.parser.DefaultHandler = _nothing  # with this handler, expat expands no entities in content
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
        """Record an attribute's default (3.3.2) if it declares a namespace; other defaults have no bytes to rewrite."""
        self.count("attributes")
        if default is None:
            return
        self.defaults[element] += 1
        if self.defaults[element] > limits.MOST_DEFAULTS:
            self.refuse(f"an element with more than {limits.MOST_DEFAULTS} attributes that have a default")
        prefix, _, local = name.rpartition(":")
        if name == "xmlns" or prefix == "xmlns":
            declared = self.prolog.namespaces.setdefault(element.encode(), {})
            declared.setdefault(local.encode() if prefix else b"", default)  # the first declaration is binding (3.3)

    def count(self, what: str) -> None:
        self.declared[what] += 1
        if self.declared[what] > limits.MOST_DECLARED:
            self.refuse(f"more than {limits.MOST_DECLARED} {what} declared")

    def refuse(self, words: str) -> NoReturn:
        position = self.parser.CurrentByteIndex
        raise WalkError(limits.TOO_MANY_DECLARATIONS, f"{words} ({limits.HINT})", position)


def _nothing(_text: str) -> None:
    pass
