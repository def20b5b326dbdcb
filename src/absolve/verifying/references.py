"""Split a value that an independent parser has decoded into its references and the bytes between them.

In: a link site and its value, or an inner document. Out: `References`, which can be compared.
The text of a document, too, is decoded here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import Link
from absolve.document.resolved import text
from absolve.document.walk import Settings
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import Raw, to_utf8
from absolve.formats import registry
from absolve.formats.grammars import GRAMMARS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.model import LinkSite
    from absolve.document.entity import Entity
    from absolve.encodings.charsets import Charset

CODING: Final = Raw(UTF_8)  # a placeholder: links that an independent parser finds have no bytes
_SETTINGS: Final = Settings(max_links=sys.maxsize)  # the links of the whole document are counted already


def decoded(entity: Entity) -> str:
    """Return the text of a document, without a byte order mark."""
    charset = entity.charset
    return to_utf8(charset, entity.data).decode("utf-8", errors(charset)).removeprefix("\ufeff")


def errors(charset: Charset) -> str:
    """Return the codec error handler that encodes surrogates as codings do."""
    return "surrogateescape" if charset.codec == UTF_8.codec else "surrogatepass"


class References(NamedTuple):
    """Each reference with its link site, and the bytes before, between and after them."""

    links: list[tuple[LinkSite, str]]
    gaps: list[bytes]

    def alike(self, other: References) -> bool:
        """Return whether both have the same bytes around the same number of references of the same sites."""
        names = [[(place.element, place.attribute) for place, _ in side.links] for side in (self, other)]
        if names[0] != names[1]:
            return False
        if len(names[0]) == 1 and not (self.links[0][1] and other.links[0][1]):
            return b"".join(self.gaps) == b"".join(other.gaps)  # an empty one may be anywhere in the white space
        return self.gaps == other.gaps


def in_value(place: LinkSite, value: bytes) -> References:
    """Return the references in the value of an attribute, by its grammar."""
    spans = list(GRAMMARS[place.syntax](value))
    return References([(place, text(value[start:end])) for start, end in spans], _gaps(value, spans))


def in_document(media_type: str, value: bytes) -> References:
    """Return the references in a document, by its walker: a style sheet, a list of declarations, JSON."""
    walker = registry.walker(media_type)
    events = walker(value, UTF_8, _SETTINGS) if walker is not None else ()
    found = [event for event in events if isinstance(event, Link)]
    spans = [(link.start, link.end) for link in found]
    links = [(link.place, text(link.coding.decode(value[link.start : link.end]))) for link in found]
    return References(links, _gaps(value, spans))


def _gaps(value: bytes, spans: Iterable[tuple[int, int]]) -> list[bytes]:
    edges = [0, *(edge for span in spans for edge in span), len(value)]
    return [value[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
