"""References in JSON: import maps, speculation rules (HTML Standard 8.1.6, 7.6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.formats.json_values import JSONString, values
from absolve.model import Link, Notice, Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.charsets import Charset
    from absolve.formats.json_values import Value
    from absolve.model import Event
    from absolve.typing import WalkOptions

_STRING: Final = JSONString()
_STRINGS: Final = frozenset({"key", "string"})


def _walk(data: bytes, choose: Callable[[Value, bytes], Place | None]) -> list[Event]:
    events: list[Event] = []
    for found in values(data):
        if isinstance(found, Notice):
            return [found]  # nothing in it is known to be what it seems
        place = choose(found, data[found.start : found.end]) if found.kind in _STRINGS else None
        if place is not None:
            events.append(Link(place, found.start, found.end, _STRING))
    return events


_IMPORT_MAP: Final = Place("script", "importmap", kind="script")
_RULES: Final = Place("script", "speculationrules", kind="navigation")
_URL_LIKE: Final = re.compile(rb"\.{0,2}/|[A-Za-z][A-Za-z0-9+.-]*:")  # 8.1.6.2, resolve a URL-like module specifier


def walk_import_map(data: bytes, _charset: Charset, _options: WalkOptions) -> list[Event]:
    """`imports`, `scopes` and `integrity`: addresses, scope prefixes, and the specifiers that are URL-like."""
    return _walk(data, _in_import_map)


def _in_import_map(found: Value, raw: bytes) -> Place | None:
    top, depth = found.path[:1], len(found.path)
    if top == ("scopes",) and depth == 2 and found.is_key:
        return _IMPORT_MAP
    listed = (top == ("imports",) and depth == 2) or (top == ("scopes",) and depth == 3)
    listed = listed or (top == ("integrity",) and depth == 2 and found.is_key)
    return _IMPORT_MAP if listed and _URL_LIKE.match(_STRING.decode(raw)) else None


def walk_speculation_rules(data: bytes, _charset: Charset, _options: WalkOptions) -> list[Event]:
    """The `urls` of each rule; patterns (`href_matches`) are no references."""
    return _walk(data, _in_rules)


def _in_rules(found: Value, _raw: bytes) -> Place | None:
    listed = len(found.path) == 4 and found.path[2] == "urls" and not found.is_key
    return _RULES if listed else None
