"""Lines and columns, queried in any order."""

import random
import re

import hypothesis
import hypothesis.strategies as st
import pytest

from absolve.encodings.charsets import UTF_8, WINDOWS_1252, Charset, by_label
from absolve.encodings.line_index import LineIndex

UTF_16 = by_label("utf-16le")


def slowly(text: str) -> tuple[int, int]:
    """Return line and column at the end of this text."""
    lines = re.split(r"\r\n|\r|\n", text)
    return len(lines), len(lines[-1]) + 1


@pytest.mark.parametrize(("data", "charset", "position", "expected"), [
    (b"", UTF_8, 0, (1, 1)), (b"abc", UTF_8, 2, (1, 3)), (b"abc", UTF_8, 3, (1, 4)),
    ("éàb".encode(), UTF_8, 4, (1, 3)),  # columns are characters, not bytes
    ("\U0001f600b".encode(), UTF_8, 4, (1, 2)), (b"\xe9\xe0b", WINDOWS_1252, 2, (1, 3)),
    ("表b".encode("shift_jis"), by_label("shift_jis"), 2, (1, 2)), (b"a\nb", UTF_8, 2, (2, 1)), (b"a\rb", UTF_8, 2, (2, 1)),
    (b"a\r\nb", UTF_8, 3, (2, 1)),
    (b"a\r\nb", UTF_8, 2, (1, 3)),  # inside a line end
    (b"a\r\n\xc3\xa9\r\nbc", UTF_8, 8, (3, 2)),  # no CR without LF
    (b"\r\r\n\n\r", UTF_8, 5, (5, 1)),
    (b"\xef\xbb\xbfab", UTF_8, 4, (1, 2)),  # a byte order mark is no character of the line
    (b"\xef\xbb\xbfab", UTF_8, 0, (1, 1)),
    ("\ufeffa\nਊb".encode("utf-16-le"), UTF_16, 8, (2, 2)),  # U+0A0A is no line end
    (b"\xff\xffb", UTF_8, 2, (1, 3)),  # each invalid byte is one character
])
def test_an_offset_has_a_line_and_a_column(data: bytes, charset: Charset, position: int, expected: tuple[int, int]) -> None:
    assert LineIndex(data, charset).at(position) == expected


@hypothesis.given(st.text("ab\n\ré\U0001f600", max_size=60), st.lists(st.integers(0, 59), max_size=12))
def test_lines_and_columns_do_not_depend_on_the_order_of_queries(text: str, asked: list[int]) -> None:
    positions = LineIndex(text.encode(), UTF_8)
    for index in asked:
        before = text[:index]
        if before.endswith("\r") and text[index : index + 1] == "\n":
            continue  # inside a line end: the case above
        assert positions.at(len(before.encode())) == slowly(before)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "\n\r"])
def test_lines_and_columns_are_right_in_lines_of_all_lengths_also_when_going_back_and_forth(ends: str) -> None:
    choose = random.Random(1808)  # noqa: S311 - the same in every run
    text = ""
    for _ in range(400):  # spans of bytes are read in blocks of 32, 64 and 240
        text += "a" * choose.choice([0, 1, 30, 31, 32, 33, 63, 64, 65, 150, 239, 240, 241, 500, 900])
        text += choose.choice(["", "é", "\U0001f600é", ends, ends + ends])
    positions = LineIndex(text.encode(), UTF_8)
    at = 0
    while at < len(text):
        if not (text[at - 1 : at] == "\r" and text[at] == "\n"):
            assert positions.at(len(text[:at].encode())) == slowly(text[:at])
        at += choose.choice([1, 20, 100, 250, 1000, 3000])
    text = "ab\n" * 20_000 + "é" * 20_000 + "\r" * 20_000
    positions = LineIndex(text.encode(), UTF_8)
    for index in (79_000, 5, 60_000, 60_001, 70_000, 69_999, 100_000, 30_000, 99_999):
        assert positions.at(len(text[:index].encode())) == slowly(text[:index])
