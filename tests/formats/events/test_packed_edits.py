"""PackedEdits returns edits sorted by offset, each unchanged."""

from __future__ import annotations

import tracemalloc
from itertools import chain
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.core.model import Edit
from absolve.formats.events.packed_edits import PackedEdits
from absolve.rewriting.edits import splice

WRITTEN = st.one_of(st.binary(max_size=2), st.sampled_from([b"", b"http://h/", b"x" * 1024, b"x" * 1025, b"y" * 5000]))
EDITS = st.builds(
    lambda start, size, new: Edit(start, start + size, new),
    st.one_of(st.integers(0, 9), st.integers(0, 1 << 40)),
    st.one_of(st.integers(0, 3), st.integers(0, 1 << 40)),
    WRITTEN,
)


def reported(edits: list[Edit]) -> list[tuple[int, int, bytes]]:
    return [(edit.start, edit.end, edit.new) for edit in edits]


def held(*some: list[Edit]) -> PackedEdits:
    made = PackedEdits()
    for edits in some:
        made.add(edits)
    return made


def out(made: PackedEdits) -> list[Edit]:
    return list(chain.from_iterable(made.parts()))


def test_packed_edits_may_be_empty() -> None:
    assert len(held()) == len(held([])) == 0
    assert out(held([], [])) == []


@given(st.lists(st.lists(EDITS)))
def test_packed_edits_are_sorted_by_start_and_stable(some: list[list[Edit]]) -> None:
    made = held(*some)
    came = list(chain.from_iterable(some))
    assert len(made) == len(came)
    for _ in range(2):
        assert reported(out(made)) == reported(sorted(came, key=attrgetter("start")))


def test_the_edit_of_a_length_field_precedes_those_of_the_body() -> None:
    made = held([Edit(5, 5, b"link"), Edit(20, 21, b"a"), Edit(30, 30, b"b")], [Edit(10, 12, b"length"), Edit(40, 40, b"")])
    assert [edit.start for edit in out(made)] == [5, 10, 20, 30, 40]


@pytest.mark.parametrize("size", [0, 1, 127, 128, 1023, 1024, 1025, 1 << 16])
def test_repeated_replacements_are_restored(size: int) -> None:
    words = [bytes((letter,)) * size for letter in range(100)]  # more than the cache of replacements holds
    edits = [Edit(at, at, words[at * at % 100]) for at in range(5000)]
    assert reported(out(held(edits))) == reported(edits)


def test_packed_edits_are_created_in_batches() -> None:
    few = list(held([Edit(at, at, b"x") for at in range(2500)]).parts())
    assert [len(edits) for edits in few] == [1000, 1000, 500]
    long = list(held([Edit(at, at, b"x" * 300_000) for at in range(9)]).parts())
    assert [len(edits) for edits in long] == [4, 4, 1]


@pytest.mark.parametrize("edit", [Edit(7, 5, b"x"), Edit(-1, 2, b"x")])
def test_edits_with_invalid_spans_are_kept_unchanged(edit: Edit) -> None:
    edits = out(held([Edit(1, 2, b"")], [edit]))
    assert sorted(reported(edits)) == sorted([(1, 2, b""), *reported([edit])])
    with pytest.raises(ValueError, match="overlaps"):
        splice(b"0123456789", edits)


@pytest.mark.parametrize("words", [1, 20, 100_000])
def test_packed_edits_keep_no_objects(words: int) -> None:
    tracemalloc.start()
    made = PackedEdits()
    for start in range(0, 100_000, 100):
        made.add([Edit(9 * at, 9 * at, b"word %d" % (at % words)) for at in range(start, start + 100)])
    blocks = sum(trace.count for trace in tracemalloc.take_snapshot().statistics("filename"))
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert blocks < 1000
    assert size < 30 * 100_000
    assert len(made) == 100_000
