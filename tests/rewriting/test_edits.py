"""Edits: splicing them into bytes, and converting them to outer codings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.core.model import Edit, Part
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import quoted
from absolve.rewriting.edits import Splicer, lower, splice


def test_edits_replace_insert_and_delete_and_without_one_the_object_is_the_same() -> None:
    data = bytes(bytearray(b"as it was"))
    assert splice(data, []) is data
    edits = [Edit(0, 0, b">"), Edit(1, 3, b"XY"), Edit(4, 6, b""), Edit(8, 8, b"<")]
    assert splice(b"01234567", edits) == b">0XY367<"


def test_edits_that_overlap_or_pass_the_end_of_a_text_or_span_are_an_error() -> None:
    for edit in (Edit(1, 3, b""), Edit(4, 3, b""), Edit(7, 9, b"")):
        with pytest.raises(ValueError, match="overlaps"):
            splice(b"01234567", [Edit(0, 2, b"x"), edit])
    for edit in (Edit(1, 2, b""), Edit(1, 1, b""), Edit(7, 9, b""), Edit(9, 9, b"")):
        with pytest.raises(ValueError, match="overlaps"):
            Splicer(b"0123456789", start=2, end=8).take([edit])


@given(st.lists(st.tuples(st.binary(max_size=4), st.binary(max_size=4), st.binary(max_size=4))), st.binary(max_size=4))
def test_bytes_outside_of_edits_stay(pieces: list[tuple[bytes, bytes, bytes]], rest: bytes) -> None:
    edits, position = [], 0
    for kept, old, new in pieces:
        position += len(kept)
        edits.append(Edit(position, position + len(old), new))
        position += len(old)
    data = b"".join(kept + old for kept, old, _ in pieces) + rest
    assert splice(data, edits) == b"".join(kept + new for kept, _, new in pieces) + rest


@pytest.mark.parametrize("at_once", [1, 2])
def test_splicing_a_span_equals_splicing_its_bytes(at_once: int) -> None:
    edits = [Edit(2, 2, b">" * 99), Edit(3, 5, b""), Edit(6, 8, b"<")]
    splicer = Splicer(b"0123456789", start=2, end=8)
    for start in range(0, len(edits), at_once):
        assert splicer.take(edits[start : start + at_once])
    assert splicer.finish() == b">" * 99 + b"25<"


@pytest.mark.parametrize("growth", [0, 1, 10, 1000])
def test_splicing_is_right_when_edits_change_their_growth(growth: int) -> None:
    data = bytes(range(250)) * 40
    edits = [Edit(at, at, b"x" * (growth if at < 1000 else 10 - growth % 10)) for at in range(0, len(data), 10)]
    splicer = Splicer(data)
    for start in range(0, len(edits), 30):
        splicer.take(edits[start : start + 30])
    assert splicer.finish() == splice(data, edits)


def test_an_inner_edit_is_converted_to_the_raw_bytes_of_its_span() -> None:
    coding = quoted(UTF_8, 0x22)
    raw = b"a&amp;b&lt;c"
    value, offsets = coding.decode_mapped(raw)
    assert value == b"a&b<c"
    assert offsets is not None
    part = Part("text/html", 100, 100 + len(raw), coding)
    lowered = lower([Edit(1, 2, b'"'), Edit(3, 3, b"&lt;"), Edit(5, 5, b"!")], bytes(100) + raw, part, offsets)
    assert [(edit.start, edit.end, edit.new) for edit in lowered] == [(101, 106, b"&quot;"), (107, 107, b"&amp;lt;"), (112, 112, b"!")]
