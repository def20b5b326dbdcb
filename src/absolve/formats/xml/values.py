"""Find the references and inner documents in one attribute value or in the text of one element of XML.

In: the byte span of a value and its `LinkSite`. Out: links, parts and findings, added to the EventList. The grammar of
a value (`LinkSite.syntax`) is applied to the decoded text, and the spans are mapped back to raw bytes; a URL without
references and white space needs no decoding.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import word_start
from absolve.core.errors import in_short
from absolve.core.model import Finding, Part
from absolve.encodings.offset_map import CUT_OFF, is_cut
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import rules
from absolve.formats.html.filters import may_name_map
from absolve.formats.registry import JAVASCRIPT
from absolve.formats.xml.codings import CData, CharacterData, Mixed, is_plain, unknown_entity

if TYPE_CHECKING:
    import cython

    from absolve.core.model import BaseClaim, LinkSite
    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.formats.events import EventList
    from absolve.formats.xml.prolog import Prolog
    from absolve.formats.xml.tags import Tag


_SECTION: Final = re.compile(rb"[\t\n\r ]*+<!\[CDATA\[((?>(?:[^\]]++|\](?!\]>))*))\]\]>[\t\n\r ]*+")

OF_OFFICE: Final = frozenset({"field", "formula"})  # `LinkSite.syntax` of what counts in an office document alone
# `LinkSite.syntax` of an element whose text is a document -> its media type.
_TEXT_PARTS: Final = {"html": rules.MEDIA_TYPE, "css": rules.CSS, "javascript": JAVASCRIPT, **rules.JSON_SCRIPTS}


class Values:
    """Adds the events of values to `events`; `tag` is the current start tag.

    `in_office`: the document is a part of an office document. For the next link: `under` is its scoped claim, `stated`
    the claim that it states; None if it has none.
    """

    def __init__(
        self, data: bytes, charset: Charset, events: EventList, tag: Tag, prolog: Prolog, in_office: cython.bint
    ) -> None:
        self._data = data
        self._charset = charset
        self._events = events
        self._tag = tag
        self._prolog = prolog
        self._in_office = in_office
        self.under: BaseClaim | None = None
        self.stated: BaseClaim | None = None

    def value(self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the references, or the inner document, in one attribute value."""
        coding = self._tag.coding(start)
        if place.syntax == "css":
            raw = self._data[start:end]
            if 0x28 in raw or 0x26 in raw or 0x5C in raw:
                self._events.append(Part(rules.CSS_DECLARATIONS, start, end, coding, "", self.under))
        elif place.syntax == "srcdoc":
            self._events.append(Part(rules.MEDIA_TYPE, start, end, coding, "srcdoc", self.under))
        else:
            self.references(place, start, end, coding)
        return 0

    def text(
        self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t, scope: BaseClaim | None
    ) -> cython.int:
        """Add the reference, or the inner document, that is an element's text."""
        p: cython.p_const_uchar = self._data
        if _is_blank(p, start, end) or (place.syntax == "javascript" and not may_name_map(self._data, start, end)):
            return 0
        has_markup: cython.bint = byte_scan.find(p, 60, start, end) >= 0
        if self._prolog.expansion is not None:
            self._prolog.expansion.check(start, end, is_text=True)
        media_type = _TEXT_PARTS.get(place.syntax)
        coding: Coding = self._tag.text
        self.under = scope
        self._tag.start = self._tag.end = -1
        if has_markup:
            data = CData(self._charset, "absolve.references" if place.syntax == "html" else "absolve.percent")
            if section := _SECTION.fullmatch(self._data, start, end):
                coding = data
                start, end = section.span(1)
            else:
                coding = Mixed(self._tag.text, data)
        if media_type is None:
            if isinstance(coding, Mixed):
                words = "a reference in pieces (CDATA sections, comments, instructions between) is left alone"
                self._events.append(Finding("pieces", words, start))
            else:
                self.references(place, start, end, coding)
        elif has_markup or byte_scan.find(p, 38, start, end) >= 0 or media_type != rules.MEDIA_TYPE:  # else plain text
            name = place.element if media_type == rules.MEDIA_TYPE else ""
            self._events.append(Part(media_type, start, end, coding, name, self.under))
        return 0

    def references(
        self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding
    ) -> cython.int:
        """Add the references in a value by its grammar, which reads the decoded text."""
        if place.syntax == "url" and is_plain(self._data, start, end):  # most: used without decoding
            return self._tell(place, start, end, coding)
        if place.syntax in OF_OFFICE and not self._in_office:
            return 0  # whose base is not known
        raw = self._data[start:end]
        if 0x26 in raw and isinstance(coding, CharacterData):
            name = unknown_entity(raw, self._prolog.entities)
            if name is not None:
                known_as = in_short(name.decode("utf-8", "replace"))
                words = f"the entity &{known_as}; is not known here: the reference is left alone"
                self._events.append(Finding("entity", words, start))
                return 0
        value, offsets = coding.decode_mapped(raw)
        if offsets is None:  # for mypy: every coding here returns offsets
            return 0
        if place.syntax == "field" and value.count(b'"') % 2:
            words = "a field in pieces is left alone (its URL is in more than one element)"
            self._events.append(Finding("pieces", words, start))
            return 0
        for one, other in GRAMMARS[place.syntax](value):
            if is_cut(offsets, one) or (is_cut(offsets, other) and place.syntax != "url"):  # blanks behind a URL
                self._events.append(Finding("entity", CUT_OFF, start))
                return 0
            first = start + offsets.start(one)
            self._tell(place, first, start + offsets.end(other) if other > one else first, coding)
        return 0

    def _tell(
        self, place: LinkSite, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding
    ) -> cython.int:
        """Add one link."""
        tag: Tag = self._tag
        return self._events.add_link(place, start, end, coding, self.under, tag.start, tag.end, self.stated)


def _is_blank(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether this span is empty or only white space."""
    return word_start(p, start, end) == end
