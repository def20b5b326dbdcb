"""Read the captures in WARC and ARC files: responses, resources and revisits, and which of them answer a POST.

In: an open file, which may be in a WACZ. Out: a `Captured` for each record with a document, from its header alone; and
its payload.
"""

from __future__ import annotations

import io
import sys
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import CodingError, Diagnostic, DocumentError, WalkError, in_short
from absolve.formats import headers
from absolve.formats.compression import ZSTD_FRAME, is_skippable
from absolve.formats.http.responses import codings_of, response_at
from absolve.formats.warc.headers import record_at
from absolve.formats.warc.reader import pieces
from absolve.formats.warc.walker import stated
from absolve.formats.zip import wacz
from absolve.mirror import browsers
from absolve.mirror.capture import CUT, PARTIAL, PIECE, Captured, Piece, Where, digits_of, judged, redirect_of
from absolve.mirror.payloads import Broken, Payload, Posted, media_type_of
from absolve.run.sources import unreadable
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from absolve.document.settings import Settings
    from absolve.formats.headers import Field
    from absolve.formats.http.responses import Response
    from absolve.formats.warc.headers import Record

_CAPTURES: Final = frozenset({"response", "resource", "revisit", "arc"})
_SCHEMES: Final = ("http://", "https://", "ftp://")
_UNSAFE: Final = frozenset(b"POST PUT PATCH DELETE OPTIONS CONNECT TRACE PROPFIND REPORT SEARCH".split())
_BASES: Final = frozenset({"base", "content-base"})


class _Found(NamedTuple):
    """A record in the records of one segment, with its number there."""

    number: int
    record: Record


class WarcReader:
    """The captures of a WARC or ARC file; `number` is that of the source, `opened` opens it."""

    def __init__(
        self, name: str, number: int, opened: Callable[[], AbstractContextManager[IO[bytes]]], settings: Settings
    ) -> None:
        self._name = name
        self._number = number
        self._opened = opened
        self._settings = settings

    def captured(self, posted: set[str]) -> Iterator[Captured | Piece | Posted | Broken]:
        """Yield each capture but those that answer a request in `posted`, in the order of the file."""
        try:
            yield from self._every(posted)
        except DocumentError as error:  # the file is gone, or the package around it is broken
            yield Broken(error.diagnostic._replace(failed=True))

    def _every(self, posted: set[str]) -> Iterator[Captured | Piece | Posted | Broken]:
        with self._opened() as file:
            for piece in pieces(file, self._settings.max_decompressed):
                for finding in piece.findings:
                    text = f"{finding.text}, at byte {finding.position}"
                    yield Broken(Diagnostic(finding.code, text, self._name, failed=finding.failed))
                if piece.records is None:
                    continue
                for number, record in _records(piece.records):
                    where = Where(self._number, piece.offset, number)
                    try:
                        yield from _captures(piece.records, record, where, posted, self._settings)
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
                found = dict(_records(piece.records))
                for where in here:
                    yield where, _payload(piece.records, found[where.number], self._settings)


def _needs_start(file: IO[bytes]) -> bool:
    """Return whether a file must be read from its start: a Zstandard dictionary there is needed for all of it."""
    file.seek(0)
    head = file.read(4)
    return head.startswith(ZSTD_FRAME) or (len(head) == 4 and is_skippable(head))


def _records(data: bytes) -> Iterator[tuple[int, Record]]:
    """Yield the records of one segment with their numbers."""
    position = number = 0
    while position < len(data):
        record = record_at(data, position)
        if record is None:
            return
        yield number, record
        number += 1
        position = record.end
        while position < len(data) and data[position] in b"\r\n":
            position += 1


def _captures(
    data: bytes, record: Record, where: Where, posted: set[str], settings: Settings
) -> Iterator[Captured | Piece | Posted]:
    if record.kind == "request":
        if bytes(data[record.block : record.block + 64]).split(b" ", 1)[0].upper() in _UNSAFE:
            yield Posted(_ids(data, record))
        return
    if record.kind not in _CAPTURES or not record.url.startswith(_SCHEMES):
        return
    if headers.first(data, record.fields, "warc-segment-number") is not None:
        raise WalkError("segmented", "a record in segments is not read")
    url = normal(record.url)
    if url is None or (posted and not posted.isdisjoint(_ids(data, record))):
        return
    block = data[record.block : record.end]
    facts = stated(data, record)
    date, digest = digits_of(facts.date), facts.payload_digest
    is_truncated = headers.first(data, record.fields, "warc-truncated") is not None
    if not block.startswith(b"HTTP/"):
        if record.kind in {"response", "revisit"}:
            return
        media_type = media_type_of(record.media_type, block, url)
        lack = (CUT if block else PIECE) if is_truncated else ""
        looks = browsers.markup(block)
        yield Captured(url, 200, date, media_type, where, digest=digest, size=len(block), lack=lack, looks=looks)
        return
    response = _last(block)
    status = int(response.status)
    location = redirect_of(url, status, headers.first(block, response.fields, "location"))
    is_revisit = record.kind == "revisit"
    fields = browsers.kept_fields((field.name, headers.value(block, field)) for field in response.fields)
    media_type = _stated(block, response)
    one = Captured(
        url,
        status,
        date,
        media_type,
        where,
        location,
        digest,
        record.end - record.block,
        is_revisit,
        normal(facts.refers_to) or "",
        digits_of(facts.refers_to_date),
        shown=browsers.allowed(media_type, fields, None) if media_type else "",
        fields=fields,
    )
    yield _judged(one, block, response, settings, is_truncated=is_truncated)


