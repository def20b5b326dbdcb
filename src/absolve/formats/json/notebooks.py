"""Find the documents in JSON files: cells and outputs of Jupyter notebooks, the items of a JSON Feed; and its URLs.

In: the bytes of a JSON text. Out: a part for each string that is a document, with the coding of its bytes, and links;
or a single finding for malformed JSON. Notebooks are those of nbformat 3 and 4, feeds those of JSON Feed 1 and 1.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.core.model import Finding, Link, LinkSite, Part
from absolve.encodings.offset_map import Decoded
from absolve.formats import registry
from absolve.formats.events import EventList
from absolve.formats.grammars import url
from absolve.formats.http.codings import Stack
from absolve.formats.json.tokens import JSONString, values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.model import Event
    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats.json.tokens import Path, Value
    from absolve.formats.protocols import WalkOptions

    Spans = list[tuple[int, int]]

_STRING: Final = JSONString()
_PIECE: Final = pattern(rb"((?>(?:[^\"\\]|\\.)*))(?>(?:\"[\t\n\r ]*+,[\t\n\r ]*+\")?)", 0x10)  # DOTALL


class Lines:
    """An array of strings as one: the lines of a cell. The raw bytes begin in the first string, and end in the last."""

    slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        made = Decoded(raw)
        for piece in _PIECE.finditer(raw):
            if piece.end(1) < piece.end():
                made.unit(piece.end(1), piece.end(), b"")
        return made.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        return value


_LINES: Final[Coding] = Stack((Lines(), _STRING))

# --- notebooks --------------------------------------------------------------------------------------------------------

_SOURCE: Final[Path] = ("source",)
_TYPE: Final[Path] = ("cell_type",)
# Outputs by the names of nbformat 4, then 3
_OUTPUTS: Final = {
    **dict.fromkeys(("text/html", "html"), registry.HTML),
    **dict.fromkeys(("image/svg+xml", "svg"), registry.XML),
    "text/markdown": registry.MARKDOWN,
}


def walk_notebook(data: bytes, charset: Charset, options: WalkOptions) -> Iterable[Event]:  # noqa: ARG001 - JSON is UTF-8
    """Return a part for each cell in Markdown, and for each output in HTML, SVG or Markdown.

    A finding is for each of them that is neither a text nor a list of texts.
    """
    events = EventList()
    cell = _Cell()
    for found in values(data):
        if isinstance(found, Finding):
            return [found._replace(failed=True)]
        size = _cell_size(found.path)
        if size and found.kind == "object" and len(found.path) == size:
            for event in cell.events(data):
                events.append(event)
            cell = _Cell()
        elif size:
            cell.add(found.path[size:], found)
    return events


def _cell_size(path: Path) -> int:
    """Return how many steps of a path lead to the cell around a value; 0 outside of cells."""
    start = 2 if path[:1] == ("worksheets",) else 0  # of nbformat 3
    return start + 2 if len(path) > start + 1 and path[start] == "cells" and isinstance(path[start + 1], int) else 0


class _Cell:
    """The strings of one cell that may be documents, by their paths in it."""

    def __init__(self) -> None:
        self._texts: dict[Path, Spans] = {}
        self._odd: dict[Path, int] = {}  # where those begin that have other values than strings, or a repeated name
        self._type: tuple[int, int] = (0, 0)

    def add(self, path: Path, found: Value) -> None:
        if path == _TYPE and found.kind == "string":
            self._type = found.start, found.end
        whole = path[:-1] if path and isinstance(path[-1], int) else path
        if found.kind == "key" or not (whole == _SOURCE or (whole[:1] == ("outputs",) and whole[-1] in _OUTPUTS)):
            return
        if found.kind == "string":
            if whole in self._texts and path[-1] in {0, whole[-1]}:
                self._odd.setdefault(whole, found.start)
            self._texts.setdefault(whole, []).append((found.start, found.end))
        elif found.kind != "array" or path != whole:
            self._odd.setdefault(whole, found.start)

    def events(self, data: bytes) -> Iterable[Finding | Part]:
        """Yield the parts of the cell in the order of their bytes, after what is wrong with others."""
        is_markdown = data[slice(*self._type)] in {b"markdown", b"heading"}  # the latter only in nbformat 3
        kinds = _OUTPUTS | {"source": registry.MARKDOWN} if is_markdown else _OUTPUTS
        for path, start in self._odd.items():
            if path[-1] in kinds:
                text = f"{path[-1]} is neither a text nor a list of texts: not read"
                yield Finding("unread-cell", text, start, failed=True)
        for path, spans in sorted(self._texts.items(), key=lambda item: item[1]):
            if path[-1] in kinds and path not in self._odd:
                coding = _LINES if len(spans) > 1 else _STRING
                name = "cell" if path == _SOURCE else "output"
                yield Part(kinds[str(path[-1])], spans[0][0], spans[-1][1], coding, name=name)


# --- feeds ------------------------------------------------------------------------------------------------------------


def _sites(kind: str, *paths: str) -> dict[Path, LinkSite]:
    return {tuple(path.split()): LinkSite("jsonfeed", path.split()[-1], kind=kind) for path in paths}


_PEOPLE: Final = ("author", "authors", "items author", "items authors")
# Paths of member names, without indexes of arrays. An id may be a URL, but names the item wherever that is.
_MEMBERS: Final[dict[Path, LinkSite]] = {
    **_sites("navigation", "home_page_url", "items url", "items external_url", *(f"{one} url" for one in _PEOPLE)),
    **_sites("image", "icon", "favicon", "items image", "items banner_image", *(f"{one} avatar" for one in _PEOPLE)),
    **_sites("feed", "feed_url", "next_url"),
    **_sites("metadata", "hubs url"),
    **_sites("media", "items attachments url"),
    ("items", "id"): LinkSite("jsonfeed", "id", kind="metadata", stays="always"),
}
_CONTENT: Final[Path] = ("items", "content_html")
_ABSOLUTE: Final = pattern(rb"[A-Za-z][A-Za-z0-9+.-]*+:(?:\\?/){2}")


def walk_feed(data: bytes, charset: Charset, options: WalkOptions) -> Iterable[Event]:  # noqa: ARG001 - JSON is UTF-8
    """Return the URLs of a feed and its items, and a part for the HTML of each item."""
    events = EventList()
    for found in values(data):
        if isinstance(found, Finding):
            return [found._replace(failed=True)]  # a document of its own, of which no link is known
        if found.kind != "string":
            continue
        path = tuple(step for step in found.path if isinstance(step, str))
        place = _MEMBERS.get(path)
        if path == _CONTENT:
            events.append(Part(registry.HTML, found.start, found.end, _STRING, name="item"))
        elif place is not None and (not place.stays or _ABSOLUTE.match(data, found.start, found.end)):
            start, end = url(data[found.start : found.end])[0]
            events.append(Link(place, found.start + start, found.start + end, _STRING))
    return events
