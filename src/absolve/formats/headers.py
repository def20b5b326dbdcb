"""Header fields of mail and HTTP messages: split a header into fields, and find its links and base claims.

Also the headers of the records of WARC files (ISO 28500:2017 4 and 5), which have such fields, and of ARC files (ARC
File Format, versions 1 and 2), which have one line.

In: the bytes of a message and the offset of its header. Out: a `Field` with the span of its value for each header field
(RFC 5322 2.2, RFC 9112 5), the offset of the body, and `BaseClaim`, `Link` and `Finding` values (RFC 1808 3.1, RFC 2557
4.2). `FieldText` is the `Coding` of a reference in a field value: folding and encoded words (RFC 2047). Of a record:
its URL, type, media type and fields, and the span of its block.
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.errors import WalkError
from absolve.core.model import BY_DEFAULT, BaseClaim, Finding, Layer, Link, LinkSite
from absolve.encodings.charsets import UTF_8, for_any, lookup
from absolve.encodings.codings import to_utf8
from absolve.encodings.offset_map import Decoded, replaced
from absolve.formats.grammars import GRAMMARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import cython

    from absolve.core.protocols import Offsets


# Fields that state a base, in order of preference (RFC 1808 3.1 and 3.2; RFC 2110 4.2, RFC 2557 4.2).
BASES: Final = {"base": "Base", "content-base": "Content-Base", "content-location": "Content-Location"}

_CONTENT_LOCATION: Final = LinkSite("header", "content-location", kind="metadata", against="header")

_OF_BOTH: Final[dict[str, LinkSite]] = {
    place.attribute: place
    for place in (
        LinkSite("header", "base", against="own"),
        LinkSite("header", "content-base", against="own"),
        _CONTENT_LOCATION,
        LinkSite("header", "link", "link", "metadata"),
        LinkSite("header", "refresh", "refresh", "navigation"),
        LinkSite("header", "sourcemap"),
    )
}
# RFC 2369 3; RFC 5064 2
_OF_LISTS: Final = ("help", "unsubscribe", "subscribe", "post", "owner", "archive")
# In mail, `Location` is often a town, so its syntax is "likely".
OF_MAIL: Final[dict[str, LinkSite]] = {
    **_OF_BOTH,
    "location": LinkSite("header", "location", "likely", "navigation"),
    **{
        name: LinkSite("header", name, "bracketed", "navigation")
        for name in (*(f"list-{name}" for name in _OF_LISTS), "archived-at")
    },
}
OF_HTTP: Final[dict[str, LinkSite]] = {
    **_OF_BOTH,
    "location": LinkSite("header", "location", kind="navigation"),
    "x-sourcemap": LinkSite("header", "x-sourcemap"),
    # Read before any base element, against the URL of the response (Reporting API; HTML Standard 7.4.4; CSP 3 6.5.1).
    **{
        name: LinkSite("header", name, syntax, kind, against="own")
        for name, syntax, kind in (
            ("reporting-endpoints", "strings", "other"),
            ("report-to", "endpoints", "other"),
            ("speculation-rules", "strings", "script"),
            ("content-security-policy", "reports", "other"),
            ("content-security-policy-report-only", "reports", "other"),
        )
    },
}


class Field:
    """One header field: its name in lower case, its byte offset, and the span of its value.

    The span excludes white space around the value; it includes folded lines.
    """

    def __init__(
        self, name: str, position: cython.Py_ssize_t, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> None:
        self.name = name
        self.position = position
        self.start = start
        self.end = end


MOST_FIELDS: Final = 10_000  # in one header; servers accept a hundred or two
_BLANKS: Final = b"\t\n\r "
# Cache of frequent names in frequent spellings -> lower case as str; other names are converted each time.
_spellings = {
    spelt: name.decode().lower()
    for name in (
        b"Accept-Ranges Age Cache-Control Connection Content-Encoding Content-Length Content-Location Content-Type"
        b" Date ETag Expires Last-Modified Link Location Pragma Server Set-Cookie Strict-Transport-Security"
        b" Transfer-Encoding Vary Via X-Content-Type-Options X-Frame-Options X-Powered-By"
        b" WARC-Block-Digest WARC-Concurrent-To WARC-Date WARC-IP-Address WARC-Payload-Digest WARC-Profile"
        b" WARC-Record-ID WARC-Refers-To WARC-Refers-To-Date WARC-Refers-To-Target-URI WARC-Target-URI WARC-Type"
        b" WARC-Warcinfo-ID"
    ).split()
    for spelt in (name, name.lower())
}
_NAMES = _spellings


def fields(
    data: bytes, start: cython.Py_ssize_t = 0, *, skip: cython.bint = False, most: cython.Py_ssize_t = MOST_FIELDS
) -> tuple[list[Field], int]:
    r"""Return the header fields from an offset on, and the offset of the body.

    A line that is not a field ends the header and begins the body; with `skip`, such lines are ignored. Raise WalkError
    (too-many-fields) for more than `most` fields.

    >>> found, body = fields(b"Link: <a>\r\nAge: 1\r\n\r\n<p>")
    >>> [(field.name, field.start, field.end) for field in found], body
    ([('link', 6, 9), ('age', 16, 17)], 21)
    """
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    i: cython.Py_ssize_t
    name_end: cython.Py_ssize_t
    end: cython.Py_ssize_t
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    found: list[Field] = []
    while start < n:
        i = start
        # RFC 5322 3.6.8: a name is printable ASCII without the colon; 4.5.8: blanks before the colon are obsolete.
        while i < n and 33 <= p[i] <= 126 and p[i] != 58:
            i += 1
        name_end = i
        while i < n and p[i] in (9, 32):
            i += 1
        if name_end > start and i < n and p[i] == 58:
            first = i + 1
            end = byte_scan.find(p, 10, first, n)
            # A line that begins with a blank continues the field (2.2.3; RFC 9112 5.2).
            while 0 <= end < n - 1 and p[end + 1] in (9, 32):
                end = byte_scan.find(p, 10, end + 1, n)
            if end < 0:
                end = n
            while first < end and p[first] in (9, 10, 13, 32):
                first += 1
            if first == end:  # only white space: the empty value is on the field's first line
                first = i + 1
                while first < end and p[first] in (9, 32):
                    first += 1
                last = first
            else:
                last = end
            while last > first and p[last - 1] in (9, 10, 13, 32):
                last -= 1
            if len(found) == most:
                raise too_many(most, start)
            raw: bytes = p[start:name_end]
            name = _NAMES.get(raw)
            found.append(_field(name if name is not None else raw.decode("ascii").lower(), start, first, last))
            start = min(end + 1, n)
        elif p[start] == 10:
            return found, start + 1
        elif p[start] == 13 and start + 1 < n and p[start + 1] == 10:
            return found, start + 2
        elif skip:
            end = byte_scan.find(p, 10, start, n)
            start = end + 1 if end >= 0 else n
        else:
            break
    return found, start


def too_many(most: int, position: int) -> WalkError:
    """Return the error for a header with more fields than this."""
    return WalkError("too-many-fields", f"a header of more than {most} fields", position)


def _field(name: str, position: cython.Py_ssize_t, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Field:
    """Create a field without a Python call, which would box its integers."""
    field: Field = Field.__new__(Field)
    field.name = name
    field.position = position
    field.start = start
    field.end = end
    return field


_FOLD: Final = re.compile(rb"\r?\n(?=[\t ])")


def value(data: bytes, field: Field) -> str:
    """Return a field's value as text, unfolded (RFC 5322 2.2.3); bytes that are not UTF-8 become lone surrogates."""
    p: cython.p_const_uchar = data
    raw: bytes = p[field.start : field.end]
    if 10 in raw:
        decoded: Decoded = Decoded(raw, mapped=False)
        for fold in _FOLD.finditer(raw):
            decoded.unit(fold.start(), fold.end(), b"")
        raw = decoded.whole()[0]
    return raw.decode("ascii") if raw.isascii() else raw.decode("utf-8", "surrogateescape")


