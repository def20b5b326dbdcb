"""Column buffers: values that are added, and the bytes that Arrow reads."""

from __future__ import annotations

import pickle
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn


@pytest.mark.parametrize(("narrow", "code", "most"), [(False, "q", 1 << 62), (True, "i", (1 << 31) - 1)])
def test_an_int_column_stores_numbers_in_its_width(narrow: bool, code: str, most: int) -> None:
    numbers = IntColumn(narrow=narrow)
    assert (len(numbers), numbers.raw()) == (0, b"")
    expected = array(code, [0, -1, most, *range(1000)])
    for number in expected:
        numbers.add(number)
    assert (len(numbers), numbers.raw()) == (len(expected), expected.tobytes())


def test_the_last_numbers_of_an_int_column_may_be_removed() -> None:
    cut = getattr(IntColumn(), "cut", None)
    if cut is None:  # compiled, it is a C method only
        pytest.skip("cut is a C method here")
    numbers = IntColumn()
    for number in range(5):
        numbers.add(number)
    numbers.cut(2)
    numbers.add(9)
    assert numbers.raw() == array("q", [0, 1, 9]).tobytes()


def test_mapping_an_int_column_of_indexes_returns_the_indexed_numbers() -> None:
    places, numbers = IntColumn(narrow=True), IntColumn(narrow=True)
    assert places.mapped(numbers).raw() == b""
    for place in (0, 1, 1, 2, 0):
        places.add(place)
    for number in (5, 6, -5):
        numbers.add(number)
    found = places.mapped(numbers)
    assert found.raw() == array("i", [5, 6, 6, -5, 5]).tobytes()
    found.add(7)
    assert len(found) == 6


@pytest.mark.parametrize("first", [None, b""])
def test_a_text_column_may_begin_with_a_long_text(first: bytes | None) -> None:
    long = "é".encode() * 100_000
    for more in ([], [b"x"], [long], [None, b"x" * 500_000, b"y"]):
        texts = TextColumn()
        for text in (first, long, *more):
            texts.add(text)
        expected = [first, long, *more]
        assert texts.cells() == [text.decode() if text is not None else None for text in expected]
        assert pickle.loads(pickle.dumps(texts)).cells() == texts.cells()  # noqa: S301 - our own
        assert texts.raw() == b"".join(text or b"" for text in expected)


def test_a_text_column_sized_by_an_earlier_one_accepts_longer_texts() -> None:
    before = TextColumn()
    for _ in range(1000):
        before.add(b"x" * 100)
    texts = TextColumn(before)
    texts.add(b"y" * 200_000)
    texts.add(b"z")
    assert texts.cells() == ["y" * 200_000, "z"]


def test_a_text_column_stores_texts_contiguously_and_may_have_nulls() -> None:
    texts = TextColumn()
    assert (len(texts), texts.raw(), texts.present()) == (0, b"", None)
    for text in ("a", "", "é"):
        texts.add(text.encode())
    assert texts.present() is None
    texts.add(None)
    assert (len(texts), texts.raw()) == (4, "aé".encode())
    assert texts.ends.raw() == array("i", [0, 1, 1, 3, 3]).tobytes()
    present = texts.present()
    assert present is not None
    assert present[0] & 0b1111 == 0b0111


def test_a_text_column_grows_for_long_texts() -> None:
    texts = TextColumn()
    for size in range(300):
        texts.add(b"x" * size)
    assert texts.raw() == b"x" * sum(range(300))


def test_the_initial_capacity_does_not_change_the_contents() -> None:
    texts = TextColumn()
    texts.add(b"x" * 2000)
    for before in (texts, TextColumn(), None):
        more = TextColumn(before)
        assert (len(more), more.raw()) == (0, b"")
        more.add(b"yz")
        assert (len(more), more.raw(), more.ends.raw()) == (1, b"yz", array("i", [0, 2]).tobytes())
    assert texts.raw() == b"x" * 2000
    for room in (0, 1, 5):
        numbers = IntColumn(room=room)
        for number in range(4):
            numbers.add(number)
        assert numbers.raw() == array("q", range(4)).tobytes()


def test_a_dict_column_stores_each_value_once_in_order_of_first_use() -> None:
    words = DictColumn()
    for word in "abbca":
        words.add(word)
    assert (len(words), words.words) == (5, ["a", "b", "c"])
    assert words.numbers.raw() == array("i", [0, 1, 1, 2, 0]).tobytes()


def test_a_dict_column_of_sequences_has_their_items_and_end_offsets() -> None:
    words = DictColumn()
    assert (words.items(), words.ends().raw()) == ([], array("i", [0]).tobytes())
    for codes in ((), ("empty",), (), ("insecure", "whitespace"), ("empty",)):
        words.add(codes)
    assert words.items() == ["empty", "insecure", "whitespace", "empty"]
    assert words.ends().raw() == array("i", [0, 0, 1, 1, 3, 4]).tobytes()


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


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("apart", [False, True], ids=["in the pickle", "beside it"])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_a_pickled_column_has_the_same_values_and_can_grow(protocol: int, apart: bool, size: int) -> None:
    kept = IntColumn(narrow=True), IntColumn(), TextColumn(), DictColumn()
    for number in range(size):
        kept[0].add(number)
        kept[1].add(-number << 40)
        kept[2].add(f"é{number}".encode() if number % 3 else None)
        kept[3].add((str(number % 7),))
    if apart and protocol < 5:
        pytest.skip("this column has no separate buffers")
    buffers: list[pickle.PickleBuffer] | None = [] if apart else None
    packed = pickle.dumps(kept, protocol, buffer_callback=buffers.append if buffers is not None else None)
    assert len(buffers or ()) == (5 if apart else 0)
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