def _judged(
    one: Captured, block: bytes, response: Response, settings: Settings, *, is_truncated: bool
) -> Captured | Piece:
    """Return a capture with what there is of its body. Raise CodingError for a body that cannot be decoded."""
    if one.location is not None:
        return one
    field = partial(headers.first, block, response.fields)
    size = len(block) - response.body
    is_success = 200 <= one.status < 300
    if one.is_revisit:
        size = sys.maxsize  # that of the capture to which it refers
    else:
        must_decode = is_success and one.status != PARTIAL and size > 0
        body = _checked_body(block, response, settings, must_decode=must_decode)
        media_type = media_type_of(one.media_type, body, one.url, one.fields)
        shown = browsers.allowed(media_type, one.fields, body)
        one = one._replace(media_type=media_type, shown=shown, looks=browsers.markup(body))
        if one.status == PARTIAL and field("content-encoding") is None:
            size = len(body)
    if one.status == PARTIAL:
        return judged(one, field, size, settings.max_decompressed)
    is_bare = not size and field("transfer-encoding") is not None
    if is_success and (is_truncated or is_bare or size < (_length(block, response.fields) or 0)):
        return one if one.is_revisit else one._replace(lack=CUT if size else PIECE)
    return one


def _ids(data: bytes, record: Record) -> frozenset[str]:
    """Return the ID of a record, and those of the records that were written at once with it."""
    found = [field for field in record.fields if field.name in {"warc-record-id", "warc-concurrent-to"}]
    return frozenset(headers.value(data, field) for field in found)


def _last(block: bytes) -> Response:
    """Return the last of several responses (100 Continue). Raise WalkError without any."""
    response = response_at(block, 0)
    if response is None:
        raise WalkError("no-http", "this does not begin as an HTTP message does")
    while (following := response_at(block, response.body)) is not None:
        response = following
    return response


def _stated(block: bytes, response: Response) -> str:
    fields = (field for field in response.fields if field.name == "content-type")
    return browsers.stated_type(headers.value(block, field) for field in fields)


def _checked_body(block: bytes, response: Response, settings: Settings, *, must_decode: bool) -> bytes:
    """Return a body. Raise CodingError where it is not in the codings that its header names, if it must be."""
    try:
        return _body(block, response, settings)
    except CodingError:
        if must_decode:
            raise
        return b"<"  # what it may be


def _body(block: bytes, response: Response, settings: Settings) -> bytes:
    body = block[response.body :]
    for coding in codings_of(block, response, settings)[0]:
        body = coding.decode(body)
    length = _length(block, response.fields)
    return body[:length] if length is not None and block[response.body + length :].strip(b"\r\n") == b"" else body


def _length(block: bytes, fields: Sequence[Field]) -> int | None:
    """Return the Content-Length; None without one, or where the body has a coding that ends by itself."""
    text = headers.first(block, fields, "content-length")
    is_alone = headers.first(block, fields, "transfer-encoding") is None
    is_alone = is_alone and headers.first(block, fields, "content-encoding") is None
    return int(text) if is_alone and text is not None and text.isdecimal() and len(text) < 16 else None


def _payload(data: bytes, record: Record, settings: Settings) -> Payload:
    block = data[record.block : record.end]
    if not block.startswith(b"HTTP/"):
        return Payload(block, media_type_of(record.media_type, block, record.url))
    response = _last(block)
    body = _body(block, response, settings)
    fields = browsers.kept_fields((field.name, headers.value(block, field)) for field in response.fields)
    media_type = media_type_of(_stated(block, response), body, record.url, fields)
    message = None
    if any(field.name in _BASES for field in response.fields):
        lines = b"".join(
            block[field.position : field.end] + b"\r\n" for field in response.fields if field.name in _BASES
        )
        message = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n%s\r\n%s" % (
            media_type.encode("utf-8", "surrogateescape"),
            lines,
            body,
        )
    return Payload(body, media_type, message=message)


# --- a file of records in a WACZ --------------------------------------------------------------------------------------

_BROKEN: Final = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError),
)


def record_files(name: str) -> list[str]:
    """Return the files of records in a WACZ, in their order; none for another package."""
    try:
        with zipfile.ZipFile(name) as package:
            names = package.namelist()
    except _BROKEN:
        return []
    if "datapackage.json" not in names:
        return []
    return [member for member in names if wacz.is_record_file(member)]


@contextmanager
def opened_member(name: str, member: str) -> Iterator[Any]:
    """Yield a file in a package, open. Raise DocumentError."""
    with ExitStack() as opened:
        try:
            package = opened.enter_context(zipfile.ZipFile(name))
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
