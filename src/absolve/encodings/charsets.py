"""Determine the charset of a document, and decode and encode text in it.

In: bytes, and the labels that the user, a header field or the document gives. Out: a Charset, with a Python codec.
Implements labels, names and byte order marks of the Encoding Standard, the encoding sniffing algorithm of the HTML
Standard (13.2.3.2), css-syntax-3 3.2 and RFC 7303 section 3. Decoding is lossless: a byte that is no character becomes
a lone surrogate (PEP 383) or, in one-byte charsets, the C1 control of the Encoding Standard; encoding restores it.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.byte_scan import Metas, utf8_end
from absolve.core.errors import UsageError, WalkError, in_short
from absolve.core.lazy_regex import pattern
from absolve.encodings import standard

if TYPE_CHECKING:
    from collections.abc import Callable


class Charset(NamedTuple):
    """A charset: its name in the Encoding Standard and its Python codec.

    `transparent`: the bytes of markup characters are always those characters, so a tokenizer can read raw bytes.
    `one_byte`: every byte is a character. `within` is the codec of the outer document, if that is another one: text
    must be encodable there too.
    """

    name: str
    codec: str
    transparent: bool = True
    one_byte: bool = False
    within: str = ""

    def decode(self, raw: bytes) -> str:
        try:
            utf16 = self.name.startswith("utf-16")
            return raw.decode(self.codec, "surrogatepass") if utf16 else standard.decoded(self.codec, raw)
        except UnicodeDecodeError:
            return raw.decode(self.codec, "replace")  # a broken shift sequence, half a code unit at the end

    def encode(self, text: str, errors: str, after: str = "") -> bytes:
        """Return a text as bytes; `after` is the ASCII character that follows it, if any.

        `errors` is the error handler for characters that are not in the charset.
        """
        if self.name.startswith("utf-16"):
            return text.encode(self.codec, "surrogatepass")  # has all characters; single bytes cannot be restored
        if self.name in _UNWRITTEN:
            text = _UNWRITTEN[self.name].sub(lambda found: _ESCAPED_BY[errors](found[0]), text)
        if self.within:
            text = standard.decoded(self.within, standard.encoded(self.name, self.within, text, errors))
        if self.name in _MANY_BYTES:
            followed = _AFTER_A_BYTE.sub(lambda found: self._apart(found[0], errors), text + after)
            text = followed[: len(followed) - len(after)]
        return standard.encoded(self.name, self.codec, text, errors)

    def _apart(self, run: str, errors: str) -> str:
        """Encode bytes that are no character and what follows; escape one of the last two if both would be one."""
        if self.decode(standard.encoded(self.name, self.codec, run, errors)) == run:
            return run
        if run[-1].isascii():  # possibly an escape character, which must stay
            return run[:-2] + _as_percent(run[-2]) + run[-1]
        return run[:-1] + run[-1].encode("ascii", errors).decode("ascii")


UTF_8: Final = Charset("utf-8", "utf-8")
WINDOWS_1252: Final = Charset("windows-1252", "cp1252", one_byte=True)

# Codecs for names whose Python codec has fewer characters than the encoding of the Encoding Standard.
_CODECS: Final = {
    "utf-8": "utf-8",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "iso-8859-8-i": "iso-8859-8",
}
_OPAQUE: Final = frozenset({"utf-16le", "utf-16be", "iso-2022-jp"})
_MANY_BYTES: Final = frozenset({"utf-8", "gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"})
# Characters that are never encoded in a charset: its encoder returns an error (Encoding Standard 12.2.2).
_UNWRITTEN: Final = {"iso-2022-jp": pattern("[\x0e\x0f\x1b]")}
_AFTER_A_BYTE: Final = pattern("[\udc80-\udcff]+[^\x00-?\udc80-\udcff]")  # no trail byte is below @
_BYTE_ORDER_MARKS: Final = {b"\xef\xbb\xbf": "utf-8", b"\xfe\xff": "utf-16be", b"\xff\xfe": "utf-16le"}
_BEGINS_MARK = min(mark[0] for mark in _BYTE_ORDER_MARKS)


@lru_cache(maxsize=256)
def lookup(label: str) -> Charset | None:
    """Return the charset of a label (Encoding Standard 4.2), or None: for example, `Latin1` gives windows-1252."""
    if not label.isascii():  # labels are ASCII case-insensitive: the Kelvin sign does not match k
        return None
    folded = label.strip("\t\n\f\r ").lower()
    if folded in {"utf-8", "utf8"}:
        return UTF_8
    import webencodings

    found = webencodings.lookup(folded)
    if found is None or found.name in {"replacement", "x-user-defined"}:
        return None
    name = found.name
    codec = _CODECS.get(name, found.codec_info.name)
    opaque = name in _OPAQUE
    return Charset(name, codec, not opaque, not opaque and name not in _MANY_BYTES)


def by_label(label: str) -> Charset:
    """Return the charset of a label given by the user; raise UsageError if it is unknown."""
    charset = lookup(label) or _of_python(label)
    if charset is None:
        raise UsageError(f"unknown charset {in_short(label)!r}")
    return charset


def byte_order_mark(data: bytes) -> tuple[Charset, int] | None:
    """Return the charset and length of a byte order mark, or None: for example, EF BB BF gives UTF-8 and 3."""
    if not data or data[0] < _BEGINS_MARK:
        return None
    for mark, name in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            charset = lookup(name)
            return (charset, len(mark)) if charset else None
    return None


def inside(charset: Charset) -> Charset:
    """Return the charset of values decoded from this one: UTF-8 text that must be encodable in this charset again."""
    if charset.name.startswith("utf-16") or charset is UTF_8:
        return UTF_8
    return Charset(charset.name, "utf-8", within=charset.codec)


def for_any(text: str) -> str:
    """Return text from outside a document so that it can be written into documents of any charset.

    For example, U+DCFF gives `%FF`: this byte (PEP 383) may be part of a character in another charset. Any other lone
    surrogate becomes U+FFFD.
    """
    return text if text.isascii() else standard.SURROGATE.sub(_for_any, text)


def _for_any(surrogate: re.Match[str]) -> str:
    code = ord(surrogate[0])
    return f"%{code & 0xFF:02X}" if 0xDC80 <= code <= 0xDCFF else "\N{REPLACEMENT CHARACTER}"  # PEP 383


def of_html(data: bytes, label: str | None = None, header: str | None = None) -> tuple[Charset, int]:
    """Return the charset of an HTML document and the length of its byte order mark in bytes (HTML Standard 13.2.3.2).

    In order of precedence: byte order mark, the user's label `label`, the label of the `header` field, the document's
    own `meta` element (for example, `<meta charset=sjis>`) or XML declaration. Without any of them it is UTF-8 if the
    data is valid UTF-8, else windows-1252. Raise UsageError if `label` is unknown.
    """
    return _declared(data, label, header, declared_in_html)


def _declared(
    data: bytes, label: str | None, header: str | None, declared_in: Callable[[bytes], Charset | None]
) -> tuple[Charset, int]:
    if marked := byte_order_mark(data):
        return marked
    if label is not None:
        return by_label(label), 0
    return (header and _stated(header, data)) or declared_in(data) or _guessed(data), 0


def _stated(label: str, data: bytes) -> Charset | None:
    """Return the charset of a header; raise WalkError for UTF-7 (RFC 2152), in which mail hides even its tags."""
    if label.strip().lower().endswith("utf-7") and b"+A" in data:
        raise WalkError("unknown-charset", "UTF-7 is not read")
    return lookup(label)


def of_text(data: bytes, label: str | None = None, header: str | None = None) -> tuple[Charset, int]:
    """Return the charset and mark length of a style sheet (css-syntax-3 3.2) or other text without meta elements.

    It works like `of_html`, but reads `@charset` instead of a `meta` element: for example, `@charset "latin1";`.
    """
    return _declared(data, label, header, _declared_in_css)


def _declared_in_css(data: bytes) -> Charset | None:
    rule = re.match(rb'@charset "([^"\x00]{1,1000})";', data)
    return _in_document(rule[1]) if rule is not None else None


# XML 1.0 2.8, XMLDecl: the encoding pseudo-attribute
_XML_DECLARED: Final = pattern(
    rb"[\t\n\r ]*+<\?xml[\t\n\r ][^?>]*?encoding[\t\n\r ]*+=[\t\n\r ]*+([\"'])([A-Za-z0-9._:-]{1,60}+)\1"
)
_XML_PATTERNS: Final = {b"\0<\0?": "utf-16be", b"<\0?\0": "utf-16le"}  # appendix F.1: without a byte order mark


def of_xml(data: bytes, label: str | None = None, header: str | None = None) -> tuple[Charset, int]:
    """Return the charset and mark length of an XML document (RFC 7303 section 3, XML 1.0 4.3.3); UTF-8 by default.

    Raise WalkError if it declares an unknown charset or is in UTF-32: then its bytes cannot be interpreted.
    """
    if data.startswith((b"\0\0\xfe\xff", b"\xff\xfe\0\0", b"\0\0\0<", b"<\0\0\0")):
        raise WalkError("unknown-charset", "UTF-32 is not read")
    if marked := byte_order_mark(data):
        return marked
    if label is not None:
        return by_label(label), 0
    known = (header and lookup(header)) or lookup(_XML_PATTERNS.get(data[:4], ""))
    if known:
        return known, 0
    declared = _XML_DECLARED.match(data)
    if declared is None:
        return UTF_8, 0
    found = _in_document(declared[2]) or _of_python(declared[2].decode())
    if found is None:
        text = f"the charset {declared[2].decode()} is not known (--charset says another)"
        raise WalkError("unknown-charset", text, declared.start(2))
    return found, 0


_TABLES: Final = ("cp", "hp-", "iso8859", "koi8", "kz", "mac", "palm", "ptcp")  # prefixes of Python's one-byte codecs


def _of_python(label: str) -> Charset | None:
    """Return a one-byte superset of ASCII that only Python has, such as IBM855; None for any other label."""
    ascii_bytes = bytes(range(0x80))
    try:
        found = codecs.lookup(label)
        if not found.name.startswith(_TABLES) or ascii_bytes.decode(label) != ascii_bytes.decode("ascii"):
            return None
        bytes(range(0x100)).decode(label)
    except UnicodeDecodeError as error:
        if error.encoding != "charmap":  # not a one-byte codec; those report undefined bytes as "charmap"
            return None
    except (LookupError, UnicodeError, ValueError):
        return None
    return Charset(found.name, found.name, one_byte=True)


def of_no_text(data: bytes, label: str | None = None, header: str | None = None) -> tuple[Charset, int]:  # noqa: ARG001
    """Return UTF-8 for data that is no text as a whole (a message, an archive); labels do not apply to it."""
    return UTF_8, 0


def _guessed(data: bytes) -> Charset:
    """Return UTF-8 for valid UTF-8, whose last character may be cut off, else windows-1252."""
    end = utf8_end(data)  # decoding would allocate up to four times the size
    try:
        data[end : end + 4].decode("utf-8")
    except UnicodeDecodeError as error:
        if end + error.end < len(data) or error.reason != "unexpected end of data":
            return WINDOWS_1252
    return UTF_8


def _in_document(label: bytes) -> Charset | None:
    """Return the charset of a label in a document, UTF-8 for UTF-16 (13.2.3.2, prescan, step 15).

    In UTF-16 the ASCII bytes of the label could not be read.
    """
    charset = lookup(label.decode("latin-1"))
    if charset is not None and charset.name.startswith("utf-16"):
        return UTF_8
    if charset is None and label.strip().lower() == b"x-user-defined":
        return WINDOWS_1252
    return charset


# 13.2.3.2, get an attribute
_ATTRIBUTE: Final = pattern(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />=][^\t\n\f\r />=]*+)"
    rb"(?>(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)?))?)"
)
_IN_CONTENT: Final = pattern(
    rb"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*+))", re.IGNORECASE
)
# 13.2.3.2, get an XML encoding: used if no meta element declares a charset
_XML_ENCODING: Final = pattern(
    rb"<\?xml(?=[^>]*>)(?:(?!encoding)[^>])*encoding[\x00-\x20]*+=[\x00-\x20]*+([\"'])((?>(?:(?!\1)[\x21-\xff])*))\1"
)


def declared_in_html(data: bytes) -> Charset | None:
    """Return the charset of a meta element (for example, `<meta charset=sjis>`), else of the XML declaration."""
    metas: Metas = Metas(data)
    while metas.next():
        tag = data[metas.start : metas.end]
        if found := _of_meta(tag) if len(tag) <= _SHORT else _of_attributes(_attributes(tag)):
            return found
    declaration = _XML_ENCODING.match(data) if data.startswith(b"<?") else None  # a faster first test
    return _in_document(declaration[2]) if declaration else None


_SHORT: Final = 100  # bytes; results for meta elements up to this size are cached: the same few occur everywhere


@lru_cache(maxsize=256)
def _of_meta(tag: bytes) -> Charset | None:
    return _of_attributes(_attributes(tag))


def _attributes(tag: bytes) -> dict[bytes, bytes]:
    """Return the attributes that declare a charset: for example, ` charset=a x=y>` gives `{b"charset": b"a"}`."""
    attributes: dict[bytes, bytes] = {}
    position = 0
    while attribute := _ATTRIBUTE.match(tag, position):
        position = attribute.end()
        name = attribute[1].lower()
        if name in _DECLARING:
            attributes.setdefault(name, attribute[2] or attribute[3] or attribute[4] or b"")
    return attributes


_DECLARING: Final = frozenset((b"charset", b"http-equiv", b"content"))


def _of_attributes(attributes: dict[bytes, bytes]) -> Charset | None:
    if b"charset" in attributes:
        return _in_document(attributes[b"charset"])
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    found = _IN_CONTENT.search(attributes.get(b"content", b""))
    return _in_document(found[1] or found[2] or found[3] or b"") if found else None


def _keep_byte(error: UnicodeError) -> tuple[str | bytes, int]:
    """Error handler "absolve": decode bytes that are no character to C1 controls or lone surrogates, and restore them.

    Raise the error for characters that the charset lacks.
    """
    if isinstance(error, UnicodeDecodeError):
        raw = error.object[error.start : error.end]
        if error.encoding.startswith(_ONE_BYTE):
            return "".join(chr(byte) if byte < 0xA0 else chr(0xDC00 + byte) for byte in raw), error.end
        if raw[0] < 0x80:
            raise error
        return standard.unit_at(error.encoding, error.object, error.start)  # the next byte may be ASCII
    if isinstance(error, UnicodeEncodeError) and (raw_byte := _byte(error)):
        return raw_byte, error.start + 1
    raise error


_ONE_BYTE: Final = ("charmap", "cp12", "cp8", "iso8859", "koi8", "mac")  # prefixes of `encoding` in errors


def _byte(error: UnicodeEncodeError) -> bytes:
    """Return the byte that a character was decoded from as malformed; b"" for a genuine character."""
    code = ord(error.object[error.start])
    return bytes((code & 0xFF,)) if 0xDC80 <= code <= 0xDCFF else b""


def _escaping(escape: Callable[[str], str]) -> Callable[[UnicodeError], tuple[str | bytes, int]]:
    """Return an error handler that writes characters which the charset lacks as `escape` returns them."""

    def written(error: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return _byte(error) or escape(error.object[error.start]), error.start + 1

    return written


def _as_reference(character: str) -> str:
    """Return a character as a reference: for example, `é` gives `&#233;`."""
    return f"&#{ord(character)};"


def _as_percent(character: str) -> str:
    """Return a character percent-encoded: for example, `é` gives `%C3%A9`, and U+DCFF the byte `%FF`."""
    code = ord(character)
    raw = bytes((code & 0xFF,)) if 0xDC80 <= code <= 0xDCFF else character.encode("utf-8", "replace")
    return "%" + raw.hex("%").upper()


_ESCAPED_BY: Final = {"absolve.references": _as_reference, "absolve.percent": _as_percent}


def _any_surrogate(error: UnicodeError) -> tuple[str | bytes, int]:
    """Error handler "absolve.surrogates": decode the UTF-8 form of a lone surrogate, or a malformed byte (PEP 383)."""
    try:
        return codecs.lookup_error("surrogatepass")(error)
    except UnicodeError:
        return codecs.lookup_error("surrogateescape")(error)


# Values of `Format.charset` (formats/registry.py) -> the function that determines the charset.
DETECT: Final[dict[str, Callable[[bytes, str | None, str | None], tuple[Charset, int]]]] = {
    "html": of_html,
    "xml": of_xml,
    "text": of_text,
    "none": of_no_text,
}

codecs.register_error("absolve", _keep_byte)
codecs.register_error("absolve.surrogates", _any_surrogate)
for _name, _escape in _ESCAPED_BY.items():
    codecs.register_error(_name, _escaping(_escape))