def first(data: bytes, found: Sequence[Field], name: str) -> str | None:
    """Return the value of the first field with this name (in lower case), or None."""
    field: Field
    for field in found:
        if field.name == name:
            return value(data, field)
    return None


def named(found: Sequence[Field], name: str) -> list[Field]:
    """Return the fields with this name (in lower case)."""
    field: Field
    kept: list[Field] = []
    for field in found:
        if field.name == name:
            kept.append(field)  # noqa: PERF401 - a comprehension has no C types
    return kept


# --- references -------------------------------------------------------------------------------------------------------

_FOLDED: Final = rb"(?<![\t ])[\t ]*+\r?\n[\t ]++"
_WORD: Final = rb"=\?([!#$%&'+0-9A-Z^_`a-z{|}~-]++)(?:\*[^?\s]*+)?\?([BQbq])\?([^?\s]*+)\?="  # RFC 2047 2
_UNIT: Final = re.compile(_FOLDED)
_UNIT_OR_BLANK: Final = re.compile(rb"[\t\n\r ]++")
_UNIT_OR_WORD: Final = re.compile(rb"%b|(?<=\?=)[\t ]++(?==\?)|%b" % (_FOLDED, _WORD))
_UNSAFE: Final = re.compile(rb"[\x00-\x20\x22<>\x7f-\xff]")
_UNSAFE_IN_WORD: Final = re.compile(rb"[^!*+0-9A-Za-z/-]")


