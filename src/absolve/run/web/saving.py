"""Write WARC files (ISO 28500): what was asked and answered, which absolve reads as it read the web.

In: answers, an open file. Out: a `response` and a `request` record for each exchange; requests lack what may be secret.
"""

from __future__ import annotations

import hashlib
import uuid
import zlib
from base64 import b32encode
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Final
from urllib.parse import urlsplit

from absolve import __version__

if TYPE_CHECKING:
    from absolve.run.web.client import Answer, Response

AGENT: Final = f"absolve/{__version__}"
OPEN_FIELDS: Final = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})  # no secrets
HTTP: Final = "application/http; msgtype="  # the media type of a request or a response
_FIELDS: Final = "application/warc-fields"
_LINE_ENDS: Final = {ord("\r"): "%0D", ord("\n"): "%0A"}  # so that a URL adds no field
_GZIP: Final = 31  # zlib: the window, and a header of gzip


def record(fields: dict[str, str], block: bytes) -> bytes:
    """Return a record with these fields, to which the length of the block is added; line ends in values are escaped."""
    lines = [f"{name}: {value.translate(_LINE_ENDS)}" for name, value in fields.items() if value]
    text = "\r\n".join(["WARC/1.1", *lines, f"Content-Length: {len(block)}", "", ""])
    return text.encode("utf-8", "surrogateescape") + block + b"\r\n\r\n"


class Writer:
    """Writes answers to a file; each record of a `compressed` one is a member of gzip."""

    def __init__(self, file: IO[bytes], *, compressed: bool) -> None:
        self._file = file
        self._compressed = compressed
        text = f"software: {AGENT}\r\nformat: WARC File Format 1.1\r\n"
        self._write("warcinfo", datetime.now(UTC), _FIELDS, text.encode())

    def add(self, answer: Answer) -> None:
        """Write the records of all requests and responses, and a metadata record for a URL without a response."""
        for one in (*answer.others, *answer.responses):
            self._add(one)
        if answer.problem is not None and answer.problem.code != "http-status":
            text = f"problem: {answer.problem.code}: {answer.problem.text}\r\n"
            uri = {"WARC-Target-URI": answer.asked_last}
            self._write("metadata", datetime.now(UTC), _FIELDS, text.encode(), uri)

    def _add(self, one: Response) -> None:
        parts = urlsplit(one.url)
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        fields = [(b"host", parts.netloc.rpartition("@")[2].encode())]
        fields += [(name, value) for name, value in one.request if name.decode() in OPEN_FIELDS]
        lines = b"".join(b"%b: %b\r\n" % field for field in fields)
        asked = f"{one.method} {target} HTTP/1.1\r\n".encode() + lines + b"\r\n"
        date = datetime.fromtimestamp(one.time, UTC)
        uri = {"WARC-Target-URI": one.url}
        digest = {"WARC-Payload-Digest": _digest(one.body)}
        made = self._write("response", date, f"{HTTP}response", one.head + one.body, uri | digest)
        self._write("request", date, f"{HTTP}request", asked, uri | {"WARC-Concurrent-To": made})

    def _write(
        self, kind: str, date: datetime, type_: str, block: bytes, more: dict[str, str] | None = None
    ) -> str:
        """Write a record, and return its identifier."""
        own = f"<{uuid.uuid4().urn}>"
        fields = {"WARC-Type": kind, "WARC-Record-ID": own, "WARC-Date": date.strftime("%Y-%m-%dT%H:%M:%SZ")}
        fields |= {**(more or {}), "WARC-Block-Digest": _digest(block), "Content-Type": type_}
        data = record(fields, block)
        self._file.write(zlib.compress(data, wbits=_GZIP) if self._compressed else data)
        return own


def _digest(data: bytes) -> str:
    return f"sha1:{b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()}"
