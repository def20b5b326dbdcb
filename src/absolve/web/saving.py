"""Keep what was asked and answered in a WARC (ISO 28500), which warcio writes: absolve reads it as it read the web.

In: answers, an open file. Out: a `request` and a `response` record for each exchange; requests lack their secrets.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from absolve.core.errors import MissingPackageError
from absolve.web.client import AGENT

try:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
except ImportError as error:
    raise MissingPackageError("--save needs absolve[web]: pip install 'absolve[web]'") from error

if TYPE_CHECKING:
    from absolve.web.client import Answer, Response


_SECRET: Final = frozenset({b"authorization", b"cookie", b"proxy-authorization"})  # a capture is passed on


class _InMemory(WARCWriter):  # type: ignore[misc]  # warcio has no types
    """A writer whose buffers need not be closed: warcio leaves its temporary files open."""

    _create_temp_file = staticmethod(io.BytesIO)


class Writer:
    """Writes answers to a file; each record of a `compressed` one is a member of gzip."""

    def __init__(self, file: IO[bytes], *, compressed: bool) -> None:
        self._writer: Any = _InMemory(file, gzip=compressed, warc_version="1.1")
        about = {"software": AGENT, "format": "WARC File Format 1.1"}
        self._writer.write_record(self._writer.create_warcinfo_record("", about))

    def add(self, answer: Answer) -> None:
        for one in (*answer.others, *answer.responses):
            self._writer.write_request_response_pair(*self._records(one))

    def _records(self, one: Response) -> tuple[Any, Any]:
        parts = urlsplit(one.url)
        line = f"GET {parts._replace(scheme='', netloc='', fragment='').geturl() or '/'} HTTP/1.1"
        sent = [(name.decode(), value.decode("latin-1")) for name, value in one.request if name not in _SECRET]
        sent.insert(0, ("Host", parts.netloc))
        status, *fields = one.head.decode("latin-1").rstrip("\r\n").split("\r\n")
        came = [(name, value) for name, _, value in (field.partition(": ") for field in fields)]
        version, _, rest = status.partition(" ")
        date = datetime.fromtimestamp(one.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

        def record(kind: str, head: Any, body: bytes) -> Any:
            make = self._writer.create_warc_record
            given = {"WARC-Date": date}
            return make(one.url, kind, io.BytesIO(body), http_headers=head, warc_headers_dict=given)

        answered = record("response", StatusAndHeaders(rest, came, protocol=version), one.body)
        asked = record("request", StatusAndHeaders(line, sent, is_http_request=True), b"")
        return asked, answered
