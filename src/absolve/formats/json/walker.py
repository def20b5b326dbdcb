"""Find the references and the documents in JSON whose members have fixed names: web app manifests, feeds, notebooks.

In: the bytes of a JSON text. Out: links and parts in document order, with spans inside the JSON strings; or a single
finding for malformed JSON, whose meaning is uncertain. Import maps and speculation rules follow the HTML Standard
(8.1.6, 7.6), manifests Web Application Manifest 1 and Manifest Incubations, feeds JSON Feed 1 and 1.1, notebooks
nbformat 3 and 4.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.core.model import Finding, Link, LinkSite, Part
from absolve.encodings.offset_map import Decoded
from absolve.formats import registry
from absolve.formats.events import EventList
from absolve.formats.grammars import url
from absolve.formats.html.claims import link_claim
from absolve.formats.json.tokens import STRING, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from absolve.core.model import BaseClaim, Event
    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
    from absolve.formats.json.tokens import Path, Value

    Place = LinkSite | str | None  # of a link; or the media type of a document

_STRINGS: Final = frozenset({"key", "string"})


def _walk(data: bytes, place_of: Callable[[Value, bytes], Place], *, failed: bool = False) -> Iterable[Event]:
    """Return a link or a part for each key and string that has a place; `failed`: malformed JSON is a failure."""
    events = EventList()
    for found in values(data):
        if isinstance(found, Finding):
            return [found._replace(failed=failed)]
        raw = data[found.start : found.end]
        place = place_of(found, raw) if found.kind in _STRINGS else None
        if isinstance(place, LinkSite):
            start, end = url(raw)[0]
            events.append(Link(place, found.start + start, found.start + end, STRING))
        elif place is not None:
            events.append(Part(place, found.start, found.end, STRING, name="item"))
    return events


# --- import maps and speculation rules --------------------------------------------------------------------------------

_IMPORT_MAP: Final = LinkSite("script", "importmap", kind="script")
_RULES: Final = LinkSite("script", "speculationrules", kind="navigation")
_URL_LIKE: Final = re.compile(rb"\.{0,2}/|[A-Za-z][A-Za-z0-9+.-]*:")  # 8.1.6.2, resolve a URL-like module specifier


def walk_import_map(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterable[Event]:
    """Return the links of an import map, for example `/a.js` in `{"imports": {"a": "/a.js"}}`; also URL-like keys."""
    return _walk(data, _in_import_map)


def _in_import_map(found: Value, raw: bytes) -> Place:
    top, depth = found.path[:1], len(found.path)
    if top == ("scopes",) and depth == 2 and found.is_key:
        return _IMPORT_MAP
    listed = (top == ("imports",) and depth == 2) or (top == ("scopes",) and depth == 3)
    listed = listed or (top == ("integrity",) and depth == 2 and found.is_key)
    return _IMPORT_MAP if listed and _URL_LIKE.match(STRING.decode(raw)) else None


def walk_speculation_rules(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterable[Event]:
    """Return the links in `urls` of each rule, for example `/a` in `{"prefetch": [{"urls": ["/a"]}]}`; no patterns."""
    return _walk(data, _in_rules)


def _in_rules(found: Value, _raw: bytes) -> Place:
    listed = len(found.path) == 4 and found.path[2] == "urls" and not found.is_key
    return _RULES if listed else None


# --- manifests and feeds ----------------------------------------------------------------------------------------------


def _sites(element: str, kind: str, *paths: str) -> dict[Path, LinkSite]:
    """Return link sites by path, of member names without indexes: "icons src" is `x` in `{"icons": [{"src": "x"}]}`."""
    return {tuple(path.split()): LinkSite(element, path.split()[-1], kind=kind) for path in paths}


# In both an id is an identity, not a location. It is a link where it has the form of a URL. A relative id of an app is
# resolved against the origin of start_url, which is another base.
_MANIFEST: Final[dict[Path, Place]] = {
    **_sites("manifest", "navigation", "start_url", "scope", "note_taking new_note_url"),
    **_sites("manifest", "navigation", "shortcuts url", "related_applications url", "protocol_handlers url"),
    **_sites("manifest", "image", "icons src", "screenshots src", "shortcuts icons src", "file_handlers icons src"),
    **_sites("manifest", "form", "share_target action", "file_handlers action"),
    ("id",): LinkSite("manifest", "id", kind="metadata", stays="always"),
    ("serviceworker", "src"): LinkSite("manifest", "serviceworker", kind="script"),  # in earlier versions
}
_PEOPLE: Final = ("author", "authors", "items author", "items authors")
_FEED: Final[dict[Path, Place]] = {
    **_sites("jsonfeed", "navigation", "home_page_url", "items url", "items external_url"),
    **_sites("jsonfeed", "navigation", *(f"{one} url" for one in _PEOPLE)),
    **_sites("jsonfeed", "image", "icon", "favicon", "items image", "items banner_image"),
    **_sites("jsonfeed", "image", *(f"{one} avatar" for one in _PEOPLE)),
    **_sites("jsonfeed", "feed", "feed_url", "next_url"),
    **_sites("jsonfeed", "metadata", "hubs url"),
    **_sites("jsonfeed", "media", "items attachments url"),
    ("items", "id"): LinkSite("jsonfeed", "id", kind="metadata", stays="always"),
    ("items", "content_html"): registry.HTML,
}
_BASES: Final = {"url": "item url", "home_page_url": "home_page_url"}  # of the HTML in a feed (docs/decisions.md, B25)
_ABSOLUTE: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*+://")


def walk_manifest(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterable[Event]:
    """Return the links of a manifest, for example `a.png` in `{"icons": [{"src": "a.png"}]}`; their base is its URL."""
    return _walk(data, lambda found, raw: _member(_MANIFEST, found, raw, _URL_LIKE))


def walk_feed(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterable[Event]:
    """Return the URLs of a feed, for example `/1` in `{"items": [{"url": "/1"}]}`, and a part for each item's HTML."""
    claims: dict[Path, BaseClaim | None] = {}  # by the object whose URL it is
    owners: list[Path] = []  # of the parts

    def place_of(found: Value, raw: bytes) -> Place:
        place = _member(_FEED, found, raw, _ABSOLUTE)
        owner = found.path[:-1]
        if place == registry.HTML:
            owners.append(owner)
        elif place is not None and found.path[-1] in _BASES:
            claims[owner] = link_claim(STRING.decode(raw), found.start, _BASES[str(found.path[-1])])
        return place

    events = _walk(data, place_of, failed=True)
    for part, owner in zip((event for event in events if isinstance(event, Part)), owners, strict=False):
        part.base = claims.get(owner) or claims.get(())
    return events


