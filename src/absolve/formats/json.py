"""References in JSON, with the spans of their bytes: import maps, speculation rules (HTML Standard 8.1.6, 7.6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.codings import Offsets
from absolve.model import Link, Notice, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.charsets import Charset
    from absolve.model import Event
    from absolve.typing import WalkOptions

_TOKEN: Final = re.compile(
    rb'[ \t\n\r]*+(?:([{}\[\],:])|"((?:[^"\\\x00-\x1f]++|\\["\\/bfnrtu])*+)"|(-?[0-9][0-9.eE+-]*+|true|false|null))'
)
_ESCAPE: Final = re.compile(
    rb"\\(?:u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([\"\\/bfnrt]))"
)
_SIMPLE: Final = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))
_DEPTH: Final = 64

Path = tuple[str | int, ...]


class JSONString:
    """A reference in a JSON string (RFC 8259 section 7); also safe inside a script element."""

    __slots__ = ()
    slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        return _ESCAPE.sub(_character, raw) if 0x5C in raw else raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        value = bytearray()
        units: list[tuple[int, int, int, int]] = []
        position = 0
        for escape in _ESCAPE.finditer(raw):
            value += raw[position : escape.start()]
            new = _character(escape)
            units.append((len(value), len(value) + len(new), *escape.span()))
            value += new
            position = escape.end()
        value += raw[position:]
        return bytes(value), Offsets(units, len(value), len(raw))

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - they have no say
        return re.sub(rb'["\\\x00-\x1f]|<(?=[/!])', lambda found: b"\\u%04x" % found[0][0], value)


def _character(escape: re.Match[bytes]) -> bytes:
    high, low, plain, simple = escape.groups()
    if simple:
        return bytes((_SIMPLE[simple[0]],))
    if high:
        code = 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00
        return chr(code).encode()
    return chr(int(plain, 16)).encode("utf-8", "surrogatepass")


_STRING: Final = JSONString()


class String(NamedTuple):
    """One string: the keys and indexes that lead to it, its span without the quotes, and whether it is a key."""

    path: Path
    start: int
    end: int
    is_key: bool


def strings(data: bytes) -> Iterator[String | Notice]:
    """Every string of a JSON text in order; a notice, and no more, where it is no JSON or nested too deep."""
    stack: list[str | int] = []
    opened: list[bytes] = []
    expects_key = False
    position = 0
    while token := _TOKEN.match(data, position):
        position = token.end()
        mark, text, _ = token.groups()
        if mark in (b"{", b"["):
            if len(opened) >= _DEPTH:
                yield Notice("too-deep", f"JSON nested more than {_DEPTH} deep is left as it is", token.start(1))
                return
            opened.append(mark)
            stack.append(0 if mark == b"[" else "")
            expects_key = mark == b"{"
        elif mark in (b"}", b"]"):
            if not opened or opened[-1] + mark not in (b"{}", b"[]"):
                position = token.start(1)
                break
            opened.pop()
            stack.pop()
            expects_key = False
        elif mark == b",":
            if not opened:
                break
            expects_key = opened[-1] == b"{"
            if isinstance(stack[-1], int):
                stack[-1] += 1
        elif mark == b":":
            expects_key = False
        elif text is not None:
            if expects_key:
                stack[-1] = _STRING.decode(text).decode("utf-8", "replace")
            yield String(tuple(stack), *token.span(2), expects_key)
    if opened or data[position:].strip(b" \t\n\r"):
        yield Notice("malformed-json", "this is no JSON; what follows is left as it is", position)


def _walk(data: bytes, choose: Callable[[String, bytes], Place | None]) -> list[Event]:
    events: list[Event] = []
    for found in strings(data):
        if isinstance(found, Notice):
            return [found]  # nothing in it is known to be what it seems
        place = choose(found, data[found.start : found.end])
        if place is not None:
            events.append(Link(place, found.start, found.end, _STRING))
    return events


_IMPORT_MAP: Final = Place("script", "importmap", kind="script")
_RULES: Final = Place("script", "speculationrules", kind="navigation")
_URL_LIKE: Final = re.compile(rb"\.{0,2}/|[A-Za-z][A-Za-z0-9+.-]*:")  # 8.1.6.2, resolve a URL-like module specifier


def walk_import_map(data: bytes, _charset: Charset, _options: WalkOptions) -> list[Event]:
    """`imports`, `scopes` and `integrity`: addresses, scope prefixes, and the specifiers that are URL-like."""
    return _walk(data, _in_import_map)


def _in_import_map(found: String, raw: bytes) -> Place | None:
    top, depth = found.path[:1], len(found.path)
    if top == ("scopes",) and depth == 2 and found.is_key:
        return _IMPORT_MAP
    listed = (top == ("imports",) and depth == 2) or (top == ("scopes",) and depth == 3)
    listed = listed or (top == ("integrity",) and depth == 2 and found.is_key)
    return _IMPORT_MAP if listed and _URL_LIKE.match(_STRING.decode(raw)) else None


def walk_speculation_rules(data: bytes, _charset: Charset, _options: WalkOptions) -> list[Event]:
    """The `urls` of each rule; patterns (`href_matches`) are no references."""
    return _walk(data, _in_rules)


def _in_rules(found: String, _raw: bytes) -> Place | None:
    listed = len(found.path) == 4 and found.path[2] == "urls" and not found.is_key
    return _RULES if listed else None
