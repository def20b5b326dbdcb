"""Find the responses in HTTP Archives (HAR 1.2); the rest of the JSON is left unchanged.

In: the bytes of a HAR file, or of one entry. Out: for the file, a part for each entry, with the URL of its request as
the retrieval URL (RFC 1808 3.3); for an entry, the links and base claims in the response's header fields, its
`redirectURL`, and its body as a part. An entry does not encapsulate its response (3.2), as a WARC record does not.
"""

from __future__ import annotations

import binascii
from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError, WalkError
from absolve.core.lazy_regex import pattern
from absolve.core.model import BaseClaim, Capture, Derived, Finding, Layer, Link, LinkSite, Part
from absolve.encodings.codings import IDENTITY
from absolve.formats import headers, registry, sniffing
from absolve.formats.compression import CODINGS, MOST_CODINGS, SIGNATURES, Unread, listed, too_many
from absolve.formats.events import EventList
from absolve.formats.http import Stack, sniffed
from absolve.formats.json.tokens import STRING, Value, values
from absolve.formats.mail.codings import Base64, LooseBase64

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.model import Event
    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
    from absolve.formats.json.tokens import Path


_BASES: Final = ("base", "content-base")  # as in HTTP
_REDIRECT: Final = LinkSite("response", "redirectURL", kind="navigation")
_MOST_BROKEN: Final = 100  # entries that are no objects and are reported
_GUESSED: Final = frozenset({"", "x-unknown", "text/plain"})  # media types that programs write for unknown content
_PARTIAL: Final = "206"
_LONGEST_STATUS: Final = 3  # digits
_LONGEST_NUMBER: Final = 16

_URL: Final = ("request", "url")
_HEADERS: Final = ("response", "headers")
_REDIRECT_URL: Final = ("response", "redirectURL")
_STATUS: Final = ("response", "status")
_MEDIA_TYPE: Final = ("response", "content", "mimeType")
_TEXT: Final = ("response", "content", "text")
_ENCODING: Final = ("response", "content", "encoding")
_SIZE: Final = ("response", "content", "size")
_BODY_SIZE: Final = ("response", "bodySize")
_DATE: Final = ("startedDateTime",)
_METHOD: Final = ("request", "method")
_KNOWN: Final = frozenset({_REDIRECT_URL, _STATUS, _MEDIA_TYPE, _TEXT, _ENCODING, _SIZE, _BODY_SIZE, _DATE, _METHOD})
_FILE: Final = ("response", "content", "_file")  # Playwright's
# Values that show whether an entry has its body and its URL, with their kinds.
_LOOKED_AT: Final[dict[Path, str]] = {
    **dict.fromkeys((_URL, _REDIRECT_URL, _MEDIA_TYPE, _TEXT, _FILE), "string"),
    _SIZE: "word",
}
_PLAIN: Final = frozenset({"string", "word"})  # kinds of values that contain no others


def walk(data: bytes, _charset: Charset, _options: WalkOptions) -> EventList:
    """Return a part for each entry: for example, for `{"log": {"entries": [{"request": {"url": "http://h/"}, ...}]}}`.

    Raise WalkError for malformed JSON, or without an array `log.entries`.
    """
    known: dict[Path, Value] = {}  # of the entry
    is_log = False
    number = broken = left_out = 0
    events = EventList()
    for found in values(data):
        if isinstance(found, Finding):  # the meaning of malformed JSON is uncertain
            raise WalkError(found.code, found.text, found.position)
        path = found.path
        is_log = is_log or (path == ("log", "entries") and found.kind == "array")
        if path[:2] != ("log", "entries") or len(path) < 3 or found.is_key:
            continue
        if found.kind == _LOOKED_AT.get(path[3:]):
            known[path[3:]] = found
        elif len(path) == 3:
            number += 1
            name = f"entry[{number}]"
            if found.kind == "object":
                left_out += _is_left_out(data, known)
                text = _text(data, known.get(_URL))
                claims = [BaseClaim(Layer.RETRIEVAL, text, "HAR entry's request URL")] if text else []
                span = found.start, found.end
                events.append(Part(registry.HAR_ENTRY, *span, IDENTITY, name, claims=claims, encloses=False))
            else:
                broken += 1
                if broken <= _MOST_BROKEN:
                    more = "; further ones are not reported" if broken == _MOST_BROKEN else ""
                    finding = _broken(f"{name}: an entry is", found, "an object")
                    events.append(finding._replace(text=finding.text + more))
            known = {}
    if not is_log:
        raise WalkError("no-har", "this JSON is no HTTP Archive: it has no list of entries in a log")
    if left_out:
        bodies = "1 body is" if left_out == 1 else f"{left_out} bodies are"
        text = f"{bodies} not in this archive, which has only their sizes or names: links in them are not read"
        events.append(Finding("partial", text, 0))
    return events


