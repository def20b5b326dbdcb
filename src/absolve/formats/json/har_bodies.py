"""Codings of a body in an HTTP Archive: a JSON string, often base64, and content codings that a program left there.

In: the raw string of a body, its `encoding`, and the content codings that the header names. Out: the codings that are
there. HAR 1.2 stores bodies decoded, but recording proxies also write what came over the wire, in base64 or as text
with a character for each byte.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError
from absolve.core.lazy_regex import pattern
from absolve.formats import registry
from absolve.formats.compression import CODINGS, MOST_CODINGS, SIGNATURES, too_many
from absolve.formats.json.tokens import JSONString
from absolve.formats.mail.codings import Base64, LooseBase64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.core.protocols import Coding
    from absolve.formats.protocols import WalkOptions

STRING: Final = JSONString()
_LOOKED_AT: Final = 512  # bytes that show whether a body is in a coding
_MAGIC: Final = 64  # bytes that are enough for a signature
_NO_TEXT: Final = bytes(set(range(0x20)) - set(b"\t\n\f\r\x1b\b"))  # as in registry.looks_binary
_GZIP_IN_BASE64: Final = b"H4sIA"  # the header of gzip; some programs leave `encoding` out
_NO_BASE64: Final = pattern(rb"[<{(;]")  # of markup, JSON, style sheets and scripts
_LOST: Final = "\ufffd"
_WINDOWS: Final = {code: number for number in range(0x80, 0xA0) if (code := bytes([number]).decode("cp1252", "ignore"))}


class Characters:
    """Bytes as text, a character for each of them: ISO 8859-1, or windows-1252."""

    slot: tuple[int, int] | None = None
    _table: dict[str, int] | None = None  # of the bytes that were written otherwise than in ISO 8859-1

    def decode(self, raw: bytes) -> bytes:
        """Return the bytes. Raise CodingError for a character of no byte, as where bytes were replaced."""
        text = raw.decode("utf-8", "replace")
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            self._table = _WINDOWS
        try:
            return bytes([_WINDOWS.get(character, ord(character)) for character in text])
        except ValueError as error:
            words = "this is compressed and was stored as text, in which some bytes are lost"
            raise CodingError("broken", words) from error

    def decode_mapped(self, raw: bytes) -> tuple[bytes, None]:
        return self.decode(raw), None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - of the protocol
        text = value.decode("latin-1")
        if self._table is not None:
            text = text.translate({number: character for character, number in self._table.items()})
        return text.encode()


def storage(raw: bytes, encoding: str, *, loose: bool = False) -> list[Coding]:
    """Return the codings in which HAR stores a body: a string, and base64 if its `encoding` is that.

    Firefox names base64 for some text that it stores as it is (its bug 1762313).
    """
    is_base64 = encoding == "base64" and _NO_BASE64.search(raw, 0, _LOOKED_AT) is None
    if not is_base64 and not raw.startswith(_GZIP_IN_BASE64):
        return [STRING]
    return [STRING, LooseBase64() if loose else Base64(STRING.decode(raw), one_line=True)]


def left_in(raw: bytes, names: Sequence[str], options: WalkOptions, *, is_text: bool, by_magic: bool) -> list[Coding]:
    """Return the content codings that are still in a stored body, the outermost first; none for most.

    `names` are those of the header, in its order. `is_text`: it is stored as a string alone. `by_magic`: one with a
    signature counts, too, if the header does not name it.
    """
    head = _head(raw[: _LOOKED_AT if names else _MAGIC], is_text=is_text)
    signed = [name for name, magic in SIGNATURES.items() if head.startswith(magic)]
    if not head or not (names or signed):
        return []
    if len(names) > MOST_CODINGS:
        return [too_many(names[0])]
    found: list[Coding] = []
    for name in reversed(names or signed[:1]):
        coding = CODINGS[name](options.max_decompressed) if name in CODINGS else None
        if coding is not None and (found or _is_in(coding, head)):
            found.append(coding)
    if not found and by_magic and signed:
        found = [CODINGS[signed[0]](options.max_decompressed)]
    return [Characters(), *found] if found and is_text else found


def _head(raw: bytes, *, is_text: bool) -> bytes:
    """Return the first bytes of a stored body, from the start of its string; nothing of text that is text."""
    value = STRING.decode(raw)
    if is_text:
        if len(value.translate(None, _NO_TEXT)) == len(value):
            return b""
        # a byte that was lost may be any
        text = value.decode("utf-8", "ignore").replace(_LOST, "\x8b")
        return bytes([_WINDOWS.get(character, ord(character) & 255) for character in text])
    value = value.translate(None, b"\t\n\r ")
    try:
        return binascii.a2b_base64(value[: len(value) & ~3])
    except binascii.Error:
        return b""


def _is_in(coding: Coding, head: bytes) -> bool:
    """Return whether data is in a coding, by its first bytes: they decode, maybe up to a cut if they are no text."""
    try:
        coding.decode(head)
    except CodingError as error:
        return error.code != "broken" and registry.looks_binary(head)
    return True
