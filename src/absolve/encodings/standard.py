r"""Differences between the encodings of the Encoding Standard and Python's codecs, and its encoders.

In: bytes, or text with bytes that are no character as lone surrogates (PEP 383). Out: the other one, as in
`decoded("big5hkscs", b"\xa1\xc2")`: a macron, not the overline of the codec. Encoders are the inverse of decoders.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Final

from absolve.core.lazy_regex import pattern

SURROGATE: Final = pattern("[\ud800-\udfff]")
_LONGEST: Final = 4  # most bytes of a character
# Bytes that are one error of a decoder together, by codec: a lead byte takes any byte with it that is not ASCII
# (10.2.1, 11.1.1, 12.1.1, 12.3.1, 13.1.1). Any other byte is an error of its own.
_LEAD_AND_TRAIL: Final = pattern("[\udc81-\udcfe][\udc80-\udcff]")
_ERRORS: Final = {
    "cp949": _LEAD_AND_TRAIL,
    "big5hkscs": _LEAD_AND_TRAIL,
    "gb18030": pattern("[\udc81-\udcfe](?:[\udc80-\udcff]|[0-9][\udc81-\udcfe][0-9])"),
    "cp932": pattern("[\udc81-\udc9f\udce0-\udcfc][\udc80-\udcff]"),
    "euc_jp": pattern("\udc8f[\udca1-\udcfe][\udc80-\udcff]?|[\udc8e\udc8f\udca1-\udcfe][\udc80-\udcff]"),
}
# Characters that a codec decodes to others than the Standard -> the characters of the Standard
_CHANGED: Final = {
    "big5hkscs": str.maketrans(
        "\u2022\uff64\u203e\u223c\u2641\u2609\xa5\xa2\xa3", "\u2027\ufe51\xaf\uff5e\u2295\u2299\uffe5\uffe0\uffe1"
    ),
    "cp1255": str.maketrans("\udcca", "\u05ba"),
    "cp932": str.maketrans("\uf8f0\uf8f1\uf8f2\uf8f3", "\udca0\udcfd\udcfe\udcff"),
    "euc_jp": str.maketrans("\u301c\u2016\u2212\xa2\xa3\xac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2"),
    "gb18030": str.maketrans(
        "\ue7c7\u1e3f\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796"
        "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
        "\u1e3f\ue7c7\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19"
        "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
    ),
    "koi8-u": str.maketrans("\u255d\u256c", "\u045e\u040e"),
}
# Characters of Big5 that the codec lacks: in HKSCS-2008 from 0x877A on, and others with their codes
_HKSCS: Final = (
    "㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏"
    "䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋"
)
_OTHERS: Final = (
    "箸簆糎緒縝者耨菁蒨萏覦覩起都銹靜響鼖蔃兙兛兝兞鍮瑹浧禛邗靝瀞嬨爁矗纇駖釔惞澶輶侻營鄄鷰菏尐秣婧輋筑拐恢痹汊鬮鼗僭弌蠏拎"
    "瑨煢牐廴无癶隶〃仝倩偽包卄卿嘅婷幵廐彘悤撐晴杞沜渝港煮猪瑜瓩砉"
)
_CODES: Final = bytes.fromhex(
    "8e698e6f8e7e8eab8eb48ecd8ed08f578f698f6e8fcb8fcc8ffe906d907a90dc90f191bf924492af92b092b192b292c892d1944794ca95d9"
    "964496ed96fc9b769b789b7b9bc69bde9bec9bf69c429c539c629c689c6b9c779cbc9cbd9cd09d579d5a9dc49ea99eef9efd9f609f669fcb"
    "9fd8a063a077a0d5a0dfa0e4c6cfc6d3c6d5c6d7c6dec6dffa5ffa66fabdfac5fad5fb48fbb8fbf3fbf9fc4ffc6cfcb9fce2fcf1fdb7fdb8"
    "fdbbfdf1fe52fe6ffeaafedd"
)
# Codes whose characters, as the codec has them, have another code, too; and an expression for all codes
_ODD: Final = {
    "big5hkscs": ({b"\xa2A": "\u2215", b"\xa2B": "\ufe68"}, pattern(rb"[\x81-\xfe][@-~\x80-\xfe]|[\x00-\xff]")),
    "euc_jp": (
        {b"\x8f\xa2\xb7": "\uff5e"},
        pattern(rb"\x8f[\xa1-\xfe][\x80-\xff]|[\x8e\x8f\xa1-\xfe][\x80-\xff]|[\x00-\xff]"),
    ),
}
# Codes that a decoder reads, and the encoder does not write, by charset (10.2.2, 11.1.2, 12.1.2, 12.3.2)
_UNSENT: Final = {
    "big5": pattern(rb"[\x81-\xa0]"),
    "euc-jp": pattern(rb"\x8f"),
    "gbk": pattern(rb"[\x81-\xfe][0-9]"),
    "shift_jis": pattern(rb"[\xed\xee\xf0-\xf9]"),
}
_LAST: Final = "\u2550\u255e\u2561\u256a\u5341\u5345"  # of two codes in Big5 the last one is written (5)
_KATAKANA: Final = (
    "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜"
)
# Characters that an encoder writes as others, by charset (12.1.2, 12.2.2, 12.3.2, 14.5.2)
_SENT_AS: Final[dict[str, dict[int, str]]] = {
    "euc-jp": {0xA5: "\\", 0x203E: "~", 0x2212: "\uff0d"},
    "shift_jis": {0xA5: "\\", 0x203E: "~", 0x2212: "\uff0d"},
    "iso-2022-jp": dict(enumerate(_KATAKANA, 0xFF61))
    | {0x2212: "\uff0d", 0x0E: "\ufffd", 0x0F: "\ufffd", 0x1B: "\ufffd"},
    "x-user-defined": {code: chr(code - 0xF780 + 0xDC80) for code in range(0xF780, 0xF800)},
}


def decoded(codec: str, raw: bytes) -> str:
    """Return whole characters as text: for example, 82 A0 in cp932 gives U+3042, a malformed 81 U+DC81."""
    return corrected(codec, raw, raw.decode(codec, "absolve"))


def corrected(codec: str, raw: bytes, text: str) -> str:
    """Correct the text that the codec with the error handler "absolve" made of bytes."""
    changed = _CHANGED.get(codec)
    if changed is None:
        return text
    odd, codes = _ODD.get(codec, ({}, None))
    if codes is not None and any(map(raw.__contains__, odd)):
        text = "".join([odd.get(one) or one.decode(codec, "absolve") for one in codes.findall(raw)])
    # to search for each of a few characters is 100 times faster than to translate
    return text.translate(changed) if any(map(text.__contains__, map(chr, changed))) else text


def unit_at(codec: str, raw: bytes, start: int) -> tuple[str, int]:
    """Return the text and the end of the bytes at an offset that a codec cannot decode.

    The text is a character that only the codec lacks, or lone surrogates: for example, 81 FF in cp932 is one error.
    """
    for size in (1, 2):
        if (character := _added(codec).get(raw[start : start + size])) is not None:
            return character, start + size
    rest = raw[start : start + _LONGEST].decode("ascii", "surrogateescape")
    found = _ERRORS[codec].match(rest) if codec in _ERRORS else None
    kept = found[0] if found is not None else rest[:1]
    return kept, start + len(kept)


@cache
def _added(codec: str) -> dict[bytes, str]:
    """Return the codes that a codec lacks, with their characters."""
    if codec == "euc_jp":  # the extensions of NEC and IBM
        pairs = product((0xAD, 0xF9, 0xFA, 0xFB, 0xFC), range(0xA1, 0xFF))
        return {bytes(pair): one for pair in pairs if (one := jis_x_0208(pair[0] & 0x7F, pair[1] & 0x7F))}
    if codec != "big5hkscs":
        return {b"\x80": "\u20ac"} if codec == "gb18030" else {}
    codes = [bytes((0x87, trail)) for trail in (*range(0x7A, 0x7F), *range(0xA1, 0xE0))]
    codes += [bytes((0xA3, trail)) for trail in range(0xC0, 0xE2)]
    codes += [_CODES[at : at + 2] for at in range(0, len(_CODES), 2)]
    return dict(zip(codes, (*_HKSCS, *map(chr, range(0x2400, 0x2420)), *"\u2421\u20ac", *_OTHERS), strict=True))


def jis_x_0208(row: int, cell: int) -> str:
    """Return a character of the index jis0208, as in cp932, or "": for example, 0x24 and 0x22 give U+3042."""
    lead, trail = divmod((row - 0x21) * 94 + cell - 0x21, 188)
    pair = bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))
    text = pair.decode("cp932", "replace")
    return text if len(text) == 1 and text != "\N{REPLACEMENT CHARACTER}" else ""


def folded(text: str, codec: str) -> str:
    r"""Return a text with one U+FFFD for each error of the decoder (4.1), in place of the bytes kept.

    For example, `folded("x\udc81\udcffy", "cp932")` is `"x\ufffdy"`, with "cp1252" `"x\ufffd\ufffdy"`.
    """
    if codec in _ERRORS:
        text = _ERRORS[codec].sub("\N{REPLACEMENT CHARACTER}", text)
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


@cache
def _table(charset: str, codec: str, *, every: bool) -> dict[str, bytes]:
    """Return the codes of at most three bytes of characters that are not ASCII; if `every`, unsent ones, too."""
    codes = [bytes((byte,)) for byte in range(0x80, 0x100)]
    if codec in _ERRORS:
        codes += map(bytes, product(range(0x81, 0xFF), (*range(0x40, 0x7F), *range(0x80, 0xFF))))
    if codec == "euc_jp":
        codes += map(bytes, product((0x8F,), range(0xA1, 0xFF), range(0xA1, 0xFF)))
    if unsent := _UNSENT.get(charset):
        codes.sort(key=lambda code: unsent.match(code) is not None)
    found: dict[str, bytes] = {}
    for code, text in zip(codes, decoded(codec, b"\n".join(codes)).split("\n"), strict=True):
        is_character = len(text) == 1 and (codec not in _ERRORS or not SURROGATE.match(text))
        if is_character and (text not in found or (text in _LAST and charset == "big5")):
            found[text] = code
    if codec == "gb18030":  # private characters that had these codes (10.2.2)
        changed = ((chr(one), chr(new)) for one, new in _CHANGED[codec].items() if one != 0xE5E5)
        found |= {one: found[new] for one, new in changed if new in found}
        found["\ue7c7"] = b"\x815\xf47"
    found |= {"\u20ac": b"\xa2\xe3"} if charset == "gb18030" else {}
    return found if every or not unsent else {text: code for text, code in found.items() if not unsent.match(code)}


def encoded(charset: str, codec: str, text: str, errors: str, *, every: bool = True) -> bytes:
    """Return a text as bytes that decode to it; `errors` is the error handler for characters that the charset lacks."""
    if codec == "utf-8":
        return text.encode(codec, errors)
    if charset == "iso-2022-jp":
        return _shifted(text, errors)
    table = _table(charset, codec, every=every)
    has_four = codec == "gb18030" and (every or charset == codec) and "\ue5e5" not in text  # which has no code (10.2.2)
    return b"".join([table.get(one) or one.encode(codec if has_four else "ascii", errors) for one in text])


def sent(charset: str, codec: str, text: str, errors: str) -> bytes:
    """Return a text as the encoder of the Standard writes it into the query of a URL or a form."""
    return encoded(charset, codec, text.translate(_SENT_AS.get(charset, {})), errors, every=False)


@cache
def _jis() -> dict[str, bytes]:
    pairs = reversed(list(product(range(0x21, 0x7F), repeat=2)))
    return {one: bytes(pair) for pair in pairs if (one := jis_x_0208(*pair))}


def _shifted(text: str, errors: str) -> bytes:
    """Return a text in ISO-2022-JP (12.2.2), beginning and ending in ASCII: for example, U+3042 as `ESC$B$"ESC(B`."""
    made, state = bytearray(), b"(B"
    for one in text:
        raw, wanted = _jis().get(one), b"$B"
        if one in "\xa5\u203e":
            raw, wanted = (b"\\" if one == "\xa5" else b"~"), b"(J"
        elif raw is None:
            raw, wanted = one.encode("ascii", errors), b"(B" if state == b"$B" or one in "\\~" else state
        made += raw if wanted == state else b"\x1b" + wanted + raw
        state = wanted
    return bytes(made if state == b"(B" else made + b"\x1b(B")