def _is_left_out(data: bytes, known: dict[Path, Value]) -> bool:
    """Return whether an entry lacks a response body whose type may have links; a redirect needs no body."""
    text, redirect = known.get(_TEXT), known.get(_REDIRECT_URL)
    if any(one is not None and one.start < one.end for one in (text, redirect)):
        return False
    media_type = _text(data, known.get(_MEDIA_TYPE))
    has_body = _FILE in known or _text(data, known.get(_SIZE)).strip("0").isdecimal()
    return has_body and (registry.is_read(media_type) or media_type in {"", "x-unknown"})


def walk_entry(data: bytes, _charset: Charset, options: WalkOptions) -> Iterator[Event]:
    """Yield the links and base claims in a response's header fields, its `redirectURL`, and its body as a part.

    A value that is null counts as missing.
    """
    known: dict[Path, Value] = {}
    field: dict[str, Value] = {}
    fields: list[tuple[str, Value]] = []
    every: list[tuple[str, str]] = []  # with `captures`
    names: list[str] = []  # of content codings
    stated: Value | None = None  # the Content-Type
    present: set[Path] = set()
    for found in values(data):
        if isinstance(found, Finding) or found.is_key:
            continue
        path = found.path
        if len(path) == 1:
            present.add(path)
        if (fault := _fault(data, found)) is not None:
            yield fault
        if path in _KNOWN and found.kind in _PLAIN and not _is_null(data, found):
            known[path] = found
        elif path[:2] != _HEADERS or len(path) < 3 or not isinstance(path[2], int):
            continue
        elif len(path) == 4 and found.kind in _PLAIN:
            field[str(path[3])] = found
        elif len(path) == 3:
            name = _text(data, field.get("name")).lower()
            if name == "content-type" and _text(data, field.get("value")):
                stated = field["value"]
            if name == "content-encoding":
                names += listed(_text(data, field.get("value")))
            if options.captures:
                if not field.keys() >= {"name", "value"}:
                    raise WalkError("broken-entry", "a header field lacks its name or its value", found.start)
                every.append((name, _text(data, field["value"])))
            if name in headers.OF_HTTP and "value" in field and field["value"].kind == "string":
                if len(fields) == headers.MOST_FIELDS:
                    raise headers.too_many(headers.MOST_FIELDS, found.start)
                fields.append((name, field["value"]))
            field = {}
    if stated is not None and registry.essence_of(_text(data, known.get(_MEDIA_TYPE)))[0] in _GUESSED:
        known[_MEDIA_TYPE] = stated
    for path in _REQUIRED:
        if path not in present:
            yield Finding("broken-entry", f"its {path[0]} is missing", 0, failed=True)
    yield from _header(data, fields)
    redirect = known.get(_REDIRECT_URL)
    if redirect is not None and redirect.kind == "string" and redirect.start < redirect.end:  # "" is no redirect
        yield Link(_REDIRECT, redirect.start, redirect.end, STRING)
    if options.documents:
        facts = _capture(data, known)
        yield _all_facts(data, known, facts, tuple(every)) if options.captures else facts
    yield from _body(data, known, names, options)


# Values of an entry whose kind matters, with a phrase for each; the values that HAR 1.2 requires.
_KINDS: Final[dict[Path, tuple[str, str]]] = {
    ("request",): ("its request is", "an object"),
    ("response",): ("its response is", "an object"),
    _URL: ("the URL of its request is", "a string"),
    _HEADERS: ("its headers are", "an array"),
    ("response", "content"): ("its content is", "an object"),
    _TEXT: ("the text of its content is", "a string"),
}
_REQUIRED: Final = (("request",), ("response",))
_IN_WORDS: Final = {"array": "an array", "object": "an object", "string": "a string"}


