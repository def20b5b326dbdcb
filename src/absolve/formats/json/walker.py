"""Find the references in import maps, speculation rules (HTML Standard 8.1.6, 7.6) and web app manifests.

In: the bytes of a JSON text. Out: links in document order, with spans inside the JSON strings; or a single finding for
malformed JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.model import Finding, Link, LinkSite
from absolve.formats.events import EventList
from absolve.formats.grammars import url
from absolve.formats.json.tokens import JSONString, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset
    from absolve.formats.json.tokens import Value
    from absolve.formats.protocols import WalkOptions

_STRING: Final = JSONString()
_STRINGS: Final = frozenset({"key", "string"})


def _walk(data: bytes, choose: Callable[[Value, bytes], LinkSite | None]) -> Iterable[Event]:
    events = EventList()
    for found in values(data):
        if isinstance(found, Finding):
            return [found]  # the meaning of malformed JSON is uncertain: report no link
        raw = data[found.start : found.end]
        place = choose(found, raw) if found.kind in _STRINGS else None
        if place is not None:
            start, end = url(raw)[0]
            events.append(Link(place, found.start + start, found.start + end, _STRING))
    return events


_IMPORT_MAP: Final = LinkSite("script", "importmap", kind="script")
_RULES: Final = LinkSite("script", "speculationrules", kind="navigation")
_URL_LIKE: Final = re.compile(rb"\.{0,2}/|[A-Za-z][A-Za-z0-9+.-]*:")  # 8.1.6.2, resolve a URL-like module specifier


def walk_import_map(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterable[Event]:
    """Return the links in `imports`, `scopes` and `integrity`: addresses, scope prefixes, URL-like specifiers."""
    return _walk(data, _in_import_map)


def _in_import_map(found: Value, raw: bytes) -> LinkSite | None:
    top, depth = found.path[:1], len(found.path)
    if top == ("scopes",) and depth == 2 and found.is_key:
        return _IMPORT_MAP
    listed = (top == ("imports",) and depth == 2) or (top == ("scopes",) and depth == 3)
    listed = listed or (top == ("integrity",) and depth == 2 and found.is_key)
    return _IMPORT_MAP if listed and _URL_LIKE.match(_STRING.decode(raw)) else None


def walk_speculation_rules(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterable[Event]:
    """Return the links in `urls` of each rule; URL patterns (`href_matches`) are not references."""
    return _walk(data, _in_rules)


def _in_rules(found: Value, _raw: bytes) -> LinkSite | None:
    listed = len(found.path) == 4 and found.path[2] == "urls" and not found.is_key
    return _RULES if listed else None


_MANIFEST: Final = {
    place.attribute: place
    for place in (
        LinkSite("manifest", "start_url", kind="navigation"),
        LinkSite("manifest", "scope", kind="navigation"),
        LinkSite("manifest", "id", kind="metadata", stays="always"),  # the app's identity, not a location
        LinkSite("manifest", "src", kind="image"),
        LinkSite("manifest", "url", kind="navigation"),
        LinkSite("manifest", "action", kind="form"),
        LinkSite("manifest", "new_note_url", kind="navigation"),
        LinkSite("manifest", "serviceworker", kind="script"),
    )
}
# Web Application Manifest 1 and Manifest Incubations: paths of member names, without array indexes.
_MEMBERS: Final[dict[tuple[str, ...], LinkSite]] = {
    **{(name,): _MANIFEST[name] for name in ("start_url", "scope", "id")},
    **{(*names, "src"): _MANIFEST["src"] for names in (("icons",), ("screenshots",), ("shortcuts", "icons"))},
    ("file_handlers", "icons", "src"): _MANIFEST["src"],
    ("shortcuts", "url"): _MANIFEST["url"],
    ("related_applications", "url"): _MANIFEST["url"],
    ("protocol_handlers", "url"): _MANIFEST["url"],
    ("share_target", "action"): _MANIFEST["action"],
    ("file_handlers", "action"): _MANIFEST["action"],
    ("note_taking", "new_note_url"): _MANIFEST["new_note_url"],
    ("serviceworker", "src"): _MANIFEST["serviceworker"],  # in earlier versions of the standard
}


def walk_manifest(data: bytes, _charset: Charset, _options: WalkOptions) -> Iterable[Event]:
    """Return the links in members that are URLs; the standard parses each against the manifest's own URL."""
    return _walk(data, _in_manifest)


def _in_manifest(found: Value, raw: bytes) -> LinkSite | None:
    place = None if found.is_key else _MEMBERS.get(tuple(name for name in found.path if isinstance(name, str)))
    if place is not None and place.attribute == "id" and not _URL_LIKE.match(_STRING.decode(raw)):
        return None  # a relative id is resolved against the origin of start_url, which is another base
    return place
