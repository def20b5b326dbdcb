"""Build the walker's dispatch tables from the link tables: link site and action by element and attribute number.

In: the rows of link_tables.py and the numbers of names.py. Out: `Actions`, once per process,
and `Tables`, once per charset: those actions with the codings and caches that all documents in the charset share.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from absolve.core.caching import BoundedCache
from absolve.core.model import LinkSite
from absolve.encodings.codings import CharacterReferences, Raw, Unquoted, quoted
from absolve.formats.grammars import WHITE_SPACE
from absolve.formats.html import link_tables
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
    from collections.abc import Callable, Iterable

    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset

# Actions: how the walker processes an attribute. 3 to 7 and 11 depend on other attributes or on the document.
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
ANIMATED = 11  # a reference or CSS
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
        for place in link_tables.ANIMATED:
            at = SVG_ROW * ATTRIBUTES + ATTRIBUTE_ID[place.attribute.encode()]
            actions[at] = ANIMATED
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


# --- decisions by keywords: the link site of `meta content` and `link href`, the media type of a script -----

P = TypeVar("P")
Keywords = tuple[bytes, ...]  # raw attribute values, empty for absent attributes
_MOST = 4096  # entries of a cache: documents choose the keys
_LONGEST = 256  # bytes of a key, all keywords together: it outlives the document, which may have a rel of megabytes


class Kept(Generic[P]):
    """A bounded cache from keywords, as bytes in a charset, to a decision by `rules`; `known` has the entries.

    It is shared by all documents of the process in this charset.
    """

    __slots__ = ("_cache", "_charset", "_decide", "known")

    def __init__(self, decide: Callable[..., P], charset: Charset) -> None:
        self._decide = decide
        self._charset = charset
        self._cache: BoundedCache[Keywords, P] = BoundedCache(_MOST)
        self.known = self._cache.entries

    def decided(self, keywords: Keywords) -> P:
        """Compute the decision for keywords that are not in `known`; cache it if they are short."""
        decided = self._decide(*(folded(raw, self._charset) for raw in keywords))
        if sum(map(len, keywords)) <= _LONGEST:
            self._cache.put(keywords, decided)
        return decided


def folded(raw: bytes, charset: Charset) -> str:
    """Return a keyword decoded, stripped and in lower case: for example, `stylesheet` for ` StyleSheet `."""
    return quoted(charset, 0x22).decode(raw).strip(WHITE_SPACE).lower().decode("latin-1")


# --- tables -----


class Tables(NamedTuple):
    """Tables, codings and caches that walks over documents of one charset share.

    `codings` has the codings of values, by their quoting (see `Tag`); `raw` and `text` are for text between tags,
    without and with character references.
    """

    places: list[LinkSite]
    actions: bytes
    interest: bytes
    codings: list[Coding]
    raw: Raw
    text: CharacterReferences
    meta_places: Kept[LinkSite | None]  # by http-equiv, property, name and itemprop
    link_places: Kept[LinkSite]  # by rel, as and type
    scripts: Kept[str | None]  # by type


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
        meta_places=Kept(places.meta_place, charset),
        link_places=Kept(places.link_place, charset),
        scripts=Kept(places.script_document, charset),
    )
