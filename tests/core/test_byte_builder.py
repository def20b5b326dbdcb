"""Bytes are put together without a copy of each piece."""

import pytest

from absolve.core.byte_builder import in_lines


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 8, 9, 4000, 4001])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b""])
def test_a_text_is_cut_into_lines_without_a_line_end_behind_the_last(size: int, line_end: bytes) -> None:
    text = bytes(65 + number % 26 for number in range(size))
    assert in_lines(text, 4, line_end) == line_end.join([text[start : start + 4] for start in range(0, size, 4)])
    assert in_lines(text, 5000, line_end) == text
