"""References of an HTML document from two sources: html5lib's tree with absolve's link tables, and the walker.

Each is (element, attribute, value), the value decoded and stripped. Style sheets, JSON and srcdoc documents are read by
absolve's walkers on both sides: here it is checked that these receive the right text.
"""

from collections.abc import Iterator
from typing import NamedTuple

import html5lib_view
from html5lib_view import Element

from absolve.core.model import Document, Link, LinkSite
from absolve.document.entity import Entity
from absolve.document.walk import Settings, inner_at, walk
from absolve.encodings.charsets import UTF_8
from absolve.formats import registry
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import link_tables
from absolve.formats.html.rules import CSS, CSS_DECLARATIONS, JSON_SCRIPTS, MEDIA_TYPE

SETTINGS = Settings()
_PLACES = {
    (namespace, place.element, place.attribute): place
    for namespace, places in (("html", (*link_tables.LAZY, *link_tables.HTML)), ("svg", link_tables.SVG), ("math", link_tables.MATHML))
    for place in (*link_tables.GLOBAL, *places)
}
_SPACE = "\t\n\f\r "


class Reference(NamedTuple):
    """One reference, with the names that rows use."""

    element: str
    attribute: str
    value: bytes


def walked(document: Document) -> list[Reference]:
    """Return the references that the walker finds, in order."""
    return list(_walked(walk(document, SETTINGS)))


def _walked(entity: Entity) -> Iterator[Reference]:
    for index, event in enumerate(entity.events):
        if isinstance(event, Link) and event.place.element != "include":  # in a comment
            value = event.coding.decode(entity.data[event.start : event.end])
            yield Reference(event.place.element, event.place.attribute, value)
        elif (inner := inner_at(entity, index)) is not None:
            yield from _walked(inner.entity)


def judged(text: str, errors: str) -> list[Reference]:
    """Return the references in html5lib's tree, in order; `errors` is the error handler of the decoder."""
    return [reference for element in html5lib_view.elements(text) for reference in _judged(element, errors)]


def _judged(element: Element, errors: str) -> Iterator[Reference]:
    for attribute, text in element.attributes.items():
        place = _place(element, attribute)
        if place is None:
            continue
        value = text.encode("utf-8", errors)
        if place.syntax == "srcdoc":
            yield from judged(text, errors)
        elif place.syntax == "css":
            yield from _inner(CSS_DECLARATIONS, value)
        else:
            for start, end in GRAMMARS[place.syntax](value):
                yield Reference(element.name, attribute, value[start:end])
    style = element.name == "style" and element.namespace
    if style == "svg" or (style == "html" and _keyword(element, "type") in {"", CSS}):
        yield from _inner(CSS, element.text.encode("utf-8", errors))
    if (element.namespace, element.name) == ("html", "script"):
        kind = _keyword(element, "type")
        is_code = kind in {"", "module", *registry.JAVASCRIPT_TYPES}
        media_type = registry.JAVASCRIPT if is_code else JSON_SCRIPTS.get(kind)
        if media_type is not None:
            yield from _inner(media_type, element.text.encode("utf-8", errors))


def _keyword(element: Element, attribute: str) -> str:
    return html5lib_view.lower(element.attributes.get(attribute, "").strip(_SPACE))


def _place(element: Element, attribute: str) -> LinkSite | None:
    if (element.namespace, element.name, attribute) == ("html", "meta", "content"):
        equivalent, declared, name, item = (_keyword(element, key) for key in ("http-equiv", "property", "name", "itemprop"))
        place = link_tables.HTTP_EQUIV.get(equivalent) or link_tables.META.get(declared) or link_tables.META.get(name)
        return place or link_tables.META_ITEMPROPS.get(item)
    if (element.namespace, element.name, attribute) == ("html", "param", "value"):
        name, kind = (_keyword(element, key) for key in ("name", "valuetype"))
        return link_tables.PARAM if kind == "ref" else link_tables.PARAMS.get(name)
    found = _PLACES.get((element.namespace, element.name, attribute))
    return found or _PLACES.get((element.namespace, "*", attribute))


def _inner(media_type: str, value: bytes) -> Iterator[Reference]:
    walker = registry.walker(media_type)
    assert walker is not None
    assert media_type != MEDIA_TYPE
    for event in walker(value, UTF_8, SETTINGS):
        if isinstance(event, Link):
            yield Reference(event.place.element, event.place.attribute, event.coding.decode(value[event.start : event.end]))
