"""The whatwg profile: the URL Standard by ada-url (loaded when first used), queries in the document's charset."""

from __future__ import annotations

import codecs
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from absolve.core.errors import UsageError, in_short
from absolve.urls.parse import STRICT_SCHEME
from absolve.urls.prefixing import PrefixResolver

if TYPE_CHECKING:
    from collections.abc import Callable

    from ada_url import URL

    from absolve.core.protocols import Resolver

    Encode = Callable[[str], str]

SURROGATES = re.compile(r"[\ud800-\udfff]")

# The special schemes (4.2) that have hosts; `file` has drive letters too, which only the parser knows of.
HOSTED = frozenset(("http", "https", "ftp", "ws", "wss"))

# Special schemes whose queries are in the document's charset (4.4, query state: not ws and wss).
ENCODED = frozenset(("http", "https", "ftp", "file"))
SPECIAL = ENCODED | {"ws", "wss"}


def profile(base: str, charset: str = "utf-8", /) -> Resolver:
    """The resolver of the URL Standard for a base URL (str) in a document of this charset (a label).

    It gives the serialized URL, None where the parser fails: for a relative reference without a base it can use, and
    for what is malformed. Lone surrogates (bytes that are no text) become U+FFFD. Raises UsageError for an unknown
    charset.
    """
    encode = query_encoder(charset)
    found = _parsed(base, None)
    outer = base if found is not None else None
    inherited = str(found.protocol)[:-1] if found is not None else ""
    del found  # which may be three times as long

    def by_parser(reference: str) -> str | None:
        if encode is not None:
            reference = with_query(encode, reference, inherited)
        return parse(reference, outer)

    return PrefixResolver(by_parser, base, usable=inherited in HOSTED)


def parse(url: str, base: str | None = None) -> str | None:
    """The serialization of what the URL Standard's parser makes of a URL (str), None where it fails."""
    found = _parsed(url, base)
    return found.href if found is not None else None


def can_parse(url: str) -> bool:
    """Whether the URL Standard's parser makes anything of a URL (str)."""
    return _parsed(url, None) is not None


def _parsed(url: str, base: str | None) -> URL | None:
    url = _scalar(url)
    if base is not None:
        base = _scalar(base)
    try:
        return _library()(url, base)
    except ValueError:
        return None


def host(url: str) -> str | None:
    """The host and port (unless it is the scheme's own) of a URL by the URL Standard, None where parsing fails."""
    try:
        return _library()(_scalar(url)).host
    except ValueError:
        return None


@cache
def _library() -> type[URL]:
    from ada_url import URL

    return URL


# -- queries ----------------------------------------------------------------------------------------------------------

# The special-query percent-encode set (1.3): C0 controls, what is above "~", and a few.
ESCAPES = [f"%{byte:02X}" if byte <= 0x20 or byte > 0x7E or byte in b"\"#<>'" else chr(byte) for byte in range(256)]

# JIS X 0208 as Microsoft maps it to Unicode, and so the Encoding Standard, to what Python's codecs have instead.
MICROSOFT = {0xFF0D: "\u2212", 0xFF5E: "\u301c", 0x2225: "\u2016", 0xFFE0: "\xa2", 0xFFE1: "\xa3", 0xFFE2: "\xac"}

# Where the Encoding Standard's encoders differ from Python's: code point to what is to stand in the query.
DIFFERENCES: dict[str, dict[int, str]] = {
    "gbk": {0x20AC: "%80", 0xE5E5: "%26%2358853%3B"},
    "gb18030": {0xE5E5: "%26%2358853%3B"},
    "shift_jis": {0xA5: "\\", 0x203E: "~"},
    "euc-jp": {0xA5: "\\", 0x203E: "~", **MICROSOFT},
    "iso-2022-jp": {**MICROSOFT, **dict.fromkeys((0x0E, 0x0F, 0x1B), "%26%2365533%3B")},
}

REMOVED = dict.fromkeys(b"\t\n\r")  # 4.4: all ASCII tab or newline
STRIPPED = "".join(map(chr, range(0x21)))  # 4.4: leading and trailing C0 control or space


@lru_cache(maxsize=256)
def query_encoder(charset: str) -> Encode | None:
    """What percent-encodes a query after encoding (1.3) it in the charset of this label; None where that is UTF-8.

    UTF-8 stands for UTF-16 and the replacement encoding, too (Encoding Standard 4.3, output encodings). What the
    charset lacks becomes `%26%23NNN%3B`. Raises UsageError for an unknown label.
    """
    name, codec = _codec(charset)
    if name == "utf-8":
        return None
    differences = DIFFERENCES.get(name, {})

    def encode(query: str) -> str:
        data, _ = codec.encode(query.translate(differences), "absolve.query")
        return "".join([ESCAPES[byte] for byte in data])

    return encode


def _codec(charset: str) -> tuple[str, codecs.CodecInfo]:
    """The output encoding of a label of the Encoding Standard, failing that of a codec of Python's that knows ASCII."""
    import webencodings

    utf8 = codecs.lookup("utf-8")
    encoding = webencodings.lookup(charset)
    if encoding is not None:
        unfit = encoding.name in {"replacement", "utf-16le", "utf-16be"}
        return ("utf-8", utf8) if unfit else (encoding.name, encoding.codec_info)
    try:
        codec = codecs.lookup(charset)
        ascii_too = "+A~-".encode(charset) == b"+A~-"
    except (LookupError, ValueError):  # no such codec, none of text, or no name at all
        raise UsageError(f"unknown charset {in_short(charset)!r}") from None
    return (codec.name, codec) if ascii_too else ("utf-8", utf8)


def _lacking(error: UnicodeError) -> tuple[str, int]:
    """The codec error handler: a percent-encoded numeric character reference for what the charset lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacked = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacked), error.end


codecs.register_error("absolve.query", _lacking)


def _scalar(text: str) -> str:
    """A text with U+FFFD in the place of each lone surrogate, of which there may be millions."""
    if text.isascii() or SURROGATES.search(text) is None:
        return text
    return text.encode("utf-8", "absolve.scalar").decode("utf-8")


def _replaced(error: UnicodeError) -> tuple[bytes, int]:
    """The codec error handler: U+FFFD in UTF-8 for each lone surrogate."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return b"\xef\xbf\xbd" * (error.end - error.start), error.end


codecs.register_error("absolve.scalar", _replaced)


def with_query(encode: Encode, reference: str, inherited: str) -> str:
    """The reference with its query percent-encoded, if its scheme (or the inherited one) encodes queries (4.4)."""
    reference = _scalar(reference).strip(STRIPPED).translate(REMOVED)
    match = STRICT_SCHEME.match(reference)
    if (match[1].lower() if match else inherited) not in ENCODED:
        return reference
    before, crosshatch, fragment = reference.partition("#")
    path, mark, query = before.partition("?")
    return path + mark + encode(query) + crosshatch + fragment
