"""Walkers of ZIP files: packages (EPUB, WACZ and any other ZIP file) and office documents.

In: the bytes of the package. Out: a part for each member that is a document, the references by which members are known,
and the edits of the central directory.
A package is a folder: the URL of a member is its path, resolved against the root (EPUB 3.3, 4.2.5). A root without a
known URL gets the placeholder PACKAGE_ROOT, which shows links between members, and is never written.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, partial
from html import unescape
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from absolve.core.errors import CodingError, WalkError, in_short
from absolve.core.model import (
    EMBEDDED,
    ONLY_READ,
    PACKAGE_ROOT,
    BaseClaim,
    Capture,
    Edit,
    EditOrder,
    Finding,
    Layer,
    MessageIds,
    Part,
)
from absolve.encodings.charsets import declared_in_html
from absolve.formats import registry, sniffing
from absolve.formats.events import EventList
from absolve.formats.zip import directory, members, metadata
from absolve.formats.zip.members import Content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
    from absolve.formats.zip.directory import Archive, Place
    from absolve.formats.zip.members import Field, Member

    Edits = Iterator[list[Edit]]

_LOOKED_AT: Final = 2048  # bytes to sniff from a member without a known suffix
_PATH_CHARACTERS: Final = "!$&'()*+,=@/~"  # RFC 3986 3.3: pchar without ":" and ";", and the slash
_NO_PATH: Final = re.compile(r"[%?#;:]")
_RECORDS: Final = 64 << 20  # bytes of all members that record URLs of saved pages
_PACKAGE_INSIDE: Final = "package-inside"
_UNKNOWN: Final = "application/octet-stream"
_RECORD_FILE: Final = re.compile(r"archive/.+")  # of a WACZ (Webrecorder, WACZ 1.1.1)
_DESCRIPTION: Final = "datapackage.json"  # of a WACZ, with its digest in another file; its indexes are CDXJ lines
_ABOUT_RECORDS: Final = re.compile(r"indexes/.+|datapackage(?:-digest)?\.json")
_THERE: Final = frozenset({"encrypted", "unknown-coding", "too-large", "package-inside"})  # faults of whole members
_GUESSED: Final = "names are not in UTF-8, and no page shows in which charset: read in code page 437"
_QUIET: Final = frozenset({"encrypted", "unknown-coding"})  # faults that are reported for documents only


def walk(data: bytes, _charset: Charset, options: WalkOptions) -> Iterable[Event]:
    """Return the base claim of the root, the references of all members, a part for each member that is a document.

    Raise WalkError if the central directory is missing or broken, or has more than `max_links` members.
    """
    archive = directory.archive(data, options.max_links)
    package = Package(data, archive, options)
    events = EventList()
    events.append(BaseClaim(Layer.RETRIEVAL, PACKAGE_ROOT, "root of the package"))
    events.append(MessageIds(References(archive)))
    if package.pages:
        events.append(MessageIds(metadata.references(archive.names, package.pages, _quoted)))
    if options.captures:
        return chain(events, package.held())
    if archive.is_guessed:
        events.append(Finding("name-charset", _GUESSED, archive.directory))
    events.append(EditOrder(package.settled, package.add_parts(events)))
    return events


def _quoted(path: str) -> str:
    return quote(path, safe=_PATH_CHARACTERS, errors="surrogatepass")


def is_record_file(name: str) -> bool:
    """Return whether a member is a WARC file of a WACZ, by its folder."""
    return _RECORD_FILE.fullmatch(name) is not None


class References:
    """The references by which members may be known, created lazily."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def __iter__(self) -> Iterator[str]:
        for name in self._archive.names:
            path = name.replace("\\", "/")
            yield from {_NO_PATH.sub(lambda found: quote(found[0]), path), _quoted(path)}  # mostly both equal the name
            if self._archive.charset and not path.isascii():
                yield quote(path, encoding=self._archive.charset, errors="ignore")


