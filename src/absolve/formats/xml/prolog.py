"""Check with expat that an XML document is well-formed, within limits, and collect the declarations of its subset.

In: the bytes of a document in UTF-8. Out: a `Prolog` with its entities and default namespaces; WalkError for a document
that is not well-formed (XML 1.0 2.1, Namespaces in XML 1.0) or exceeds a limit: of nesting, attributes, names,
declarations, or the size of expanded entities. Expat allocates memory for each of these, or searches all of them
repeatedly. Section numbers are those of XML 1.0. Nothing outside the document is read: no external entity and no DTD.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn
from xml.parsers import expat

from absolve.core.errors import WalkError
from absolve.formats.xml.codings import AHEAD, HINT, PREDEFINED, check_elements

if TYPE_CHECKING:
    from collections.abc import Mapping

# --- limits ---------

MOST_DECLARED: Final = 10_000  # entities, and the same number of attributes, in a document type declaration
MOST_DEFAULTS: Final = 64  # attributes with a default, of one element: expat adds them to each of its start tags
TOO_MANY_DECLARATIONS: Final = "too-many-declarations"
TOO_LONG_ENTITIES: Final = "entities-too-long"
ENTITY: Final = re.compile(rb"&([^#;&][^;&]*+);")  # 4.1, EntityRef, in a well-formed document
_MUCH: Final = 1 << 20  # bytes


class Expansion:
    """A bound on the size of expanded entities, by name: `entities` are plain text, `nested` have references.

    Expat's own bound is a hundred times the size of the document.
    """

    def __init__(self, data: bytes, entities: Mapping[bytes, bytes], nested: Mapping[bytes, bytes]) -> None:
        self._data = data
        self._entities = entities
        self._nested = nested
        self._most = max(len(data), _MUCH)
        self._sizes: dict[bytes, int] = {}

    def check(self, start: int, end: int, *, is_text: bool = False) -> None:
        """Raise WalkError if the entities in this tag or text expand to more than the document's size and 1 MiB.

        In text, entities with references are not expanded and count as empty.
        """
        total = 0
        for found in ENTITY.finditer(self._data, start, end):
            total += len(self._entities.get(found[1], b"")) if is_text else self._size(found[1])
            if total > self._most:
                words = f"entities that expand to more than {self._most} bytes here ({HINT})"
                raise WalkError(TOO_LONG_ENTITIES, words, found.start())

    def _size(self, name: bytes) -> int:
        """Return an upper bound of an entity's expanded size in bytes.

        Without recursion: entities may be nested thousands deep, or refer to each other in a cycle.
        """
        sizes = self._sizes
        stack = [name] if name not in sizes else []
        opened: set[bytes] = set()
        while stack:
            inner = stack[-1]
            text = self._nested.get(inner, b"")
            if inner not in opened:
                opened.add(inner)
                stack += {one for one in ENTITY.findall(text) if one not in sizes and one not in opened}
            if stack[-1] == inner:
                if inner not in sizes:
                    more = sum(sizes.get(one, 0) for one in ENTITY.findall(text))
                    sizes[inner] = len(self._entities.get(inner, text)) + more
                stack.pop()
        return sizes[name]


# --- the check ---------

SEPARATOR: Final = "\x01"  # of expanded names, between namespace and local name: a character that XML does not allow
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
_WRONG: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")  # 2.2, Char
_LONE: Final = re.compile(rb"<(?![A-Za-z_:\x80-\xff/!?])")  # begins no markup
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
        self.expansion: Expansion | None = None
        self.inside: list[int] = []
        self.end = 0


_NOTHING: Final = Prolog()


def checked(data: bytes) -> Prolog:
    """Return the declarations of a document in UTF-8.

    Raise WalkError where it is not well-formed or not namespace-well-formed, or where it exceeds a limit.
    """
    if (nul := data.find(0)) >= 0:  # expat would guess UTF-16
        raise WalkError(NOT_WELL_FORMED, f"a NUL byte ({HINT})", nul)
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
        if error.code in AHEAD:
            _well_formed_before(seen, error.position, separator)
        raise


def recovered(data: bytes) -> tuple[bytes, Prolog]:
    r"""Return a document that is not well-formed with blanks for each `<` that begins no markup, and its declarations.

    All offsets stay: `<a>x < & z</a>` becomes `<a>x   & z</a>`. White space may precede the XML declaration, and a
    prefix have no namespace. The walker takes a `&` that begins no known reference as text: the check takes each so.
    It sees blanks for what is no character, and `_` for a byte that is not UTF-8: a base has them as links do.
    Raise WalkError for any other fault.
    """
    mended = _LONE.sub(b" ", data)
    seen = _NO_UTF_8.sub("_", mended.decode("utf-8", "surrogateescape")).encode()
    seen = _WRONG.sub(lambda found: b" " * len(found[0]), seen)
    begins = _behind_declarations(seen)
    seen = seen[:begins] + _MISPLACED.sub(_well_placed, seen[begins:].replace(b"&", b"_"))
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
    check_elements(data, 0)
    parser = expat.ParserCreate("utf-8", separator, None)  # None: do not intern every name
    reader = _Reader(parser, data) if data.find(_DOCTYPE) >= 0 else None
    try:
        parser.Parse(seen, True)
    except expat.ExpatError as error:
        position = parser.ErrorByteIndex
        if position < 0:  # at the end of an empty document
            position = len(seen)
        words = expat.ErrorString(error.code)
        raise WalkError(NOT_WELL_FORMED, f"{words} ({HINT})", position) from None
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
        check_elements(self.data, self.prolog.end)

    def entity(self, name: str, is_parameter: bool, value: str | None, *_external: str | None) -> None:
        """Record an entity of the internal subset, unless it is external or a parameter entity."""
        self.count("entities")
        if not self.refers:
            return
        self.parser.DefaultHandler = _nothing  # with this handler, expat expands no entities in content
        key = name.encode()
        if is_parameter or value is None or key in self.prolog.entities:
            return
        text = self.replacement(value)
        if text is None:
            return
        if "<" in value or "&" in value:
            self.prolog.marked.add(name)
            self.prolog.nested.setdefault(key, text)
        else:
            self.prolog.entities[key] = text
        if self.prolog.expansion is None:
            self.prolog.expansion = Expansion(self.data, self.prolog.entities, self.prolog.nested)

    def replacement(self, value: str) -> bytes | None:
        """Return a replacement text, with its bytes that are not UTF-8; None if it has references, too: not known."""
        start = self.parser.CurrentByteIndex + 1
        raw = self.data[start : self.data.find(self.data[start - 1 : start], start)]
        if _NO_UTF_8.search(raw.decode("utf-8", "surrogateescape")) is None:
            return value.encode()
        return None if b"&" in raw else raw

    def attribute(self, element: str, name: str, _type: str, default: str | None, _required: bool) -> None:
        """Record an attribute's default (3.3.2) if it declares a namespace; other defaults have no bytes to rewrite."""
        self.count("attributes")
        if default is None:
            return
        self.defaults[element] += 1
        if self.defaults[element] > MOST_DEFAULTS:
            self.refuse(f"an element with more than {MOST_DEFAULTS} attributes that have a default")
        prefix, _, local = name.rpartition(":")
        if name == "xmlns" or prefix == "xmlns":
            declared = self.prolog.namespaces.setdefault(element.encode(), {})
            declared.setdefault(local.encode() if prefix else b"", default)  # the first declaration is binding (3.3)

    def count(self, what: str) -> None:
        self.declared[what] += 1
        if self.declared[what] > MOST_DECLARED:
            self.refuse(f"more than {MOST_DECLARED} {what} declared")

    def refuse(self, words: str) -> NoReturn:
        position = self.parser.CurrentByteIndex
        raise WalkError(TOO_MANY_DECLARATIONS, f"{words} ({HINT})", position)


def _nothing(_text: str) -> None:
    pass
