"""ZIP packages: EPUB, and any other ZIP file, member by member.

A package is a folder: a member's URL is its path from the root (EPUB 3.3, 4.2.5). Where nobody says what URL the root
has it gets one that leads nowhere: links between members are known by it, and none is ever written with it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from absolve import formats
from absolve.errors import CodingError
from absolve.formats import ocf, wacz_package, zip_members
from absolve.model import PACKAGE_ROOT, Base, Edit, Held, Layer, Notice, Part, Settled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.charsets import Charset
    from absolve.formats.zip_members import Archive, Member
    from absolve.model import Event
    from absolve.typing import WalkOptions

_LOOKED_AT: Final = 2048  # bytes of a member whose name does not say what it is
_PATH_CHARACTERS: Final = "!$&'()*+,=@/~"  # RFC 3986 3.3: pchar without ":" and ";", and the slash
_NO_PATH: Final = re.compile(r"[%?#;:]")
_QUIET: Final = frozenset({"encrypted", "unknown-coding"})  # faults of no matter in what is no document


def walk(data: bytes, _charset: Charset, options: WalkOptions) -> Iterator[Event]:
    """The root's URL, what links between members lead to, a part for each member that is a document.

    WalkError where there is no central directory, or it is broken.
    """
    archive = zip_members.archive(data, options.max_links)
    yield Base(Layer.RETRIEVAL, PACKAGE_ROOT, "root of the package")
    for member in archive.members:
        path = member.name.replace("\\", "/")
        for reference in {_quoted(path), _NO_PATH.sub(lambda found: quote(found[0]), path)}:
            yield Held(reference)
    package = _Package(data, archive, options)
    yield from package.events()
    yield Settled(lambda edits: _with_places(archive, package.settled(edits)))


def _quoted(path: str) -> str:
    return quote(path, safe=_PATH_CHARACTERS, errors="surrogatepass")


class _Package:
    """The members of one archive, and what is known of them all."""

    def __init__(self, data: bytes, archive: Archive, options: WalkOptions) -> None:
        self._data = data
        self._members = archive.members
        self._options = options
        self._left = options.max_decompressed
        self._by_name = {member.name: member for member in archive.members}
        self._is_epub = ocf.CONTAINER in self._by_name
        self._facts = ocf.facts(self._read) if self._is_epub else ocf.Facts({}, frozenset())
        self._wacz, self._unkept = self._web_archive()
        signatures = (member.name for member in archive.members if ocf.SIGNATURE.fullmatch(member.name))
        signature = self._wacz.signature if self._wacz is not None else next(signatures, "")
        self._signature = "" if options.break_signatures else signature

    def _read(self, name: str) -> bytes | None:
        """A member's content; None where there is none that can be had."""
        member = self._by_name.get(name)
        if member is None or member.fault or member.size > self._options.max_decompressed:
            return None
        try:
            return zip_members.Content(member).decode(self._data[member.start : member.end])
        except CodingError:
            return None

    def _web_archive(self) -> tuple[wacz_package.Package | None, str]:
        """The package as a WACZ; or, where it is one that cannot be kept right, why."""
        if wacz_package.DESCRIPTION not in self._by_name or not any(map(wacz_package.is_record_file, self._by_name)):
            return None, ""
        try:
            return wacz_package.Package(self._data, self._by_name, self._options), ""
        except CodingError as error:
            return None, str(error)

    def settled(self, edits: Sequence[Edit]) -> Sequence[Edit]:
        """The edits, and those of what speaks of the files that they change."""
        return self._wacz.settled(edits) if self._wacz is not None else edits

    def events(self) -> Iterator[Event]:
        for member in self._members:
            media_type = self._media_type(member)
            if member.fault and (media_type or member.fault[0] not in _QUIET):
                yield self._fault(member, *member.fault)
            elif media_type:
                yield from self._document(member, media_type)

    def _media_type(self, member: Member) -> str:
        """What a member is: by the package document, by its name, by its content; nothing for no document."""
        if self._is_epub and member.name in ocf.RESERVED:
            return ""
        said = self._facts.media_types.get(member.name, "")
        if formats.is_read(said):
            return said
        found = formats.recognised(b"", member.name)
        if found is None and not member.fault:
            found = formats.recognised(zip_members.head(self._data, member, _LOOKED_AT), member.name)
        return found or ""

    def _document(self, member: Member, media_type: str) -> Iterator[Part | Notice]:
        if member.name in self._facts.encrypted:
            yield self._fault(member, "encrypted", f"this is encrypted, by {ocf.ENCRYPTION}")
            return
        if media_type == formats.ZIP:
            yield Notice("package-inside", f"a package in a package is not read ({member.name})", member.header)
            return
        if self._unkept and wacz_package.is_record_file(member.name):
            text = f"what is said of these records could not be kept right: {self._unkept}"
            yield self._fault(member, "unknown-index", text)
            return
        if member.method != zip_members.STORED:
            if member.size > self._left:
                text = f"more than {self._options.max_decompressed} bytes come out of this package (--max-decompressed)"
                yield self._fault(member, "too-large", text)
                return
            self._left -= member.size
        yield Part(
            media_type,
            member.start,
            member.end,
            zip_members.Content(member),
            name=member.name,
            base=self._base(member),
            whole=True,
            encloses=False,
            derived=member.derived,
            sealed=self._signature,
        )

    def _base(self, member: Member) -> Base:
        """Files in META-INF speak of paths from the root (EPUB 3.3, 4.2.5)."""
        if self._is_epub and member.name.startswith(ocf.META_INF):
            return Base(Layer.RETRIEVAL, "", "root of the package")
        return Base(Layer.RETRIEVAL, _quoted(member.name.replace("\\", "/")), "path in the package")

    def _fault(self, member: Member, code: str, text: str) -> Notice:
        return Notice(code, f"{text}; it stays as it is ({member.name})", member.header, failed=True)


def _with_places(archive: Archive, edits: Sequence[Edit]) -> list[Edit]:
    """The edits in order, with those of the fields that say where what moves by them stands."""
    edits = sorted(edits, key=lambda edit: edit.start)
    ends = [edit.end for edit in edits]
    shifts = [0]
    for edit in edits:
        shifts.append(shifts[-1] + len(edit.new) - (edit.end - edit.start))
    found = list(edits)
    for start, width, target in archive.places:
        shift = shifts[bisect_right(ends, target)]
        if shift:
            found.append(Edit(start, start + width, (target - archive.start + shift).to_bytes(width, "little")))
    return sorted(found, key=lambda edit: edit.start)
