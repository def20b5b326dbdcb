"""Keep what was asked and answered in a WARC (ISO 28500), which warcio writes: absolve reads it as it read the web.

In: answers, an open file. Out: a `request` and a `response` record for each exchange; requests lack what may be secret.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from absolve.core.errors import MissingPackageError
from absolve.run.web.client import AGENT, OPEN_FIELDS

try:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
except ImportError as error:
    raise MissingPackageError("--save needs absolve[web]: pip install 'absolve[web]'") from error

if TYPE_CHECKING:
    from absolve.run.web.client import Answer, Response


class _InMemory(WARCWriter):  # type: ignore[misc]  # warcio has no types
    """A writer whose buffers need not be closed: warcio leaves its temporary files open."""

    _create_temp_file = staticmethod(io.BytesIO)


class _Head(StatusAndHeaders):  # type: ignore[misc]
    """A header as it came: warcio would percent-encode what is not ASCII."""

    def __init__(self, data: bytes) -> None:
        super().__init__("of", [])
        self._data = data

    def compute_headers_buffer(self, header_filter: object = None) -> None:  # noqa: ARG002 - the name of warcio
        self.headers_buff = self._data


class Writer:
    """Writes answers to a file; each record of a `compressed` one is a member of gzip."""

    def __init__(self, file: IO[bytes], *, compressed: bool) -> None:
        self._writer: Any = _InMemory(file, gzip=compressed, warc_version="1.1")
        about = {"software": AGENT, "format": "WARC File Format 1.1"}
        self._writer.write_record(self._writer.create_warcinfo_record("", about))

    def add(self, answer: Answer) -> None:
        """Write the records of all requests and responses, and a metadata record for a URL without a response."""
        for one in (*answer.others, *answer.responses):
            self._writer.write_request_response_pair(*self._records(one))
        if answer.problem is not None and answer.problem.code != "http-status":
            text = f"problem: {answer.problem.code}: {answer.problem.text}\r\n".encode()
            fields = {"Content-Type": "application/warc-fields"}
            made = self._writer.create_warc_record(
                answer.asked_last, "metadata", io.BytesIO(text), length=len(text), warc_headers_dict=fields
            )
            self._writer.write_record(made)

    def _records(self, one: Response) -> tuple[Any, Any]:
        parts = urlsplit(one.url)
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        fields = [(b"host", parts.netloc.rpartition("@")[2].encode())]
        fields += [(name, value) for name, value in one.request if name.decode() in OPEN_FIELDS]
        lines = b"".join(b"%b: %b\r\n" % field for field in fields)
        asked = f"{one.method} {target} HTTP/1.1\r\n".encode() + lines + b"\r\n"
        return self._record("request", one, asked, b""), self._record("response", one, one.head, one.body)

    def _record(self, kind: str, one: Response, head: bytes, body: bytes) -> Any:
        """Return a record with the bytes of a message as they are."""
        date = datetime.fromtimestamp(one.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._writer.create_warc_record(
            one.url,
            kind,
            io.BytesIO(body),
            length=len(body),
            http_headers=_Head(head),
            warc_headers_dict={"WARC-Date": date},
        )
