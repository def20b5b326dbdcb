"""Column buffers: values that are added, and the bytes that Arrow reads."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn

TEXTS = st.lists(st.none() | st.sampled_from([b"", b"a", "é".encode(), b"x" * 3000, b"y" * 100_000]), max_size=6)


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=100, deadline=None)
def test_a_column_extended_by_others_has_their_values_in_order(parts: list[list[bytes | None]]) -> None:
    numbers, texts, words = IntColumn(), TextColumn(), DictColumn()
    for part in parts:
        more = IntColumn(), TextColumn(), DictColumn()
        for text in part:
            more[0].add(-len(text or b"") << 33)
            more[1].add(text)
            more[2].add(text)
        numbers.extend(more[0])
        texts.extend(more[1])
        words.extend(more[2])
    every = [text for part in parts for text in part]
    assert numbers.cells() == [-len(text or b"") << 33 for text in every]
    assert texts.cells() == [text.decode() if text is not None else None for text in every]
    assert texts.missing() == [place for place, text in enumerate(every) if text is None]
    assert [words.words[number] for number in words.numbers.cells()] == every
    assert words.words == list(dict.fromkeys(every))
    texts.add(b"z")
    words.add(b"a")
    assert texts.cells()[-1] == "z"
    assert words.words[words.numbers.cells()[-1]] == b"a"


def test_cells_with_any_of_some_characters_are_found() -> None:
    texts = TextColumn()
    assert texts.with_any(b",") == []
    for text in (b"a,b", None, b"", b",,", b"c", '"é'.encode(), b"a\rb,"):
        texts.add(text)
    assert texts.with_any(b",") == [0, 3, 6]
    assert texts.with_any(b'\r"') == [5, 6]
    assert texts.with_any(b"\n") == texts.with_any(b"") == []


@pytest.mark.parametrize(("protocol", "apart", "size"), [(0, False, 1000), (5, False, 0), (5, True, 0), (5, True, 1), (5, True, 1000)])
def test_a_pickled_column_has_the_same_values_and_can_grow(protocol: int, apart: bool, size: int) -> None:
    kept = IntColumn(narrow=True), IntColumn(), TextColumn(), DictColumn()
    for number in range(size):
        kept[0].add(number)
        kept[1].add(-number << 40)
        kept[2].add(f"é{number}".encode() if number % 3 else None)
        kept[3].add((str(number % 7),))
    buffers: list[pickle.PickleBuffer] | None = [] if apart else None
    packed = pickle.dumps(kept, protocol, buffer_callback=buffers.append if buffers is not None else None)
    assert bool(buffers) == apart
    # Chunks of a connection: slices of a buffer that is reused afterwards.
    blocks = [bytearray(b"-") + buffer.raw() for buffer in buffers or ()]
    narrow, wide, texts, words = pickle.loads(packed, buffers=[memoryview(block)[1:] for block in blocks])  # noqa: S301 - our own
    for block in blocks:
        block[:] = bytes(len(block))
    for number in (size, size + 1):
        for numbers, cell in ((kept[0], number), (narrow, number), (kept[1], -number << 40), (wide, -number << 40)):
            numbers.add(cell)
        for some in (kept[2], texts):
            some.add(b"more")
        for some in (kept[3], words):
            some.add((str(number % 7),))
    assert (narrow.raw(), wide.raw()) == (kept[0].raw(), kept[1].raw())
    assert (texts.raw(), texts.ends.raw(), texts.present()) == (kept[2].raw(), kept[2].ends.raw(), kept[2].present())
    assert (words.words, words.numbers.raw()) == (kept[3].words, kept[3].numbers.raw())