class FieldText:
    """The `Coding` of a reference in a header field; decoding removes folding with its blanks (RFC 2557 4.4.2).

    `unit` matches the bytes that do not decode to themselves. Encoding percent-escapes characters that a header field
    does not allow, or that would end the URL there.
    """

    __slots__ = ("_unit",)
    slot: tuple[int, int] | None = None

    def __init__(self, unit: re.Pattern[bytes]) -> None:
        self._unit = unit

    def decode(self, raw: bytes) -> bytes:
        return replaced(self._unit, _meaning, raw)

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        decoded = Decoded(raw)
        for unit in self._unit.finditer(raw):
            decoded.unit(unit.start(), unit.end(), _meaning(unit))
        return decoded.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - of the protocol
        value = replaced(_UNSAFE, lambda found: b"%%%02X" % found[0][0], value)
        if self._unit is _UNIT_OR_WORD and after.startswith(b"=?"):  # RFC 2047 5: a blank separates encoded words
            return b"=?utf-8?Q?%b?= " % _UNSAFE_IN_WORD.sub(lambda found: b"=%02X" % found[0][0], value)
        return value


def _meaning(unit: re.Match[bytes]) -> bytes:
    """Return the value of a unit: the text of an encoded word in UTF-8; nothing for folding and blanks."""
    if unit.re is not _UNIT_OR_WORD or unit[2] is None:
        return b""
    label, encoding, text = unit.groups()
    charset = lookup(label.decode("ascii")) or UTF_8
    try:
        if encoding in b"Qq":  # RFC 2047 4.2
            return to_utf8(charset, binascii.a2b_qp(text, header=True))
        return to_utf8(charset, binascii.a2b_base64(text))
    except (binascii.Error, UnicodeError):
        return unit[0]


