"""Decoding as in browsers (Encoding Standard), and encoding for the generator, without any code of absolve."""

import codecs
from typing import Final

from webencodings.labels import LABELS

NAMES: Final = tuple(sorted(set(LABELS.values())))
_CODECS: Final = {
    "shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "big5": "big5hkscs", "windows-874": "cp874", "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic", "iso-8859-8-i": "iso-8859-8", "x-user-defined": "latin-1", "replacement": "utf-8",
}
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
_LOST: Final = "\N{REPLACEMENT CHARACTER}"


def codec(name: str) -> str:
    return _CODECS.get(name, name)


def encode(text: str, name: str) -> bytes:
    """Encode text; U+DC80 to U+DCFF are invalid bytes, and characters missing in the charset become references."""
    found = bytearray()
    run: list[str] = []
    for point in text:
        if "\udc80" <= point <= "\udcff" and not name.startswith("utf-16"):
            found += _encoded("".join(run), name)
            run.clear()
            found.append(ord(point) & 0xFF)
        else:
            run.append(point)
    return bytes(found + _encoded("".join(run), name))


def _encoded(text: str, name: str) -> bytes:
    if name.startswith("utf-16"):
        return text.encode(codec(name), "surrogatepass")
    if name == "utf-8":
        return text.encode("utf-8", "surrogatepass")
    if name == "iso-2022-jp":  # in pieces: Python's handling of escapes in the text is avoided
        return b"".join(part.encode("iso2022_jp", "xmlcharrefreplace") if not part.isascii() else part.encode() for part in _runs(text))
    return text.encode(codec(name), "xmlcharrefreplace")


def _runs(text: str) -> list[str]:
    runs: list[str] = []
    for point in text:
        if runs and runs[-1].isascii() == point.isascii():
            runs[-1] += point
        else:
            runs.append(point)
    return runs


def decode(data: bytes, name: str) -> str:
    """Decode text like a browser that knows the charset; a byte order mark overrides it."""
    for mark, marked in _MARKS:
        if data.startswith(mark):
            data, name = data[len(mark) :], marked
            break
    if name == "replacement":
        return _LOST if data else ""
    if name == "iso-2022-jp":
        return _iso_2022_jp(data)
    return data.decode(codec(name), "replace")


_ASCII, _ROMAN, _KATAKANA, _LEAD, _TRAIL, _ESCAPE_START, _ESCAPE = range(7)
_ESCAPES: Final = {b"(B": _ASCII, b"(J": _ROMAN, b"(I": _KATAKANA, b"$@": _LEAD, b"$B": _LEAD}


def _iso_2022_jp(data: bytes) -> str:
    """Decode as in Encoding Standard 12.2.1, with its states except the two of an escape, which use lookahead."""
    found: list[str] = []
    state, output, at = _ASCII, False, 0
    while at < len(data):
        byte = data[at]
        at += 1
        if byte == 0x1B:
            new = _ESCAPES.get(data[at : at + 2])
            if new is None:
                found.append(_LOST)  # and the following bytes are read again
                output = False
            else:
                at += 2
                state = new
                if output:
                    found.append(_LOST)
                output = True
            continue
        output = False
        if state in {_ASCII, _ROMAN}:
            known = byte < 0x80 and byte not in {0x0E, 0x0F}
            roman = {0x5C: "\xa5", 0x7E: "\u203e"} if state == _ROMAN else {}
            found.append(roman.get(byte, chr(byte)) if known else _LOST)
        elif state == _KATAKANA:
            found.append(chr(0xFF61 - 0x21 + byte) if 0x21 <= byte <= 0x5F else _LOST)
        elif not 0x21 <= byte <= 0x7E or (at < len(data) and data[at] == 0x1B):
            found.append(_LOST)
        elif at < len(data):
            trail = data[at]
            at += 1
            pair = bytes((byte | 0x80, trail | 0x80)) if 0x21 <= trail <= 0x7E else b""
            found.append(pair.decode("euc_jp", "replace")[:1] or _LOST)
        else:
            found.append(_LOST)
    return "".join(found)
