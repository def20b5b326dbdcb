"""Read the captures in WARC and ARC files: responses, resources and revisits, and which of them answer a POST.

In: an open file, which may be in a WACZ. Out: a `Captured` for each record with a document, and its payload;
`document.captures` reads a record.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.core.errors import CodingError, Diagnostic, DocumentError, WalkError, in_short
from absolve.document.captures import of_record, records
from absolve.formats import headers
from absolve.formats.compression import ZSTD_FRAME, is_skippable
from absolve.formats.warc.reader import pieces
from absolve.formats.zip.walker import is_record_file
from absolve.mirror.payloads import Broken, Captured, Piece, Posted, Where, captured, payload_of
from absolve.run.sources import file_of, unreadable
from absolve.urls.archives import original
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from absolve.document.settings import Settings
    from absolve.formats.warc.headers import Record
    from absolve.mirror.payloads import Payload

_CAPTURES: Final = frozenset({"response", "resource", "revisit", "arc"})
_SCHEMES: Final = ("http://", "https://", "ftp://")
_UNSAFE: Final = frozenset(b"POST PUT PATCH DELETE OPTIONS CONNECT TRACE PROPFIND REPORT SEARCH".split())


class WarcReader:
    """The captures of a WARC or ARC file; `number` is that of the source, `opened` opens it."""

    def __init__(
        self, name: str, number: int, opened: Callable[[], AbstractContextManager[IO[bytes]]], settings: Settings
    ) -> None:
        self._name = name
        self._number = number
        self._opened = opened
        self._settings = settings

    def captured(self) -> Iterator[Captured | Piece | Posted | Broken]:
        """Yield each capture, in the order of the file."""
        try:
            yield from self._every()
        except DocumentError as error:  # the file is gone, or the package around it is broken
            yield Broken(error.diagnostic._replace(failed=True))

    def _every(self) -> Iterator[Captured | Piece | Posted | Broken]:
        with self._opened() as file:
            for piece in pieces(file, self._settings.max_decompressed):
                for finding in piece.findings:
                    text = f"{finding.text}, at byte {finding.position}"
                    yield Broken(Diagnostic(finding.code, text, self._name, failed=finding.failed))
                if piece.records is None or piece.findings:
                    continue
                for number, record in records(piece.records):
                    where = Where(self._number, piece.offset, number)
                    try:
                        yield from _captures(piece.records, record, where, self._settings)
                    except (CodingError, WalkError) as error:
                        text = f"{error.message}, at byte {piece.offset} ({in_short(record.url)})"
                        yield Broken(Diagnostic(error.code, text, self._name, failed=True))

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the payloads at these places, in order."""
        wanted: dict[int, list[Where]] = {}
        for where in places:
            wanted.setdefault(where.offset, []).append(where)
        last = places[-1].offset
        with self._opened() as file:
            start = 0 if _needs_start(file) else places[0].offset
            file.seek(start)
            for piece in pieces(file, self._settings.max_decompressed, start=start):
                if piece.offset > last:
                    return
                here = wanted.get(piece.offset)
                if here is None or piece.records is None:
                    continue
                found = dict(records(piece.records))
                for where in here:
                    yield where, payload_of(of_record(piece.records, found[where.number], self._settings))


def _needs_start(file: IO[bytes]) -> bool:
    """Return whether a file must be read from its start: a Zstandard dictionary there is needed for all of it."""
    file.seek(0)
    head = file.read(4)
    return head.startswith(ZSTD_FRAME) or (len(head) == 4 and is_skippable(head))


def _captures(
    data: bytes, record: Record, where: Where, settings: Settings
) -> Iterator[Captured | Piece | Posted]:
    if record.kind == "request":
        if bytes(data[record.block : record.block + 64]).split(b" ", 1)[0].upper() in _UNSAFE:
            yield Posted(_ids(data, record))
        return
    if record.kind not in _CAPTURES or not record.url.startswith(_SCHEMES):
        return
    url = normal(original(record.url))
    one = of_record(data, record, settings) if url is not None else None
    if url is None or one is None or (one.facts.status is None and record.kind in {"response", "revisit"}):
        return
    found = captured(one, url, where, settings)
    ids = " ".join(_ids(data, record))
    if isinstance(found, Piece):
        yield found._replace(captured=found.captured._replace(ids=ids))
    elif found is not None:
        yield found._replace(ids=ids)


def _ids(data: bytes, record: Record) -> frozenset[str]:
    """Return the ID of a record, and those of the records that were written at once with it."""
    found = [field for field in record.fields if field.name in {"warc-record-id", "warc-concurrent-to"}]
    return frozenset(headers.value(data, field) for field in found)


# --- a file of records in a WACZ --------------------------------------------------------------------------------------

_BROKEN: Final = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError),
)


def record_files(name: str, root: str) -> list[str]:
    """Return the files of records in a WACZ, in their order; none for another package."""
    try:
        with file_of(name, root=root, streams=False) as file, zipfile.ZipFile(file) as package:
            names = package.namelist()
    except _BROKEN:
        return []
    if "datapackage.json" not in names:
        return []
    return [member for member in names if is_record_file(member)]


@contextmanager
def opened_member(name: str, member: str, root: str = "") -> Iterator[Any]:
    """Yield a file in a package, open. Raise DocumentError."""
    with ExitStack() as opened:
        try:
            whole = opened.enter_context(file_of(name, root=root, streams=False))
            package = opened.enter_context(zipfile.ZipFile(whole))
            file = opened.enter_context(package.open(member))
        except (*_BROKEN, KeyError) as error:
            raise _unreadable(name, error) from error
        yield _Seekable(file, name)


def _unreadable(name: str, error: Exception) -> DocumentError:
    if isinstance(error, OSError):
        return unreadable(name, error)
    return DocumentError(Diagnostic("broken-zip", str(error), name))


class _Seekable(io.RawIOBase):
    """A member of a package, read forward; a seek backward begins again. Its methods raise DocumentError."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except (*_BROKEN, zlib.error) as error:
            raise _unreadable(self._name, error) from error

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return self._file.seek(offset, whence)
        except (*_BROKEN, zlib.error) as error:
            raise _unreadable(self._name, error) from error
