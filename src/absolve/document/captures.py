"""Find the documents that a container holds: entries of an archive, parts of messages, members of a package.

In: the bytes of a container, whose walker finds its documents, or a record of a WARC file. Out: an `Entry` for each
document, in their order: its URL, what the container states about it, and its content, which is decoded when it is
asked for. No document is walked: `walk` finds its bases and links.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urljoin

from absolve.core.errors import CodingError, WalkError
from absolve.core.model import LONGEST_REFERENCE, BaseClaim, Capture, Finding, Part
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import IDENTITY
from absolve.formats import headers, registry
from absolve.formats.headers import record_at
from absolve.formats.http import Stack, codings_of, last_response, response_at
from absolve.formats.warc.walker import stated
from absolve.urls.archives import archived

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.settings import Settings
    from absolve.formats.headers import Field, Record

_NOTHING: Final = Capture()
_LOCATION: Final = f"{headers.BASES['content-location']} header"  # the source of its claim
_MAIL: Final = frozenset({*registry.MAIL, *registry.STEPS})  # types that may have whole messages as parts


class Entry(NamedTuple):
    """One document in a container, with what is stated about it.

    `url`, as recorded (also by a web archive), is absolute, or relative where no base is known; "" for none.
    `is_text`: the container holds the content as text, which is UTF-8 here. `scope` leads to the document: the number
    of a part in each multipart, message, mailbox and archive around it; the first `message` of these lead to its
    message.
    """

    url: str
    media_type: str
    facts: Capture
    is_text: bool = False
    part: Part | None = None
    outer: bytes = b""  # the bytes around the part
    scope: tuple[int, ...] = ()
    message: int = 0

    @property
    def content(self) -> bytes:
        """The decoded bytes. Raise CodingError where they cannot be decoded."""
        part = self.part
        return part.coding.decode(self.outer[part.start : part.end]) if part is not None else b""


def entries(data: bytes, media_type: str, settings: Settings, url: str | None = None) -> Iterator[Entry | Finding]:
    """Yield the documents in a container, and a finding for each that is broken; positions in it are of no use.

    `media_type` is one of the registry's. `url` is the base of the container. Raise WalkError for a container that
    cannot be read.
    """
    how = settings._replace(documents=True, captures=True)
    return _documents_in(data, media_type, how, _Around(url or ""))


class _Around(NamedTuple):
    """The surroundings of a container, a message or an entry: its base, the facts from outside of it, and its place."""

    url: str
    facts: Capture = _NOTHING
    scope: tuple[int, ...] = ()
    message: int = 0


def _documents_in(data: bytes, media_type: str, how: Settings, around: _Around) -> Iterator[Entry | Finding]:
    """Yield the documents in a container, a message or an entry."""
    walk = registry.walker(media_type)
    url, facts, scope, message = around
    base = location_base = url
    number = 0
    for event in walk(data, UTF_8, how) if walk is not None else ():
        if isinstance(event, Capture):
            facts = event._replace(date=around.facts.date or event.date, title=event.title or around.facts.title)
        elif isinstance(event, BaseClaim):
            base = base if base is not url else _joined(url, event.reference)
            if event.source != _LOCATION:  # RFC 2110 4.2: this field is relative to a Content-Base beside it
                location_base = base
        elif isinstance(event, Finding) and event.failed:
            if media_type == registry.HAR_ENTRY:
                raise WalkError(event.code, event.text)
            yield event
        elif isinstance(event, Part):
            kind = registry.kind_of(event.media_type)
            number = int(event.name[len("entry[") : -1]) if media_type == registry.HAR else number + 1
            # The body of an entry is one document: a message in it may not give its parts URLs of other hosts.
            is_step = kind in registry.STEPS or (media_type in _MAIL and _is_mail(event, kind))
            if not is_step or media_type == registry.HAR_ENTRY:
                found = _url(event, url, facts, location_base)
                stated = _dated(event.capture or facts, found)
                is_text = not event.own_charset
                yield Entry(found, event.media_type, stated, is_text, event, data, scope, message)
            elif len(scope) == how.max_depth:
                yield Finding("too-deep", f"parts more than {len(scope)} deep are not read", event.start, failed=True)
            else:
                own = event.claims[0].reference if event.claims else base
                below = (*scope, number)
                inner = _Around(own, facts, below, len(below) if kind == registry.MESSAGE else message)
                yield from _below(event, data, kind, how, inner)
    if not number and media_type == registry.HAR_ENTRY:
        yield Entry(url, facts.media_type, _dated(facts, url), is_text=True, scope=scope)


def _dated(facts: Capture, url: str) -> Capture:
    """Return the facts with the time of the capture, if a document was retrieved from a web archive."""
    found = archived(url)
    return facts._replace(date=found.time) if found is not None and found.time else facts


def _is_mail(part: Part, kind: str) -> bool:
    """Return whether a part is a message, or the mailbox that a file contains (in gzip, or with other line ends)."""
    return kind == registry.MESSAGE or (kind == registry.MAILBOX and not part.name)


def _below(part: Part, data: bytes, kind: str, how: Settings, around: _Around) -> Iterator[Entry | Finding]:
    try:
        yield from _documents_in(part.coding.decode(data[part.start : part.end]), kind, how, around)
    except (CodingError, WalkError) as error:
        text = f"{part.name}: {error.message}" if part.name.startswith("entry[") else error.message
        yield Finding(error.code, text, part.start, failed=True)


def _url(part: Part, url: str, facts: Capture, location_base: str) -> str:
    """Return the URL of a document: its part's, else its container's; a message has its location only."""
    if part.claims:
        return part.claims[0].reference
    if part.base is not None:
        return _joined(url, part.base.reference)
    return url if not part.encloses else _joined(location_base, facts.location) if facts.location else ""


def _joined(url: str, reference: str) -> str:
    """Return a header's reference as a URL, else "". For example, `http://h/a` and `b` give `http://h/b`."""
    with suppress(ValueError):
        return urljoin(url, reference) if len(reference) <= LONGEST_REFERENCE else ""
    return ""


