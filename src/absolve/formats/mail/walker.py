"""Walkers of messages: mail (RFC 5322), MIME multiparts (RFC 2046), MHTML (RFC 2557); and of the files that keep them.

In: the bytes of a message. Out: bases and links of the header fields, and a part for the body, or for each part of a
multipart. Of a file of messages: a part for each.
A message or a part of a multipart is an entity of its own: bases in its header are embedded in it (RFC 1808 3.1), and
apply to its body as bases of the encapsulating entity (3.2).
"""

from __future__ import annotations

import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from absolve.core.errors import UNREAD_PART, WalkError
from absolve.core.model import LONGEST_REFERENCE, BaseClaim, Capture, Derived, Finding, Layer, Link, MessageIds, Part
from absolve.encodings.charsets import for_any
from absolve.encodings.codings import IDENTITY
from absolve.formats import headers, registry, sniffing
from absolve.formats.compression import Unread
from absolve.formats.mail.codings import BareReturns, Base64, LooseBase64, QuotedPrintable
from absolve.formats.mail.fields import (
    LONGEST,
    MOST,
    Header,
    content_of,
    delimiters,
    encoding_of,
    header_at,
    header_of,
    is_long,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Event, LinkSite
    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions


_MESSAGES: Final = frozenset({registry.MESSAGE, "message/global", "message/news"})

# RFC 5751 3.2: a signature around the content. Encrypted content, or other content in ASN.1, is not read.
_OPAQUE: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
# Content whose links absolve does not read, and fragments of messages (RFC 2046 5.2.2). Bodies of other types have no
# links, or are attachments.
_UNREAD: Final = frozenset(
    {
        "application/ms-tnef",
        "application/rtf",
        "application/vnd.ms-tnef",
        "message/external-body",
        "message/partial",
        "text/enriched",
        "text/richtext",
        "text/rtf",
    }
)
# Labels of files whose type the mail program did not know
_UNLABELLED: Final = frozenset({"application/force-download", "application/octet-stream", "application/x-download"})
_UUENCODED: Final = re.compile(rb"^begin [0-7]{3,4} ([^\r\n]{1,255})\r?\n[!-`]", re.MULTILINE)
# Fields that sign the body and some of the header (RFC 6376, RFC 8617; RFC 4870)
_SIGNATURES: Final = {
    "dkim-signature": "DKIM-Signature",
    "arc-message-signature": "ARC-Message-Signature",
    "domainkey-signature": "DomainKey-Signature",
}
_SNAPSHOT: Final = "snapshot-content-location"  # Chromium's record of the page, for parts without a location
_SEALED_PLACES: Final = {name: place.changed(stays="always") for name, place in headers.OF_MAIL.items()}
def walk(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:  # noqa: ARG001 - each part has its own
    """Yield the events of a message (mail, MHTML), or of a multipart that begins with its first boundary.

    For example, `List-Help: <http://h/a>`, an empty line and `<p>` with Content-Type text/html are a link and a part.
    """
    if has_bare_returns(data):
        yield with_line_feeds(registry.MESSAGE, data)
        return
    if not data or data.isspace():  # as an interrupted download leaves it: no document is in it
        return
    header = header_of(data)
    if header.fields:
        yield from _Walk(data, header, options).events()
    elif data.startswith(b"--", header.body):
        boundary = data[header.body + 2 :].partition(b"\n")[0].rstrip()
        yield from _Walk(data, header, options).multipart(boundary, registry.PART)
    else:
        yield Finding("no-header", "this is no message: it does not begin with a header", header.body)


def has_bare_returns(data: bytes) -> bool:
    """Return whether lines end in CR alone, as mail programs of the old Macintosh stored them."""
    return b"\n" not in data and b"\r" in data


def with_line_feeds(media_type: str, data: bytes) -> Part:
    """Return the document in data whose lines end in CR alone, as a part."""
    return Part(media_type, 0, len(data), BareReturns(), own_charset=True, encloses=False)


def walk_part(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:  # noqa: ARG001 - as above
    """Yield the events of a part of a multipart; its header may be empty (RFC 2046 5.1)."""
    return _part(data, options, "text/plain")


def walk_part_of_digest(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:  # noqa: ARG001
    """Yield the events of a part of a multipart/digest (RFC 2046 5.1.5)."""
    return _part(data, options, registry.MESSAGE)


def _part(data: bytes, options: WalkOptions, default: str) -> Iterator[Event]:
    yield from _Walk(data, header_at(data), options, default).events(inside=True)


class _Walk:
    """The walk over one entity: its header and its body (RFC 2045 2.4)."""

    def __init__(self, data: bytes, header: Header, options: WalkOptions, default: str = "text/plain") -> None:
        self._data = data
        self._fields = found = header.fields
        self._body = header.body
        self._odd_line = header.odd_line
        self._options = options
        types = self._values("content-type")
        self._is_long = any(map(is_long, types))
        self._content = content_of([] if self._is_long else types, default, data, header.body)
        signatures = (kind for name, kind in _SIGNATURES.items() if any(field.name == name for field in found))
        self._signature = next(signatures, "")

    def _values(self, name: str) -> list[str]:
        return [headers.value(self._data, field) for field in headers.named(self._fields, name)]

    def events(self, *, inside: bool = False) -> Iterator[Event]:
        """Yield the bases and links of the header, then a part for the body, or the parts of a multipart.

        `inside` a multipart, yield the identifiers of this part, too.
        """
        places: dict[str, LinkSite] = _SEALED_PLACES if self._signature else headers.OF_MAIL
        locations: list[Link] = []
        if not inside and (snapshot := self._values(_SNAPSHOT)):
            yield BaseClaim(Layer.RETRIEVAL, for_any("".join(snapshot[0].split())), "Snapshot-Content-Location header")
        for event in headers.links(self._data, self._fields, places, tuple(headers.BASES)):
            if inside and type(event) is Link and event.place.attribute == "content-location":
                locations.append(event)
            yield event
        if self._odd_line >= 0:
            text = "a line of this header is no field: it is skipped, as mail programs do"
            yield Finding("malformed-header", text, self._odd_line)
        if self._is_long:
            text = f"a body whose Content-Type has more than {LONGEST} characters, or {MOST} parameters, stays"
            yield Finding("long-field", text, self._body, failed=True)
            return
        media_type = self._content.media_type
        if self._options.documents:
            yield self._capture(media_type)
        if media_type == "multipart/encrypted":  # RFC 1847 2.2
            yield self._not_read("encrypted")
        if media_type.startswith("multipart/"):
            kind = registry.PART_OF_DIGEST if media_type == "multipart/digest" else registry.PART
            signed = media_type if media_type == "multipart/signed" else ""
            yield from self.multipart(self._content.boundary(self._data, self._body), kind, signed)
            return
        if inside:
            yield from self._names(locations)
        if media_type in _OPAQUE and self._content.parameter("smime-type").lower() == "signed-data":
            yield Finding("signed", "what is signed by S/MIME and encoded for it is not read", self._body)
        else:
            kind = self._unread_kind(media_type)
            if kind:
                yield self._not_read(kind)
            yield from self._single_body(media_type)

    def _unread_kind(self, media_type: str) -> str:
        """Return a description of a body whose links are not read; "" if they are read, or if it has none."""
        if media_type in _OPAQUE:
            return "" if self._content.parameter("smime-type").lower() == "certs-only" else "encrypted"
        if media_type in _UNREAD:
            return media_type
        if media_type == "text/plain":
            found = (one[1].decode("latin-1") for one in _UUENCODED.finditer(self._data, self._body))
            return "uuencode" if any(map(_has_links, found)) else ""
        if media_type in _UNLABELLED and _has_links(self._file_name()):
            return f"{media_type}, by its name a document"
        is_elsewhere = self._values("x-apple-content-length") and not self._data[self._body :].strip()
        return "kept in another file by Apple Mail" if is_elsewhere and registry.is_read(media_type) else ""

    def _file_name(self) -> str:
        """Return an attachment's name (RFC 2183 2.3), for example "a.html" in `attachment; filename=a.html`; or ""."""
        message = self._content.parameters
        for text in self._values("content-disposition")[:1]:
            if not is_long(text):
                message["Content-Disposition"] = text.encode("utf-8", "surrogateescape").decode("latin-1")
        return headers.words(message.get_filename(""))

    def _not_read(self, kind: str) -> Finding:
        return Finding(UNREAD_PART, f"{kind}: this part of the message is not read", self._body)

    def _capture(self, media_type: str) -> Capture:
        """Return the facts that the header states about the body."""
        date = headers.first(self._data, self._fields, "date") or ""
        name = (headers.first(self._data, self._fields, "content-id") or "").strip("<> ")
        is_empty = self._body == len(self._data)
        found = Capture(None, date, media_type, 0 if is_empty else None, name=f"cid:{name}" if name else "")
        if not self._options.captures:
            return found
        fields = tuple((field.name, headers.value(self._data, field)) for field in self._fields)
        location = dict(reversed(fields)).get("content-location", "")
        location = "".join(location.split()) if len(location) <= LONGEST_REFERENCE else ""
        subject = headers.words(headers.first(self._data, self._fields, "subject") or "")[:LONGEST_REFERENCE]
        title = " ".join(subject.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split())
        return found._replace(location=location, fields=fields, title=title)

    def _names(self, locations: list[Link]) -> Iterator[MessageIds]:
        """Yield the identifiers of this part in its message: Content-Location (RFC 2557), Content-ID (RFC 2392)."""
        for link in locations:
            reference = link.coding.decode(self._data[link.start : link.end])
            yield MessageIds([reference.decode("utf-8", "surrogateescape")], link.claim)
        name = headers.first(self._data, self._fields, "content-id")
        if name:
            yield MessageIds([f"cid:{name.strip('<> ')}"])

    def _single_body(self, media_type: str) -> Iterator[Event]:
        """Yield a body that is not a multipart as a part, if its media type has a walker or all documents are wanted.

        Yield a finding instead if its transfer encoding is none that absolve reads.
        """
        if media_type in _MESSAGES:
            media_type = registry.MESSAGE
        is_read = registry.canonical(media_type) in registry.WALKERS
        if not (is_read or self._options.documents):
            return
        encoding = encoding_of(self._values("content-transfer-encoding"))
        coding = self._coding(encoding)
        if self._options.captures:
            coding = coding or IDENTITY
        elif coding is None and not is_read:
            coding = Unread(encoding)
        if coding is None:
            text = f"encoding {encoding[:40]!r}: none that absolve reads; this part is left as it is"
            yield Finding("unknown-encoding", text, self._body, failed=True)
            return
        charset = re.sub(r'[\\"\r\n]', "", self._content.parameter("charset"))
        full = f'{media_type}; charset="{charset}"' if charset else media_type
        name = "message" if media_type == registry.MESSAGE else "body"
        size = len(self._data)
        yield Part(full, self._body, size, coding, name=name, own_charset=True, signed_by=self._signature)

    def _coding(self, encoding: str) -> Coding | None:
        """Return the coding of a Content-Transfer-Encoding; None if unknown: the body is opaque (RFC 2045 6.4)."""
        if not encoding:
            return IDENTITY
        body = self._data[self._body :]
        if encoding == "quoted-printable":
            return QuotedPrintable(body)
        if encoding == "base64":
            return LooseBase64() if self._options.captures else Base64(body)
        return None

    def multipart(self, boundary: bytes, media_type: str, signed: str = "") -> Iterator[Event]:
        """Yield the parts between boundary delimiter lines as documents of `media_type` (RFC 2046 5.1.1)."""
        if not boundary:
            text = "this multipart is left as it is: its Content-Type gives no boundary"
            yield Finding("no-boundary", text, self._body, failed=True)
            return
        start = -1
        for delimiter in delimiters(self._data, boundary, self._body):
            if start >= 0:
                yield self._multipart_part(media_type, start, max(start, delimiter.start), signed)
            start = delimiter.end
            if delimiter.closes:
                return
        if start < 0:
            text = f"this multipart is left as it is: its boundary {_shown(boundary)} is nowhere in it"
            yield Finding("no-boundary", text, self._body, failed=True)
            return
        text = f"the closing boundary {_shown(boundary)} is missing: the last part goes on to the end"
        yield Finding("no-closing-boundary", text, len(self._data))
        yield self._multipart_part(media_type, start, len(self._data), signed)

    def _multipart_part(self, media_type: str, start: int, end: int, signed: str) -> Part:
        signature = self._signature or signed
        return Part(media_type, start, end, IDENTITY, name="part", own_charset=True, signed_by=signature)


def _has_links(name: str) -> bool:
    """Return whether a file may have links, by its name; winmail.dat is an Outlook message (TNEF)."""
    return name.lower() == "winmail.dat" or sniffing.recognised(b"", name) is not None


def _shown(boundary: bytes) -> str:
    return repr(boundary[:70].decode("utf-8", "replace"))


# --- mailboxes (RFC 4155), which are no encapsulating entities of their messages --------------------------------------

# RFC 4155: a line with the sender and a time, after an empty line; some programs omit the sender, some the time, some
# the empty line. In mboxo and mboxrd such lines inside a message are quoted with ">", in other formats they are not. So
# a line counts only with a time, or with a header field after it; without an empty line, only with both, or if it is
# bare.
_FROM: Final = re.compile(rb"From ([^\n]*+)\n")
_EMPTY_LINE: Final = re.compile(rb"\n\r?\n")
_TIME: Final = re.compile(rb"[0-9]:[0-9]{2}")
_FIELD: Final = re.compile(rb"[!-9;-~]++[\t ]*+:")
_MARK: Final = b"\xef\xbb\xbf"  # of an editor


def walk_mailbox(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:  # noqa: ARG001 - each message has its own
    """Yield each message of a mailbox in an mbox format as a part; the mailbox is no encapsulating entity.

    For example, `From a@h Thu Jan  1 00:00:00 1970`, then `Subject: x`, begins a message. Raise WalkError for non-empty
    data without a From line.
    """
    if has_bare_returns(data):
        yield with_line_feeds(registry.MAILBOX, data)
        return
    first = start = len(_MARK) if data.startswith(_MARK) else 0
    header_end = -1
    for found in _FROM.finditer(data):
        if found.start() < header_end or not _is_separator(data, found, first):
            continue
        if header_end >= 0 or data[start : found.start()].strip():  # a first message without its From line
            yield _message(data, start, found.start())
        start = found.end()
        empty_line = _EMPTY_LINE.search(data, start - 1)
        header_end = empty_line.start() if empty_line else len(data)
    if header_end >= 0:
        yield _message(data, start, len(data))
    elif data[start:].strip():  # without messages, a mailbox is empty
        raise WalkError("no-message", "this is no mailbox: it has no From line")


def _is_separator(data: bytes, found: re.Match[bytes], first: int) -> bool:
    """Return whether a From line separates messages; `first` is the offset where the first one may be."""
    start = found.start()
    if start > first and data[start - 1] != 0x0A:
        return False
    has_time = _TIME.search(found[1]) is not None
    has_field = _FIELD.match(data, found.end()) is not None
    if start == first or data.endswith((b"\n\n", b"\n\r\n"), 0, start):
        return has_time or has_field
    return has_field and (has_time or not found[1].strip())


# The value may be folded, before or after the number (RFC 5322 2.2.3).
_FOLD: Final = rb"(?>(?:\r?\n?[\t ])*)"
_SIZE: Final = re.compile(rb"\n(?i:Content-Length):%b([0-9]{1,18})%b(?=\r?\n(?![\t ]))" % (_FOLD, _FOLD))
_MOST_SIZES: Final = 8  # Content-Length fields of a message: for each, its new header is searched


def _message(data: bytes, start: int, end: int) -> Part:
    """Return the part of a message and its correct Content-Length fields (mboxcl); blank lines may follow the body."""
    derived: list[Derived] = []
    empty_line = _EMPTY_LINE.search(data, start, end)
    body = empty_line.end() if empty_line else start
    for size in islice(_SIZE.finditer(data, start - 1, body), _MOST_SIZES):
        last = body + int(size[1])
        if last <= end and not data[last:end].strip(b"\r\n"):
            derived.append(Derived(*size.span(1), partial(_size, behind=end - last)))
    return Part(
        registry.MESSAGE, start, end, IDENTITY, name="message", own_charset=True, encloses=False, derived=derived
    )


def _size(message: bytes, behind: int) -> bytes:
    """Return the length in bytes of a message's body, without the `behind` bytes that follow it."""
    body = _EMPTY_LINE.search(message)
    return b"%d" % (len(message) - behind - (body.end() if body else 0))


# --- Apple Mail -------------------------------------------------------------------------------------------------------

# Its length in bytes, with blanks up to ten characters; the message; a property list.
_LENGTH: Final = re.compile(rb"[\t ]*+([0-9]{1,16}[\t ]*+)\r?\n")
_PROPERTY_LIST: Final = re.compile(rb"<\?xml[^<]*<!DOCTYPE plist|bplist00")


def walk_emlx(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:
    """Yield the message in a file of Apple Mail, after the line with its length, for example `123`; or without one."""
    found = _LENGTH.match(data)
    if found is None:
        yield from walk(data, charset, options)
        return
    start, end = found.end(), found.end() + int(found[1])
    derived = [Derived(*found.span(1), lambda message: (b"%d" % len(message)).ljust(len(found[1])))]
    if end > len(data):
        text = f"the first line gives {int(found[1])} bytes to the message, more than there are: that line stays"
        yield Finding("wrong-length", text, 0)
        rest = _PROPERTY_LIST.search(data, start)
        end, derived = rest.start() if rest else len(data), []
    yield Part(registry.MESSAGE, start, end, IDENTITY, own_charset=True, encloses=False, derived=derived)
