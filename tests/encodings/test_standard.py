"""The encodings of the Encoding Standard where they differ from Python's codecs; Chromium judges each of them."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from urllib.parse import unquote

import pytest

from absolve.document import resolved
from absolve.encodings.charsets import by_label
from absolve.encodings.codings import Raw
from absolve.encodings.standard import folded
from absolve.urls import whatwg
from absolve.verifying.chromium import Chromium
from tests import browser_page

MULTIBYTE = ("gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr")
ONE_BYTE = (
    *("ibm866", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic", "windows-874", "iso-8859-8-i"),
    *(f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    *(f"windows-125{number}" for number in range(9)),
)


@pytest.mark.parametrize(("label", "raw", "text"), [
    ("gbk", "80 a3a0 a6d9 a8bc 8135f437 fea0", "€ \u3000 \ufe10 \u1e3f \ue7c7 \u9fbb"),
    ("gb18030", "81 84328130 81ff ff", "\ufffd \ufffd \ufffd \ufffd"),
    ("big5", "8862 877a 87df a145 a241 a1fe a3e1 c6cf fedd 8141", "\xca\u0304 㡵 鿋 \u2027 \u2215 \uff0f € 廴 砉 \ufffdA"),
    ("euc-jp", "ada1 f9a1 a1c1 8fa2b7 8ea1 8fb0a1 8ea0 8fa1a1 a980", "① 纊 \uff5e \uff5e ｡ 丂 \ufffd \ufffd \ufffd"),
    ("shift_jis", "85b1 a0 fd 80 f040 8380 fa40", "\ufffd \ufffd \ufffd \x80 \ue000 ム ⅰ"),
    ("euc-kr", "8180 c9a1 b0a1 ff", "\ufffd \ufffd 가 \ufffd"), ("koi8-u", "ae be", "ў Ў"), ("windows-1255", "ca d9", "\u05ba \ufffd"),
    ("windows-1252", "81 80", "\x81 €"),
    ("iso-2022-jp", "0e 1b24422d211b2842 1b24407c7c1b2842", "\ufffd ① \uffe4"),
    ("utf-8", "e282 f09f98 c0af eda080 ff", "\ufffd \ufffd \ufffd\ufffd \ufffd\ufffd\ufffd \ufffd"),
])
def test_browsers_read_bytes_as_the_characters_and_errors_of_the_standard(label: str, raw: str, text: str) -> None:
    value = Raw(by_label(label)).decode(b" ".join(map(bytes.fromhex, raw.split())))
    target = whatwg.profile("http://h/", label)(f"#{resolved.text(value)}.")
    assert unquote((target or "").partition("#")[2]) == f"{text}."


@pytest.mark.parametrize(("label", "query", "encoded"), [
    ("gbk", "€\u9fb4\U00020000\ue5e5", "%80%FEY%26%23131072%3B%26%2358853%3B"),
    ("gb18030", "€\u1e3f\U00020000\ue7c7\ue78d", "%A2%E3%A8%BC%952%826%815%F47%A6%D9"),
    ("big5", "€兀嗀\u2550啊㐀¥", "%A3%E1%A4a%DC%D1%F9%F9%B0%DA%26%2313312%3B%26%23165%3B"),
    ("euc-jp", "①丂\uff5e−¥", "%AD%A1%26%2319970%3B%A1%C1%A1%DD\\"),
    ("shift_jis", "ⅰ纊\ue000¢‾\x80", "%FA@%FA\\%26%2357344%3B%26%23162%3B~%80"),
    ("iso-2022-jp", "①ｱﾞ¥a\x0eb日é\\", "%1B$B-!%%22!+%1B(J\\a%26%2365533%3Bb%1B$BF|%1B(B%26%23233%3B\\"),
    ("koi8-u", "ў╝", "%AE%26%239565%3B"), ("windows-1253", "\x81\xd2", "%81%26%23210%3B"),
    ("x-user-defined", "\uf7ff\xff", "%FF%26%23255%3B"),
])
def test_a_query_has_the_bytes_that_the_encoder_of_the_standard_writes(label: str, query: str, encoded: str) -> None:
    assert whatwg.profile("http://h/", label)(f"?{query}") == f"http://h/?{encoded}"


def test_text_of_a_document_is_written_as_bytes_that_are_the_same_characters() -> None:
    for label in (*ONE_BYTE, *MULTIBYTE):
        charset = by_label(label)
        texts = [charset.decode(bytes((lead, trail))) for lead, trail in product(range(0x80, 0xFF), (0x42, 0xA1, 0xB5))]
        assert [text for text in texts if charset.decode(charset.encode(text, "absolve.references")) != text] == []


DECODE = """(async ([label, codes]) => codes.map(
    (code) => new TextDecoder(label).decode(new Uint8Array([...code, 34]))))"""
ENCODE = """(async (end) => {
    const link = document.createElement("a"), found = [];
    for (let code = 0x80; code < end; code++)
        if (code < 0xd800 || code > 0xdfff) {
            link.href = "?" + String.fromCodePoint(code);
            found.push(link.search.slice(1));
        }
    return [document.characterSet.toLowerCase(), found.join(" ")];
})"""
# Chromium 156 has other characters for these than the indexes of the Standard.
WRONG = {"big5": {b"\x88b", b"\x88d", b"\x88\xa3", b"\x88\xa5"}, "euc-jp": {b"\xa1\xa1"}}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium(browser_page.program()) as started:
        yield started


def sequences(label: str) -> list[bytes]:
    """Return all sequences of one and two bytes, and some of three and four."""
    found = [bytes((byte,)) for byte in range(0x80, 0x100)]
    if label in {*MULTIBYTE, "utf-8"}:
        found += map(bytes, product(range(0x80, 0x100), range(0x100)))
    if label == "euc-jp":
        found += map(bytes, product((0x8F,), range(0xA1, 0xFF), range(0x80, 0x100)))
    if label == "gb18030":
        found += map(bytes, product((0x81, 0x84, 0x90, 0xE3, 0xFE), range(0x30, 0x3A), range(0x81, 0xFF), (0x30, 0x37)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("label", [*ONE_BYTE, *MULTIBYTE, "utf-8", "iso-2022-jp"])
def test_chromium_decodes_and_encodes_the_same(label: str, chromium: Chromium, tmp_path: Path) -> None:
    page_file = tmp_path / "page.html"
    page_file.write_text(f"<!DOCTYPE html><meta charset={label}><title>x</title>", encoding="ascii")
    page = browser_page.Page(chromium, page_file.as_uri())
    charset, codes = by_label(label), sequences(label)
    found = page.do(lambda: page.page.evaluate(DECODE, [label, list(map(list, codes))]))
    codec, handler = charset.codec, "absolve.surrogates"
    for code, text in zip(codes, found, strict=True):
        value = Raw(charset).decode(code + b'"')
        read = value.decode("utf-8", "replace") if codec == "utf-8" else folded(value.decode("utf-8", handler), codec)
        assert read == text or code in WRONG.get(label, ()), code
    end = 0x30000 if label in MULTIBYTE else 0x10000
    name, encoded = page.do(lambda: page.page.evaluate(ENCODE, end))
    assert name == label
    resolve = whatwg.query_encoder(label) or (lambda text: "".join(f"%{byte:02X}" for byte in text.encode()))
    characters = [chr(code) for code in range(0x80, end) if not 0xD800 <= code <= 0xDFFF]
    assert [one for one, its in zip(characters, encoded.split(" "), strict=True) if resolve(one) != its] == []
