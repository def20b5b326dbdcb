"""The codings of references in Markdown: a link destination with and without angle brackets (CommonMark 6.3).

In: the raw bytes of a destination (UTF-8). Out: the reference with backslash escapes (2.4) and character references
(2.5) decoded, or the escaped bytes to write. A URL in an autolink (6.5) has no escapes: its coding is `IDENTITY`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.encodings.character_references import reference_at
from absolve.encodings.offset_map import Decoded, replaced

if TYPE_CHECKING:
    import re

    from absolve.core.protocols import Coding, Offsets

_UNIT: Final = pattern(rb"\\([!-/:-@\[-`{-~])|&(?:\#(?:[0-9]{1,7}|[Xx][0-9A-Fa-f]{1,6})|[A-Za-z][A-Za-z0-9]{0,31});")
_SPECIAL: Final = frozenset(b"\\&")
# A backslash is an escape only before punctuation. A pipe would end a cell of a table, a backtick begin a code span.
_BARE: Final = pattern(rb"[\x00-\x20\x7f<>|`]|\\(?=[!-/:-@\[-`{-~]|\Z)|&")
_ANGLE: Final = pattern(rb"[\x00\r\n<>|`]|\\(?=[!-/:-@\[-`{-~]|\Z)|&")
_PARENTHESIS: Final = pattern(rb"[()]")
_DEEPEST: Final = 8  # parentheses in each other that are not escaped; readers accept 32
_PRINTABLE: Final = range(0x21, 0x7F)


class Destination:
    """The `Coding` of a link destination, with angle brackets or without."""

    __slots__ = ("_must",)
    slot: tuple[int, int] | None = None

    def __init__(self, must: re.Pattern[bytes]) -> None:
        self._must = must

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0] if not _SPECIAL.isdisjoint(raw) else raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        made = Decoded(raw)
        for unit in _UNIT.finditer(raw):
            value = unit[1] or _meaning(raw, *unit.span())
            if value is not None:
                made.unit(*unit.span(), value)
        return made.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - escapes are closed
        """Return the value with escapes; parentheses are escaped only where they are not balanced."""
        text = value + after[:64]

        def escaped(found: re.Match[bytes]) -> bytes:
            start, end = found.span()
            if found[0] == b"&" and _reference(text, start) is None:
                return b"&"
            if start == len(value) - 1 and found[0] == b"\\" and not _UNIT.match(text, start):
                return b"\\"
            is_shown = value[start] in _PRINTABLE and end - start == 1
            return b"\\" + found[0] if is_shown else b"&#%d;" % value[start]

        raw = replaced(self._must, escaped, value)
        if self._must is _BARE and not _is_balanced(value):
            raw = replaced(_PARENTHESIS, lambda found: b"\\" + found[0], raw)
        return raw


def _reference(text: bytes, start: int) -> tuple[int, bytes] | None:
    """Return the end and the meaning of the character reference at an offset, which needs its semicolon."""
    unit = _UNIT.match(text, start)
    if unit is None:
        return None
    found = reference_at(text, start, len(text), attribute=False)
    return found if found is not None and found[0] == unit.end() else None


def _meaning(raw: bytes, start: int, end: int) -> bytes | None:
    found = _reference(raw[:end], start)
    return found[1] if found is not None else None


def _is_balanced(value: bytes) -> bool:
    depth = 0
    for found in _PARENTHESIS.finditer(value):
        depth += 1 if found[0] == b"(" else -1
        if not 0 <= depth <= _DEEPEST:
            return False
    return depth == 0


BARE: Final[Coding] = Destination(_BARE)
IN_ANGLES: Final[Coding] = Destination(_ANGLE)
