"""Walkers of office documents: Office Open XML (DOCX, XLSX, PPTX) and OpenDocument (ODT, ODS, ODP), in ZIP files.

In: the bytes of a file. Out: a part for each member with links, and the edits of the central directory.
Of Office Open XML those are the relationships (ISO 29500-2 6.5), of which the XML tables take the external ones, and
the texts with a HYPERLINK field or formula. They are relative to the file itself (6.5.3.4), or to `HyperlinkBase` of
its properties. Of OpenDocument they are the content, styles and metadata, whose `xlink:href` see the file as a folder
(ODF 1.3 part 2, 3.7): `../x` is beside it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from html import unescape
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError, WalkError
from absolve.core.model import EMBEDDED, PACKAGE_ROOT, BaseClaim, EditOrder, Layer, MessageIds
from absolve.formats import registry
from absolve.formats.events import EventList
from absolve.formats.zip import directory
from absolve.formats.zip.members import Content
from absolve.formats.zip.walker import ByName, Package, References

if TYPE_CHECKING:
    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions
    from absolve.formats.zip.members import Member

_PROPERTIES: Final = "docProps/app.xml"
_HYPERLINK_BASE: Final = re.compile(rb"<(?:[\w.-]+:)?HyperlinkBase>([^<>]{1,8192}+)</")
_WITH_TEXT: Final = re.compile(
    r"word/(?:document|footnotes|endnotes|comments|header[0-9]*|footer[0-9]*)\.xml|xl/worksheets/[^/]+\.xml"
)
_IN_TEXT: Final = re.compile(rb"HYPERLINK(?:[\t\n\r ]+[^\\\t\n\r ]|\()", re.IGNORECASE)
_UNKNOWN: Final = "application/octet-stream"
_FOLDERS: Final = dict(zip((b"word/", b"xl/", b"ppt/", b"visio/"), registry.OPEN_XML * 2, strict=False))
_LONGEST: Final = 256  # bytes of a media type
_OPEN_DOCUMENT: Final = registry.OPEN_DOCUMENT[0].removesuffix("text")
_OF_OPEN_DOCUMENT: Final = re.compile(r"(?:[^/]+/)?(?:content|styles|meta)\.xml")


def media_type_of(data: bytes, known: str) -> str:
    """Return the media type of a ZIP file by what marks an office document in it, whatever it is known to be.

    A file with `[Content_Types].xml` and `xl/workbook.xml` is a workbook, one whose `mimetype` is
    `application/vnd.oasis.opendocument.text` a text; any other is a plain package. What is broken stays as known.
    """
    with suppress(WalkError, CodingError):
        if _first(data, rb"\[Content_Types\]\.xml") is not None:
            kind = next((kind for folder, kind in _FOLDERS.items() if _first(data, folder) is not None), None)
            if kind is not None or known in registry.OPEN_XML:
                return known if known in registry.OPEN_XML else kind or known
        if (one := _first(data, b"mimetype")) is not None and not one.fault and one.size <= _LONGEST:
            kind = Content(one).decode(data[one.start : one.end]).decode("latin-1").strip().removesuffix("-template")
            if kind.startswith(_OPEN_DOCUMENT):
                return kind if kind in registry.OPEN_DOCUMENT else registry.OPEN_DOCUMENT[0]
        return known if known in registry.PACKAGES else registry.ZIP
    return known


def _first(data: bytes, name: bytes) -> Member | None:
    return next(directory.find(data, name), None)


def walk_open_xml(data: bytes, _charset: Charset, options: WalkOptions) -> EventList:
    """Return the base of hyperlinks, and a part for each file of relationships; raise WalkError as `walker.walk`."""
    archive = directory.archive(data, options.max_links)
    package = _OpenXML(data, archive, options)
    events = EventList()
    base = package.hyperlink_base(ByName(archive))
    if base:
        events.append(BaseClaim(EMBEDDED, base, f"HyperlinkBase of {_PROPERTIES}"))
    events.append(EditOrder(package.settled, package.tell(events)))
    return events


def walk_open_document(data: bytes, _charset: Charset, options: WalkOptions) -> EventList:
    """Return the references of all members, and a part for each that has links. Raise WalkError likewise."""
    archive = directory.archive(data, options.max_links)
    package = _OpenDocument(data, archive, options)
    events = EventList()
    events.append(BaseClaim(Layer.RETRIEVAL, PACKAGE_ROOT, "root of the package"))
    events.append(MessageIds(References(archive)))
    events.append(EditOrder(package.settled, package.tell(events)))
    package.add_objects(events)
    return events


class _OpenXML(Package):
    """The walk over a file of Office Open XML."""

    def hyperlink_base(self, by_name: ByName) -> str:
        """Return the base of the document's hyperlinks (ISO 29500-1 22.2.2.9); "" without one."""
        found = _HYPERLINK_BASE.search(self._read(by_name, _PROPERTIES) or b"")
        return unescape(found[1].decode("utf-8", "surrogateescape")).strip() if found is not None else ""

    def _media_type(self, member: Member) -> str:
        if member.name.endswith(".rels") or (_WITH_TEXT.fullmatch(member.name) and self._has_link(member)):
            return registry.XML
        return ""

    def _has_link(self, member: Member) -> bool:
        """Return whether a member may have a hyperlink in a field or formula; few have."""
        content = self._read({member.name: member}, member.name)
        return content is not None and _IN_TEXT.search(content) is not None

    def _other(self, member: Member) -> str:  # noqa: ARG002 - of the package
        return ""

    def _base(self, member: Member) -> BaseClaim | None:  # noqa: ARG002 - likewise
        return None


class _OpenDocument(Package):
    """The walk over an OpenDocument file."""

    def _media_type(self, member: Member) -> str:
        return registry.XML if _OF_OPEN_DOCUMENT.fullmatch(member.name) else ""

    def add_objects(self, events: EventList) -> None:
        """Add a part for each document in the file: `Object 1/content.xml` is known by the name of its folder."""
        for member in self._archive if self._options.documents else ():
            folder, _, name = member.name.rpartition("/")
            if folder and name == "content.xml" and not member.fault:
                events.append(self._part(member._replace(name=folder), _UNKNOWN))
