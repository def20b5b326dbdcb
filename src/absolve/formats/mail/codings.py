"""Content transfer codings of a message body: quoted-printable and base64 (RFC 2045 section 6).

In: the encoded body. Out: the decoded bytes (with an offset map for quoted-printable), and encoded edits that keep
the line lengths and line ends of the original.
"""

from __future__ import annotations

import binascii
import re
from contextlib import suppress
from functools import partial
from importlib import import_module
from io import BytesIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import HEX_DIGITS, SINGLE_BYTES, in_lines
from absolve.core.errors import CodingError
from absolve.core.model import Edit
from absolve.encodings.offset_map import IDENTITY_OFFSETS, Decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import cython

    from absolve.core.protocols import Offsets


_LONGEST: Final = 76  # characters of a line without its end (6.7, rule 5; 6.8)
_SHORTEST: Final = 16  # where lines are indented
_TAB: Final = 8
_AT_ONCE: Final = 1000  # edits in a batch
_PIECE: Final = 1 << 16  # characters of base64 that are encoded at a time
_TAIL: Final = 100  # bytes at the end of a body that are searched first for its last character: a copy of them is small
_LINE_END: Final = re.compile(rb"\r?\n")
_BETWEEN: Final = re.compile(rb"\r?\n[\t ]*")  # two lines of base64, which are indented in a property list

_ESCAPED: Final = re.compile(rb"[^\t -<>-~]")
# Unsafe first bytes of a line: of a boundary ("--"), of the end of a message in SMTP ("."), of the next one in mbox
# ("From ").
_UNSAFE_START: Final = b"-.F"


class BareReturns:
    """Lines that end in CR alone, each read as LF."""

    __slots__ = ()
    slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        return raw.replace(b"\r", b"\n")

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        return self.decode(raw), IDENTITY_OFFSETS

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - as it is
        return _LINE_END.sub(b"\r", value)


class QuotedPrintable:
    """Quoted-printable (RFC 2045 6.7): for example, `a=3Db=`, line end, `c` is decoded to `a=bc`.

    Outside edits, soft line breaks, the case of digits and unnecessary escapes stay unchanged.
    """

    __slots__ = ("_line_end",)
    slot: tuple[int, int] | None = None

    def __init__(self, raw: bytes) -> None:
        found = _LINE_END.search(raw)
        self._line_end = found[0] if found else b"\r\n"

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        return _quoted_printable(raw)

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        raw = _ESCAPED.sub(_escape, value)
        if raw[-1:] in (b" ", b"\t") and after[:1] in (b"", b"\r", b"\n"):
            raw = raw[:-1] + b"=%02X" % raw[-1]
        if before[-1:] in (b"", b"\n") and raw[:1] and raw[0] in _UNSAFE_START:
            raw = b"=%02X" % raw[0] + raw[1:]
        return raw

    def wrapped(self, data: bytes, start: int, end: int, changed: Iterable[list[Edit]]) -> Iterator[list[Edit]]:
        """Yield the edits in the body at this span, with soft line breaks in lines that they make too long.

        `start`, `end` and the edits are byte offsets into `data`. Edits are read and yielded in batches, in order.
        """
        wrapped = self._line_edits(data, start, end, chain.from_iterable(changed))
        while edits := list(islice(wrapped, _AT_ONCE)):
            yield edits

    def _line_edits(self, data: bytes, start: int, end: int, edits: Iterable[Edit]) -> Iterator[Edit]:
        line = None
        for edit in edits:
            if line is None or edit.start > line.end:
                if line is not None:
                    yield from line.edits(b"=" + self._line_end)
                line = _Line(data, max(start, data.rfind(b"\n", start, edit.start) + 1), end)
            line.take(edit)
        if line is not None:
            yield from line.edits(b"=" + self._line_end)


