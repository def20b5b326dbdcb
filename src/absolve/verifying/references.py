"""The references in a value that a parser has decoded, and what stands around them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import Link
from absolve.document.resolved import text
from absolve.document.walk import Settings
from absolve.encodings.charsets import UTF_8
from absolve.formats import registry
from absolve.formats.grammars import GRAMMARS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.model import LinkSite


_SETTINGS: Final = Settings(max_links=sys.maxsize)  # this is part of a document that has been counted


class References(NamedTuple):
    """Each reference with its place, and the bytes before, between and behind them."""

    links: list[tuple[LinkSite, str]]
    gaps: list[bytes]

    def alike(self, other: References) -> bool:
        """Whether the same stands around as many references of the same places."""
        names = [[(place.element, place.attribute) for place, _ in side.links] for side in (self, other)]
        if names[0] != names[1]:
            return False
        if len(names[0]) == 1 and not (self.links[0][1] and other.links[0][1]):
            return b"".join(self.gaps) == b"".join(other.gaps)  # an empty one stands anywhere in white space
        return self.gaps == other.gaps


def in_value(place: LinkSite, value: bytes) -> References:
    """Those in an attribute's value, by its grammar."""
    spans = list(GRAMMARS[place.syntax](value))
    return References([(place, text(value[start:end])) for start, end in spans], _gaps(value, spans))


def in_document(media_type: str, value: bytes) -> References:
    """Those in a whole document, by its walker: a style sheet, a list of declarations, JSON."""
    walker = registry.walker(media_type)
    events = walker(value, UTF_8, _SETTINGS) if walker is not None else ()
    found = [event for event in events if isinstance(event, Link)]
    spans = [(link.start, link.end) for link in found]
    links = [(link.place, text(link.coding.decode(value[link.start : link.end]))) for link in found]
    return References(links, _gaps(value, spans))


def _gaps(value: bytes, spans: Iterable[tuple[int, int]]) -> list[bytes]:
    edges = [0, *(edge for span in spans for edge in span), len(value)]
    return [value[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
