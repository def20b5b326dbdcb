"""Read the captures in an HTTP Archive (HAR 1.2): one for each entry with a response.

In: an input. Out: a `Captured` for each entry, and its content: bytes, or text that the archive holds decoded.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from absolve.core.errors import Diagnostic, DocumentError
from absolve.encodings.charsets import declared_in_html, lookup
from absolve.formats import registry
from absolve.mirror import browsers
from absolve.mirror.capture import CUT, PIECE, SCHEMES, Captured, Where, digits_of, redirect_of
from absolve.mirror.payloads import Broken, Payload, media_type_of
from absolve.mirror.ranges import PARTIAL, Piece, judged
from absolve.run import sources
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.mirror.payloads import Posted
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions


class HarReader:
    """The captures of a HAR file; the place of each is the number of its entry. `data` are its bytes, if known."""

    def __init__(self, input_: Input, number: int, how: ReadOptions, data: bytes | None = None) -> None:
        self._data = data
        self._input = input_
        self._number = number
        self._how = how
        self._loaded: list[Any] | None = None

    def captured(self, posted: set[str]) -> Iterator[Captured | Piece | Posted | Broken]:  # noqa: ARG002 - of the protocol
        """Yield each entry that answers a GET."""
        try:
            entries = self._entries()
        except DocumentError as error:
            yield Broken(error.diagnostic._replace(failed=True))
            return
        for index, entry in enumerate(entries):
            try:
                found = self._captured(entry, index)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError, binascii.Error) as error:
                text = f"entry {index}: {type(error).__name__}: {error}"
                yield Broken(Diagnostic("broken-entry", text, self._input.name, failed=True))
                continue
            if found is not None:
                yield found

    def _captured(self, entry: Any, index: int) -> Captured | Piece | None:
        request, response = entry["request"], entry["response"]
        url = normal(str(request["url"]))
        method = str(request.get("method", "GET")).upper()
        if method not in {"GET", "HEAD"}:
            return None
        if url is None or not url.startswith(SCHEMES):
            return None
        status = int(response.get("status") or 0)
        if not 0 <= status < 1000:
            raise ValueError(f"no status of HTTP: {str(status)[:20]}")
        content = response.get("content") or {}
        fields = dict(_header(entry))
        location = redirect_of(url, status, response.get("redirectURL") or fields.get("location"))
        payload = _payload(entry)
        date = digits_of(str(entry.get("startedDateTime") or ""))
        where = Where(self._number, index, 0)
        kept = browsers.kept_fields(_header(entry))
        one = Captured(
            *(url, status, date, payload.media_type, where, location),
            size=len(payload.data),
            shown=browsers.allowed(payload.media_type, kept, payload.data),
            looks=browsers.markup(payload.data),
            fields=kept,
        )
        if location is not None or not 200 <= status < 300:
            return one
        if not payload.data and method == "HEAD":
            return None
        sizes = (response.get("bodySize"), fields.get("content-length"), fields.get("content-range"))
        if not payload.data and (content.get("size") or any(str(size or 0)[:1] not in "-0" for size in sizes)):
            return one._replace(lack=PIECE)  # the body was not saved
        if status == PARTIAL:
            return judged(one, fields.get, len(payload.data), self._how.settings.max_decompressed)
        is_cut = content.get("encoding") == "base64" and int(content.get("size") or 0) > len(payload.data)
        return one._replace(lack=CUT) if is_cut else one

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the contents of entries."""
        entries = self._entries()
        for where in places:
            yield where, _payload(entries[where.offset])

    def _entries(self) -> list[Any]:
        """Return the entries, read once. Raise DocumentError if the file is no HAR."""
        if self._loaded is not None:
            return self._loaded
        data = self._data
        if data is None:
            data = bytes(sources.read(self._input.name, max_size=self._how.settings.max_size).data)
        try:
            entries = json.loads(data.decode("utf-8-sig"))["log"]["entries"]
            if not isinstance(entries, list):
                raise TypeError("log.entries is no array")  # noqa: TRY301 - as a missing one
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            text = f"this JSON is no HTTP Archive: {type(error).__name__}: {str(error)[:200]}"
            raise DocumentError(Diagnostic("no-har", text, self._input.name)) from error
        self._loaded = entries
        return entries


def _header(entry: Any) -> list[tuple[str, str]]:
    return [(str(one["name"]).lower(), str(one["value"])) for one in entry["response"].get("headers") or ()]


def _payload(entry: Any) -> Payload:
    """Return the content of an entry. Text is encoded again as its page declares, where that loses nothing.

    The header counts for the media type: what a browser noted beside it may be what it guessed.
    """
    content = entry["response"].get("content") or {}
    header = _header(entry)
    declared = browsers.stated_type(value for name, value in header if name == "content-type")
    declared = declared or str(content.get("mimeType") or "")
    fields = browsers.kept_fields(header)
    text = content.get("text") or ""
    url = str(entry["request"]["url"])
    if content.get("encoding") == "base64":
        data = b64decode(text, validate=False)
        return Payload(data, media_type_of(declared, data, url, fields))
    utf_8 = text.encode("utf-8", "surrogatepass")
    media_type = media_type_of(declared, utf_8, url, fields)
    label = registry.essence_of(media_type)[1].get("charset")
    charset = (lookup(label) if label else None) or declared_in_html(utf_8)
    if charset is not None and charset.name != "utf-8":
        try:
            return Payload(text.encode(charset.codec), media_type)
        except (UnicodeError, LookupError):
            pass
    essence = registry.essence_of(media_type)[0]
    return Payload(utf_8, f"{essence}; charset=utf-8" if label else media_type, "utf-8")
