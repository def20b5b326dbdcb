"""How a body stands in a message: quoted-printable and base64 (RFC 2045 section 6)."""

from __future__ import annotations

import binascii
import re
from io import BytesIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError
from absolve.core.model import Edit
from absolve.encodings.offset_map import Decoded
from absolve.formats.events.packed_edits import PackedEdits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.core.protocols import Offsets

_LONGEST: Final = 76  # characters of a line without its end (6.7, rule 5; 6.8)
_AT_ONCE: Final = 1000  # edits, or characters of base64 in each of some
_LINE_END: Final = re.compile(rb"\r?\n")

# 6.7: (1) an octet in hexadecimal digits, lower-case ones too; (5) a soft line break, blanks before the line's end or
# none; (3) blanks at the end of a line, which transport agents added. Any other "=" stands for itself.
_UNIT: Final = re.compile(rb"=(?:([0-9A-Fa-f]{2})|[\t ]*+(?:\r?\n|\Z))|(?<![\t =])[\t ]++(?=\r?\n|\Z)")
_ESCAPED: Final = re.compile(rb"[^\t -<>-~]")
# What no line of a message begins with unharmed: a boundary, the end of a message in SMTP, the next one in mbox.
_UNSAFE_START: Final = b"-.F"


class QuotedPrintable:
    """RFC 2045 6.7. Soft line breaks, the case of digits, and what is escaped without need stay where no edit is."""

    __slots__ = ("_line_end",)
    slot: tuple[int, int] | None = None

    def __init__(self, raw: bytes) -> None:
        found = _LINE_END.search(raw)
        self._line_end = found[0] if found else b"\r\n"

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        made = Decoded(raw)
        for unit in _UNIT.finditer(raw):
            made.unit(unit.start(), unit.end(), _octet(unit))
        return made.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        raw = _ESCAPED.sub(_escape, value)
        if raw[-1:] in (b" ", b"\t") and after[:1] in (b"", b"\r", b"\n"):
            raw = raw[:-1] + b"=%02X" % raw[-1]
        if before[-1:] in (b"", b"\n") and raw[:1] and raw[0] in _UNSAFE_START:
            raw = b"=%02X" % raw[0] + raw[1:]
        return raw

    def wrapped(self, data: bytes, start: int, end: int, changed: Iterable[list[Edit]]) -> Iterator[list[Edit]]:
        """The edits in a body that stands there, with soft breaks in lines that grow too long by them.

        They come, and are given, some at a time.
        """
        made = self._made(data, start, end, chain.from_iterable(changed))
        while edits := list(islice(made, _AT_ONCE)):
            yield edits

    def _made(self, data: bytes, start: int, end: int, edits: Iterable[Edit]) -> Iterator[Edit]:
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
    """A line with its edits made, or some that edits make one, and those edits: there may be a million of them."""

    __slots__ = ("_data", "_edits", "_last", "_new", "_read", "_start", "end")

    def __init__(self, data: bytes, start: int, last: int) -> None:
        self._data = data
        self._start = self._read = start
        self.end = -1  # where it ends: at its LF
        self._last = last  # where the body does
        self._new = bytearray()
        self._edits = PackedEdits()

    def take(self, edit: Edit) -> None:
        """Make an edit that stands behind all that came before."""
        self._new += self._data[self._read : edit.start]
        self._new += edit.new
        self._edits.add([edit])
        self._read = edit.end
        if edit.end > self.end:
            self.end = self._line_end(edit.end)

    def edits(self, soft_break: bytes) -> Iterator[Edit]:
        """The edits, with the breaks that the line needs after them."""
        new = self._new
        new += self._data[self._read : self.end].removesuffix(b"\r")
        cuts = _cuts(new) if len(new) > _LONGEST and len(new) > self._longest() else iter(())
        cut = next(cuts, len(new))
        at = 0  # how much of the new line was told
        kept = self._start  # where what stands there as it was begins
        for edit in chain.from_iterable(self._edits.parts()):
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
        """Bytes of the longest line that stood here, without its end."""
        longest = 0
        start = self._start
        while start <= self.end:
            end = self._line_end(start)
            longest = max(longest, end - start - self._data.endswith(b"\r", start, end))
            start = end + 1
        return longest

    def _line_end(self, position: int) -> int:
        """Where the line ends that an offset is in: at its LF."""
        found = self._data.find(b"\n", position, self._last)
        return found if found >= 0 else self._last


def _octet(unit: re.Match[bytes]) -> bytes:
    return binascii.unhexlify(unit[1]) if unit[1] else b""


def _escape(found: re.Match[bytes]) -> bytes:
    return b"=%02X" % found[0][0]


def _cuts(line: bytearray) -> Iterator[int]:
    """Where a line must be broken: each piece with its `=` is no longer than is allowed, no octet is cut in two."""
    start = 0
    while len(line) - start > _LONGEST:
        cut = start + _LONGEST - 1
        while cut > start and (line[cut] in _UNSAFE_START or 0x3D in line[max(start, cut - 2) : cut]):
            cut -= 1
        start = cut if cut > start else start + _LONGEST - 1
        yield start


_NOT_BLANK: Final = re.compile(rb"[^\t\n\r ]")
_BLANKS: Final = b"\t\n\r "


class Base64:
    """RFC 2045 6.8. What is encoded anew gets the line width and line ends of what stood there.

    `one_line`: no line is too long, so that what stands in one line goes on doing so (RFC 4648 3.1).
    """

    __slots__ = ("_after", "_before", "_line_end", "_width")
    slot: tuple[int, int] | None = None

    def __init__(self, raw: bytes, *, one_line: bool = False) -> None:
        text = raw.strip(_BLANKS)
        first = _NOT_BLANK.search(raw)
        self._before = raw[: first.start()] if first else b""
        self._after = raw[len(self._before) + len(text) :]
        inside = _LINE_END.search(text)
        around = inside or _LINE_END.search(raw)
        self._line_end = around[0] if around else b"\r\n"
        if inside:
            self._width = len(text[: inside.start()].rstrip(_BLANKS))
        else:
            self._width = _LONGEST if len(text) <= _LONGEST and not one_line else 0

    def decode(self, raw: bytes) -> bytes:
        try:
            return binascii.a2b_base64(raw.translate(None, _BLANKS), strict_mode=True)
        except binascii.Error as error:
            raise CodingError("broken-base64", f"this is left as it is, its base64 is broken: {error}") from error

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        return self.decode(raw), None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - it is all there is
        if not self._width:
            return self._before + binascii.b2a_base64(value, newline=False) + self._after
        width = self._width
        some = 3 * width * -(-_AT_ONCE // width)  # bytes of the value, which make whole lines
        made = BytesIO()
        made.write(self._before)
        for start in range(0, len(value), some):
            text = binascii.b2a_base64(value[start : start + some], newline=False)
            if start:
                made.write(self._line_end)
            made.write(self._line_end.join([text[at : at + width] for at in range(0, len(text), width)]))
        made.write(self._after)
        return made.getvalue()
