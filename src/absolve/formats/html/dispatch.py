"""What the walker does with an attribute, by the numbers of its element and its name: the tables of places for it."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from absolve.core.model import LinkSite
from absolve.encodings.codings import CharacterReferences, Raw, Unquoted, quoted
from absolve.formats.html import keywords, link_tables
from absolve.formats.html import rules as places
from absolve.formats.html.names import ATTRIBUTE_ID, ATTRIBUTES, ELEMENT_ID, MATHML_ROW, ROWS, SVG_ROW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.encodings.charsets import Charset
    from absolve.formats.html.keywords import Kept

# What is to be done with the attribute of a place: which rows need more than the row itself.
NOTHING = 0
URL = 1  # the whole value is one reference
OTHER = 2  # by its grammar, or an inner document
IN_CODEBASE = 3
META = 4
LINK_HREF = 5
BASE_HREF = 6
CODEBASE_ROW = 7
STYLE = 8  # declarations of CSS, whatever the row says besides
_SPECIAL = {("meta", "content"): META, ("link", "href"): LINK_HREF, ("base", "href"): BASE_HREF}
_NO_PLACE = LinkSite("", "")


class Actions:
    """By element row and attribute number: `interest`, what is reported; `places`; `actions`, what is to be done."""

    def __init__(self, *, lazy: bool) -> None:
        self.places: list[LinkSite] = [_NO_PLACE] * (ATTRIBUTES * ROWS)
        interest = bytearray(len(self.places))
        actions = bytearray(len(self.places))
        for place in places.html_rows(lazy=lazy):
            for row in self._rows(place):
                at = row * ATTRIBUTES + ATTRIBUTE_ID[place.attribute.encode()]
                self.places[at] = place
                actions[at] = _action(place)
                interest[at] = 1
        for foreign, row in ((link_tables.SVG, SVG_ROW), (link_tables.MATHML, MATHML_ROW)):
            for place in (*link_tables.GLOBAL, *foreign):
                at = row * ATTRIBUTES + ATTRIBUTE_ID[place.attribute.encode()]
                actions[at] = STYLE if place.syntax == "css" else OTHER  # a column of foreign rows has one syntax
                interest[at] = 1
        interest[ELEMENT_ID[b"script"] * ATTRIBUTES + ATTRIBUTE_ID[b"type"]] = 1
        for row in (ELEMENT_ID[b"style"], SVG_ROW):
            interest[row * ATTRIBUTES] = 1  # told of whatever its attributes are: its text counts
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
def actions(*, lazy: bool) -> Actions:
    return Actions(lazy=lazy)


class Tables(NamedTuple):
    """What walks over documents of one charset have in common.

    `double` and `single` are the codings of quoted values, `bare` is that of values without quotes, `absent` of none;
    `raw` and `text` are those of text between tags, without character references and with them.
    """

    places: list[LinkSite]
    actions: bytes
    interest: bytes
    double: CharacterReferences
    single: CharacterReferences
    bare: Unquoted
    absent: Unquoted
    raw: Raw
    text: CharacterReferences
    meta_places: Kept[LinkSite | None]
    link_places: Kept[LinkSite]
    scripts: Kept[str | None]


@lru_cache(maxsize=64)
def tables_of(charset: Charset, lazy: bool) -> Tables:
    """Those of a charset, with or without the attributes of lazy loading."""
    found = actions(lazy=lazy)
    return Tables(
        *(found.places, found.actions, found.interest, quoted(charset, 0x22), quoted(charset, 0x27)),
        Unquoted(charset, None),
        *(Unquoted(charset, None, absent=True), Raw(charset), CharacterReferences(charset, b"")),
        *(keywords.meta_places(charset), keywords.link_places(charset), keywords.scripts(charset)),
    )
