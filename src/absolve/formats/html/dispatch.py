"""Build the walker's dispatch tables from the link tables: link site and action by element and attribute number.

In: the rows of link_tables.py and the numbers of names.py. Out: `Actions`, once per process,
and `Tables`, once per charset: those actions with the codings and caches that all documents in the charset share.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from absolve.core.model import LinkSite
from absolve.encodings.codings import CharacterReferences, Raw, Unquoted, quoted
from absolve.formats.html import keywords, link_tables
from absolve.formats.html import rules as places
from absolve.formats.html.names import (
    ABSENT,
    ATTRIBUTE_ID,
    ATTRIBUTES,
    DOUBLE,
    ELEMENT_ID,
    MATHML_ROW,
    ROWS,
    SINGLE,
    SVG_ROW,
    UNQUOTED,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.formats.html.keywords import Kept

# Actions: how the walker processes an attribute. From 3 to 7 they depend on other attributes or on the document.
NOTHING = 0
URL = 1  # the whole value is one reference
OTHER = 2  # by its grammar, or an inner document
IN_CODEBASE = 3
META = 4
LINK_HREF = 5
BASE_HREF = 6
CODEBASE_ROW = 7
STYLE = 8  # CSS declarations, on any element
SAVED = 9  # the URL of a saved page
PARAM = 10
_SPECIAL = {("meta", "content"): META, ("link", "href"): LINK_HREF, ("base", "href"): BASE_HREF}
_SPECIAL["param", "value"] = PARAM
_SPECIAL[link_tables.SCRAPBOOK.element, link_tables.SCRAPBOOK.attribute] = SAVED
_NO_PLACE = LinkSite("", "")


class Actions:
    """Arrays by element row and attribute number: `places`; `actions`; `interest`, the pairs that are reported."""

    def __init__(self) -> None:
        self.places: list[LinkSite] = [_NO_PLACE] * (ATTRIBUTES * ROWS)
        interest = bytearray(len(self.places))
        actions = bytearray(len(self.places))
        for place in places.html_rows():
            attribute, action = ATTRIBUTE_ID[place.attribute.encode()], _action(place)
            for row in self._rows(place):
                at = row * ATTRIBUTES + attribute
                self.places[at] = place
                actions[at] = action
                interest[at] = 1
        for foreign, row in ((link_tables.SVG, SVG_ROW), (link_tables.MATHML, MATHML_ROW)):
            for place in (*link_tables.GLOBAL, *foreign):
                at = row * ATTRIBUTES + ATTRIBUTE_ID[place.attribute.encode()]
                actions[at] = STYLE if place.syntax == "css" else OTHER  # foreign rows of an attribute share a syntax
                interest[at] = 1
        for row in (ELEMENT_ID[b"script"], ELEMENT_ID[b"style"], SVG_ROW):
            interest[row * ATTRIBUTES] = 1  # reported with any attributes, for its text
        self.interest = bytes(interest)
        self.actions = bytes(actions)

    @staticmethod
    def _rows(place: LinkSite) -> Iterable[int]:
        if place.element == "*":
            return range(SVG_ROW)
        aliases = (alias for alias, name in link_tables.ALIASES.items() if name == place.element)
        return [ELEMENT_ID[name.encode()] for name in (place.element, *aliases)]


def _action(place: LinkSite) -> int:
    if place.against == "codebase":
        return IN_CODEBASE
    if place.attribute == "codebase":
        return CODEBASE_ROW
    special: int | None = _SPECIAL.get((place.element, place.attribute))
    if special is not None:
        return special
    if place.syntax == "css":
        return STYLE
    return URL if place.syntax == "url" else OTHER


@cache
def actions() -> Actions:
    return Actions()


class Tables(NamedTuple):
    """Tables, codings and caches that walks over documents of one charset share.

    `codings` has those of values, by their quoting (see `Tag`); `raw` and `text` are those of text between tags,
    without and with character references.
    """

    places: list[LinkSite]
    actions: bytes
    interest: bytes
    codings: list[Coding]
    raw: Raw
    text: CharacterReferences
    meta_places: Kept[LinkSite | None]
    link_places: Kept[LinkSite]
    scripts: Kept[str | None]


@lru_cache(maxsize=64)
def tables_of(charset: Charset) -> Tables:
    """Return the tables for a charset."""
    found = actions()
    double, single = quoted(charset, 0x22), quoted(charset, 0x27)
    codings: list[Coding] = [double] * (max(DOUBLE, SINGLE) + 1)
    codings[SINGLE] = single
    codings[UNQUOTED] = Unquoted(charset, None)
    codings[ABSENT] = Unquoted(charset, None, absent=True)
    return Tables(
        places=found.places,
        actions=found.actions,
        interest=found.interest,
        codings=codings,
        raw=Raw(charset),
        text=CharacterReferences(charset, b""),
        meta_places=keywords.meta_places(charset),
        link_places=keywords.link_places(charset),
        scripts=keywords.scripts(charset),
    )
