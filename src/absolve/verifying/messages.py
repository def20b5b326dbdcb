"""Second check of HTTP responses (RFC 9112), mail and mailboxes: Python's modules read equal fields and bodies.

In: the two entities. Out: differences. http.client reads HTTP, email reads mail. A changed body is compared by the
second check of its own media type, after these modules have decoded it to the same bytes as absolve.
"""

from __future__ import annotations

import base64
import email
import email.message
import io
import quopri
import re
import zlib
from contextlib import suppress
from email.header import decode_header
from email.parser import BytesHeaderParser
from http.client import HTTPException, HTTPResponse
from itertools import chain, islice, takewhile, zip_longest
from typing import TYPE_CHECKING, Any, Final, cast

from absolve.core.model import Document, Link
from absolve.document.resolved import Resolved, link_context, text
from absolve.document.walk import inners, walk
from absolve.formats import registry
from absolve.formats.headers import OF_HTTP, OF_MAIL
from absolve.verifying import faults_inside
from absolve.verifying.differences import Fault, shown
from absolve.verifying.meant import in_value

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from email.message import Message as Header

    from absolve.core.model import LinkSite, Part
    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant

    Message = Header[Any, Any]
    Pair = tuple[Entity | None, Entity | None]


def faults(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between the messages that Python reads."""
    if before.media_type in {*registry.MAIL, registry.COMPRESSED}:
        yield from _of_mail(before, after, meant)
    else:
        for fault in _of_http(before, after, meant):
            yield fault._replace(text=f"http.client: {fault.text}")


# --- fields and bodies of both ----------------------------------------------------------------------------------------

_FOLD: Final = re.compile(rb"(?<![\t ])[\t ]*\r?\n[\t ]+")  # a line of blanks alone stays
_OUTSIDE: Final = "raw-unicode-escape"  # how email gives text around encoded words
_BLANKS: Final = b"\t\n\r "
_WRAPPED: Final = re.compile(rb'<(?:[\t\n\r ]*URL:)?([^>]*)|"([^"]*)|(.*)', re.IGNORECASE | re.DOTALL)


def _of_fields(
    headers: tuple[Message, Message], sites: Mapping[str, LinkSite], pair: Pair, meant: Meant, derived: str = ""
) -> Iterator[Fault]:
    """Yield the differences between two headers, but not that of the field `derived`."""
    for field, changed in zip_longest(*(header.raw_items() for header in headers)):
        names = {one[0].lower() if one else "" for one in (field, changed)}
        if field == changed or names == {derived}:
            continue
        site = sites.get(names.pop()) if field and changed and field[0] == changed[0] else None
        if site is None or pair[0] is None or pair[1] is None:
            yield Fault("attribute", f"the field {shown(str(field))} changed to {shown(str(changed))}")
        else:
            yield from _of_links(site, field[1], changed[1], pair[0], pair[1], meant)


def _of_links(site: LinkSite, old: str, new: str, one: Entity, other: Entity, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between two values of a field: each link must have its intended value."""
    references, changed = (_references(site, value.encode("ascii", "surrogateescape")) for value in (old, new))
    links = [_link(entity, site) for entity in (one, other)]
    if links[0] is None or links[1] is None or len(references) != len(changed):
        yield Fault("attribute", f"the field {site.attribute} has another number of links")
        return
    contexts = [link_context(one, links[0]), link_context(other, links[1])]
    for reference, its in zip(references, changed, strict=True):
        fault = meant.fault_of_value(site, reference, its, *contexts, claims=site.against != "base")
        if fault is not None:
            yield Fault("target", f"{site.attribute}: {fault}")


def _references(site: LinkSite, raw: bytes) -> list[str]:
    """Return the references in the value of a field, which may be folded."""
    value = _FOLD.sub(b"", raw)
    if site.syntax != "url":
        return [reference for _, reference in in_value(site, value).links]
    bracketed, quoted, alone = _WRAPPED.match(value.strip(_BLANKS)).groups()  # type: ignore[union-attr]  # it matches
    if bracketed is not None:
        return [text(bracketed.translate(None, _BLANKS))]
    reference = text((quoted or alone or b"").strip(_BLANKS))
    if site.attribute == "content-location" and "=?" in reference:  # encoded words (RFC 2047 2)
        with suppress(LookupError, ValueError):  # of an unknown charset, or invalid
            words: list[tuple[Any, str | None]] = decode_header(reference)
            return ["".join(one if isinstance(one, str) else one.decode(code or _OUTSIDE) for one, code in words)]
    return [reference]


def _link(entity: Entity, site: LinkSite) -> Link | None:
    """Return the first link that absolve found in a field of this site: all of them have the same context."""
    links = (event for event in entity.events if isinstance(event, Link))
    return next((link for link in links if link.place.attribute == site.attribute), None)


def _of_body(bodies: Iterable[bytes], pair: Pair, ends: re.Pattern[bytes], meant: Meant) -> Iterator[Fault]:
    """Yield the differences between two decoded bodies, in which `ends` do not count."""
    if pair[0] is None or pair[1] is None:
        yield Fault("tree", "the body differs")
        return
    for body, entity in zip(bodies, (pair[0], pair[1]), strict=True):
        if ends.sub(b"", body) != ends.sub(b"", entity.data):
            yield Fault("unjudged", "it decodes this body differently from absolve")
            return
    yield from faults_inside(pair[0], pair[1], meant)


# --- HTTP -------------------------------------------------------------------------------------------------------------

_EMPTY_LINES: Final = (b"\r\n", b"\n")
_FIELD: Final = re.compile(rb"[!-9;-~]+[\t ]*:|[\t ]")  # a line of one
_LINE_ENDS: Final = re.compile(rb"[\r\n]++\Z")
_DIGITS: Final = 18  # maximum digits of a Content-Length
_MOST_LENGTHS: Final = 8  # of a message in a mailbox
_WHITE_SPACE: Final = "\t\n\r "  # around values
FAILS: Final = (ValueError, HTTPException, EOFError, OSError, zlib.error, ImportError)


class _Read:
    """A message: its status lines, each with the lines after it that are no fields, and its headers, one for each.

    `body` is the raw body of the last one.
    """

    def __init__(self, data: bytes) -> None:
        file = io.BytesIO(data)
        self.lines: list[list[bytes]] = []
        self.headers: list[Message] = []
        while True:
            start = file.tell()
            line = file.readline()
            if not line.startswith(b"HTTP/"):
                break
            lines = list(takewhile(lambda line: line not in _EMPTY_LINES, iter(file.readline, b"")))
            if (page := next((at for at, line in enumerate(lines) if line[:1] == b"<"), None)) is not None:
                file.seek(start + len(line) + sum(map(len, lines[:page])))  # wget2 writes no empty line before it
                del lines[page:]
            self.lines.append([line, *(line for line in lines if not _FIELD.match(line))])
            fields = b"".join(line for line in lines if _FIELD.match(line))
            self.headers.append(BytesHeaderParser().parsebytes(fields))
        self.body = data[start:]

    def values(self, name: str) -> list[str]:
        """Return the values of a field of the last header."""
        return [str(value).strip(_WHITE_SPACE) for value in self.headers[-1].get_all(name, [])]


def _of_http(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    chain, its_chain = ([response.entity for response in inners(entity)] for entity in (before, after))
    if len(chain) == len(its_chain) > 1:  # the responses of redirects
        for response, changed in zip(chain, its_chain, strict=True):
            yield from _of_http(response, changed, meant)
        return
    old, new = _Read(before.data), _Read(after.data)
    if old.lines != new.lines:
        yield Fault("bytes", "the status line differs")
        return
    for headers in zip(old.headers, new.headers, strict=True):
        yield from _of_fields(headers, OF_HTTP, (before, after), meant, "content-length")
    if old.headers:
        yield from _of_lengths(old, new)
    if old.headers and old.body != new.body:
        one, other = (next((inner.entity for inner in inners(entity)), None) for entity in (before, after))
        try:
            bodies = [_decoded(read) if one and other else b"" for read in (old, new)]
        except FAILS as error:
            yield Fault("unjudged", f"it cannot decode this body: {str(error) or type(error).__name__}")
            return
        yield from _of_body(bodies, (one, other), _LINE_ENDS, meant)


def _of_lengths(old: _Read, new: _Read, most: int = 1) -> Iterator[Fault]:
    """Check that Content-Length has its new value, if it was right; line ends after the body do not count.

    More than one field is ambiguous in HTTP (RFC 9112 6.3). `most` is the number that may be written again.
    """
    lengths, changed = (read.values("content-length") for read in (old, new))
    expected = list(lengths)
    if (len(lengths) == 1 or most > 1) and _without_chunks(old) == old.body:
        numbers = (at for at, one in enumerate(lengths) if len(one) <= _DIGITS and one.isdecimal())
        for at in islice(numbers, most):
            behind = old.body[int(lengths[at]) :]
            if int(lengths[at]) <= len(old.body) and not behind.strip(b"\r\n"):
                expected[at] = str(len(new.body) - len(behind))
    if changed != expected:
        yield Fault("attribute", f"Content-Length changed to {shown(str(changed))}, expected {shown(str(expected))}")


class _Socket:
    """A substitute for the socket that HTTPResponse reads from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _decoded(read: _Read) -> bytes:
    """Return the decoded body; archives store decoded bodies under a header that still names the codings."""
    body = _without_chunks(read)
    for name in reversed(",".join(read.values("content-encoding")).lower().split(",")):
        body = opened(name.strip(), body)
    return body


def _without_chunks(read: _Read) -> bytes:
    if "chunked" not in ",".join(read.values("transfer-encoding")[:1]).lower():
        return read.body
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + read.body
    response = HTTPResponse(cast("socket.socket", _Socket(data)))
    response.begin()
    try:
        return response.read()
    except (HTTPException, ValueError):
        return read.body


def opened(name: str, body: bytes) -> bytes:
    """Return a body without one content coding; unchanged where it is not in it. Raise one of `FAILS`."""
    if name in {"gzip", "x-gzip"} and body.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.decompress(body)
    if name == "deflate":
        for wbits in (15, -15):
            with suppress(zlib.error):
                return zlib.decompress(body, wbits)
    if name == "br":
        import brotli

        with suppress(brotli.error):
            return bytes(brotli.decompress(body))
    if name == "zstd" and body.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
            return reader.read()
    return body


_IN_GZIP: Final = frozenset({registry.COMPRESSED_MAIL, registry.COMPRESSED})


# --- mail -------------------------------------------------------------------------------------------------------------

_MARK: Final = b"\xef\xbb\xbf"  # of an editor
_FROM: Final = re.compile(rb"(?:^|\A\xef\xbb\xbf)From [^\n]*\n", re.MULTILINE)
_BEFORE: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?>(?:>?From [^\n]*\n)*)(?>(?:\r?\n)*)")
_BLANKS_AT_END: Final = re.compile(rb"(?<![\t ])[\t ]++(?=\r?\n|\Z)")


def _of_mail(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    inside, its = (next(inners(entity), None) for entity in (before, after))
    if inside and its and (before.media_type in _IN_GZIP or not inside.part.name):
        yield from _of_file((before, after), (inside.entity, its.entity), meant)
        return
    if before.held or before.media_type == registry.MAILBOX:
        documents = (Document(entity.data, media_type=entity.media_type) for entity in (before, after))
        yield from _of_parts_that_links_name(*(walk(document, before.settings) for document in documents))
    if before.media_type != registry.MAILBOX:
        yield from _of_bytes((before.data, after.data), (before, after), "", meant)
        return
    old, new = (_messages(entity) for entity in (before, after))
    if len(old) != len(new):
        yield Fault("tree", f"email: {len(old)} messages before, {len(new)} after")
        return
    walked = zip(*(_insides(entity, len(old)) for entity in (before, after)), strict=True)
    for number, (messages, pair) in enumerate(zip(zip(old, new, strict=True), walked, strict=True), 1):
        yield from _of_bytes(messages, pair, f"message {number}", meant)


def _of_file(files: tuple[Entity, Entity], pair: tuple[Entity, Entity], meant: Meant) -> Iterator[Fault]:
    """Yield the differences between two files, each around a message or a mailbox."""
    try:
        (old, around), (new, its) = (_content(file.data, file.media_type) for file in files)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        yield Fault("unjudged", f"email: this file cannot be read: {error}")
        return
    if around != its:
        yield Fault("bytes", "the text behind the message differs")
    elif (old, new) != (pair[0].data, pair[1].data):
        yield Fault("unjudged", "another message is read from this file than absolve reads")
    else:
        yield from faults_inside(*pair, meant, "file")


def _content(data: bytes, media_type: str) -> tuple[bytes, bytes]:
    """Return the message or mailbox in a file, with LF at the end of its lines, and the bytes behind it."""
    if media_type in _IN_GZIP:
        import gzip

        return gzip.decompress(data), b""
    if media_type == registry.EMLX:
        length, _, rest = data.partition(b"\n")
        return rest[: int(length)], rest[int(length) :]
    return data.replace(b"\r", b"\n"), b""


def _messages(mailbox: Entity) -> list[bytes]:
    """Return the data after each From line, and a message in front of the first one.

    A From line that absolve takes for text belongs to its message, which may begin with it.
    """
    known = {inner.part.start for inner in inners(mailbox)}
    first = -1 if known & {0, len(_MARK)} else 0
    lines = [found.span() for found in _FROM.finditer(mailbox.data) if found.end() in known or found.start() == first]
    if lines and min(known, default=lines[0][1]) < lines[0][1]:
        lines.insert(0, (0, 0))
    ends = [*(start for start, _ in lines[1:]), len(mailbox.data)]
    return [mailbox.data[start:end] for (_, start), end in zip(lines, ends, strict=True)]


def _insides(entity: Entity | None, size: int) -> Sequence[Entity | None]:
    """Return the entities of `size` parts; None for each where absolve has another number of parts."""
    if entity is None:
        return [None] * size
    found = [inner.entity for inner in inners(entity) if not _is_no_line(entity.data, inner.part)]
    return found if len(found) == size else [None] * size


def _is_no_line(data: bytes, part: Part) -> bool:
    """Return whether a boundary directly follows another one: email has no part between them."""
    return part.start == part.end and data.startswith(b"--", part.start)


def _of_bytes(messages: tuple[bytes, bytes], pair: Pair, path: str, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between two messages; `path` names the part for texts, as in `message 1` or `2/1`."""
    (lines, one), (its_lines, other) = (_cleaned(message) for message in messages)
    if lines != its_lines:
        yield _in_part(Fault("tree", "the lines of the header that are no fields differ"), path)
    try:
        old, new = (_parsed(message) for message in (one, other))
        if path:  # of a mailbox; its length fields are as in HTTP, but there may be more
            before, after = (_Read(b"HTTP/1.0 200\n" + message) for message in messages)
            yield from _of_lengths(before, after, _MOST_LENGTHS)
        yield from _of_message(old, new, pair, path, meant, "content-length" if path else "")
    except RecursionError:
        yield _in_part(Fault("unjudged", "it cannot read multiparts nested as deep as these"), path)


def _of_message(
    old: Message, new: Message, pair: Pair, path: str, meant: Meant, derived: str = ""
) -> Iterator[Fault]:
    (old, lines), (new, its_lines) = _headed(old), _headed(new)
    own: list[Iterable[Fault]] = [_of_fields((old, new), OF_MAIL, pair, meant, derived)]
    if lines != its_lines:
        words = f"the text above the header changed from {shown(str(lines))} to {shown(str(its_lines))}"
        own.append([Fault("tree", words)])
    parts, changed = (message.get_payload() if message.is_multipart() else [] for message in (old, new))
    around = [(part.is_multipart(), part.preamble, part.epilogue) for part in (old, new)]
    is_alike = around[0] == around[1] and len(parts) == len(changed)
    if not is_alike:
        words = f"{len(parts)} parts before, {len(changed)} after, or the text around them differs"
        own.append([Fault("tree", words)])
    elif not old.is_multipart():
        bodies = [_body(part) for part in (old, new)]
        if bodies[0] != bodies[1]:
            one, other = (_insides(entity, 1)[0] for entity in pair)
            own.append(_of_body(bodies, (one, other), _BLANKS_AT_END, meant))
    for fault in chain.from_iterable(own):
        yield _in_part(fault, path)
    if is_alike:
        walked = zip(*(_insides(entity, len(parts)) for entity in pair), strict=True)
        for number, (part, its, inside) in enumerate(zip(parts, changed, walked, strict=True), 1):
            yield from _of_message(part, its, inside, f"{path}/{number}".lstrip("/"), meant)


_HEADER: Final = re.compile(rb"(?:[^\r\n][^\n]*\n)*")  # up to the first empty line
_ODD: Final = re.compile(rb"^(?![!-9;-~]+[\t ]*:|[\t ])[^\n]*\n", re.MULTILINE)
_USUAL: Final = re.compile(
    rb"^(?:content-(?:base|disposition|id|location|transfer-encoding|type)|mime-version|from|to|subject|date|message-id"
    rb"|received|return-path)[\t ]*:",
    re.IGNORECASE | re.MULTILINE,
)


def _cleaned(data: bytes) -> tuple[bytes, bytes]:
    """Return the lines that email takes for the end of the header, but mail programs skip; and the message without."""
    before = _BEFORE.match(data)
    start = before.end() if before else 0
    header = cast("re.Match[bytes]", _HEADER.match(data, start))[0]
    odd = _ODD.search(header)
    if not _USUAL.search(header, odd.end() if odd else 0) or (odd and b"\n--" in header[odd.start() - 1 :]):
        return b"", data
    first = odd.start() if odd else len(header)
    lines = b"".join(_ODD.findall(header, first))
    return data[:start] + lines, header[:first] + _ODD.sub(b"", header[first:]) + data[start + len(header) :]


_COMMENT: Final = re.compile(r"""("(?:[^"\\]|\\.)*")|(?<=[\s;"])\((?:[^()]|\([^()]*\))*\)""")
_KIND: Final = re.compile(r"[\s\"']*([\w.+-]+)\s*(?:\([^()]*\))?/\s*([\w.+-]+)")
_PARAMETER: Final = re.compile(r"""([\w*-]+)\s*[=:]\s*("(?:[^"\\]|\\.)*"|[^\s;]*)""")
_LONGEST: Final = 8192  # characters of a Content-Type: absolve reads no longer one
_PADDING: Final = re.compile(rb"(?<![\t ])[\t ]+(?=\r?$)", re.MULTILINE)  # RFC 2045 6.7, rule 3


class _Lenient(email.message.Message):
    """A message whose Content-Type may be written in any way; its bodies are decoded by `_body`."""

    def get(self, name: str, failobj: Any = None) -> Any:
        value = super().get(name, failobj)
        if name.lower() == "content-transfer-encoding":
            return failobj
        return _tidied(str(value)) if name.lower() == "content-type" and value is not failobj else value


def _tidied(value: str) -> str:
    """Return a Content-Type without comments, and with a semicolon before each parameter."""
    kind = _KIND.match(value)
    if kind is None or len(value) > _LONGEST:
        return value
    rest = _COMMENT.sub(lambda found: found[1] or " ", value[kind.end() :])
    found = ((name, own if own.count('"') != 1 else own.strip('"')) for name, own in _PARAMETER.findall(rest))
    return "; ".join([f"{kind[1]}/{kind[2]}", *(f"{name}={own}" for name, own in found)])


def _parsed(data: bytes) -> Message:
    return email.message_from_bytes(data, _class=_Lenient)


def _body(part: Message) -> bytes:
    """Return the decoded body."""
    raw = bytes(part.get_payload(decode=True) or b"")
    values = part.get_all("content-transfer-encoding", [""])
    name = re.sub(r"\(.*?\)|;.*|[^a-z0-9]", "", str(values[0]).lower(), flags=re.DOTALL)
    if name == "quotedprintable":
        return quopri.decodestring(_PADDING.sub(b"", raw))
    with suppress(ValueError):  # broken
        return base64.b64decode(raw) if name == "base64" else raw
    return raw


def _in_part(fault: Fault, path: str) -> Fault:
    return fault._replace(text=f"email: {fault.text}{f' (in part {path})' if path else ''}")


def _headed(message: Message) -> tuple[Message, bytes]:
    """Return the message and the bytes before its header.

    email takes a `>From ` line or a byte order mark before the header for the body.
    """
    if message.keys() or message.is_multipart():
        return message, b""
    data = bytes(message.get_payload(decode=True) or b"")
    before = _BEFORE.match(data)
    if before is None or not before.end():
        return message, b""
    return _parsed(data[before.end() :]), before[0]


def _of_parts_that_links_name(one: Entity, other: Entity) -> Iterator[Fault]:
    """Yield a difference for each link that no longer leads to a part of the message (RFC 2557 8.3).

    Both entities are walked without a URL: a reader has only what the message records.
    """
    for old, new in zip(_links(one), _links(other), strict=False):
        if old.context.how_held(old.target) is not None and new.context.how_held(new.target) is None:
            words = f"{shown(old.reference)} led to a part of the message, {shown(new.reference)} leads to none"
            yield _in_part(Fault("target", words), one.path)
    for inner, its in zip(inners(one), inners(other), strict=False):
        yield from _of_parts_that_links_name(inner.entity, its.entity)


def _links(entity: Entity) -> Iterator[Resolved]:
    return (Resolved(entity, event) for event in entity.events if isinstance(event, Link))