class _Line:
    """A line with its edits applied (or several lines that edits join), and those edits: there may be a million."""

    __slots__ = ("_data", "_edits", "_last", "_new", "_read", "_start", "end")

    def __init__(self, data: bytes, start: int, last: int) -> None:
        self._data = data
        self._start = self._read = start
        self.end = -1  # offset of its LF
        self._last = last  # end of the body
        self._new = bytearray()
        self._edits: list[Edit] = []

    def take(self, edit: Edit) -> None:
        """Apply an edit; edits come in order."""
        self._new += self._data[self._read : edit.start]
        self._new += edit.new
        self._edits.append(edit)
        self._read = edit.end
        if edit.end > self.end:
            self.end = self._line_end(edit.end)

    def edits(self, soft_break: bytes) -> Iterator[Edit]:
        """Yield the edits, with the soft line breaks that the edited line needs."""
        new = self._new
        new += self._data[self._read : self.end].removesuffix(b"\r")
        cuts = _cuts(new) if len(new) > _LONGEST and len(new) > self._longest() else iter(())
        cut = next(cuts, len(new))
        at = 0  # offset into the new line: all before it is yielded or unchanged
        kept = self._start  # the offset into the data that corresponds to `at`
        for edit in self._edits:
            new_start = at + edit.start - kept
            new_end = new_start + len(edit.new)
            while cut < new_start:
                yield Edit(kept + cut - at, kept + cut - at, soft_break)
                cut = next(cuts, len(new))
            at = new_start
            pieces = []
            while cut < new_end:
                pieces.append(bytes(new[at:cut]))
                at, cut = cut, next(cuts, len(new))
            pieces.append(bytes(new[at:new_end]))
            yield Edit(edit.start, edit.end, soft_break.join(pieces))
            at = new_end
            kept = edit.end
        while cut < len(new):
            yield Edit(kept + cut - at, kept + cut - at, soft_break)
            cut = next(cuts, len(new))

    def _longest(self) -> int:
        """Return the length in bytes of the longest of the original lines, without line ends."""
        longest = 0
        start = self._start
        while start <= self.end:
            end = self._line_end(start)
            longest = max(longest, end - start - self._data.endswith(b"\r", start, end))
            start = end + 1
        return longest

    def _line_end(self, position: int) -> int:
        """Return the offset of the LF that ends the line at this offset, or the end of the body."""
        found = self._data.find(b"\n", position, self._last)
        return found if found >= 0 else self._last


def _escape(found: re.Match[bytes]) -> bytes:
    return b"=%02X" % found[0][0]


def _cuts(line: bytearray) -> Iterator[int]:
    """Yield the offsets at which to break a line: for example, 75 in a line of 80 letters.

    No piece with its `=` is too long, no `=XX` is split, and no piece begins with an unsafe byte where possible.
    """
    start = 0
    while len(line) - start > _LONGEST:
        cut = start + _LONGEST - 1
        while cut > start and (line[cut] in _UNSAFE_START or 0x3D in line[max(start, cut - 2) : cut]):
            cut -= 1
        start = cut if cut > start else start + _LONGEST - 1
        yield start


_NOT_BLANK: Final = re.compile(rb"[^\t\n\r ]")
_BLANKS: Final = b"\t\n\r "


def _is_padded(text: bytes) -> bool:
    """Return whether base64 is padded completely and only at its end, as in `YQ==`: then all decoders agree."""
    padding = text.find(b"=")
    return len(text) % 4 == 0 and (padding < 0 or padding >= len(text) - 2)


def _codec() -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    """Return decoder and encoder of pybase64 if it is installed (a thirtieth of the time), else of binascii."""
    try:
        library: Any = import_module("pybase64")
    except ImportError:
        return partial(binascii.a2b_base64, strict_mode=True), partial(binascii.b2a_base64, newline=False)
    return partial(library.b64decode, validate=True), library.b64encode


_decoded, _encoded = _codec()


