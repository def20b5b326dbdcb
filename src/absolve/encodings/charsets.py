"""Which characters the bytes of a document stand for: labels to codecs, and what an HTML document says of itself.

Labels and names are those of the Encoding Standard. Decoding never loses a byte: what is no character in the charset
becomes a lone surrogate (PEP 383) or, in the one-byte charsets, the C1 control that the Encoding Standard gives, and
encoding turns it back.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError, WalkError, in_short
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import utf8_end
    from cython.cimports.absolve.encodings.meta_prescan import Metas
else:
    from absolve.encodings.meta_prescan import Metas


class Charset(NamedTuple):
    """A charset by its Encoding Standard name, and the Python codec that reads it.

    `transparent`: ASCII bytes stand for ASCII characters wherever markup looks for them, so that a scanner can read
    the bytes. `one_byte`: every byte is a character. `within` is the codec that what is written must go through in the
    end, where that is another one. `in_comment`: the text is in a comment, which no `--` may be written into.
    """

    name: str
    codec: str
    transparent: bool = True
    one_byte: bool = False
    within: str = ""
    in_comment: bool = False

    def decode(self, raw: bytes) -> str:
        try:
            return raw.decode(self.codec, "surrogatepass" if self.name.startswith("utf-16") else "absolve")
        except UnicodeDecodeError:
            return raw.decode(self.codec, "replace")  # a broken shift sequence, half a code unit at the end

    def encode(self, text: str, errors: str, after: str = "") -> bytes:
        """Return the bytes for a text; `after` is the ASCII character behind it, if there is one."""
        if self.name.startswith("utf-16"):
            return text.encode(self.codec, "surrogatepass")  # it lacks nothing, and takes no single bytes
        if self.name in _UNWRITTEN:
            text = _UNWRITTEN[self.name].sub(lambda found: _ESCAPED_BY[errors](found[0]), text)
        if self.within:
            text = text.encode(self.within, errors).decode(self.within, "replace")
        if self.name in _MANY_BYTES:
            followed = _AFTER_A_BYTE.sub(lambda found: self._apart(found[0], errors), text + after)
            text = followed[: len(followed) - len(after)]
        return text.encode(self.codec, errors)

    def _apart(self, pair: str, errors: str) -> str:
        """A byte that is no character and what follows; one is escaped where both would be read as one character."""
        if self.decode(pair.encode(self.codec, errors)) == pair:
            return pair
        if pair[1].isascii():  # it may be an escape character
            return _as_percent(pair[0]) + pair[1]
        return pair[0] + pair[1].encode("ascii", errors).decode("ascii")


UTF_8: Final = Charset("utf-8", "utf-8")
IN_COMMENT: Final = Charset("utf-8", "utf-8", in_comment=True)
WINDOWS_1252: Final = Charset("windows-1252", "cp1252", one_byte=True)

# Where Python's codec of the same name knows fewer characters than the Encoding Standard's.
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
# Characters that are not written in a charset: its encoder returns an error for these (Encoding Standard 12.2.2), or
# writes a byte that is read as another character, a backslash for the yen sign (12.1.2).
_UNWRITTEN: Final = {"iso-2022-jp": pattern("[\x0e\x0f\x1b]"), "euc-jp": pattern("[\xa5\u203e]")}
_AFTER_A_BYTE: Final = pattern("[\udc80-\udcff][^\x00-?\udc80-\udcff]")  # no trail byte is below @
_BYTE_ORDER_MARKS: Final = {b"\xef\xbb\xbf": "utf-8", b"\xfe\xff": "utf-16be", b"\xff\xfe": "utf-16le"}
_BEGINS_MARK = cython.declare(cython.int, min(mark[0] for mark in _BYTE_ORDER_MARKS))


@lru_cache(maxsize=256)
def lookup(label: str) -> Charset | None:
    """The charset that a label stands for (Encoding Standard 4.2); None for one that is none, or has no characters."""
    if not label.isascii():  # case is folded as in ASCII: the Kelvin sign is no k
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
    """The charset of a label that the user gave; UsageError for a label that is none."""
    charset = lookup(label) or _of_python(label)
    if charset is None:
        raise UsageError(f"unknown charset {in_short(label)!r}")
    return charset


def byte_order_mark(data: bytes) -> tuple[Charset, int] | None:
    """The charset that a byte order mark gives (Encoding Standard 6), and the mark's length in bytes."""
    if not data or data[0] < _BEGINS_MARK:
        return None
    for mark, name in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            charset = lookup(name)
            return (charset, len(mark)) if charset else None
    return None


