"""Property lists: the web archives of Safari, with a page, its parts and its frames; and shortcuts, of all systems.

In: the bytes of a file. Out: the values with the names that a walker asks for; for a web archive a part for each
resource, with its `WebResourceURL` as its retrieval URL (RFC 1808 3.3), and the references by which the resources are
known. The binary form is only read: the offsets in it depend on its strings.
Links to its resources stay: a reader of the archive loads nothing else.
Shortcuts are files that are a link: .webloc (Apple, a property list), .url (Windows), .desktop (freedesktop.org).
"""

from __future__ import annotations

import re
from array import array
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.parsers import expat

from absolve.core.errors import WalkError
from absolve.core.lazy_regex import pattern
from absolve.core.model import ONLY_READ, BaseClaim, Capture, Finding, Layer, Link, LinkSite, MessageIds, Part
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import IDENTITY, Raw
from absolve.formats import registry
from absolve.formats.events import EventList
from absolve.formats.grammars import url
from absolve.formats.http import sniffed
from absolve.formats.mail.codings import Base64
from absolve.formats.xml.codings import CharacterData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions


# --- the binary form --------------------------------------------------------------------------------------------------

MAGIC: Final = b"bplist0"
_HEADER: Final = 8  # bytes
# Widths of offsets and references, number of objects, number of the top object, offset of the table
_TRAILER: Final = Struct(">6x2B3Q")

# The upper four bits of a marker, for objects with a length in the lower four, and the bytes of each of its units.
_DATA, _ASCII, _UTF_16, _UTF_8, _ARRAY, _DICT = 0x4, 0x5, 0x6, 0x7, 0xA, 0xD
_UNITS: Final = {_DATA: 1, _ASCII: 1, _UTF_16: 2, _UTF_8: 1}
_CODECS: Final = {_ASCII: "ascii", _UTF_16: "utf-16-be", _UTF_8: "utf-8"}
_REFERENCES: Final = {_ARRAY: 1, 0xB: 1, 0xC: 1, _DICT: 2}  # array, ordered set, set, dictionary
_POWERS: Final = (0x1, 0x2, 0x3)  # integer, real, date: 2 to the power of the lower bits
_UID: Final = 0x8  # an object of a keyed archive; its size is the lower bits plus one
_MORE: Final = 0xF  # the length is an integer object that follows the marker
_LARGEST_POWER: Final = 4  # 16 bytes
_WIDTHS: Final = (1, 2, 4, 8)  # bytes of such an integer
_OFFSETS: Final = range(1, 9)  # bytes of an offset or a reference


class Data(NamedTuple):
    """A data object: the span of its bytes in the file, and the offset of its marker (-1 without one)."""

    start: int
    end: int
    marker: int = -1


Node = dict[str, "Node"] | list["Node"] | str | Data | None


