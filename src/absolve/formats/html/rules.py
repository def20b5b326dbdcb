"""Rules of HTML beyond the link tables: link sites by name, `meta` and `link`, inner documents.

In: names and keywords (decoded, stripped, in lower case). Out: a `LinkSite`, a media type or a span. The functions are
pure, and shared by the walker over bytes and by trees of other parsers. Section numbers refer to the HTML Standard.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from absolve.core.byte_scan import comment_end
from absolve.core.caching import BoundedCache
from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite, Part
from absolve.formats.html import link_tables, names
from absolve.formats.registry import JAVASCRIPT, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.core.protocols import Coding
    from absolve.encodings.codings import Piece
    from absolve.formats.html.open_elements import Stack

MEDIA_TYPE: Final = "text/html"
CSS: Final = "text/css"
CSS_DECLARATIONS: Final = "text/css;declarations"  # our own name: the value of a style attribute
JSON_SCRIPTS: Final = {
    "application/ld+json": "application/ld+json",
    "importmap": "application/importmap+json",
    "speculationrules": "application/speculationrules+json",
}
META_CONTENT: Final = LinkSite("meta", "content")  # placeholder for the result of `meta_place`
PARAM_VALUE: Final = LinkSite("param", "value")  # likewise of `param_place`

# --- link sites by name -----------------------------------------------------------------------------------------------

Key = tuple[int, str, str]  # namespace (of names.py), element, attribute


def html_rows() -> list[LinkSite]:
    """Return the rows for HTML elements, first the rows for any element (`*`): later rows replace them."""
    tables = (link_tables.HTML, link_tables.AMP, link_tables.COMPONENTS, link_tables.GLOBAL, link_tables.LAZY)
    found = [*chain.from_iterable(tables), META_CONTENT, PARAM_VALUE]
    return sorted(found, key=lambda place: place.element != "*")


class Rows(dict[Key, LinkSite]):
    """Rows by namespace, element and attribute name; the element is `*` in rows for any element."""

    def row(self, namespace: int, element: str, attribute: str) -> LinkSite | None:
        """Return the row of an attribute for its element, else for any element, else None."""
        return self.get((namespace, element, attribute)) or self.get((namespace, "*", attribute))

    def place(self, namespace: int, element: str, attribute: str) -> LinkSite | None:
        """Return the same, with the name of this element in a row for any element."""
        place = self.row(namespace, element, attribute)
        return named(place, element) if place is not None and place.element == "*" else place


@cache
def rows() -> Rows:
    """Return the rows of all namespaces, with aliases."""
    found = Rows({(names.HTML, place.element, place.attribute): place for place in html_rows()})
    for alias, element in link_tables.ALIASES.items():
        found.update({(names.HTML, alias, key[2]): place for key, place in found.items() if key[1] == element})
    found.update(FOREIGN)
    return found


_FOREIGN_ROWS: Final = (
    (names.SVG, (*link_tables.SVG, *link_tables.ANIMATED)),
    (names.MATHML, link_tables.MATHML),
)
FOREIGN: Final = Rows(
    {
        (namespace, place.element, place.attribute): place
        for namespace, of_namespace in _FOREIGN_ROWS
        for place in (*link_tables.GLOBAL, *of_namespace)
    }
)
_NAMED: Final[BoundedCache[tuple[LinkSite, str], LinkSite]] = BoundedCache(4096)  # documents choose the names


def named(place: LinkSite, element: str) -> LinkSite:
    """Return a row for any element with the name of this one; from a bounded cache, so mostly the same object."""
    key = (place, element)
    return _NAMED.entries.get(key) or _NAMED.put(key, place.changed(element=element))


def of_tag(data: bytes, place: LinkSite, start: int) -> LinkSite:
    """Return a row for any element with the name of the HTML tag at this byte offset."""
    name = _TAG_NAME.match(data, start)
    return named(place, name[1].lower().decode("utf-8", "replace")) if name else place


_TAG_NAME: Final = pattern(rb"<([^\t\n\f\r />]*+)")  # 13.2.5.8, tag name state


# --- sites that depend on several attributes --------------------------------------------------------------------------


def meta_place(equivalent: str, declared: str, name: str, item: str) -> LinkSite | None:
    """Return the link site of `meta content` by these attributes, or None: for example, for http-equiv `refresh`."""
    place = link_tables.HTTP_EQUIV.get(equivalent) or link_tables.META.get(declared) or link_tables.META.get(name)
    return place or link_tables.META_ITEMPROPS.get(item)


def param_place(name: str, value_type: str) -> LinkSite | None:
    """Return the link site of `param value`, or None: for example, of kind media for the name `movie`."""
    return link_tables.PARAM if value_type == "ref" else link_tables.PARAMS.get(name)


def animated_place(place: LinkSite, attribute: str) -> LinkSite:
    """Return the link site of a value in an animation of this attribute: CSS for `fill`, for example."""
    is_link = attribute == "href" or attribute.endswith(":href")  # any prefix may be bound to XLink
    return place if is_link else _ANIMATED_CSS[place]


_ANIMATED_CSS: Final = {place: LinkSite(place.element, place.attribute, "css") for place in link_tables.ANIMATED}


def by_keywords(place: LinkSite, keyword: Callable[[str], str]) -> LinkSite | None:
    """Return the link site behind a placeholder; `keyword` returns another attribute, stripped and in lower case."""
    if place is META_CONTENT:
        return meta_place(keyword("http-equiv"), keyword("property"), keyword("name"), keyword("itemprop"))
    if place is PARAM_VALUE:
        return param_place(keyword("name"), keyword("valuetype"))
    return animated_place(place, keyword("attributename"))


PLACEHOLDERS: Final = frozenset({META_CONTENT, PARAM_VALUE, *link_tables.ANIMATED})


def link_place(rel: str, as_: str, media_type: str) -> LinkSite:
    """Return the link site of `link href`, with the kind of its relation."""
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


# --- links that browsers fetch as soon as they have parsed them -------------------------------------------------------

_FETCHED: Final = frozenset(  # by element and attribute; docs/decisions.md, B23
    {("script", "src"), ("iframe", "src"), ("frame", "src"), ("img", "src"), ("img", "srcset"), ("source", "srcset")}
    | {("link", "imagesrcset")}
    | {(element, name) for element in ("script", "image", "feimage") for name in ("href", "xlink:href")}
)
_FETCHED_LINKS: Final = frozenset({"stylesheet", "script", "image", "font", "media", "frame", "other"})  # their kinds
_FETCHED_PARTS: Final = frozenset({CSS, JSON_SCRIPTS["importmap"]})
_ATTRIBUTE: Final = pattern(rb"([\w:-]+)\s*=\s*[\"']?\Z")


def is_fetched(data: bytes, event: Link | Part) -> bool:
    """Return whether the URLs of a link or part are resolved, and fetched, when the parser has its element.

    SVG's presentation attributes (`fill`) are not: browsers resolve them when they draw.
    """
    if isinstance(event, Part):
        if event.media_type == CSS_DECLARATIONS:
            found = _ATTRIBUTE.search(data, max(event.start - 64, 0), event.start)
            return found is None or found[1].lower() == b"style"
        return event.media_type in _FETCHED_PARTS or event.name == "srcdoc"
    place = event.place
    if (place.element, place.attribute) == ("link", "href"):
        return place.kind in _FETCHED_LINKS
    return (place.element, place.attribute) in _FETCHED


# --- text that is a document ------------------------------------------------------------------------------------------


def is_sheet(media_type: str) -> bool:
    """Return whether the text of an HTML style element with this type is a style sheet."""
    return media_type in {"", CSS}


def script_document(script_type: str) -> str | None:
    """Return the media type of a script's text: for example, of `application/ld+json`; None without a walker.

    Only JSON-LD may have parameters (JSON-LD 1.1 section 7); the others are HTML's own keywords, which match exactly.
    """
    if script_type in {"", "module"} or canonical(script_type) == JAVASCRIPT:
        return JAVASCRIPT
    essence = script_type.partition(";")[0].rstrip("\t\n\f\r ")
    return JSON_SCRIPTS.get(essence if "/" in essence else script_type)


def foreign_pieces(data: bytes, text: Coding, section: Coding, start: int = 0) -> Iterator[Piece]:
    """Yield the pieces of the text from an offset in a foreign element to the next tag: text and CDATA sections.

    For example, `a<!-- --><![CDATA[b]]></style>` has `a`, an empty piece, `b` and an empty piece. Comments are no text
    (13.2.5.6, .7, .41 and .42). The last piece ends where the tag begins, or the data ends.
    """
    size = len(data)
    position = at = start
    while (found := _FOREIGN_MARKUP.search(data, at)) is not None:
        opening = found[0]
        less, at = found.span()
        if opening[-1:].isalpha():
            break
        yield text, position, less
        if opening == b"<![CDATA[":
            end = data.find(b"]]>", at)
            yield section, at, size if end < 0 else end
            at = size if end < 0 else end + 3
        else:
            end = comment_end(data, at, size) if opening == b"<!--" else found.start() + 2
            end = data.find(b">", end)
            at = size if end < 0 else end + 1
        position = at
    yield text, position, size if found is None else less


_FOREIGN_MARKUP: Final = pattern(rb"<(?:!\[CDATA\[|!--|[!?]|/?[A-Za-z]|/>|/(?=.))", re.DOTALL)


def ends_foreign_text(data: bytes, start: int, foreign: Stack) -> bool:
    """Return whether the tag at an offset ends the foreign element whose text is before it (13.2.6.5).

    Other tags are children, or are ignored. `foreign` are the open elements.
    """
    tag = _ANY_TAG.match(data, start)
    if tag is None:
        return True  # the end of the document
    name = tag[2].lower()
    number = names.ELEMENT_ID.get(name, 0)
    if tag[1]:
        return name in {b"p", b"br"} or foreign.find(number, b"" if number else name) >= 0
    return name != b"font" and bool(names.ELEMENT_TRAITS[number] & names.Trait.BREAKOUT)


_ANY_TAG: Final = pattern(rb"<(/?)([A-Za-z][^\t\n\f\r />]*+)")