def inside(charset: Charset) -> Charset:
    """The charset of what a document in this one decodes to: UTF-8, which must be written in this one again."""
    if charset.name.startswith("utf-16") or charset is UTF_8:
        return UTF_8
    return Charset(charset.name, "utf-8", within=charset.codec)


def for_any(text: str) -> str:
    """Text that documents in any charset get from outside: a byte that was no character there may be part of one here.

    Such bytes, kept as lone surrogates, are percent-escaped. Any other lone surrogate becomes U+FFFD.
    """
    return text if text.isascii() else _SURROGATE.sub(_for_any, text)


_SURROGATE: Final = pattern("[\ud800-\udfff]")


def _for_any(surrogate: re.Match[str]) -> str:
    code = ord(surrogate[0])
    return f"%{code & 0xFF:02X}" if 0xDC80 <= code <= 0xDCFF else "\N{REPLACEMENT CHARACTER}"  # PEP 383


def of_html(data: bytes, given: str | None = None, header: str | None = None) -> tuple[Charset, int]:
    """The charset of an HTML document and the length of its byte order mark (HTML Standard 13.2.3.2).

    A byte order mark beats what the user gave, which beats the header and then the document's own `meta`. A document
    that says nothing is UTF-8 if it decodes as such, else windows-1252.
    """
    if marked := byte_order_mark(data):
        return marked
    if given is not None:
        return by_label(given), 0
    declared = (header and lookup(header)) or declared_in_html(data)
    return declared or _guessed(data), 0


def of_text(data: bytes, given: str | None = None, header: str | None = None) -> tuple[Charset, int]:
    """The charset of a style sheet (css-syntax-3 3.2) or other text that has no meta element."""
    if marked := byte_order_mark(data):
        return marked
    if given is not None:
        return by_label(given), 0
    declared = header and lookup(header)
    if not declared and (rule := re.match(rb'@charset "([^"\x00]{1,1000})";', data)):
        declared = _in_document(rule[1])
    return declared or _guessed(data), 0


# XML 1.0 2.8, XMLDecl: the encoding pseudo-attribute
_XML_DECLARED: Final = pattern(
    rb"<\?xml[\t\n\r ][^?>]*?encoding[\t\n\r ]*+=[\t\n\r ]*+([\"'])([A-Za-z0-9._:-]{1,60}+)\1"
)
_XML_PATTERNS: Final = {b"\0<\0?": "utf-16be", b"<\0?\0": "utf-16le"}  # appendix F.1: no byte order mark


def of_xml(data: bytes, given: str | None = None, header: str | None = None) -> tuple[Charset, int]:
    """The charset of an XML document (RFC 7303 section 3, XML 1.0 4.3.3); UTF-8 where nothing says another.

    WalkError where it declares one that is not known: its bytes could mean anything.
    """
    if data.startswith((b"\0\0\xfe\xff", b"\xff\xfe\0\0", b"\0\0\0<", b"<\0\0\0")):
        raise WalkError("unknown-charset", "UTF-32 is not read")
    if marked := byte_order_mark(data):
        return marked
    if given is not None:
        return by_label(given), 0
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


_TABLES: Final = ("cp", "hp-", "iso8859", "koi8", "kz", "mac", "palm", "ptcp")  # Python's codecs of one byte


def _of_python(label: str) -> Charset | None:
    """A charset that only Python has (IBM855): of one byte a character, ASCII among them."""
    ascii_bytes = bytes(range(0x80))
    try:
        found = codecs.lookup(label)
        if not found.name.startswith(_TABLES) or ascii_bytes.decode(label) != ascii_bytes.decode("ascii"):
            return None
        bytes(range(0x100)).decode(label)
    except UnicodeDecodeError as error:
        if error.encoding != "charmap":  # it is no table of 256 characters
            return None
    except (LookupError, UnicodeError, ValueError):
        return None
    return Charset(found.name, found.name, one_byte=True)


def of_no_text(data: bytes, given: str | None = None, header: str | None = None) -> tuple[Charset, int]:  # noqa: ARG001
    """The charset of bytes that are no text as a whole (a message, an archive): what is said of it is not of them."""
    return UTF_8, 0


def _guessed(data: bytes) -> Charset:
    if cython.compiled:  # so much is, and no text is made of it
        end: cython.Py_ssize_t = utf8_end(data, len(data))
        if end == len(data):
            return UTF_8
        data = data[end:]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end < len(data) or error.reason != "unexpected end of data":
            return WINDOWS_1252
    return UTF_8


def _in_document(label: bytes) -> Charset | None:
    """A charset that ASCII bytes declare cannot be UTF-16: they would not be readable (13.2.3.2, prescan, step 15)."""
    charset = lookup(label.decode("latin-1"))
    if charset is not None and charset.name.startswith("utf-16"):
        return UTF_8
    if charset is None and label.strip().lower() == b"x-user-defined":
        return WINDOWS_1252
    return charset