class _Table:
    """The objects of one file. Raise WalkError where they are broken, overlap, or number more than `most`."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = data
        self._trailer = len(data) - _TRAILER.size
        if self._trailer < _HEADER:
            raise WalkError("truncated", "this binary property list is cut off: it has no trailer", len(data))
        self._width, self._size, self._count, self._top, self._end = _TRAILER.unpack_from(data, self._trailer)
        self._check(most)
        self._offsets = array("q")
        self._starts = array("q")  # the same in order, each once
        self._read()

    def _check(self, most: int) -> None:
        if not (
            self._width in _OFFSETS
            and self._size in _OFFSETS
            and self._top < self._count <= len(self._data)
            and _HEADER < self._end <= self._trailer - self._count * self._width
        ):
            raise WalkError("broken", "the trailer of this binary property list is broken", self._trailer)
        if self._count > most:
            text = f"property lists of more than {most} objects are left as they are"
            raise WalkError("too-many-links", text, self._trailer)

    def _read(self) -> None:
        """Read the offsets, and check that no two objects share bytes."""
        table, width = self._data[self._end : self._end + self._count * self._width], self._width
        offsets = (int.from_bytes(table[at : at + width]) for at in range(0, len(table), width))
        self._offsets.extend(min(offset, self._end) for offset in offsets)  # may exceed a signed 64-bit number
        self._starts.extend(sorted(set(self._offsets)))
        reached = _HEADER
        for start in self._starts:
            if start < reached:
                raise WalkError("broken", "objects of this binary property list overlap", start)
            reached = self._extent(start)[2]

    def _extent(self, start: int) -> tuple[int, int, int]:
        """Return the kind of the object at an offset, and the span of its content after the marker and length."""
        if start >= self._end:
            raise WalkError("broken", "an object of this binary property list is outside of it", start)
        kind, low = self._data[start] >> 4, self._data[start] & 0xF
        first = start + 1
        if kind == 0:
            size = 0
        elif kind in _POWERS:
            size = 1 << low if low <= _LARGEST_POWER else self._end
        elif kind == _UID:
            size = low + 1
        elif kind in _UNITS or kind in _REFERENCES:
            first, low = self._length(first, low)
            size = low * (_UNITS.get(kind) or _REFERENCES[kind] * self._size)
        else:
            raise WalkError("broken", f"an object of a binary property list has the unknown kind {kind:x}", start)
        if first + size > self._end:
            raise WalkError("broken", "an object of this binary property list goes on past its end", start)
        return kind, first, first + size

    def _length(self, first: int, low: int) -> tuple[int, int]:
        """Return the offset after an object's length, and the length."""
        if low != _MORE:
            return first, low
        power = self._data[first] & 0xF
        if self._data[first] >> 4 != _POWERS[0] or 1 << power not in _WIDTHS:
            raise WalkError("broken", "the length of an object of a binary property list is no integer", first)
        end = first + 1 + (1 << power)
        return end, int.from_bytes(self._data[first + 1 : end])

    def tree(self, names: frozenset[str]) -> Node:
        """Return the top object with all values that dictionaries have under one of these names.

        An object with several references is one node, also inside itself.
        """
        built: dict[int, Node] = {}
        keys: dict[int, Node] = {}
        waiting: list[int] = []

        def node(number: int) -> Node:
            if number not in built:
                built[number] = self._node(number)
                waiting.append(number)
            return built[number]

        top = node(self._top)
        while waiting:
            number = waiting.pop()
            found, below = built[number], self._below(number)
            if isinstance(found, list):
                found += map(node, below)
            elif isinstance(found, dict):
                half = len(below) // 2
                for key, value in zip(below[:half], below[half:], strict=True):
                    if key not in keys:
                        keys[key] = self._node(key)
                    name = keys[key]
                    if isinstance(name, str) and name in names:
                        found[name] = node(value)
        return top

    def _node(self, number: int) -> Node:
        """Return an object; dictionaries and arrays are empty; None for a kind that web archives do not use."""
        kind, start, end = self._extent(self._offset(number))
        if kind in _CODECS:
            return self._data[start:end].decode(_CODECS[kind], "replace")
        if kind == _DATA:
            return Data(start, end, self._offset(number))
        return {} if kind == _DICT else [] if kind == _ARRAY else None

    def _offset(self, number: int) -> int:
        if number >= self._count:
            raise WalkError("broken", "an object of this binary property list names one that is not there", self._end)
        return self._offsets[number]

    def _below(self, number: int) -> Sequence[int]:
        """Return the numbers of the objects in an array or a dictionary."""
        kind, start, end = self._extent(self._offset(number))
        if kind not in {_ARRAY, _DICT}:
            return ()
        return [int.from_bytes(self._data[at : at + self._size]) for at in range(start, end, self._size)]


# --- both forms -------------------------------------------------------------------------------------------------------

_CONTAINERS: Final = ("dict", "array")


def tree(data: bytes, names: frozenset[str], most: int) -> Node:
    """Return the top value, with all values that dictionaries have under one of these names.

    Raise WalkError for a broken list, XML that is not well-formed or declares entities, and more than `most` values.

    >>> tree(b"<plist><dict><key>URL</key><string>http://h/</string></dict></plist>", frozenset({"URL"}), 10)
    {'URL': 'http://h/'}
    """
    if data.startswith(MAGIC):
        return _Table(data, most).tree(names)
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
        self._keys: list[str] = []  # the current key in each, "" in an array or for an unknown one
        self._skipped = 0
        self._pieces: list[str] | None = None  # the text of the current key or string
        self._start = -1  # offset at which data begins

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
        """Refuse a document that declares entities: text in an entity has no position in the file."""
        raise WalkError("not-well-formed", "a property list that declares entities", self._parser.CurrentByteIndex)


