"""Quoted-printable and base64: decoding, offsets of units, and minimal changes by an edit."""

import binascii
import quopri
import re
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from absolve.core.errors import CodingError
from absolve.core.model import Edit, Part
from absolve.encodings.offset_map import Decoded
from absolve.formats.mail.codings import Base64, QuotedPrintable
from absolve.rewriting.edits import lower, splice

# RFC 2045 6.7: (1) an octet in hexadecimal digits; (5) a soft line break, with or without blanks before the line end;
# (3) blanks at the end of a line.
UNIT = re.compile(rb"=(?:([0-9A-Fa-f]{2})|[\t ]*+(?:\r?\n|\Z))|(?<![\t =])[\t ]++(?=\r?\n|\Z)")
QUOTED = st.lists(st.sampled_from([b"=", b" ", b"\t", b"\r", b"\n", b"\r\n", b"4", b"a", b"F", b"g", b"=3D", b"=\r\n", b"x" * 40]))


@given(QUOTED.map(b"".join))
@example(b"a=\r\nb=\nc= \t\r\nd")
@example(b"a=zz=4")
@example(b"a \t\r\nb ")
def test_quoted_printable_has_the_units_of_the_grammar(raw: bytes) -> None:
    expected = Decoded(raw)
    for found in UNIT.finditer(raw):
        expected.unit(found.start(), found.end(), bytes.fromhex((found[1] or b"").decode()))
    known, places = expected.whole()
    value, offsets = QuotedPrintable(raw).decode_mapped(raw)
    assert QuotedPrintable(raw).decode(raw) == known
    assert offsets is not None
    assert value == known
    assert [(offsets.start(at), offsets.end(at)) for at in range(len(value) + 1)] == [
        (places.start(at), places.end(at)) for at in range(len(value) + 1)
    ]


def edited(raw: bytes, *edits: tuple[int, int, bytes]) -> bytes:
    coding = QuotedPrintable(raw)
    _, offsets = coding.decode_mapped(raw)
    assert offsets is not None
    part = Part("text/html", 100, 100 + len(raw), coding)
    lowered = lower([Edit(*edit) for edit in edits], bytes(100) + raw, part, offsets)
    data = bytes(100) + raw + bytes(100)
    done = coding.wrapped(data, 100, 100 + len(raw), ([edit] for edit in lowered))
    return splice(data, [edit for some in done for edit in some])[100:-100]


@pytest.mark.parametrize(("raw", "edit", "done"), [
    (b"ab=\r\ncd", (1, 1, b"="), b"a=3Db=\r\ncd"), (b"ab=\r\ncd", (0, 2, b"x"), b"x=\r\ncd"), (b"ab=\r\ncd", (2, 2, b"x"), b"ab=\r\nxcd"),
    (b"ab=\r\ncd", (1, 3, b"x"), b"axd"), (b"a=3db", (1, 2, b"\xe9"), b"a=E9b"), (b"a\r\n", (1, 1, b" "), b"a=20\r\n"),
    (b"a", (1, 1, b"\t"), b"a=09"), (b"a\r\nb", (3, 3, b"--x"), b"a\r\n=2D-xb"), (b"a\r\nb", (3, 3, b"From "), b"a\r\n=46rom b"),
    (b"a", (1, 1, b"x\r\ny"), b"ax=0D=0Ay"),
])
def test_an_edit_of_quoted_printable_changes_no_other_byte(raw: bytes, edit: tuple[int, int, bytes], done: bytes) -> None:
    assert edited(raw, edit) == done


def test_only_quoted_printable_lines_that_become_too_long_are_broken() -> None:
    long = b"y" * 90
    raw = long + b"\n" + b"x" * 70 + b"\n" + b"z" * 70 + b"\n"
    assert edited(raw, (0, 1, b"q"), (91, 91, b"123456")) == (b"q" + long[1:] + b"\n" + b"123456" + b"x" * 70 + b"\n" + b"z" * 70 + b"\n")
    assert edited(raw, (91, 91, b"1234567")) == (long + b"\n" + b"1234567" + b"x" * 68 + b"=\n" + b"xx\n" + b"z" * 70 + b"\n")


def test_a_soft_line_break_splits_no_octet_and_creates_no_boundary() -> None:
    raw = b"a" * 70 + b"=3D" + b"\r\n"
    assert edited(raw, (0, 0, b"1234")) == b"1234" + b"a" * 70 + b"=\r\n=3D\r\n"
    raw = b"a" * 70 + b"--B\r\n"
    assert edited(raw, (0, 0, b"12345")) == b"12345" + b"a" * 69 + b"=\r\na--B\r\n"