class ByName(Mapping[str, "Member"]):
    """The members of an archive by name; the last one of several with the same name."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._numbers = {name: number for number, name in enumerate(archive.names)}

    def __getitem__(self, name: str) -> Member:
        return self._archive[self._numbers[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def comment(self, name: str) -> str:
        """Return the comment in the directory about a member."""
        return self._archive.comment(self._numbers[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class Package:
    """The walk over the members of one archive, with the metadata of EPUB or WACZ."""

    def __init__(self, data: bytes, archive: Archive, options: WalkOptions) -> None:
        self._data = data
        self._archive = archive
        self._options = options
        self._left = options.max_decompressed
        by_name = ByName(archive)  # not kept: there may be a million names
        self._is_epub = metadata.CONTAINER in by_name
        self._facts = metadata.Facts({}, frozenset())
        if self._is_epub:
            self._facts = metadata.container_facts(partial(self._read, by_name), by_name)
        self._left_for_records = _RECORDS
        saved = metadata.saved_pages(by_name, partial(self._read_record, by_name), by_name.comment)
        self.pages, self._record_files = saved
        self._is_wacz = _DESCRIPTION in by_name and any(map(is_record_file, by_name))
        signatures = filter(metadata.SIGNATURE.fullmatch, by_name)
        signature = next(signatures, metadata.sealed_by(data))
        self._signature = ONLY_READ if self._is_wacz else signature

    def _read(self, by_name: Mapping[str, Member], name: str) -> bytes | None:
        """Return the content of a member; None where it is missing, faulty, broken or too large."""
        member = by_name.get(name)
        if member is None or member.fault or member.size > self._options.max_decompressed:
            return None
        try:
            return Content(member).decode(self._data[member.start : member.end])
        except CodingError:
            return None

    def _read_record(self, by_name: ByName, name: str) -> bytes | None:
        """Return the start of a member that may record a URL, or all of a metadata member; None as `_read`."""
        member = by_name[name]
        if name.endswith(".html"):
            return members.head(self._data, member, _LOOKED_AT) if not member.fault else None
        self._left_for_records -= member.size
        return self._read(by_name, name) if self._left_for_records >= 0 else None

    def settled(self, edits: Iterable[list[Edit]]) -> Edits:
        """Yield the edits in order, and edits of the offset fields of everything that moves.

        `edits` come in batches; those before the central directory are in order across batches. Edits of the directory
        are applied to a copy of it at once, because there may be many for each entry, and are yielded last.
        """
        moved = _Directory(self._data, self._archive)
        for some in moved.before(edits):
            moved.move(some)
            yield some
        found: list[Edit] = []
        for changed in moved.edits():
            found += changed
            if len(found) >= _SOME:
                yield found
                found = []
        if found:
            yield found

    def add_parts(self, events: EventList) -> array[int]:
        """Add a part for each member that is a document, and a finding for each that is left unchanged.

        Return the indexes of the parts among the events, in file order.
        """
        numbers, starts = array("q"), array("q")
        for member in self._archive:
            media_type = self._media_type(member)
            fault = member.fault if media_type or (member.fault and member.fault[0] not in _QUIET) else None
            fault = fault or self._unread(member, media_type)
            if fault:
                events.append(self._finding(member, *fault))
            is_read = bool(media_type) and not fault
            fault = fault or member.fault
            if self._options.documents and (fault[0] in _THERE if fault else not media_type):
                other = self._other_type(member)
                media_type = _UNKNOWN if fault and other else other
                is_read = bool(media_type)
            if is_read:
                numbers.append(len(events))
                starts.append(member.start)
                events.append(self._part(member, media_type))
        return array("q", (numbers[index] for index in sorted(range(len(starts)), key=starts.__getitem__)))

    def held(self) -> Iterator[Part | Finding]:
        """Yield a part for each member, whatever its name and content; a finding for each that is broken or too large.

        They are made one at a time, and small, because there may be a million.
        """
        for member in self._archive:
            fault = member.fault if member.fault != members.UNSAFE_NAME else None
            fault = fault or self._bomb(member)
            if member.name.endswith("/"):
                continue
            if fault:
                yield Finding(fault[0], f"{fault[1]} ({in_short(member.name)})", member.header, failed=True)
                continue
            if packed := self._unread(member, ""):
                yield self._finding(member, *packed)
            declared = self._facts.media_types.get(member.name, "")
            yield Part(
                declared or _UNKNOWN,
                member.start,
                member.end,
                self._coding(member._replace(fields=())),
                name=member.name,
                base=self._base(member),
                claims=self._claims(member),
                own_charset=True,
                encloses=False,
                capture=Capture(None, member.digits, declared, name=member.name, length=member.size),
            )

    def _media_type(self, member: Member) -> str:
        """Return the media type of a member, by the package document, its name or its content; "" for no document."""
        if self._is_epub and member.name in metadata.RESERVED:
            return ""
        if (self._is_wacz and _ABOUT_RECORDS.fullmatch(member.name)) or member.name in self._record_files:
            return ""
        if member.name.endswith(".rels"):
            return ""  # the relationships of an office document, which this is not: their base is not known
        said = self._facts.media_types.get(member.name, "")
        if registry.is_read(said):
            return said
        found = sniffing.recognised(b"", member.name)
        if found is None and not member.fault:
            found = sniffing.recognised(members.head(self._data, member, _LOOKED_AT), member.name)
        return found or ""

    def _other_type(self, member: Member) -> str:
        """Return the media type of a member for the table of documents if it is no document; "" for a folder."""
        if member.name.endswith("/"):
            return ""
        declared = registry.essence_of(self._facts.media_types.get(member.name, ""))[0]
        return declared or sniffing.other_type(member.name) or _UNKNOWN

    def _unread(self, member: Member, media_type: str) -> tuple[str, str] | None:
        """Return the code and text of the finding for a document that is left unchanged; None for any other member."""
        if not media_type:
            is_packed = sniffing.is_packed_document(member.name) and member.name.rpartition(".")[0] not in self._names
            return ("unread-compressed", "absolve reads no such document in compressed form") if is_packed else None
        if member.name in self._facts.encrypted:
            return "encrypted", f"this is encrypted, by {metadata.ENCRYPTION}"
        if media_type == registry.ZIP:
            return _PACKAGE_INSIDE, "a package in a package is not read"
        return self._bomb(member)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self._archive.names)

    def _bomb(self, member: Member) -> tuple[str, str] | None:
        """Return the code and text of the finding for a member that decompresses to more than is allowed; or None."""
        if member.method != members.STORED:
            if member.size > self._left:
                most = self._options.max_decompressed
                text = f"more than {most:,} bytes come out of this package (max-decompressed)"
                return "too-large", text
            self._left -= member.size
        return None

    def _part(self, member: Member, media_type: str) -> Part:
        """Return the part for a member."""
        record = self.pages.get(member.name)
        if record is not None and record.charset:
            head = members.head(self._data, member, _LOOKED_AT)
            media_type += f'; charset="{record.charset}"' if declared_in_html(head) is None else ""
        return Part(
            media_type,
            member.start,
            member.end,
            self._coding(member),
            name=member.name,
            base=self._base(member),
            claims=self._claims(member),
            own_charset=True,
            encloses=False,
            derived=members.Fields(member),
            signed_by=self._signature,
        )

    def _coding(self, member: Member) -> Content:
        """Return the coding of a member; a member that is no document may have too large a content."""
        is_small = member.method == members.STORED or member.size <= self._options.max_decompressed
        is_read = is_small and member.fault in {None, members.UNSAFE_NAME}
        return Content(member) if is_read else members.Unread(member)

    def _base(self, member: Member) -> BaseClaim | None:
        """Return the base claim of a member: its path, or the root for files in META-INF (EPUB 3.3, 4.2.5)."""
        if self._is_epub and member.name.startswith(metadata.META_INF):
            return BaseClaim(Layer.RETRIEVAL, "", "root of the package")
        return BaseClaim(Layer.RETRIEVAL, _quoted(member.name.replace("\\", "/")), "path in the package")

    def _claims(self, member: Member) -> list[BaseClaim]:
        """Return the claim that a saver recorded about a page (RFC 1808 3.3)."""
        record = self.pages.get(member.name)
        return [BaseClaim(Layer.RETRIEVAL, record.url, record.source)] if record is not None else []

    def _finding(self, member: Member, code: str, text: str) -> Finding:
        if code == _PACKAGE_INSIDE:
            return Finding(code, f"{text} ({in_short(member.name)})", member.header)
        return Finding(code, f"{text}; it stays as it is ({in_short(member.name)})", member.header, failed=True)

# --- the central directory after edits (APPNOTE.TXT 6.3.10, 4.3.12 to 4.3.16) -----------------------------------------

_START: Final = attrgetter("start")
_SOME: Final = 1000  # edits in a batch


class _Directory:
    """The edited central directory, and the shift in bytes of each target of its offset fields."""

    def __init__(self, data: bytes, archive: Archive) -> None:
        self._data = data
        self._archive = archive
        self._start = archive.directory
        self._edited = bytearray(memoryview(data)[self._start :])
        self._targets = array("q", sorted([*archive.headers, *(place.target for place in archive.places)]))
        self._shifts = array("q")  # of the targets before the last edit, by their numbers
        self._shift = 0  # of all targets after them

    def before(self, edits: Iterable[list[Edit]]) -> Edits:
        """Yield the edits before the directory; apply edits inside it."""
        for some in edits:
            found: list[Edit] = []
            for edit in sorted(some, key=_START):
                if edit.start < self._start:
                    found.append(edit)
                else:
                    self._edited[edit.start - self._start : edit.end - self._start] = edit.new
            if found:
                yield found

    def move(self, edits: list[Edit]) -> None:
        """Shift all targets after these edits, which are before the directory and after all earlier ones."""
        for edit in edits:
            while len(self._shifts) < len(self._targets) and self._targets[len(self._shifts)] < edit.end:
                self._shifts.append(self._shift)
            self._shift += len(edit.new) - (edit.end - edit.start)

    def edits(self) -> Edits:
        """Yield the edits of each entry, then of the end records, in order."""
        for fields, place in self._archive.fields:
            yield sorted([*self._renewed(fields), *self._edit_offset(place)], key=_START)
        for place in self._archive.places:
            yield [*self._edit_offset(place)]

    def _renewed(self, fields: list[Field]) -> list[Edit]:
        """Return edits of all derived fields of an entry if one of them changed, else no edits."""
        found = [Edit(start, start + width, self._new(start, width)) for _, start, width in fields]
        return found if any(self._data[edit.start : edit.end] != edit.new for edit in found) else []

    def _new(self, start: int, width: int) -> bytes:
        start -= self._start
        return bytes(self._edited[start : start + width])

    def _edit_offset(self, place: Place) -> Iterator[Edit]:
        start, width, target = place
        index = bisect_left(self._targets, target)
        shift = self._shifts[index] if index < len(self._shifts) else self._shift
        if shift:
            yield Edit(start, start + width, (target - self._archive.start + shift).to_bytes(width, "little"))


# --- office documents -------------------------------------------------------------------------------------------------
# Office Open XML (DOCX, XLSX, PPTX): links are in the relationships (ISO 29500-2 6.5), where the XML tables list the
# external ones, and in texts with a HYPERLINK field or formula. They are relative to the file itself (6.5.3.4), or to
# `HyperlinkBase` of its properties. OpenDocument (ODT, ODS, ODP): links are in the content, styles and metadata, whose
# `xlink:href` see the file as a folder (ODF 1.3 part 2, 3.7): `../x` is beside it.

_PROPERTIES: Final = "docProps/app.xml"
_HYPERLINK_BASE: Final = re.compile(rb"<(?:[\w.-]+:)?HyperlinkBase>([^<>]{1,8192}+)</")
_WITH_TEXT: Final = re.compile(
    r"word/(?:document|footnotes|endnotes|comments|header[0-9]*|footer[0-9]*)\.xml|xl/worksheets/[^/]+\.xml"
)
_IN_TEXT: Final = re.compile(rb"HYPERLINK(?:[\t\n\r ]+[^\\\t\n\r ]|\()", re.IGNORECASE)
_FOLDERS: Final = dict(zip((b"word/", b"xl/", b"ppt/", b"visio/"), registry.OPEN_XML * 2, strict=False))
_LONGEST: Final = 256  # bytes of a media type
_OPEN_DOCUMENT: Final = registry.OPEN_DOCUMENT[0].removesuffix("text")
_OF_OPEN_DOCUMENT: Final = re.compile(r"(?:[^/]+/)?(?:content|styles|meta)\.xml")


def media_type_of(data: bytes, known: str) -> str:
    """Return the media type of a ZIP file by the member that marks an office document; `known` for a broken file.

    For example, a file with `[Content_Types].xml` and `xl/workbook.xml` is a workbook, one whose `mimetype` is
    `application/vnd.oasis.opendocument.text` a text; any other is a plain package.
    """
    with suppress(WalkError, CodingError):
        if _find_member(data, rb"\[Content_Types\]\.xml") is not None:
            kind = next((kind for folder, kind in _FOLDERS.items() if _find_member(data, folder) is not None), None)
            if kind is not None or known in registry.OPEN_XML:
                return known if known in registry.OPEN_XML else kind or known
        if (one := _find_member(data, b"mimetype")) is not None and not one.fault and one.size <= _LONGEST:
            kind = Content(one).decode(data[one.start : one.end]).decode("latin-1").strip().removesuffix("-template")
            if kind.startswith(_OPEN_DOCUMENT):
                return kind if kind in registry.OPEN_DOCUMENT else registry.OPEN_DOCUMENT[0]
        return known if known in registry.PACKAGES else registry.ZIP
    return known


def _find_member(data: bytes, name: bytes) -> Member | None:
    return next(directory.find(data, name), None)


def walk_open_xml(data: bytes, _charset: Charset, options: WalkOptions) -> EventList:
    """Return the base of hyperlinks, and a part for each relationships file; raise WalkError as `walk` does."""
    archive = directory.archive(data, options.max_links)
    package = _OpenXML(data, archive, options)
    events = EventList()
    base = package.hyperlink_base(ByName(archive))
    if base:
        events.append(BaseClaim(EMBEDDED, base, f"HyperlinkBase of {_PROPERTIES}"))
    events.append(EditOrder(package.settled, package.add_parts(events)))
    return events


def walk_open_document(data: bytes, _charset: Charset, options: WalkOptions) -> EventList:
    """Return the references of all members, and a part for each that has links. Raise WalkError as `walk` does."""
    archive = directory.archive(data, options.max_links)
    package = _OpenDocument(data, archive, options)
    events = EventList()
    events.append(BaseClaim(Layer.RETRIEVAL, PACKAGE_ROOT, "root of the package"))
    events.append(MessageIds(References(archive)))
    events.append(EditOrder(package.settled, package.add_parts(events)))
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

    def _other_type(self, member: Member) -> str:  # noqa: ARG002 - of the package
        return ""

    def _base(self, member: Member) -> BaseClaim | None:  # noqa: ARG002 - likewise
        return None


class _OpenDocument(Package):
    """The walk over an OpenDocument file."""

    def _media_type(self, member: Member) -> str:
        return registry.XML if _OF_OPEN_DOCUMENT.fullmatch(member.name) else ""

    def add_objects(self, events: EventList) -> None:
        """Add a part for each document in the file: for example, `Object 1/content.xml`, named after its folder."""
        for member in self._archive if self._options.documents else ():
            folder, _, name = member.name.rpartition("/")
            if folder and name == "content.xml" and not member.fault:
                events.append(self._part(member._replace(name=folder), _UNKNOWN))