# 13.2.3.2, get an attribute
_ATTRIBUTE: Final = pattern(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />=][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)?))?+"
)
_IN_CONTENT: Final = pattern(
    rb"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*+))", re.IGNORECASE
)
# 13.2.3.2, get an XML encoding, which counts where no meta element says another
_XML_ENCODING: Final = pattern(
    rb"<\?xml(?=[^>]*>)(?:(?!encoding)[^>])*encoding[\x00-\x20]*+=[\x00-\x20]*+([\"'])((?:(?!\1)[\x21-\xff])*+)\1"
)


def declared_in_html(data: bytes) -> Charset | None:
    """The charset that the first meta element with a known one declares; failing that the XML declaration counts."""
    metas: Metas = Metas(data)
    while metas.next():
        tag = data[metas.start : metas.end]
        if found := _of_meta(tag) if len(tag) <= _SHORT else _of_attributes(_attributes(tag)):
            return found
    declaration = _XML_ENCODING.match(data) if data.startswith(b"<?") else None  # asking so is quicker
    return _in_document(declaration[2]) if declaration else None


_SHORT: Final = 100  # bytes of a meta element of which it is remembered what it declares: the same few are everywhere


@lru_cache(maxsize=256)
def _of_meta(tag: bytes) -> Charset | None:
    return _of_attributes(_attributes(tag))


def _attributes(tag: bytes) -> dict[bytes, bytes]:
    """Those attributes that count of a tag, of which these are the bytes behind its name; the first of duplicates."""
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
    """Error handler "absolve": bytes that are no character become C1 controls or lone surrogates, and back."""
    if isinstance(error, UnicodeDecodeError):
        raw = error.object[error.start : error.end]
        if error.encoding.startswith(_ONE_BYTE):
            return "".join(chr(byte) if byte < 0xA0 else chr(0xDC00 + byte) for byte in raw), error.end
        if raw[0] < 0x80:
            raise error
        return chr(0xDC00 + raw[0]), error.start + 1  # what follows may be ASCII, or begin a character
    if isinstance(error, UnicodeEncodeError) and (raw_byte := _byte(error)):
        return raw_byte, error.start + 1
    raise error


_ONE_BYTE: Final = ("charmap", "cp12", "cp8", "iso8859", "koi8", "mac")  # how the codecs call themselves in errors


def _byte(error: UnicodeEncodeError) -> bytes:
    """The byte that a character was kept for; none for any other character."""
    code = ord(error.object[error.start])
    kept = 0xDC80 <= code <= 0xDCFF or (0x80 <= code < 0xA0 and error.encoding.startswith(_ONE_BYTE))
    return bytes((code & 0xFF,)) if kept else b""


def _references(error: UnicodeError) -> tuple[str | bytes, int]:
    """Error handler "absolve.references": what the charset lacks becomes a numeric character reference."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _byte(error) or _as_reference(error.object[error.start]), error.start + 1


def _percent(error: UnicodeError) -> tuple[str | bytes, int]:
    """Error handler "absolve.percent": what the charset lacks is percent-escaped as UTF-8."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _byte(error) or _as_percent(error.object[error.start]), error.start + 1


def _as_reference(character: str) -> str:
    return f"&#{ord(character)};"


def _as_percent(character: str) -> str:
    """A character percent-escaped as UTF-8, or the byte that it was kept for."""
    code = ord(character)
    raw = bytes((code & 0xFF,)) if 0xDC80 <= code <= 0xDCFF else character.encode("utf-8", "replace")
    return "%" + raw.hex("%").upper()


_ESCAPED_BY: Final = {"absolve.references": _as_reference, "absolve.percent": _as_percent}


def _any_surrogate(error: UnicodeError) -> tuple[str | bytes, int]:
    """Error handler "absolve.surrogates": UTF-8 for a lone surrogate becomes it, any other byte (PEP 383) too."""
    try:
        return codecs.lookup_error("surrogatepass")(error)
    except UnicodeError:
        return codecs.lookup_error("surrogateescape")(error)


# How the charset is found out: the words of `absolve.formats.Format.charset`.
DETECT: Final[dict[str, Callable[[bytes, str | None, str | None], tuple[Charset, int]]]] = {
    "html": of_html,
    "xml": of_xml,
    "text": of_text,
    "none": of_no_text,
}

codecs.register_error("absolve", _keep_byte)
codecs.register_error("absolve.surrogates", _any_surrogate)
codecs.register_error("absolve.references", _references)
codecs.register_error("absolve.percent", _percent)