class Base64:
    """Base64 (RFC 2045 6.8). `encode` uses the line width and line ends of the original.

    For example, `Base64(b"YWJj").encode(b"abcd")` is `YWJjZA==`. `one_line`: there is no maximum line length, so a
    value in one line stays in one line (RFC 4648 3.1).
    """

    __slots__ = ("_after", "_before", "_line_end", "_width")
    slot: tuple[int, int] | None = None

    def __init__(self, raw: bytes, *, one_line: bool = False) -> None:
        first = _NOT_BLANK.search(raw)
        begin = first.start() if first else 0
        tail = raw[-_TAIL:].rstrip(_BLANKS)
        end = max(0, len(raw) - _TAIL) + len(tail) if tail else len(raw.rstrip(_BLANKS))
        self._before = raw[:begin]
        self._after = raw[max(begin, end) :]
        inside = _BETWEEN.search(raw, begin, end)
        around = inside or _BETWEEN.search(raw)
        self._line_end = around[0] if around else b"\r\n"
        if inside:
            self._width = len(raw[begin : inside.start()].rstrip(_BLANKS))
        else:
            indent = len(self._line_end.expandtabs(_TAB).strip(b"\r\n"))
            longest = max(_SHORTEST, (_LONGEST - indent) // 4 * 4)  # an indent counts against the length of a line
            self._width = longest if end - begin <= longest and not one_line else 0

    def decode(self, raw: bytes) -> bytes:
        text = raw.translate(None, _BLANKS)
        if _is_padded(text):
            with suppress(binascii.Error):  # the message comes from the standard library
                return _decoded(text)
        try:
            return binascii.a2b_base64(text, strict_mode=True)
        except binascii.Error as error:
            raise CodingError("broken-base64", f"this is left as it is, its base64 is broken: {error}") from error

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        return self.decode(raw), None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - it is all there is
        if not self._width:
            return self._before + _encoded(value) + self._after
        width = self._width
        some = 3 * width * -(-_PIECE // (4 * width))  # bytes of the value: a multiple that fills whole lines
        lines = BytesIO()
        lines.write(self._before)
        for start in range(0, len(value), some):
            text = _encoded(value[start : start + some])
            if start:
                lines.write(self._line_end)
            lines.write(in_lines(text, width, self._line_end))
        lines.write(self._after)
        return lines.getvalue()


class LooseBase64(Base64):
    """Broken base64, of which mail programs still decode a part: the same part is decoded, and nothing is written."""

    __slots__ = ()

    def __init__(self) -> None:
        """Skip the search for line ends, because a body may be large."""

    def decode(self, raw: bytes) -> bytes:
        try:
            return super().decode(raw)
        except CodingError:
            with suppress(binascii.Error):
                return binascii.a2b_base64(raw + b"==")
            raise


# --- decoding quoted-printable ----------------------------------------------------------------------------------------

_DIGITS = HEX_DIGITS  # lower-case ones are accepted, too (rule 1)
_BYTES = SINGLE_BYTES


def _quoted_printable(raw: bytes) -> tuple:  # type: ignore[type-arg]  # as the compiler has it
    """Return the decoded bytes and their offsets.

    Units are an octet in hexadecimal digits (rule 1), a soft line break with blanks before its line end (rule 5), and
    blanks at the end of a line, which transport agents added (rule 3). Any other `=` is literal.
    """
    p: cython.p_const_uchar = raw
    digits: cython.p_const_uchar = _DIGITS
    n: cython.Py_ssize_t = len(raw)
    equals: cython.Py_ssize_t = _next(p, 61, 0, n)
    line_feed: cython.Py_ssize_t = _next(p, 10, 0, n)
    done: cython.Py_ssize_t = 0  # end of the last unit
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    decoded: Decoded = Decoded(raw)
    while equals < n or line_feed < n:
        if line_feed < equals:
            done = _trimmed(decoded, p, done, line_feed - (line_feed > 0 and p[line_feed - 1] == 13))
            line_feed = _next(p, 10, line_feed + 1, n)
            continue
        at = equals + 1
        if equals + 2 < n and digits[p[at]] < 16 and digits[p[at + 1]] < 16:
            done = equals + 3
            decoded.unit(equals, done, _BYTES[digits[p[at]] << 4 | digits[p[at + 1]]])
        else:
            end = _soft_break_end(p, at, n)
            if end > 0:
                decoded.unit(equals, end, b"")
                at = done = end
                if line_feed < end:
                    line_feed = _next(p, 10, end, n)
        equals = _next(p, 61, max(at, done), n)
    _trimmed(decoded, p, done, n)
    return decoded.whole()


def _next(
    p: cython.p_const_uchar, byte: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return the offset of a byte in a span, or `end` if the span lacks it."""
    found: cython.Py_ssize_t = byte_scan.find(p, byte, start, end)
    return found if found >= 0 else end


def _soft_break_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of the soft line break whose `=` precedes this offset; 0 if the `=` is literal."""
    while i < n and (p[i] == 32 or p[i] == 9):
        i += 1
    if i == n:
        return n
    if p[i] == 13 and i + 1 < n:
        i += 1
    return i + 1 if p[i] == 10 else 0


def _trimmed(
    decoded: Decoded, p: cython.p_const_uchar, done: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Remove the blanks before the end of a line, down to the last unit; return the end of the last unit."""
    start: cython.Py_ssize_t = end
    while start > done and (p[start - 1] == 32 or p[start - 1] == 9):
        start -= 1
    if start >= end or (start > 0 and p[start - 1] == 61):  # blanks behind an = belong to a soft line break
        return done
    decoded.unit(start, end, b"")
    return end
