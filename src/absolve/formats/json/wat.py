"""Find the links in WAT records: what a crawler extracted from a page, as JSON in a metadata record of a WARC file.

In: the bytes of a record's block. Out: links, each of the element and attribute that its `path` names; the base that
the page's base element states; or a single finding for malformed JSON. They are listed, and never changed: they are
about a page as it was. Members are those that Common Crawl and the Internet Archive write (`Envelope`,
`Payload-Metadata`, `HTTP-Response-Metadata`, `HTML-Metadata`).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.core.model import Finding, Link, LinkSite
from absolve.formats.base_claims import base_claim
from absolve.formats.events import EventList
from absolve.formats.grammars import GRAMMARS, url
from absolve.formats.html import rules
from absolve.formats.json.tokens import JSONString, values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset
    from absolve.formats.json.tokens import Path, Value
    from absolve.formats.protocols import WalkOptions

_STRING: Final = JSONString()
_RESPONSE: Final[Path] = ("Envelope", "Payload-Metadata", "HTTP-Response-Metadata")
_HTML: Final[Path] = (*_RESPONSE, "HTML-Metadata")
_BASE: Final[Path] = (*_HTML, "Head", "Base")
_LOCATION: Final[Path] = (*_RESPONSE, "Headers", "Location")
_LISTS: Final = frozenset({(*_HTML, "Links"), (*_HTML, "Head", "Link"), (*_HTML, "Head", "Scripts")})
_NAMES: Final = frozenset({"path", "url", "href", "rel", "as", "type"})
_PATH: Final = pattern(r"([A-Za-z][A-Za-z0-9:-]{0,31})@/([A-Za-z][A-Za-z0-9:-]{0,31})\Z")
_BASE_SITE: Final = LinkSite("base", "href", against="own", stays="always")
_LOCATION_SITE: Final = LinkSite("header", "location", kind="navigation", against="own", stays="always")
_STYLE: Final = LinkSite("style", "", kind="image", stays="always")  # a url() in a style element
_OTHER: Final = LinkSite("wat", "", stays="always")


def walk(data: bytes, charset: Charset, options: WalkOptions) -> Iterable[Event]:  # noqa: ARG001 - JSON is UTF-8
    """Return the links of a page that are in its WAT record."""
    events = EventList()
    item: dict[str, Value] = {}
    for found in values(data):
        if isinstance(found, Finding):
            return [found._replace(failed=True)]
        path = found.path
        if found.kind == "string" and len(path) > 2 and path[:-2] in _LISTS and path[-1] in _NAMES:
            item[str(path[-1])] = found
        elif found.kind == "object" and path[:-1] in _LISTS:
            _add(events, data, item)
            item = {}
        elif found.kind == "string" and path == _BASE:
            start, end = _span(data, found)
            claim = base_claim(_STRING.decode(data[start:end]), start)
            events.append(claim)
            events.append(Link(_BASE_SITE, start, end, _STRING, claim=claim))
        elif found.kind == "string" and path == _LOCATION:
            events.append(Link(_LOCATION_SITE, *_span(data, found), _STRING))
    return events


def _span(data: bytes, found: Value) -> tuple[int, int]:
    start, end = url(data[found.start : found.end])[0]
    return found.start + start, found.start + end


def _add(events: EventList, data: bytes, item: dict[str, Value]) -> None:
    """Add the links of one object, `item` by the names of its members."""
    value = item.get("url") or item.get("href")
    if value is None:
        return
    words = [_text(data, item.get(name)) for name in ("path", "rel", "as", "type")]
    site = _site(*words)
    if GRAMMARS.get(site.syntax, url) is url:
        events.append(Link(site, *_span(data, value), _STRING))
        return
    raw, offsets = _STRING.decode_mapped(data[value.start : value.end])
    for start, end in GRAMMARS[site.syntax](raw):
        events.append(Link(site, value.start + offsets.start(start), value.start + offsets.end(end), _STRING))


def _text(data: bytes, value: Value | None) -> str:
    return _STRING.decode(data[value.start : value.end]).decode("utf-8", "replace") if value is not None else ""


@lru_cache(maxsize=4096)
def _site(path: str, rel: str, as_: str, media_type: str) -> LinkSite:
    """Return the site of a link by its path (`A@/href`), and for a link element by its attributes."""
    found = _PATH.match(path)
    if found is None:
        return _STYLE if path.startswith("STYLE") else _OTHER
    name = found[1].lower(), found[2].lower()
    known = rules.link_place(rel, as_, media_type) if name == ("link", "href") else _sites().get(name)
    return (known or LinkSite(*name)).changed(stays="always")


@cache
def _sites() -> dict[tuple[str, str], LinkSite]:
    return {(site.element, site.attribute): site for site in rules.html_rows(lazy=True)}
