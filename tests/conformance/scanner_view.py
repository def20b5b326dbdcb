"""Start tags that the scanner reports as reaching the tree, in the form of html5lib_view."""

from collections.abc import Iterator

from html5lib_view import Element, lower

from absolve.encodings.charsets import UTF_8, Charset
from absolve.encodings.codings import quoted
from absolve.formats.html import names
from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

_NOTHING = bytes(ROWS * ATTRIBUTES)
_NAMESPACES = ("html", "svg", "math")


def elements(data: bytes, charset: Charset = UTF_8) -> list[Element]:
    """Return the start tags with decoded attributes; attributes of a second html or body are a separate element."""
    record: list[tuple[int, int, int, int, int]] = []
    scanner = Tokenizer(data, _NOTHING, record)
    found: list[Element] = []
    merged: set[tuple[str, str]] = set()
    while (kind := scanner.next()) != names.END:
        if kind != names.TAG or scanner.fate == names.IGNORED:
            continue
        name = _name(data[scanner.name_start : scanner.name_end], charset)
        if scanner.namespace == names.HTML and name == "image":
            name = "img"
        attributes: dict[str, str] = {}
        for start, end, value, value_end, _ in record:
            decoded = quoted(charset, 0x22).decode(data[value:value_end])  # decoded as without quotes
            attributes.setdefault(_name(data[start:end], charset), text(decoded, charset))
        if scanner.fate == names.MERGED:
            attributes = {key: attributes[key] for key in attributes if (name, key) not in merged}
            merged |= {(name, key) for key in attributes}
        if attributes or scanner.namespace or name not in {"html", "head", "body"}:
            has_text = name in {"script", "style"} and scanner.namespace == names.HTML
            inner = data[scanner.text_start : scanner.text_end] if has_text else b""
            found.append(Element(_NAMESPACES[scanner.namespace], name, attributes, _text(charset.decode(inner))))
    return found


def tags(scanner: Tokenizer, record: list[tuple[int, int, int, int, int]]) -> Iterator[tuple[int, tuple[str, dict[str, str]]]]:
    """Yield every start tag of UTF-8 text with its offset, name and attributes, whether or not it reaches the tree."""
    data = scanner.data
    while (kind := scanner.next()) != names.END:
        if kind == names.TAG:
            attributes: dict[str, str] = {}
            for start, end, value, value_end, _ in record:
                decoded = quoted(UTF_8, 0x22).decode(data[value:value_end])
                attributes.setdefault(_name(data[start:end], UTF_8), decoded.decode("utf-8", "surrogatepass"))
            yield scanner.start, (_name(data[scanner.name_start : scanner.name_end], UTF_8), attributes)


def text(value: bytes, charset: Charset) -> str:
    """Return a decoded value as html5lib has it: invalid bytes are lone surrogates."""
    return value.decode("utf-8", "surrogateescape" if charset is UTF_8 else "surrogatepass")


def _text(inner: str) -> str:
    """Normalize as in 13.2.3.5 and 13.2.5.3: line ends are line feeds, and NUL becomes U+FFFD."""
    return inner.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _name(raw: bytes, charset: Charset) -> str:
    return lower(charset.decode(raw).replace("\0", "\ufffd"))
