"""How a body stands in a message: quoted-printable and base64 (RFC 2045 section 6)."""

from __future__ import annotations

import binascii
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from absolve.errors import CodingError
from absolve.model import Edit
from absolve.offsets import Decoded

if TYPE_CHECKING:
    from absolve.typing import Offsets

_LONGEST: Final = 76  # characters of a line without its end (6.7, rule 5; 6.8)
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
        return _UNIT.sub(_octet, raw)

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

    def wrapped(self, raw: bytes, start: int, edits: list[Edit]) -> list[Edit]:
        """The edits in a body that stands from `start` on, with soft breaks in lines that grow too long by them."""
        done: list[Edit] = []
        index = 0
        while index < len(edits):
            line_start = raw.rfind(b"\n", 0, edits[index].start - start) + 1
            line_end = _line_end(raw, edits[index].end - start)
            last = index + 1
            while last < len(edits) and edits[last].start - start <= line_end:
                line_end = _line_end(raw, max(line_end, edits[last].end - start))
                last += 1
            done += self._line(raw, start, line_start, line_end, edits[index:last])
            index = last
        return done

    def _line(self, raw: bytes, start: int, line_start: int, line_end: int, edits: list[Edit]) -> list[Edit]:
        """The edits in one line, with the breaks that it needs after them."""
        pieces: list[Edit] = []  # all of the line: what is kept as an edit that puts the same in its place
        position = line_start
        for edit in (*edits, Edit(start + line_end, start + line_end, b"")):
            kept = raw[position : edit.start - start]
            pieces += [Edit(start + position, edit.start, kept), edit]
            position = edit.end - start
        pieces[-2].new = pieces[-2].new.removesuffix(b"\r")
        line = b"".join(piece.new for piece in pieces)
        before = max(len(old.removesuffix(b"\r")) for old in raw[line_start:line_end].split(b"\n"))
        if len(line) <= max(_LONGEST, before):
            return edits
        cuts = iter(_cuts(line))
        cut = next(cuts, -1)
        done: list[Edit] = []
        at = 0  # where in the new line the piece begins
        for index, piece in enumerate(pieces):
            here: list[int] = []
            while at <= cut < at + len(piece.new):
                here.append(cut - at)
                cut = next(cuts, -1)
            if index % 2 == 0:
                done += (Edit(piece.start + place, piece.start + place, b"=" + self._line_end) for place in here)
            elif index < len(pieces) - 1:
                done.append(self._broken(piece, here))
            at += len(piece.new)
        return done

    def _broken(self, edit: Edit, cuts: list[int]) -> Edit:
        edges = [0, *cuts, len(edit.new)]
        lines = (edit.new[one:other] for one, other in pairwise(edges))
        return Edit(edit.start, edit.end, (b"=" + self._line_end).join(lines))


def _octet(unit: re.Match[bytes]) -> bytes:
    return binascii.unhexlify(unit[1]) if unit[1] else b""


def _escape(found: re.Match[bytes]) -> bytes:
    return b"=%02X" % found[0][0]


def _line_end(raw: bytes, position: int) -> int:
    """Where the line ends that an offset is in: at its LF."""
    found = raw.find(b"\n", position)
    return found if found >= 0 else len(raw)


def _cuts(line: bytes) -> list[int]:
    """Where a line must be broken: each piece with its `=` is no longer than is allowed, no octet is cut in two."""
    cuts: list[int] = []
    start = 0
    while len(line) - start > _LONGEST:
        cut = start + _LONGEST - 1
        while cut > start and (line[cut] in _UNSAFE_START or 0x3D in line[max(start, cut - 2) : cut]):
            cut -= 1
        start = cut if cut > start else start + _LONGEST - 1
        cuts.append(start)
    return cuts


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
        text = binascii.b2a_base64(value, newline=False)
        width = self._width or len(text) or 1
        lines = (text[start : start + width] for start in range(0, len(text), width))
        return self._before + self._line_end.join(lines) + self._after