# --- web archives -----------------------------------------------------------------------------------------------------

MAIN: Final = "WebMainResource"
SUBRESOURCES: Final = "WebSubresources"
FRAMES: Final = "WebSubframeArchives"
CONTENT: Final = "WebResourceData"
_URL: Final = "WebResourceURL"
_MEDIA_TYPE: Final = "WebResourceMIMEType"
_CHARSET: Final = "WebResourceTextEncodingName"
_NAMES: Final = frozenset({MAIN, SUBRESOURCES, FRAMES, CONTENT, _URL, _MEDIA_TYPE, _CHARSET})
_SOURCE: Final = f"{_URL} of the web archive"
_NO_PARAMETER: Final = re.compile(r'[\\"\r\n]')
_SHARED: Final = 1 << 20  # bytes of shared data and text that are always read again


class _Resource(NamedTuple):
    """One resource, with the facts that the archive states about it."""

    url: str
    media_type: str
    charset: str
    data: Data


def walk(data: bytes, _charset: Charset, options: WalkOptions) -> EventList:
    """Return a part for each resource, and the references to all of them.

    Raise WalkError for a property list that is broken, is no web archive, or has more than `max_links` values.
    """
    top = tree(data, _NAMES, options.max_links)
    if not isinstance(top, dict) or MAIN not in top:
        raise WalkError("no-web-archive", f"this property list is no web archive: it has no {MAIN}")
    events = EventList()
    nodes = list(_nodes(top))
    found = [one for one in map(_resource, nodes) if one is not None]
    if broken := len(nodes) - len(found):
        text = f"{broken} of {len(nodes)} resources of this web archive have no {CONTENT}"
        events.append(Finding("broken-resource", text, 0, failed=True))
    events.append(MessageIds(list(dict.fromkeys(one.url for one in found if one.url))))
    for event in _parts(data, found, options):
        if isinstance(event, Part) and data.startswith(MAGIC):
            event.signed_by = ONLY_READ
        events.append(event)
    return events


def _nodes(top: Node) -> Iterator[Node]:
    """Yield the resources of an archive and of its frames' archives, each object once; also lists of resources."""
    seen: set[int] = set()
    waiting: list[Node] = [top]
    while waiting:
        archive = waiting.pop()
        if id(archive) in seen or not isinstance(archive, dict):
            continue
        seen.add(id(archive))
        for node in (archive.get(MAIN), *_each(archive.get(SUBRESOURCES), seen)):
            if id(node) not in seen:
                seen.add(id(node))
                yield node
        waiting += reversed(_each(archive.get(FRAMES), seen))


def _each(node: Node, seen: set[int]) -> list[Node]:
    if id(node) in seen or not isinstance(node, list):
        return []
    seen.add(id(node))
    return node


def _resource(node: Node) -> _Resource | None:
    """Return a resource; None for one without data, which WebKit does not read either."""
    if not isinstance(node, dict) or not isinstance(data := node.get(CONTENT), Data):
        return None
    values = (node.get(name) for name in (_URL, _MEDIA_TYPE, _CHARSET))
    url, media_type, charset = (value if isinstance(value, str) else "" for value in values)
    return _Resource(url, media_type, charset, data)


def _parts(data: bytes, found: list[_Resource], options: WalkOptions) -> Iterator[Part | Finding]:
    """Yield a part for each resource that is a document, with `documents` for all.

    Equal data is one object of a binary property list. Two resources with one URL are also one object, for example a
    style sheet of two frames.
    A shared object is read again only while all copies together are no larger than the file. Otherwise a small file
    would take the work of a large one, and its mirror would fill the disk. The last event is a finding for the
    resources left out.
    """
    unique: dict[tuple[int, str], _Resource] = {}
    for one in found:
        unique.setdefault((one.data.start, one.url), one)
    read: set[str | Data] = set()
    left, left_out = max(len(data), _SHARED), array("q")
    for one in unique.values():
        texts = {one.url, one.media_type, one.charset}
        again = sum(map(len, texts & read)) + (one.data.end - one.data.start if one.data in read else 0)
        if again > left:
            left_out.append(one.data.start)
            continue
        left -= again
        read |= texts
        part = _part(data, one, options)
        if part is not None or not one.media_type:
            read.add(one.data)
        if part is not None:
            yield part
    if left_out:
        text = f"{len(left_out)} of {len(unique)} resources are left as they are: they have too much data of others"
        yield Finding("shared-data", text, left_out[0], failed=True)