def test_a_line_with_a_thousand_edits_is_broken_like_the_edited_line() -> None:
    edits = [(at, at + 1, b"=E9.-") for at in range(0, 9_000, 3)]
    raw = b"abc" * 3_000
    done = edited(raw + b"\r\nabc\r\n", *edits)
    lines = done.split(b"\r\n")
    assert lines[-2:] == [b"abc", b""]
    assert b"".join(line.removesuffix(b"=") for line in lines[:-2]) == b"=3DE9.-bc" * 3_000
    assert all(70 <= len(line) <= 76 for line in lines[:-3])


LINES = st.lists(st.text("ab=. -Fé", max_size=100), max_size=6)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.lists(st.tuples(st.integers(0, 600), st.text("xy=é ")), max_size=5))
def test_edits_of_quoted_printable_decode_to_the_edited_value_within_the_line_length(
    lines: list[str], end: str, insertions: list[tuple[int, str]]
) -> None:
    value = end.join(lines).encode()
    raw = quopri.encodestring(value)
    if b"\r" in raw.replace(b"\r\n", b""):
        return
    value = QuotedPrintable(raw).decode(raw)
    edits = [(at, at, new.encode()) for at, new in sorted(insertions) if at <= len(value)]
    done = edited(raw, *edits)
    expected = splice(value, [Edit(*edit) for edit in edits])
    assert QuotedPrintable(done).decode(done) == quopri.decodestring(done) == expected
    assert max(map(len, done.split(b"\n"))) <= max(77, *map(len, raw.split(b"\n")))


@pytest.mark.parametrize(("raw", "new"), [
    (b"YWJj", b"YWJjZGVm"), (b"YWJj\r\n", b"YWJjZGVm\r\n"), (b"\r\nYW\r\nJj\r\n\r\n", b"\r\nYW\r\nJj\r\nZG\r\nVm\r\n\r\n"),
    (b"YWJj\nYWJj", b"YWJj\nZGVm"), (b"YWJj" * 30, b"YWJjZGVm"),
])
def test_base64_keeps_its_width_and_line_ends(raw: bytes, new: bytes) -> None:
    assert Base64(raw).encode(b"abcdef") == new


def test_base64_lines_of_any_width_equal_the_whole_encoding() -> None:
    for width, size in product((1, 4, 57, 76, 999, 1000, 1001, 4000), (0, 2999, 3000, 3001, 20_000)):
        value = bytes(at * at % 251 for at in range(size))
        text = binascii.b2a_base64(value, newline=False)
        lines = b"\r\n".join(text[start : start + width] for start in range(0, len(text), width))
        assert Base64(b" " + b"A" * width + b"\r\nAA\r\n").encode(value) == b" " + lines + b"\r\n"
    assert Base64(b"YWJj\n").encode(b"a" * 60) == binascii.b2a_base64(b"a" * 57) + b"YWFh\n"  # a single line that becomes too long


def test_broken_base64_is_an_error() -> None:
    for raw in (b"Y", b"YQ", b"YWI", b"YQ==YQ==", b"Y!Q=", b"YQ==\r\n____\r\na list of mail"):
        with pytest.raises(CodingError, match="base64 is broken"):
            Base64(raw).decode_mapped(raw)


_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@given(st.lists(st.sampled_from(_DIGITS), max_size=200), st.lists(st.tuples(st.integers(0, 199), st.sampled_from(b"==-_!\0\xff\n ")), max_size=3))
def test_base64_is_decoded_as_by_the_strict_decoder_of_the_standard_library(digits: list[int], faults: list[tuple[int, int]]) -> None:
    text = bytearray(digits)
    for place, byte in faults:
        if text:
            text[-1 - place % min(4, len(text)) if byte == 61 else place % len(text)] = byte
    raw = bytes(text)
    try:
        expected = binascii.a2b_base64(raw.translate(None, b"\t\n\r "), strict_mode=True)
    except binascii.Error as error:
        with pytest.raises(CodingError, match=re.escape(str(error))):
            Base64(raw).decode(raw)
    else:
        assert Base64(raw).decode(raw) == expected
        assert Base64(raw, one_line=True).encode(expected).translate(None, b"\t\n\r ") == binascii.b2a_base64(expected, newline=False)
