"""The columns of links that are computed only where they are asked for (`columns.MORE`).

In: a link, its target, and the entities around it. Out: the host of the target; the document's own URL; the language
of the target; and the place of the link in the outermost file.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from absolve.core.model import PACKAGE_ROOT, RETRIEVAL
from absolve.document.resolved import shown
from absolve.formats.html.start_tags import attributes
from absolve.urls.identity import site
from absolve.urls.predicates import split_fragment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.core.model import Link
    from absolve.document.entity import Entity, Inner
    from absolve.formats.html.start_tags import Attribute

    Cell = str | int | None

_PARAMETERS: Final = 4096  # bytes behind a URL of the field Link that are read
# RFC 8288 3: the parameters behind a target, up to the comma of the next one
_PARAMETER: Final = re.compile(
    rb";[\t ]*+hreflang[\t ]*+=[\t ]*+(?:\"([^\"\r\n]*+)\"|([^\";, \t\r\n]++))|\"[^\"]*+\"", re.IGNORECASE
)
_OF_ONE: Final = re.compile(rb">((?>(?:[^\",\r\n]++|\"[^\"\r\n]*+\")*))")


class Place:
    """An entity with those around it: the cells of its links."""

    def __init__(self, entity: Entity, outer: Place | None = None, part: Inner | None = None) -> None:
        self._entity = entity
        self._outer = outer
        self._part = part
        self._tag = (-1, -1)
        self._attributes: dict[bytes, Attribute] = {}

    def inside(self, inner: Inner) -> Place:
        """Return the place of a document in this one."""
        return Place(inner.entity, self, inner)

    def cells(self, wanted: Sequence[str], link: Link, target: str | None) -> list[Cell]:
        """Return the values of these columns for a link; `target` is needed for its host."""
        return [self._cell(name, link, target) for name in wanted]

    def _cell(self, name: str, link: Link, target: str | None) -> Cell:
        if name == "host":
            return site(target) if target is not None else None
        if name == "url":
            return self._url
        if name == "hreflang":
            return self._hreflang(link)
        start, end = self._span(link.start, link.end)
        return start if name == "file_start" else end

    @cached_property
    def _url(self) -> str | None:
        """The document's own URL without a fragment; None if it is unknown."""
        own = self._entity.bases.own
        known = own.layer is RETRIEVAL and own.url and not own.url.startswith(PACKAGE_ROOT)
        return shown(split_fragment(own.url)[0]) if known else None

    # --- in the file --------------------------------------------------------------------------------------------------

    def _span(self, start: int, end: int) -> tuple[int, int] | tuple[None, None]:
        """Return a span of this entity as one of the outermost file; None where an edit has no place of its own."""
        if self._outer is None or self._part is None:
            return self._in_file(start, end)
        if self._part.offsets is None:
            return None, None
        offsets, around = self._part.offsets, self._part.part.start
        first = around + offsets.start(start)
        return self._outer._span(first, around + offsets.end(end) if end > start else first)  # noqa: SLF001 - its class

    def _in_file(self, start: int, end: int) -> tuple[int, int] | tuple[None, None]:
        """Return a span of the outermost entity, which may be records of a file; a header that was no file has none."""
        origin = self._entity.origin
        if self._entity.path:
            return None, None
        if origin is None:
            return start, end
        return (origin(start), origin(end)) if origin(0) != origin(1) else (None, None)  # compressed: all are the same

    # --- in the markup ------------------------------------------------------------------------------------------------

    def _hreflang(self, link: Link) -> str | None:
        if link.tag_start < 0:
            return self._parameter(link)
        if self._tag != (link.tag_start, link.tag_end):
            self._tag = (link.tag_start, link.tag_end)
            self._attributes = attributes(self._entity.own_data, *self._tag)
        found = self._attributes.get(b"hreflang")
        return shown(found.text(self._entity.charset)) if found is not None else None

    def _parameter(self, link: Link) -> str | None:
        """Return the language of a URL in the header field Link (RFC 8288 3.4.1)."""
        if link.place.element != "header" or link.place.attribute != "link":
            return None
        rest = _OF_ONE.match(self._entity.own_data, link.end, link.end + _PARAMETERS)
        for found in _PARAMETER.finditer(rest[1]) if rest is not None else ():
            if value := found[1] or found[2]:
                return shown(value.decode("utf-8", "replace"))
        return None
