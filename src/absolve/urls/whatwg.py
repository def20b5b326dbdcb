"""The whatwg profile: parse and resolve by the URL Standard, with ada-url (loaded on first use).

In: a base URL and a reference as str, and the document's charset. Out: the serialized URL, or None. Implements the
encoding of queries in the document's charset (URL Standard 1.3 and 4.4), which ada-url leaves to its caller.
"""

from __future__ import annotations

import codecs
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from absolve.core.errors import UsageError, in_short
from absolve.core.lazy_regex import pattern
from absolve.core.model import PACKAGE_ROOT
from absolve.encodings.charsets import lookup
from absolve.encodings.standard import folded, sent
from absolve.urls.predicates import REMOVED, STRICT_SCHEME, STRIPPED, PrefixResolver

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ada_url import URL

    from absolve.core.protocols import Resolver

    Encode = Callable[[str], str]

SURROGATES = pattern(r"[\ud800-\udfff]")
_NO_BYTE = pattern(r"[\ud800-\udc7f\udd00-\udfff]")

# The special schemes (4.2) without `file`, whose drive letters need the parser.
HOSTED = frozenset(("http", "https", "ftp", "ws", "wss"))

# Special schemes whose queries are in the document's charset (4.4, query state: not ws and wss).
ENCODED = frozenset(("http", "https", "ftp", "file"))

# Characters in a URL per byte of a reference in UTF-8, at most: %26%23NNN%3B for a character that the charset lacks.
GROWTH = 6


def profile(base: str, charset: str = "utf-8", /) -> Resolver:
    """Return the resolver of the URL Standard for a base URL (str) in a document of this charset (a label).

    The resolver returns the serialized URL; None if the parser fails, as for a relative reference without a suitable
    base, and for a malformed URL. Lone surrogates (malformed bytes) become U+FFFD. Raise UsageError for an unknown
    charset.
    """
    codec = _codec(charset)[1]
    encode = query_encoder(charset)
    found = _parsed(base)
    outer = base if found is not None else None
    inherited = str(found.protocol)[:-1] if found is not None else ""
    del found  # frees memory: it may be three times as long as the base

    def by_parser(reference: str) -> str | None:
        if encode is not None:
            reference = with_query(encode, scalar(reference, codec), inherited)
        return parse(reference, outer)

    return PrefixResolver(by_parser, base, usable=inherited in HOSTED or base.startswith(PACKAGE_ROOT))


def parse(url: str, base: str | None = None) -> str | None:
    """Parse and serialize a URL by the URL Standard, or return None: for example, `HTTP://H:80` gives `http://h/`."""
    if base is None:
        found = _parsed(url)
        return found.href if found is not None else None
    try:
        joined: str = _library().join_url(scalar(base), scalar(url))  # in three fifths of the time of an object
    except ValueError:
        return None
    return joined


def can_parse(url: str) -> bool:
    """Return whether the URL Standard's parser accepts a URL (str)."""
    return _parsed(url) is not None


def _parsed(url: str) -> URL | None:
    try:
        url_object: URL = _library().URL(scalar(url))
    except ValueError:
        return None
    return url_object


def host(url: str) -> str | None:
    """Return the host of a URL by the URL Standard, or None: for example, `http://H:81/` gives `h:81`."""
    try:
        name: str = _library().URL(scalar(url)).host
    except ValueError:
        return None
    return name


@cache
def _library() -> ModuleType:
    import ada_url

    return ada_url


# -- queries ----------------------------------------------------------------------------------------------------------

# The special-query percent-encode set (1.3): C0 controls, space, bytes above "~", and five more.
ESCAPES = [f"%{byte:02X}" if byte <= 0x20 or byte > 0x7E or byte in b"\"#<>'" else chr(byte) for byte in range(256)]



@lru_cache(maxsize=256)
def query_encoder(charset: str) -> Encode | None:
    """Return a function that percent-encodes a query after encoding (1.3) in a charset (a label); None for UTF-8.

    For example, in Latin-1 it returns `%E9` for `é`, and `%26%239731%3B` for U+2603, which the charset lacks. UTF-8 is
    also the output encoding of UTF-16 and the replacement encoding (Encoding Standard 4.3). Raise UsageError for an
    unknown label.
    """
    name, codec = _codec(charset)
    if name == "utf-8":
        return None

    def encode(query: str) -> str:
        return "".join([ESCAPES[byte] for byte in sent(name, codec, query, "absolve.query")])

    return encode


def _codec(label: str) -> tuple[str, str]:
    """Return the name and the Python codec of a label's output encoding (Encoding Standard 4.3).

    For a Python codec that is not a superset of ASCII, return UTF-8. Raise UsageError for an unknown label.
    """
    import webencodings

    if (known := lookup(label)) is not None:
        return ("utf-8", "utf-8") if known.name.startswith("utf-16") else (known.name, known.codec)
    if (found := webencodings.lookup(label)) is not None:
        return ("utf-8", "utf-8") if found.name == "replacement" else (found.name, "ascii")  # x-user-defined
    try:
        codec = codecs.lookup(label)
        ascii_too = "+A~-".encode(label) == b"+A~-"
    except (LookupError, ValueError):  # unknown codec, not a text encoding, or an invalid name
        raise UsageError(f"unknown charset {in_short(label)!r}") from None
    return (codec.name, codec.name) if ascii_too else ("utf-8", "utf-8")


def _lacking(error: UnicodeError) -> tuple[str, int]:
    """Error handler "absolve.query": percent-encoded numeric references for characters that the charset lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacked = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacked), error.end


codecs.register_error("absolve.query", _lacking)


def scalar(text: str, codec: str = "utf-8") -> str:
    """Return a text with one U+FFFD per error (Encoding Standard 4.1): for example, U+DCFF gives U+FFFD."""
    if text.isascii() or SURROGATES.search(text) is None:
        return text
    data = _NO_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape")
    if codec == "utf-8":
        return data.decode("utf-8", "replace")
    return folded(data.decode("utf-8", "absolve.surrogates"), codec)


def with_query(encode: Encode, reference: str, inherited: str) -> str:
    """Return a reference with its query percent-encoded if its scheme, own or `inherited`, encodes queries (4.4)."""
    reference = reference.strip(STRIPPED).translate(REMOVED)
    match = STRICT_SCHEME.match(reference)
    if (match[1].lower() if match else inherited) not in ENCODED:
        return reference
    before, crosshatch, fragment = reference.partition("#")
    path, mark, query = before.partition("?")
    return path + mark + encode(query) + crosshatch + fragment
