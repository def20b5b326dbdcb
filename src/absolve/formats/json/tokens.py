"""Parse JSON (RFC 8259) into values with their byte spans; the coding of references in JSON strings.

In: the bytes of a JSON text. Out: a `Value` (path, span, kind) for each key and value in order, or a `Finding`. For one
string: its value in UTF-8, and the escaped bytes to write.

>>> [(found.path, found.kind, found.start, found.end) for found in values(b'{"a": [1]}')]
[(('a',), 'key', 2, 3), (('a', 0), 'word', 7, 8), (('a',), 'array', 6, 9), ((), 'object', 0, 10)]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import byte_scan
from absolve.core.byte_scan import HEX_DIGITS, SINGLE_BYTES
from absolve.core.model import Finding, new
from absolve.encodings.offset_map import Decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.core.protocols import Offsets


_MUST: Final = re.compile(rb'["\\\x00-\x1f<>]')
_MAKES_A_COMMENT_END: Final = frozenset((b"-", b">", b"!"))
_meanings = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))
_simple = bytes(_meanings.get(byte, 0) for byte in range(256))  # the character of an escape of one letter, 0 for none
_SIMPLE = _simple
_DIGITS = HEX_DIGITS
_BYTES = SINGLE_BYTES
_escaped = bytes(byte in b'"\\/bfnrtu' for byte in range(256))  # bytes that may follow a backslash
_ESCAPED = _escaped
_DEPTH: Final = 64
_MARK: Final = b"\xef\xbb\xbf"  # RFC 8259 8.1: it may be ignored

Path = tuple[str | int, ...]


class JSONString:
    r"""The `Coding` of a JSON string (RFC 8259 section 7), safe in a script: for example, `<` becomes `\u003c`."""

    __slots__ = ()
    slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        if 0x5C not in raw:
            return raw
        value = raw.replace(b"\\/", b"/")  # most URLs have no other escape
        if 0x5C in value:
            value, _ = _decoded(raw, False)
        return value

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        return _decoded(raw, True)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - of the protocol
        """Return the value with `<` and `>` escaped; it forms no `-->` with `after` (HTML Standard 4.12.1.3)."""
        last = b"-" if value.endswith(b"-") and after[:1] in _MAKES_A_COMMENT_END else b""
        value = value[: len(value) - len(last)]
        return _MUST.sub(lambda found: b"\\u%04x" % found[0][0], value) + last.replace(b"-", b"\\u002d")


def _decoded(raw: bytes, mapped: cython.bint) -> tuple:  # type: ignore[type-arg]  # as the compiler has it
    r"""Return the value of a string and, if `mapped`, its offsets: an escape is a unit, and so is a surrogate pair.

    For example, `a\/b\u0041` is `a/bA`. A backslash that begins no escape of RFC 8259 section 7 is literal.
    """
    p: cython.p_const_uchar = raw
    simple: cython.p_const_uchar = _SIMPLE
    n: cython.Py_ssize_t = len(raw)
    i: cython.Py_ssize_t = byte_scan.find(p, 92, 0, n)
    end: cython.Py_ssize_t
    code: cython.int
    low: cython.int
    decoded: Decoded = Decoded(raw, mapped)
    while i >= 0:
        end = i + 1
        if end < n and simple[p[end]]:
            end = i + 2
            decoded.unit(i, end, _BYTES[simple[p[i + 1]]])
        else:
            code = _code_unit(p, i, n)
            if code >= 0:
                end = i + 6
                low = _code_unit(p, end, n) if code >> 10 == 0x36 else 0  # D800 to DBFF
                if low >> 10 == 0x37:  # DC00 to DFFF
                    end = i + 12
                    code = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00
                decoded.unit(i, end, _BYTES[code] if code < 128 else chr(code).encode("utf-8", "surrogatepass"))
        i = byte_scan.find(p, 92, end, n)
    return decoded.whole()


def _code_unit(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.int:
    r"""Return the UTF-16 code unit of a `\uXXXX` at this offset, -1 without one."""
    digits: cython.p_const_uchar = _DIGITS
    at: cython.Py_ssize_t
    code: cython.int = 0
    if i + 6 > n or p[i] != 92 or p[i + 1] != 117:
        return -1
    for at in range(i + 2, i + 6):
        if digits[p[at]] > 15:
            return -1
        code = code << 4 | digits[p[at]]
    return code


STRING: Final = JSONString()


class Value(NamedTuple):
    """One value, or one key of an object: the path of keys and indexes to it, and its byte span.

    The span of a string excludes its quotes. `kind` is key, string, word (a number, true, false or null), object or
    array; objects and arrays are yielded at their end. `inside` is the offset of the enclosing object or array, -1 at
    the top level.
    """

    path: Path
    start: int
    end: int
    kind: str
    inside: int = -1

    @property
    def is_key(self) -> bool:
        return self.kind == "key"


_LITERALS: Final = (b"true", b"false", b"null")


def values(data: bytes) -> Iterator[Value | Finding]:
    """Yield every key and value of a JSON text in order.

    For malformed JSON (malformed-json), or nesting deeper than 64 (too-deep), yield a Finding and stop.
    """
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data)
    position: cython.Py_ssize_t = len(_MARK) if data.startswith(_MARK) else 0  # the end of the last token
    i: cython.Py_ssize_t
    end: cython.Py_ssize_t
    c: cython.uchar
    inside: cython.Py_ssize_t = -1
    expects_key: cython.bint = False
    stack: list[str | int] = []
    opened: list[tuple[int, int]] = []  # of open objects and arrays: the closing bracket, the start offset
    while True:
        i = _text_start(p, position, n)
        if i >= n:
            break
        c = p[i]
        if c == 34:
            end = _string_end(p, i + 1, n)
            if end < 0:
                break
            position = end + 1
            if expects_key:
                stack[-1] = STRING.decode(data[i + 1 : end]).decode("utf-8", "replace")
            yield new(Value, (tuple(stack), i + 1, end, "key" if expects_key else "string", inside))
        elif c == 123 or c == 91:
            if len(opened) >= _DEPTH:
                yield Finding("too-deep", f"JSON nested more than {_DEPTH} deep is left as it is", i)
                return
            opened.append((c + 2, i))
            inside = i
            stack.append(0 if c == 91 else "")
            expects_key = c == 123
            position = i + 1
        elif c == 125 or c == 93:
            if not opened or opened[-1][0] != c:
                position = i
                break
            position = i + 1
            stack.pop()
            i = opened.pop()[1]
            inside = opened[-1][1] if opened else -1
            yield new(Value, (tuple(stack), i, position, "object" if c == 125 else "array", inside))
            expects_key = False
        elif c == 44:
            position = i + 1
            if not opened:
                break
            expects_key = opened[-1][0] == 125
            if opened[-1][0] == 93:
                stack[-1] += 1  # type: ignore[operator]  # in an array it is an index
        elif c == 58:
            position = i + 1
            expects_key = False
        else:
            end = _word_end(data, i, n)
            if end < 0:
                break
            position = end
            yield new(Value, (tuple(stack), i, end, "word", inside))
    if opened or _text_start(p, position, n) < n:
        yield Finding("malformed-json", "this is no JSON; what follows is left as it is", position)


def _text_start(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset of the next byte that is not white space, or `n`."""
    while i < n and (p[i] == 32 or p[i] == 10 or p[i] == 13 or p[i] == 9):
        i += 1
    return i


def _string_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset of the quote that ends a string, from the start of its text; -1 if malformed (RFC 8259 7)."""
    escaped: cython.p_const_uchar = _ESCAPED
    while i < n and p[i] >= 32:
        if p[i] == 34:
            return i
        if p[i] == 92:
            i += 1
            if i >= n or not escaped[p[i]]:
                return -1
        i += 1
    return -1


def _word_end(data: bytes, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of the number, true, false or null at this offset; -1 for anything else."""
    p: cython.p_const_uchar = data
    start: cython.Py_ssize_t = i + 1 if p[i] == 45 else i
    if start < n and 48 <= p[start] <= 57:
        i = start
        while i < n and (48 <= p[i] <= 57 or p[i] == 46 or p[i] | 32 == 101 or p[i] == 43 or p[i] == 45):
            i += 1
        return i
    for word in _LITERALS:
        if data.startswith(word, i):
            return i + len(word)
    return -1
