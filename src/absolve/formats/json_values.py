"""JSON (RFC 8259) with the spans of its bytes: every value, and how text is written in a string."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.model import Notice
from absolve.offsets import Decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.typing import Offsets

_TOKEN: Final = re.compile(
    rb'[ \t\n\r]*+(?:([{}\[\],:])|"((?:[^"\\\x00-\x1f]++|\\["\\/bfnrtu])*+)"|(-?[0-9][0-9.eE+-]*+|true|false|null))'
)
_ESCAPE: Final = re.compile(
    rb"\\(?:u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([\"\\/bfnrt]))"
)
_SIMPLE: Final = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))
_DEPTH: Final = 64
_MARK: Final = b"\xef\xbb\xbf"  # RFC 8259 8.1: it may be ignored

Path = tuple[str | int, ...]


class JSONString:
    """A reference in a JSON string (RFC 8259 section 7); also safe inside a script element."""

    __slots__ = ()
    slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0] if 0x5C in raw else raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        made = Decoded(raw)
        for escape in _ESCAPE.finditer(raw):
            made.unit(escape.start(), escape.end(), _character(escape))
        return made.whole()

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


class Value(NamedTuple):
    """One value, or a name in an object: the names and indexes that lead to it, and its span.

    That of a string is without its quotes. `kind` is key, string, word (a number, true, false or null), object or
    array; these two come when they are closed.
    """

    path: Path
    start: int
    end: int
    kind: str

    @property
    def is_key(self) -> bool:
        return self.kind == "key"


_CLOSED: Final = {b"{}": "object", b"[]": "array"}


def values(data: bytes) -> Iterator[Value | Notice]:
    """Every value of a JSON text in order; a notice, and no more, where it is no JSON or nested too deep."""
    stack: list[str | int] = []
    opened: list[tuple[bytes, int]] = []
    expects_key = False
    position = len(_MARK) if data.startswith(_MARK) else 0
    while token := _TOKEN.match(data, position):
        position = token.end()
        mark, text, _ = token.groups()
        if mark in (b"{", b"["):
            if len(opened) >= _DEPTH:
                yield Notice("too-deep", f"JSON nested more than {_DEPTH} deep is left as it is", token.start(1))
                return
            opened.append((mark, token.start(1)))
            stack.append(0 if mark == b"[" else "")
            expects_key = mark == b"{"
        elif mark in (b"}", b"]"):
            kind = _CLOSED.get(opened[-1][0] + mark) if opened else None
            if kind is None:
                position = token.start(1)
                break
            stack.pop()
            yield Value(tuple(stack), opened.pop()[1], position, kind)
            expects_key = False
        elif mark == b",":
            if not opened:
                break
            expects_key = opened[-1][0] == b"{"
            if isinstance(stack[-1], int):
                stack[-1] += 1
        elif mark == b":":
            expects_key = False
        elif text is not None:
            if expects_key:
                stack[-1] = _STRING.decode(text).decode("utf-8", "replace")
            yield Value(tuple(stack), *token.span(2), "key" if expects_key else "string")
        else:
            yield Value(tuple(stack), *token.span(3), "word")
    if opened or data[position:].strip(b" \t\n\r"):
        yield Notice("malformed-json", "this is no JSON; what follows is left as it is", position)