def _part(data: bytes, one: _Resource, options: WalkOptions) -> Part | None:
    """Return the part for a resource; None for one without a walker, unless `options` ask for all."""
    start, end, marker = one.data
    raw = data[start:end] if marker < 0 or not one.media_type else b""
    coding: Coding = IDENTITY if marker >= 0 else Base64(raw, one_line=b"\n" not in raw)
    stated = one.media_type
    if stated and (charset := _NO_PARAMETER.sub("", one.charset)):
        stated += f'; charset="{charset}"'
    media_type = stated or sniffed(raw, coding)
    if not (registry.is_read(media_type) or options.documents):
        return None
    return Part(
        media_type,
        start,
        end,
        coding,
        name="resource",
        base=BaseClaim(Layer.RETRIEVAL, one.url, _SOURCE) if one.url else None,
        own_charset=True,
        encloses=False,
        capture=Capture(media_type=stated, size=None if start < end else 0) if options.documents else None,
    )


# --- shortcuts --------------------------------------------------------------------------------------------------------

# By key, in lower case. BASEURL is the page with the frame, URL the frame's. KDE marks values to be expanded by [$e].
_PLACES: Final = {
    b"url": LinkSite("shortcut", "url", kind="navigation"),
    b"baseurl": LinkSite("shortcut", "baseurl", kind="metadata"),
    b"iconfile": LinkSite("shortcut", "iconfile", kind="image"),
}
_ENTRY: Final = pattern(rb"^[\t ]*(URL|BASEURL|IconFile)(?:\[\$e\])?[\t ]*=([^\r\n]*+)", re.IGNORECASE | re.MULTILINE)
_WEB: Final = pattern(rb"[\t ]*https?://", re.IGNORECASE)
_IN_XML: Final = pattern(rb"<key>[\t\n\r ]*URL[\t\n\r ]*</key>[\t\n\r ]*<string>([^<]*+)</string>")
_IN_WEBLOC: Final = frozenset({"URL"})
_MOST: Final = 1000  # values of a property list
_LISTED: Final = LinkSite("shortcut", "url", kind="navigation", stays="always")


def walk_shortcut(data: bytes, charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the links of a .url or .desktop file, for example `URL=http://h/`; `IconFile` is one if it is no path."""
    coding = Raw(charset)
    for found in _ENTRY.finditer(data):
        key = found[1].lower()
        if key != b"iconfile" or _WEB.match(found[2]):
            yield from _link(_PLACES[key], found, 2, coding)


def walk_webloc(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterator[Link]:
    """Yield the link of a .webloc file, for example `<plist><dict><key>URL</key><string>http://h/</string>`."""
    if not data.startswith(MAGIC):
        for found in _IN_XML.finditer(data):
            yield from _link(_PLACES[b"url"], found, 1, CharacterData(UTF_8))
        return
    text = _url_in(data).encode("ascii", "ignore")
    start = data.find(text) if text else -1
    if start >= 0:
        yield Link(_LISTED, start, start + len(text), IDENTITY)


def _link(place: LinkSite, found: re.Match[bytes], group: int, coding: Any) -> Iterator[Link]:
    (start, end), *_ = url(found[group])
    if start < end:
        yield Link(place, found.start(group) + start, found.start(group) + end, coding)


def url_in(data: bytes) -> str | None:
    """Return the URL in a shortcut's text or property list, for example in `URL=http://h/`; None without one."""
    if data.startswith(MAGIC) or b"<plist" in data:
        return _url_in(data) or None
    found = [entry[2] for entry in _ENTRY.finditer(data) if entry[1].lower() == b"url"]
    return found[0].strip().decode("utf-8", "surrogateescape") if found else None


def _url_in(data: bytes) -> str:
    """Return the URL in a property list; "" if it has none, or is malformed."""
    try:
        found = tree(data, _IN_WEBLOC, _MOST)
    except WalkError:
        return ""
    value = found.get("URL") if isinstance(found, dict) else None
    return value.strip() if isinstance(value, str) else ""
