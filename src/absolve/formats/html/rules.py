"""What takes more than a row of a table to decide about HTML: places by name, meta and link, inner documents.

Pure functions of names and keywords, the same for a walk over bytes and for trees that others parsed. Keywords are
decoded, trimmed and in lower case; positions are whatever the caller counts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.core.model import LinkSite
from absolve.formats.html import link_tables, names

if TYPE_CHECKING:
    from collections.abc import Iterator

MEDIA_TYPE: Final = "text/html"
CSS: Final = "text/css"
CSS_DECLARATIONS: Final = "text/css;declarations"  # ours: the value of a style attribute, which no media type names
JSON_SCRIPTS: Final = {
    "application/ld+json": "application/ld+json",
    "importmap": "application/importmap+json",
    "speculationrules": "application/speculationrules+json",
}
META_CONTENT: Final = LinkSite("meta", "content")  # stands for all that `meta_place` tells apart

# --- places by name ------------------------------------------------------------------------------------------------

Key = tuple[int, str, str]  # namespace (of html_names), element, attribute


def html_rows(*, lazy: bool) -> list[LinkSite]:
    """The rows for HTML elements, those for any element first: a row of the element itself goes before."""
    found = [*link_tables.HTML, *link_tables.GLOBAL, *(link_tables.LAZY if lazy else ()), META_CONTENT]
    return sorted(found, key=lambda place: place.element != "*")


class Rows(dict[Key, LinkSite]):
    """Rows by the names of attributes; those for any element by `*`."""

    def row(self, namespace: int, element: str, attribute: str) -> LinkSite | None:
        """The row of an attribute: that of its element, else that for any element, else None."""
        return self.get((namespace, element, attribute)) or self.get((namespace, "*", attribute))

    def place(self, namespace: int, element: str, attribute: str) -> LinkSite | None:
        """The same, and a row for any element is given the name of this one."""
        place = self.row(namespace, element, attribute)
        return named(place, element) if place is not None and place.element == "*" else place


@cache
def rows(*, lazy: bool) -> Rows:
    """Every row of every namespace."""
    found = Rows({(names.HTML, place.element, place.attribute): place for place in html_rows(lazy=lazy)})
    for alias, element in link_tables.ALIASES.items():
        found.update({(names.HTML, alias, key[2]): place for key, place in found.items() if key[1] == element})
    found.update(FOREIGN)
    return found


FOREIGN: Final = Rows(
    {
        (namespace, place.element, place.attribute): place
        for namespace, of_namespace in ((names.SVG, link_tables.SVG), (names.MATHML, link_tables.MATHML))
        for place in (*link_tables.GLOBAL, *of_namespace)
    }
)
_NAMED: dict[tuple[LinkSite, str], LinkSite] = {}


def named(place: LinkSite, element: str) -> LinkSite:
    """A row for any element as the row of this one: the very same object each time, as far as that is kept."""
    key = (place, element)
    if key not in _NAMED:
        if len(_NAMED) > 4096:  # likewise
            _NAMED.clear()
        _NAMED[key] = place._replace(element=element)
    return _NAMED[key]


def of_tag(data: bytes, place: LinkSite, start: int) -> LinkSite:
    """A row for any element as that of the HTML tag which starts here."""
    name = _TAG_NAME.match(data, start)
    return named(place, name[1].lower().decode("utf-8", "replace")) if name else place


_TAG_NAME: Final = pattern(rb"<([^\t\n\f\r />]*+)")  # 13.2.5.8, tag name state


# --- what depends on more than one attribute -----------------------------------------------------------------------


def meta_place(equivalent: str, declared: str, name: str, item: str) -> LinkSite | None:
    """`meta content` by http-equiv, property, name and itemprop; None where the content is no URL."""
    place = link_tables.HTTP_EQUIV.get(equivalent) or link_tables.META.get(declared) or link_tables.META.get(name)
    return place or link_tables.META_ITEMPROPS.get(item)


def link_place(rel: str, as_: str, media_type: str) -> LinkSite:
    """`link href`: the kind is that of its relation."""
    return _LINK_PLACES[_link_kind(rel, as_, media_type)]


def _link_kind(rel: str, as_: str, media_type: str) -> str:
    relations = set(rel.split())
    kind = next((kind for name, kind in link_tables.LINK_REL_KINDS.items() if name in relations), link_tables.LINK_KIND)
    if kind == "as":
        return link_tables.AS_KINDS.get(as_, link_tables.AS_KIND)
    if kind == "type":
        return link_tables.TYPE_KINDS.get(media_type.partition(";")[0].strip(), link_tables.TYPE_KIND)
    return kind


_LINK_PLACES: Final = {
    kind: LinkSite("link", "href", kind=kind)
    for kind in {
        *link_tables.LINK_REL_KINDS.values(),
        *link_tables.AS_KINDS.values(),
        *link_tables.TYPE_KINDS.values(),
        *(link_tables.LINK_KIND, link_tables.AS_KIND, link_tables.TYPE_KIND),
    }
}


# --- texts that are documents --------------------------------------------------------------------------------------


def is_sheet(media_type: str) -> bool:
    """Whether the text of an HTML style element with this type is a style sheet."""
    return media_type in {"", CSS}


def json_script(script_type: str) -> str | None:
    """The media type of the text of a script element with this type; None where it holds no links for us.

    Only JSON-LD may have parameters (JSON-LD 1.1 section 7); the others are types of HTML's own, to be matched whole.
    """
    essence = script_type.partition(";")[0].rstrip("\t\n\f\r ")
    return JSON_SCRIPTS.get(essence if "/" in essence else script_type)


def foreign_text(data: bytes, start: int) -> Iterator[tuple[int, int, bool]]:
    """The spans of the text that a foreign element begins with, one run of it: CDATA sections (True), or other text."""
    position = data.find(b"<", start)
    if position < 0 or not data.startswith(_CDATA, position):
        yield start, position if position >= 0 else len(data), False
    while 0 <= position < len(data) and data.startswith(_CDATA, position):  # there may be a hundred thousand
        end = data.find(b"]]>", position + len(_CDATA))
        end = len(data) if end < 0 else end
        yield position + len(_CDATA), end, True
        position = data.find(b"<", end)


_CDATA: Final = b"<![CDATA["


def conditional(data: bytes, start: int, end: int) -> tuple[int, int] | None:
    """The span of the HTML in a conditional comment of Internet Explorer; None for any other comment's text."""
    if data[start : start + 3] != b"[if":
        return None
    opened = data.find(b"]>", start, end)
    closed = data.rfind(b"<![endif]", start, end)
    return (opened + 2, closed) if 0 <= opened < closed else None