def _broken(words: str, found: Value, wanted: str) -> Finding:
    text = f"{words} {_IN_WORDS.get(found.kind, 'a number or word')}, not {wanted}"
    return Finding("broken-entry", text, found.start, failed=True)


def _fault(data: bytes, found: Value) -> Finding | None:
    """Return the fault of a value whose kind is not as HAR 1.2 requires; null counts as missing."""
    if found.path not in _KINDS or found.is_key:
        return None
    words, wanted = _KINDS[found.path]
    is_missing = found.path not in _REQUIRED and _is_null(data, found)
    return None if is_missing or _IN_WORDS.get(found.kind) == wanted else _broken(words, found, wanted)


def _is_null(data: bytes, found: Value) -> bool:
    return found.kind == "word" and data[found.start : found.end] == b"null"


def _capture(data: bytes, known: dict[Path, Value]) -> Capture:
    """Return the facts that the entry states about its response."""
    status = _text(data, known.get(_STATUS))
    return Capture(
        int(status) if status.isdecimal() and status.isascii() and len(status) <= _LONGEST_STATUS else None,
        _text(data, known.get(_DATE)),
        _text(data, known.get(_MEDIA_TYPE)),
        0 if _text(data, known.get(_SIZE)) == "0" else None,
        _text(data, known.get(_METHOD)),
    )


def _all_facts(data: bytes, known: dict[Path, Value], facts: Capture, fields: tuple[tuple[str, str], ...]) -> Capture:
    """Return the facts with everything that an entry states. Raise WalkError for a status outside HTTP's range."""
    if facts.status is None and _text(data, known.get(_STATUS)):
        raise WalkError("broken-entry", "its status is none of HTTP")
    paths = (_SIZE,) if _text(data, known.get(_TEXT)) else (_SIZE, _BODY_SIZE)
    sizes = [_text(data, known.get(path)) for path in paths]
    length = next((int(size) for size in sizes if size.isdecimal() and len(size) < _LONGEST_NUMBER and int(size)), 0)
    redirect = _text(data, known.get(_REDIRECT_URL))
    return facts._replace(status=facts.status or 0, fields=fields, redirect=redirect, length=length)


def _text(data: bytes, found: Value | None) -> str:
    if found is None or found.kind == "key":
        return ""
    return STRING.decode(data[found.start : found.end]).decode("utf-8", "surrogateescape")


# --- the header -------------------------------------------------------------------------------------------------------