def words(text: str) -> str:
    """Return a value with its encoded words decoded (RFC 2047): for example, `café` for `=?utf-8?q?caf=C3=A9?=`."""
    if "=?" not in text:
        return text
    return _ENCODED.decode(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


_PLAIN: Final = FieldText(_UNIT)
_BRACKETED: Final = FieldText(_UNIT_OR_BLANK)  # RFC 1808 3.1, RFC 1738 appendix: <URL:...>, blanks inside are ignored
_ENCODED: Final = FieldText(_UNIT_OR_WORD)
_OPENING: Final = re.compile(rb"<[\t\n\r ]*+(?:[Uu][Rr][Ll]:[\t\n\r ]*+)?|\"[\t\n\r ]*+")


def policies(data: bytes, fields: Sequence[Field]) -> list[BaseClaim]:
    """Return the Content-Security-Policies that may forbid a base element, as claims that add no base layer."""
    found = [(field, value(data, field)) for field in named(fields, "content-security-policy")]
    return [
        BaseClaim(BY_DEFAULT, policy, "Content-Security-Policy header", field.start)
        for field, text in found
        for policy in (text.split(",") if "base-uri" in text.lower() else ())
    ]


def links(
    data: bytes, found: Sequence[Field], places: Mapping[str, LinkSite], bases: Sequence[str]
) -> Iterable[BaseClaim | Link | Finding]:
    """Return the base claims of the fields named in `bases`, in its order, then the links in field order.

    `places` maps a field name to its `LinkSite`; other fields are ignored. A malformed field yields a Finding, first.
    """
    field: Field
    kept: list[Field] = []
    for field in found:
        if field.name in places:
            kept.append(field)  # noqa: PERF401 - a comprehension has no C types
    return _links(data, kept, places, bases) if kept else ()


_CONTROL: Final = re.compile(rb"[\r\0]")
_BARE_BEHIND: Final = re.compile(rb"[\t ]*+\r(?!\n)")


def _is_malformed(data: bytes, field: Field) -> bool:
    """Return whether a field has a bare CR or a NUL: some readers end the field there (RFC 9110 5.5)."""
    found = _CONTROL.finditer(data, field.position, field.end)
    inside = any(one[0] == b"\0" or data[one.end() : one.end() + 1] != b"\n" for one in found)
    return inside or _BARE_BEHIND.match(data, field.end) is not None


def _links(
    data: bytes, found: Sequence[Field], places: Mapping[str, LinkSite], bases: Sequence[str]
) -> Iterator[BaseClaim | Link | Finding]:
    whole: list[Field] = []
    for field in found:
        if _is_malformed(data, field):
            text = "a header field with a bare CR or a NUL is left as it is"
            yield Finding("malformed-field", text, field.position)
        else:
            whole.append(field)
    claims: dict[int, BaseClaim] = {}
    for name in bases:
        for field in whole:
            if field.name == name:
                start, end, coding = _one_url(data, field)
                reference = coding.decode(data[start:end]).decode("utf-8", "surrogateescape")
                claims[field.position] = BaseClaim(Layer.EMBEDDED, for_any(reference), f"{BASES[name]} header", start)
    yield from claims.values()
    for field in whole:
        place = places[field.name]
        if place.syntax == "url":
            yield Link(place, *_one_url(data, field), claim=claims.get(field.position))
        else:
            yield from _listed(data, field, place)


def _one_url(data: bytes, field: Field) -> tuple[int, int, FieldText]:
    """Return the span of the only URL in a field, and its coding: for example, `http://h/` in `<URL:http://h/>`."""
    raw = data[field.start : field.end]
    opening = _OPENING.match(raw)
    if opening is None:
        return field.start, field.end, _ENCODED if b"=?" in raw and field.name == "content-location" else _PLAIN
    quoted = raw[0] == ord(b'"')
    end = raw.find(b'"' if quoted else b">", opening.end())
    inner = raw[opening.end() : end if end >= 0 else len(raw)]
    start = field.start + opening.end()
    return start, start + len(inner.rstrip(_BLANKS)), _PLAIN if quoted else _BRACKETED


def _listed(data: bytes, field: Field, place: LinkSite) -> Iterator[Link | Finding]:
    """Yield the links in a field, by the grammar of its `LinkSite.syntax`: for example, two in `Link: <a>, <b>`."""
    coding = _BRACKETED if place.syntax == "bracketed" else _PLAIN
    text, offsets = _PLAIN.decode_mapped(data[field.start : field.end])
    if place.syntax == "bracketed" and text.startswith(b"=?"):
        yield Finding("malformed-field", "a field of URLs in encoded words is left as it is", field.position)
    for start, end in GRAMMARS[place.syntax](text):
        yield Link(place, field.start + offsets.start(start), field.start + offsets.end(end), coding)


# --- records of WARC and ARC files ---------------------------------------------------------------------------------

LONGEST_HEAD: Final = 1 << 20  # maximum bytes of a record's header
LONGEST_LINE: Final = 1 << 16  # maximum bytes of an ARC record's header
_DIGITS = 18  # maximum digits of the length of a block


class Record:
    """The header of one record: its URL, its type, its fields (WARC only), and the span of its block.

    `kind` is WARC-Type in lower case; for ARC it is "arc", or "filedesc" for the version block. `size` is the span of
    the number that states the length of the block, `block` and `end` are the block's span, all as byte offsets.
    """

    def __init__(
        self, url: str, kind: str, media_type: str, fields: list[Field], size: tuple[int, int], block: int, end: int
    ) -> None:
        self.url = url
        self.kind = kind
        self.media_type = media_type
        self.fields = fields
        self.size = size
        self.block = block
        self.end = end


def version_end(data: bytes, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
    r"""Return the end offset of the version line at `start`, WARC/[0-9]\.[0-9]+[\t ]*\r?\n; -1 for any other line."""
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    i: cython.Py_ssize_t = start + 8
    if i >= n or p[start] != 87 or p[start + 1] != 65 or p[start + 2] != 82 or p[start + 3] != 67:
        return -1
    if p[start + 4] != 47 or not (_is_digit(p[start + 5]) and p[start + 6] == 46 and _is_digit(p[start + 7])):
        return -1
    while i < n and _is_digit(p[i]):
        i += 1
    while i < n and (p[i] == 32 or p[i] == 9):
        i += 1
    if i < n and p[i] == 13:
        i += 1
    return i + 1 if i < n and p[i] == 10 else -1


def head_end(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end offset of the first empty line in a span that includes the LF before it; -1 without one."""
    p: cython.p_const_uchar = data
    end = min(end, len(data))
    while True:
        start = byte_scan.find(p, 10, start, end) + 1
        if start <= 0 or start >= end:
            return -1
        if p[start] == 10:
            return start + 1
        if p[start] == 13 and start + 1 < end and p[start + 1] == 10:
            return start + 2


def _is_digit(byte: cython.int) -> cython.bint:
    return 48 <= byte <= 57


def record_at(data: bytes, start: cython.Py_ssize_t) -> Record | None:
    """Return the record whose header begins at `start`; None without a header, or if it is incomplete."""
    line: cython.Py_ssize_t = version_end(data, start)
    return _warc_record(data, start, line) if line >= 0 else arc_record(data, start)


def _warc_record(data: bytes, start: cython.Py_ssize_t, line: cython.Py_ssize_t) -> Record | None:
    """Parse a WARC record (ISO 28500:2017 4): version line (it ends at `line`), named fields, empty line, block."""
    field: Field
    size: Field | None = None
    if head_end(data, line - 1, start + LONGEST_HEAD) < 0:
        return None
    found, block = fields(data, line, skip=True, most=LONGEST_HEAD)
    for field in found:
        if field.name == "content-length":
            size = field
            break
    if size is None or size.end - size.start > _DIGITS or not data[size.start : size.end].isdigit():
        return None
    url = (first(data, found, "warc-target-uri") or "").removeprefix("<").removesuffix(">")
    kind = (first(data, found, "warc-type") or "").lower()
    media_type = first(data, found, "content-type") or ""
    end = block + int(data[size.start : size.end])
    return Record(url, kind, media_type, found, (size.start, size.end), block, end)


_DATE: Final = re.compile(rb"[0-9]{8,17}")
_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*+:")


def arc_record(data: bytes, start: cython.Py_ssize_t) -> Record | None:
    r"""Parse an ARC record (ARC File Format of the Internet Archive): one line, URL first, length of the block last.

    Return None where there is no such line.

    >>> record = arc_record(b"http://h/ 192.0.2.1 20200102030405 text/html 3\n<p>\n", 0)
    >>> record.url, record.kind, record.media_type, record.size, record.block, record.end
    ('http://h/', 'arc', 'text/html', (45, 46), 47, 50)
    """
    if not _SCHEME.match(data, start):
        return None
    line_end = data.find(b"\n", start, start + LONGEST_LINE)
    words = data[start:line_end].rstrip(b"\r").split(b" ") if line_end >= 0 else []
    if len(words) < 5 or not words[-1].isdigit() or len(words[-1]) > _DIGITS:
        return None
    if _DATE.fullmatch(words[-3]):  # version 1: URL (which may have spaces), address, date, type, length
        url, media_type = words[:-4], words[-2]
    elif len(words) >= 10 and _DATE.fullmatch(words[-8]):  # version 2: five more fields before the length
        url, media_type = words[:-9], words[-7]
    else:
        return None
    text = b" ".join(url).decode("utf-8", "surrogateescape")
    size_end = start + len(b" ".join(words))
    kind = "filedesc" if text.startswith("filedesc:") else "arc"
    size = (size_end - len(words[-1]), size_end)
    return Record(text, kind, media_type.decode("latin-1"), [], size, line_end + 1, line_end + 1 + int(words[-1]))
