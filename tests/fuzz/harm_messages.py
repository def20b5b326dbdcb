"""Detect rewrites that changed fields, parts, records or entries, with other readers of messages and archives."""

import email
import email.policy
import gzip
import io
import logging
import re
from email.message import Message
from typing import Final

from harm_judge import HarmError, Judge
from warcio.archiveiterator import ArchiveIterator

logging.getLogger("warcio").setLevel(logging.ERROR)  # it warns of every unusual URL
_LINKS: Final = frozenset(b"base content-base content-location link location refresh sourcemap x-sourcemap".split())
_DERIVED: Final = frozenset(b"content-length content-md5 digest warc-block-digest warc-payload-digest".split())
_BRACKETS: Final = re.compile(rb"<[^>]*>")
_LABEL: Final = re.compile(rb"charset=\"?([^\s;\"]+)", re.IGNORECASE)


def mail(judge: Judge, old: bytes, new: bytes) -> None:
    """Compare fields and parts as read by Python's email, and the lines of the fields."""
    head, changed = (re.split(rb"\r?\n\r?\n", data, maxsplit=1)[0] for data in (old, new))
    fields(judge, head, changed)
    one, other = (email.message_from_bytes(data, policy=email.policy.compat32) for data in (old, new))
    _part(judge, one, other)


def _part(judge: Judge, old: Message, new: Message) -> None:
    if (old.keys() != new.keys() or old.get_content_type() != new.get_content_type() or old.is_multipart() != new.is_multipart()):
        raise HarmError(f"mail: {old.items()} became {new.items()}")
    if old.preamble != new.preamble or old.epilogue != new.epilogue:
        raise HarmError("mail: a preamble or an epilogue changed")
    for (name, value), (_, changed) in zip(old.raw_items(), new.raw_items(), strict=True):
        if value != changed and name.lower().encode() not in _LINKS | _DERIVED:
            raise HarmError(f"mail: {name}: {value!r} became {changed!r}")
    if old.is_multipart():
        one, other = old.get_payload(), new.get_payload()
        if len(one) != len(other):
            raise HarmError(f"mail: {len(one)} parts became {len(other)}")
        for part, changed in zip(one, other, strict=True):
            _part(judge, part, changed)
        return
    charset = str(old.get_param("charset", "utf-8")).lower()
    before, after = (part.get_payload(decode=True) for part in (old, new))
    assert isinstance(before, bytes)
    assert isinstance(after, bytes)
    judge.file(before, after, old.get_content_type(), charset)


def fields(judge: Judge, old: bytes, new: bytes) -> None:
    """Assert the same names in the same order; only values of links may differ."""
    one, other = (_fields(head) for head in (old, new))
    if [name for name, _ in one] != [name for name, _ in other]:
        raise HarmError(f"header: {[name for name, _ in one]} became {[name for name, _ in other]}: {new!r}")
    for (name, value), (_, changed) in zip(one, other, strict=True):
        if value == changed or name in _DERIVED:
            continue
        if name not in _LINKS:
            raise HarmError(f"header: {name!r}: {value!r} became {changed!r}")
        for control in (b"\0", b"\x1b", b"\x0e", b"\x0f"):
            if changed.count(control) > value.count(control):
                raise HarmError(f"header: {control!r} came into {name!r}: {changed!r}")
        if name == b"link":
            if _BRACKETS.sub(b"<>", value) != _BRACKETS.sub(b"<>", changed):
                raise HarmError(f"header: {value!r} became {changed!r}")
            for link, became in zip(_BRACKETS.findall(value), _BRACKETS.findall(changed), strict=True):
                judge.url(link[1:-1].decode("latin-1"), became[1:-1].decode("latin-1"))
        elif name == b"refresh":
            judge._refresh(value.decode("latin-1"), changed.decode("latin-1"))
        else:
            judge.url(_bare(value), _bare(changed))