class _Values:
    """The decoded values of header fields in one buffer, one per line; `outside` maps offsets back to the entry."""

    def __init__(self) -> None:
        self.text = bytearray()
        self._starts: list[int] = []
        self._places: list[tuple[int, Offsets | None]] = []

    def add(self, data: bytes, found: Value) -> tuple[int, int]:
        """Append a value and return its span in the buffer, without white space around it."""
        value, offsets = STRING.decode_mapped(data[found.start : found.end])
        start = len(self.text)
        self._starts.append(start)
        self._places.append((found.start, offsets))
        self.text += value
        self.text += b"\n"
        bare = value.lstrip()
        first = start + len(value) - len(bare)
        return first, first + len(bare.rstrip())

    def whole(self) -> bytes:
        """Return the buffer's bytes and clear it; call this after the last `add`."""
        text = bytes(self.text)
        self.text.clear()
        return text

    def outside(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of the buffer to the entry."""
        index = bisect_right(self._starts, start) - 1
        by, offsets = self._places[index]
        start, end = start - self._starts[index], end - self._starts[index]
        if offsets is None:
            return by + start, by + end
        first = offsets.start(start)
        return by + first, by + (offsets.end(end) if end > start else first)


def _header(data: bytes, fields: list[tuple[str, Value]]) -> Iterator[BaseClaim | Link | Finding]:
    """Yield the events of the fields as `headers.links` does for an HTTP message, with offsets in the entry."""
    values_ = _Values()
    found: list[headers.Field] = []
    for name, value in fields:
        start, end = values_.add(data, value)
        found.append(headers.Field(name, start, start, end))
    claims: dict[int, BaseClaim] = {}
    codings: dict[int, Coding] = {}  # one per coding of a field value, shared by thousands of links
    for event in headers.links(values_.whole(), found, headers.OF_HTTP, _BASES):
        if isinstance(event, BaseClaim):
            position = values_.outside(event.position or 0, event.position or 0)[0]
            claims[id(event)] = event._replace(position=position)
            yield claims[id(event)]
        elif isinstance(event, Finding):
            yield event._replace(position=values_.outside(event.position, event.position)[0])
        else:
            claim = claims[id(event.claim)] if event.claim is not None else None
            start, end = values_.outside(event.start, event.end)
            coding = codings.setdefault(id(event.coding), Stack([STRING, event.coding]))
            yield Link(event.place, start, end, coding, claim=claim)


# --- the body ---------------------------------------------------------------------------------------------------------


def _body(data: bytes, known: dict[Path, Value], names: list[str], options: WalkOptions) -> Iterator[Part | Finding]:
    """Yield the content of a response as a part: text, which HAR stores decoded, or bytes in base64.

    For example, `"text": "PHA+", "encoding": "base64"` is the document `<p>`. `names` are the header's content codings,
    which may still be applied. Yield nothing for a media type without a walker, and only a Finding for a partial
    response (206) or an unknown encoding.
    """
    text = known.get(_TEXT)
    if text is None or text.kind != "string" or text.start == text.end:
        return
    media_type = _text(data, known.get(_MEDIA_TYPE))
    raw = data[text.start : text.end]
    if options.captures or not registry.is_read(media_type):
        if options.captures or media_type not in {"", "x-unknown"}:
            if options.documents:
                yield _unread(raw, media_type, text, _text(data, known.get(_ENCODING)).lower(), names, options)
            return
        media_type = ""
    if _text(data, known.get(_STATUS)) == _PARTIAL:
        yield Finding("partial", "this body is a part of a document, and stays as it is", text.start)
        return
    encoding = _text(data, known.get(_ENCODING)).lower()
    if encoding not in {"", "base64"}:
        words = f"encoding {encoding[:40]!r}: none that absolve reads; this body is left as it is"
        yield Finding("unknown-encoding", words, text.start, failed=True)
        return
    stored = _storage(raw, encoding)
    compressed = _left_in(raw, names, options, is_text=len(stored) == 1, by_magic=True)
    coding: Coding = Stack([*stored, *compressed]) if len(stored) > 1 or compressed else STRING
    if not media_type:
        media_type = sniffed(raw, coding)
    essence = registry.canonical(registry.essence_of(media_type)[0])
    walker = registry.WALKERS.get(essence)
    is_text = coding is STRING and walker is not None and walker.charset != "none"
    size = known.get(_SIZE)
    derived: list[Derived] = []
    if size is not None:
        as_bytes = Stack([*stored, *(one for one in compressed if isinstance(one, _Characters))])
        renew = partial(_size, data[size.start : size.end], raw, (coding, as_bytes))
        derived = [Derived(size.start, size.end, renew)]
    yield Part(
        essence if is_text else media_type,
        text.start,
        text.end,
        coding,
        name="body",
        own_charset=not is_text,
        encloses=False,
        derived=derived,
    )


def _unread(raw: bytes, media_type: str, text: Value, encoding: str, names: list[str], options: WalkOptions) -> Part:
    """Return the content of any media type, for the table of documents and for mirrors."""
    coding: Coding = Unread(encoding)
    own_charset = bool(encoding)
    if encoding in {"", "base64"}:
        stored = _storage(raw, encoding, loose=options.captures)
        by_magic = registry.is_read(media_type)
        compressed = _left_in(raw, names, options, is_text=len(stored) == 1, by_magic=by_magic)
        coding = Stack([*stored, *compressed]) if len(stored) > 1 or compressed else STRING
        own_charset = coding is not STRING
    return Part(media_type, text.start, text.end, coding, name="body", own_charset=own_charset, encloses=False)


def _size(old: bytes, raw: bytes, codings: tuple[Coding, ...], new: bytes) -> bytes:
    """Return the new `size`, the content's length in bytes, if the old one was right; else `old`.

    For example, `7` becomes `12` if the body had 7 bytes and now has 12. `codings` are the forms that `size` may count,
    such as the compressed bytes. For text in another charset the length in bytes is unknown, and `old` stays.
    """
    for one in codings:
        if old == b"%d" % len(one.decode(raw)):
            return b"%d" % len(one.decode(new))
    return old


# --- the codings of a body --------------------------------------------------------------------------------------------
# HAR 1.2 stores bodies decoded: a JSON string, often base64. Recording proxies also store the transferred bytes, in
# base64 or as text with a character for each byte.

_TRIED: Final = 512  # bytes that show whether a body is in a coding
_MAGIC: Final = 64  # bytes that are enough for a signature
_CONTROLS: Final = bytes(set(range(0x20)) - set(b"\t\n\f\r\x1b\b"))  # as in sniffing.looks_binary
_GZIP_IN_BASE64: Final = b"H4sIA"  # the header of gzip; some programs leave `encoding` out
_NO_BASE64: Final = pattern(rb"[<{(;]")  # characters of markup, JSON, style sheets and scripts
_LOST: Final = "\ufffd"
_WINDOWS: Final = {code: number for number in range(0x80, 0xA0) if (code := bytes([number]).decode("cp1252", "ignore"))}


class _Characters:
    """Bytes stored as text, one character for each byte, in ISO 8859-1 or windows-1252: for example, `é` for 0xE9."""

    slot: tuple[int, int] | None = None
    _table: dict[str, int] | None = None  # the bytes that are not stored as ISO 8859-1

    def decode(self, raw: bytes) -> bytes:
        """Return the bytes. Raise CodingError for a character that is no byte, such as U+FFFD for a lost one."""
        text = raw.decode("utf-8", "replace")
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            self._table = _WINDOWS
        try:
            return bytes([_WINDOWS.get(character, ord(character)) for character in text])
        except ValueError as error:
            words = "this is compressed and was stored as text, in which some bytes are lost"
            raise CodingError("broken", words) from error

    def decode_mapped(self, raw: bytes) -> tuple[bytes, None]:
        return self.decode(raw), None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - of the protocol
        text = value.decode("latin-1")
        if self._table is not None:
            text = text.translate({number: character for character, number in self._table.items()})
        return text.encode()


def _storage(raw: bytes, encoding: str, *, loose: bool = False) -> list[Coding]:
    """Return the codings of a stored body: a JSON string, and base64 if `encoding` is "base64".

    Firefox says base64 also for some text that it stores unchanged (its bug 1762313).
    """
    is_base64 = encoding == "base64" and _NO_BASE64.search(raw, 0, _TRIED) is None
    if not is_base64 and not raw.startswith(_GZIP_IN_BASE64):
        return [STRING]
    return [STRING, LooseBase64() if loose else Base64(STRING.decode(raw), one_line=True)]


def _left_in(raw: bytes, names: Sequence[str], options: WalkOptions, *, is_text: bool, by_magic: bool) -> list[Coding]:
    """Return the content codings still applied to a stored body, the outermost first; an empty list for most.

    `names` are the header's content codings, in its order. `is_text`: the body is stored as a string alone.
    `by_magic`: a coding counts by its signature, even if the header does not name it.
    """
    head = _head(raw[: _TRIED if names else _MAGIC], is_text=is_text)
    signed = [name for name, magic in SIGNATURES.items() if head.startswith(magic)]
    if not head or not (names or signed):
        return []
    if len(names) > MOST_CODINGS:
        return [too_many(names[0])]
    found: list[Coding] = []
    for name in reversed(names or signed[:1]):
        coding = CODINGS[name](options.max_decompressed) if name in CODINGS else None
        if coding is not None and (found or _is_in(coding, head)):
            found.append(coding)
    if not found and by_magic and signed:
        found = [CODINGS[signed[0]](options.max_decompressed)]
    return [_Characters(), *found] if found and is_text else found


def _head(raw: bytes, *, is_text: bool) -> bytes:
    """Return the first bytes of a stored body, from the start of its string; b"" for text without controls."""
    value = STRING.decode(raw)
    if is_text:
        if len(value.translate(None, _CONTROLS)) == len(value):
            return b""
        # a byte that was lost may be any
        text = value.decode("utf-8", "ignore").replace(_LOST, "\x8b")
        return bytes([_WINDOWS.get(character, ord(character) & 255) for character in text])
    value = value.translate(None, b"\t\n\r ")
    try:
        return binascii.a2b_base64(value[: len(value) & ~3])
    except binascii.Error:
        return b""


def _is_in(coding: Coding, head: bytes) -> bool:
    """Return whether data is in a coding, by its first bytes: they decode, or they are binary and cut off."""
    try:
        coding.decode(head)
    except CodingError as error:
        return error.code != "broken" and sniffing.looks_binary(head)
    return True