def _member(table: dict[Path, Place], found: Value, raw: bytes, id_form: re.Pattern[bytes]) -> Place:
    place = None if found.is_key else table.get(tuple(step for step in found.path if isinstance(step, str)))
    is_id = isinstance(place, LinkSite) and place.attribute == "id"
    return None if is_id and not id_form.match(STRING.decode(raw)) else place


# --- notebooks --------------------------------------------------------------------------------------------------------

_PIECE: Final = pattern(rb"((?>(?:[^\"\\]|\\.)*))(?>(?:\"[\t\n\r ]*+,[\t\n\r ]*+\")?)", 0x10)  # DOTALL


class _Lines:
    """The `Coding` of a cell's lines, an array of strings, as one text: for example, `ab` for `"a", "b"`."""

    slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        decoded = Decoded(raw)
        for piece in _PIECE.finditer(raw):
            if piece.end(1) < piece.end():
                decoded.unit(piece.end(1), piece.end(), b"")
        return decoded.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        return value


@cache
def _lines() -> Coding:
    from absolve.formats.http import Stack  # here, because few runs need it

    return Stack((_Lines(), STRING))


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

    For example, `{"cells": [{"cell_type": "markdown", "source": ["[a](b)"]}]}` has one. Yield a finding for a cell or
    output that is neither a text nor a list of texts.
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
    """Return how many steps of a path lead to a cell, for example 2 of `("cells", 3, "source")`; 0 outside of cells."""
    start = 2 if path[:1] == ("worksheets",) else 0  # of nbformat 3
    return start + 2 if len(path) > start + 1 and path[start] == "cells" and isinstance(path[start + 1], int) else 0


class _Cell:
    """The strings of one cell that may be documents, by their paths in it."""

    def __init__(self) -> None:
        self._texts: dict[Path, list[tuple[int, int]]] = {}
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
                coding = _lines() if len(spans) > 1 else STRING
                name = "cell" if path == _SOURCE else "output"
                yield Part(kinds[str(path[-1])], spans[0][0], spans[-1][1], coding, name=name)