def _bare(value: bytes) -> str:
    text = re.sub(rb"\s*[\r\n]\s*", b"", value).decode("latin-1").strip("\t ")
    found = re.fullmatch(r"<\s*(?:URL:)?(.*)>", text, re.DOTALL | re.IGNORECASE)
    return (found[1] if found else text).strip('" \t')


def _fields(head: bytes) -> list[tuple[bytes, bytes]]:
    """Return names in lower case and unfolded values; the first line that is no field is returned as a name.

    Some readers end a line at a lone CR.
    """
    found: list[tuple[bytes, bytes]] = []
    for line in re.split(rb"\r\n|\n|\r", head):
        if line[:1] in {b" ", b"\t"} and found:
            found[-1] = (found[-1][0], found[-1][1] + b"\n" + line)
            continue
        name, colon, value = line.partition(b":")
        found.append((name.strip().lower(), value.strip()) if colon else (line, b""))
    return found


def http(judge: Judge, old: bytes, new: bytes) -> None:
    """Compare the status line, the fields, and the body."""
    one, other = (re.split(rb"\r?\n\r?\n", data, maxsplit=1) for data in (old, new))
    if len(one) != len(other):
        raise HarmError(f"http: {old!r} became {new!r}")
    fields(judge, one[0], other[0])
    if len(one) > 1:
        charset = _LABEL.search(one[0])
        label = charset[1].decode().lower() if charset else "windows-1252"
        judge.file(_body(*one), _body(*other), "text/html", label)


def _body(head: bytes, body: bytes) -> bytes:
    values = dict(_fields(head))
    if values.get(b"transfer-encoding") == b"chunked":
        found, rest = b"", body
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            length = int(size.partition(b";")[0], 16)
            found, rest = found + rest[:length], rest[length + 2 :]
            if not length:
                break
        body = found
    elif b"content-length" in values and int(values[b"content-length"]) != len(body):
        raise HarmError(f"http: Content-Length {values[b'content-length']!r} of {len(body)} bytes")
    return gzip.decompress(body) if values.get(b"content-encoding") == b"gzip" else body


def warc(judge: Judge, old: bytes, new: bytes) -> None:
    """Assert the same number of records with the same fields and, except for links, blocks; warcio must agree."""
    one, other = list(_records(old)), list(_records(new))
    if len(one) != len(other):
        raise HarmError(f"warc: {len(one)} records became {len(other)}")
    for (head, block), (changed, became) in zip(one, other, strict=True):
        fields(judge, head, changed)
        if block == became:
            continue
        if b"application/http" in head:
            http(judge, block, became)
        else:
            judge.file(block, became, "text/html", _declared(block))
    if _known(old) != _known(new):
        raise HarmError("warc: warcio sees other records")


def _declared(page: bytes) -> str:
    found = re.search(rb"<meta charset=([a-z0-9-]+)>", page)
    label = found[1].decode() if found else "windows-1252"
    return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(label, label)


def _records(data: bytes) -> list[tuple[bytes, bytes]]:
    found = []
    at = 0
    while at < len(data):
        end = data.find(b"\r\n\r\n", at)
        head = data[at:end]
        size = re.search(rb"(?im)^content-length:\s*([0-9]+)\s*$", head)
        if end < 0 or size is None or not head.startswith(b"WARC/"):
            raise HarmError(f"warc: no record at {at}: {data[at : at + 100]!r}")
        start = end + 4
        found.append((head, data[start : start + int(size[1])]))
        at = start + int(size[1]) + 4
        if data[at - 4 : at] != b"\r\n\r\n":
            raise HarmError(f"warc: no record ends at {at}: {data[at - 20 : at]!r}")
    return found


def _known(data: bytes) -> list[tuple[str, str | None]]:
    try:
        return [(record.rec_type, record.rec_headers.get_header("WARC-Type")) for record in ArchiveIterator(io.BytesIO(data), no_record_parse=True)]
    except Exception:  # noqa: BLE001 - what warcio cannot read it cannot judge
        return []
