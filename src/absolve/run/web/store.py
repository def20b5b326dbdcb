r"""The WARC (ISO 28500) of --save: it keeps what servers answered, and is the memory of later runs.

In: responses as they come. Out: a `response` and a `request` record for each, which absolve reads like the web itself;
requests lack fields that may be secret. What the file holds and is young enough is not asked for again; for what is
older, the server is asked whether it changed, and its "no" is a `revisit` record. A run that is killed loses at most
the record that is being written: the next one cuts off what is half there.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
import uuid
import zlib
from base64 import b32encode
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from absolve.core.errors import UsageError
from absolve.document.captures import records
from absolve.formats import headers
from absolve.formats.warc.reader import pieces
from absolve.run.output_folder import alone, check_links
from absolve.run.web.exchange import AGENT, OPEN_FIELDS, Response

if TYPE_CHECKING:
    from typing import Self

    from absolve.document.settings import Settings
    from absolve.run.web.exchange import Answer

HTTP: Final = "application/http; msgtype="  # the media type of a request or a response
_FIELDS: Final = "application/warc-fields"
_NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_SERVER: Final = "Absolve-Server"  # a field of ours: the server of --resolve that was asked
_LINE_ENDS: Final = {ord("\r"): "%0D", ord("\n"): "%0A"}  # so that a URL adds no field
_GZIP: Final = 31  # zlib: the window, and a header of gzip
_DATE: Final = "%Y-%m-%dT%H:%M:%SZ"
_STATUS: Final = re.compile(rb"HTTP/[0-9.]+ ([0-9]{3})")
_NAMES: Final = ("warc-record-id", "warc-concurrent-to", _SERVER.lower(), "warc-date", "warc-truncated")
_FAILURES: Final = 400  # what failed is asked for again: it may be mended
_PARTS: Final = frozenset({206, 304})  # statuses of answers that are no whole document
_CODED: Final = re.compile(rb"(?i)\ntransfer-encoding:")  # other programs keep chunks
_HEAD: Final = re.compile(rb".*?\r?\n\r?\n", re.DOTALL)
_HALF: Final = frozenset({"truncated", "no-record"})  # codes of findings about the end of a file
_ASKED: Final = re.compile(rb"([A-Z]+) ")


def record(fields: dict[str, str], block: bytes) -> bytes:
    r"""Return a WARC record with these fields and the length of the block; line ends in values are escaped.

    >>> record({"WARC-Type": "resource"}, b"<p>")
    b'WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n'
    """
    lines = [f"{name}: {value.translate(_LINE_ENDS)}" for name, value in fields.items() if value]
    text = "\r\n".join(["WARC/1.1", *lines, f"Content-Length: {len(block)}", "", ""])
    return text.encode("utf-8", "surrogateescape") + block + b"\r\n\r\n"


class Writer:
    """Writes answers to a file; each record of a `compressed` file is a gzip member."""

    def __init__(self, file: IO[bytes], *, compressed: bool) -> None:
        self._file = file
        self._compressed = compressed

    def begin(self) -> None:
        """Write the first record: what wrote the file."""
        self._write("warcinfo", time.time(), _FIELDS, f"software: {AGENT}\r\nformat: WARC File Format 1.1\r\n".encode())

    def add(self, answer: Answer) -> None:
        """Write the records of all requests and responses, and a metadata record for a URL without a response."""
        for one in (*answer.others, *answer.responses):
            self.add_response(one)
        self.add_problem(answer)

    def add_problem(self, answer: Answer) -> None:
        if answer.problem is not None and answer.problem.code != "http-status":
            text = f"problem: {answer.problem.code}: {answer.problem.text}\r\n"
            self._write("metadata", time.time(), _FIELDS, text.encode(), {"WARC-Target-URI": answer.asked_last})

    def add_response(self, one: Response, server: str = "", *, revisits: str = "") -> None:
        """Write a response and its request; `revisits`: the date of the response that it confirms."""
        parts = urlsplit(one.url)
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        fields = [(b"host", parts.netloc.rpartition("@")[2].encode())]
        fields += [(name, value) for name, value in one.request if name.decode() in OPEN_FIELDS]
        lines = b"".join(b"%b: %b\r\n" % field for field in fields)
        asked = f"{one.method} {target} HTTP/1.1\r\n".encode() + lines + b"\r\n"
        uri = {"WARC-Target-URI": one.url, _SERVER: server}
        more = {"WARC-Payload-Digest": _digest(one.body)}
        if revisits:
            refers = {"WARC-Refers-To-Target-URI": one.url, "WARC-Refers-To-Date": revisits}
            more = {"WARC-Profile": _NOT_MODIFIED, **refers}
        kind = "revisit" if revisits else "response"
        response_id = self._write(kind, one.time, f"{HTTP}response", one.head + one.body, uri | more)
        self._write("request", one.time, f"{HTTP}request", asked, uri | {"WARC-Concurrent-To": response_id})

    def _write(self, kind: str, at: float, type_: str, block: bytes, more: dict[str, str] | None = None) -> str:
        """Write a record, and return its identifier."""
        own = f"<{uuid.uuid4().urn}>"
        date = datetime.fromtimestamp(at, UTC).strftime(_DATE)
        fields = {"WARC-Type": kind, "WARC-Record-ID": own, "WARC-Date": date}
        fields |= {**(more or {}), "WARC-Block-Digest": _digest(block), "Content-Type": type_}
        data = record(fields, block)
        self._file.write(zlib.compress(data, wbits=_GZIP) if self._compressed else data)
        return own


def _digest(data: bytes) -> str:
    return f"sha1:{b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()}"


# --- what a file holds ------------------------------------------------------------------------------------------------


class Kept(NamedTuple):
    """A response in the file: its byte offset, WARC-Date, status, time (Unix) when it was true last, and method.

    `number`: of the record in its gzip member. A revisit has the offset -1.
    """

    offset: int
    date: str
    status: int
    time: float
    method: str = "GET"
    number: int = 0


class Store(Writer):
    """The file of --save. `max_age`: seconds for which a response is not asked for again. Use it as a context manager.

    Raise UsageError for a file that is no WARC, or that another run writes. `used`: how often nothing was asked;
    `lost`: the bytes of a record that was half there.
    """

    def __init__(self, path: str, max_age: float, settings: Settings) -> None:
        check_links(path)
        self._max_age = max_age
        self._limit = settings.max_decompressed
        self._kept: dict[tuple[str, str, str], Kept] = {}  # by method, URL and server
        self.used = self.lost = 0
        self._path = path
        with ExitStack() as held:
            file = held.enter_context(open(path, "a+b", opener=_private))
            held.enter_context(alone(path))
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # /dev/zero never ends
                raise UsageError(f"--save {path}: this is no file")
            end = self._read(file, path)
            file.seek(0)
            super().__init__(file, compressed=file.read(2) == b"\x1f\x8b" if end else path.endswith(".gz"))
            if not end:
                self.begin()
            self._held = held.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _read(self, file: IO[bytes], path: str) -> int:
        """Find the responses in the file, cut off a record that is half there, and return the size of the rest."""
        methods: dict[str, str] = {}  # by the identifiers of a request and of its response
        found: list[tuple[tuple[str, ...], str, str, Kept]] = []
        codes: set[str] = set()  # of what is behind `end`
        end, has_record = 0, False
        file.seek(0)
        for piece in pieces(file, self._limit):
            codes.update(finding.code for finding in piece.findings)
            if piece.findings or piece.records is None:
                continue
            end, has_record = piece.offset + len(piece.raw), True
            codes.clear()
            data = piece.records
            for number, (_, one) in enumerate(records(data)):
                own, other, server, date, cut = (headers.first(data, one.fields, name) or "" for name in _NAMES)
                block = data[one.block : one.end]
                if one.kind == "request" and (asked := _ASKED.match(block)) is not None:
                    methods[own] = methods[other] = asked[1].decode()
                elif one.kind in {"response", "revisit"} and (status := _STATUS.match(block)) is not None:
                    head = _HEAD.match(block)
                    if cut or (head is not None and _CODED.search(head[0]) is not None):
                        continue
                    offset = -1 if one.kind == "revisit" else piece.offset
                    kept = Kept(offset, date, int(status[1]), _seconds(date), number=number)
                    found.append(((own, other), one.url, server, kept))
        size = file.seek(0, os.SEEK_END)
        end = size if codes <= {"too-large"} else end  # a large record is not read
        file.seek(end)
        start = file.read(5)
        is_half = codes <= _HALF and size - end <= self._limit
        is_half = is_half and (b"WARC/".startswith(start) or b"\x1f\x8b".startswith(start[:2]))
        if size and not (has_record and (end == size or is_half)):  # a half record alone may be anything
            raise UsageError(f"--save {path}: this is no WARC, or it ends in something else: nothing is added to it")
        self.lost = size - end
        file.truncate(end)
        for names, url, server, kept in found:
            method = next((methods[name] for name in names if name and name in methods), "GET")
            key = method, url, server
            if kept.offset >= 0:
                self._kept[key] = kept._replace(method=method)
            elif key in self._kept:  # the server said that it did not change
                self._kept[key] = self._kept[key]._replace(time=kept.time)
        return end

    def find(self, method: str, url: str, server: str) -> Kept | None:
        """Return what is kept for a request, if it is no failure; a response to GET answers HEAD, too."""
        found = self._kept.get(("GET", url, server)) or self._kept.get((method, url, server))
        return found if found is not None and found.status < _FAILURES and found.status not in _PARTS else None

    def is_fresh(self, kept: Kept) -> bool:
        return 0 <= time.time() - kept.time < self._max_age  # no date of the future counts

    def load(self, kept: Kept, url: str) -> Response:
        """Return a response from the file."""
        with open(self._path, "rb") as file:  # noqa: PTH123
            file.seek(kept.offset)
            piece = next(pieces(file, self._limit, start=kept.offset))
        data = piece.records or b""
        _, one = next(islice(records(data), kept.number, None))
        block = data[one.block : one.end]
        head = found[0] if (found := _HEAD.match(block)) is not None else block
        return Response(url, (), kept.status, head, block[len(head) :], kept.time, kept.method)

    def _write(self, *parts: Any) -> str:
        try:
            own = super()._write(*parts)
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from error
        return own

    def keep(self, response: Response, server: str) -> None:
        """Add a response, at once and for later runs."""
        offset = self._file.seek(0, os.SEEK_END)
        self.add_response(response, server)
        date = datetime.fromtimestamp(response.time, UTC).strftime(_DATE)
        key = response.method, response.url, server
        self._kept[key] = Kept(offset, date, response.status, response.time, response.method)

    def confirm(self, response: Response, kept: Kept, server: str) -> None:
        """Add that a kept response is still true, by the response with status 304."""
        self.add_response(response, server, revisits=kept.date)
        self._kept[kept.method, response.url, server] = kept._replace(time=response.time)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _seconds(date: str) -> float:
    """Return a WARC-Date in seconds (Unix); 0 for a malformed one."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return 0.0
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