# --- records of WARC and ARC files ------------------------------------------------------------------------------------

_LONGEST_NUMBER: Final = 16


def records(data: bytes) -> Iterator[tuple[int, Record]]:
    """Yield the records in one segment of a file with their numbers, whatever they hold."""
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


def of_record(data: bytes, record: Record, settings: Settings) -> Entry:
    """Return the document that a record holds: the body of its last response (100 Continue), else its block.

    The status is None without a response. A body that is known to be cut off has the greatest `length`. Raise WalkError
    for a segment of a record, and for a response that is none.
    """
    if headers.first(data, record.fields, "warc-segment-number") is not None:
        raise WalkError("segmented", "a record in segments is not read")
    block, facts = data[record.block : record.end], _dated(stated(data, record), record.url)
    cut = sys.maxsize if headers.first(data, record.fields, "warc-truncated") is not None else 0
    if not block.startswith(b"HTTP/"):
        part = Part(record.media_type, 0, len(block), IDENTITY)
        return Entry(record.url, record.media_type, facts._replace(length=cut), part=part, outer=block)
    response = response_at(block, 0)
    if response is None:
        raise WalkError("no-http", "this does not begin as an HTTP message does")
    response = last_response(block, response)
    length, end = _length(block, response.fields), len(block)
    if length is not None and not block[response.body + length :].strip(b"\r\n"):
        end = min(end, response.body + length)
    part = Part("", response.body, end, Stack(codings_of(block, response, settings)[0]))
    facts = facts._replace(
        status=int(response.status),
        fields=tuple((field.name, headers.value(block, field)) for field in response.fields),
        length=cut or length or 0,
    )
    return Entry(record.url, "", facts, part=part, outer=block)


def _length(block: bytes, fields: list[Field]) -> int | None:
    """Return the Content-Length; None without one, or where the body has a coding that ends by itself."""
    text = headers.first(block, fields, "content-length")
    is_alone = not any(field.name in {"transfer-encoding", "content-encoding"} for field in fields)
    return int(text) if is_alone and text is not None and text.isdecimal() and len(text) < _LONGEST_NUMBER else None
