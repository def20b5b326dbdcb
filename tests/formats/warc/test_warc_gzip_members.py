"""Members of gzip that libdeflate opens: what it opens zlib opens, too, as much of it and no more."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_warc_reader import BITS, NOISE, RECORD, found

from absolve.formats.warc import gzip_members, reader
from absolve.formats.warc.gzip_members import LONGEST, decompress_member, next_member
from absolve.formats.warc.reader import pieces
from absolve.formats.warc.reader_window import CHUNK

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 1 << 20
pytestmark = pytest.mark.skipif(not gzip_members.is_there, reason="libdeflate is not installed")


def by_zlib(raw: bytes, limit: int = LIMIT) -> bytes | None:
    """What is in a member that is these bytes and no less, in zlib's word; None where it is something else."""
    machine = zlib.decompressobj(31)
    try:
        value = machine.decompress(raw, limit + 1)
    except zlib.error:
        return None
    return value if machine.eof and not machine.unused_data and len(value) <= limit else None


def member(value: bytes, level: int = 6, flags: int = 0) -> bytes:
    """A member whose header has what these flags announce (RFC 1952 2.3.1): 2 a sum, 4 more, 8 a name, 16 words."""
    header = b"\x1f\x8b\x08" + bytes((flags,)) + b"\0\0\0\0\0\xff"
    header += b"\3\0\xfe\xff\0" * bool(flags & 4) + b"name\0" * bool(flags & 8) + b"words\0" * bool(flags & 16)
    header += struct.pack("<H", zlib.crc32(header) & 0xFFFF) * bool(flags & 2)
    return header + gzip.compress(value, level, mtime=0)[10:]


VALUES = st.one_of(
    st.binary(min_size=1, max_size=3000),
    st.builds(lambda unit, times: unit * times, st.binary(min_size=1, max_size=9), st.integers(1, 9000)),
)
MEMBERS = st.builds(member, VALUES, st.integers(0, 9), st.integers(0, 31))


@given(MEMBERS)
def test_a_whole_member_is_opened_as_zlib_opens_it(raw: bytes) -> None:
    value = decompress_member(raw, LIMIT)
    if value is None:  # its size stands in it twice, or its header has a sum of its own
        assert raw[3] & 2 or raw.find(raw[-4:], 14) < len(raw) - 4
    else:
        assert value == by_zlib(raw)


@pytest.mark.parametrize("flags", [0, 1, 4, 8, 16, 29])
def test_most_headers_are_taken(flags: int) -> None:
    assert decompress_member(member(RECORD, flags=flags), LIMIT) == RECORD


@given(MEMBERS, st.data())
def test_what_zlib_does_not_open_is_not_opened(raw: bytes, data: st.DataObject) -> None:
    made: dict[str, Callable[[], bytes]] = {
        "cut off": lambda: raw[: data.draw(st.integers(0, len(raw)))],
        "padded": lambda: raw + data.draw(st.binary(max_size=30)),
        "padded with its size": lambda: raw + data.draw(st.binary(max_size=9)) + raw[-4:],
        "padded with its trailer": lambda: raw + data.draw(st.binary(max_size=9)) + raw[-8:],
        "two members": lambda: raw + data.draw(MEMBERS),
        "twice the same": lambda: raw + raw,
        "one byte changed": lambda: _changed(raw, data.draw(st.integers(0, len(raw) - 1)), data.draw(st.integers(1, 255))),
    }
    broken = made[data.draw(st.sampled_from(sorted(made)))]()
    assert decompress_member(broken, LIMIT) in (None, by_zlib(broken))


def _changed(raw: bytes, at: int, by: int) -> bytes:
    return raw[:at] + bytes((raw[at] ^ by,)) + raw[at + 1 :]


def test_no_changed_bit_goes_unnoticed() -> None:
    raw = member(RECORD, flags=8)
    for at in range(len(raw)):
        for bit in range(8):
            broken = _changed(raw, at, 1 << bit)
            assert decompress_member(broken, LIMIT) in (None, by_zlib(broken)), (at, bit)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x1f\x8b\x08\0",
        member(b""),  # zero is what libdeflate takes for a size that is not told
        member(RECORD, flags=2),
        member(RECORD, flags=32),
        member(RECORD) + member(RECORD),
        member(RECORD) + member(RECORD)[-4:],
        member(RECORD)[:-4] + bytes(4),
        member(RECORD) + struct.pack("<I", len(RECORD) + 1),
        member(RECORD)[:-4] + struct.pack("<I", len(RECORD) - 1),
        member(RECORD)[:-4] + struct.pack("<I", len(RECORD) + 1),
        member(RECORD)[:-4] + struct.pack("<I", (1 << 32) - 1),
        member(RECORD)[:-8] + b"\0\0\0\0" + member(RECORD)[-4:],
    ],
)
def test_what_cannot_be_proved_is_left_to_zlib(raw: bytes) -> None:
    assert decompress_member(raw, LIMIT) is None


def test_no_more_is_opened_than_the_limit() -> None:
    raw = member(RECORD)
    assert decompress_member(raw, len(RECORD)) == RECORD
    assert decompress_member(raw, len(RECORD) - 1) is None


def test_a_size_that_no_data_of_that_length_makes_asks_for_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def decompress(_raw: bytes, size: int) -> bytearray:
        asked.append(size)
        return bytearray(size)

    monkeypatch.setattr(gzip_members, "_decompress", decompress)
    raw = member(RECORD)[:-4]
    decompress_member(raw + struct.pack("<I", 1032 * (len(raw) + 4)), 1 << 40)
    assert asked == [1032 * (len(raw) + 4)]
    decompress_member(raw + struct.pack("<I", 1032 * (len(raw) + 4) + 1), 1 << 40)
    assert len(asked) == 1


def test_the_densest_data_there_is_are_opened() -> None:
    assert decompress_member(member(bytes(1 << 20), 9), 1 << 20) == bytes(1 << 20)


@pytest.mark.parametrize(
    ("data", "start", "found_at"),
    [
        (b"\x1f\x8b\x08\0", 0, 0),
        (b"\x1f\x8b\x08", 0, -1),
        (b"x\x1f\x8b\x08\x1f", 0, 1),
        (b"\x1f\x8b\x08\x20\x1f\x1f\x8b\x08\0\x1f\x8b\x08\0", 0, 5),
        (b"\x1f\x8b\x08\x20\x1f\x1f\x8b\x08\0\x1f\x8b\x08\0", 6, 9),
        (b"\x1f\x1f\x1f\x8b\x1f\x8b\x07\0", 0, -1),
    ],
)
def test_a_member_begins_as_its_header_does(data: bytes, start: int, found_at: int) -> None:
    assert next_member(data, start, len(data)) == found_at
    assert next_member(data, start, found_at + 3) == -1


# --- in files ---------------------------------------------------------------------------------------------------------


def same_without(data: bytes) -> None:
    """The pieces are the same where libdeflate is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "is_there", False)
        expected = found(io.BytesIO(data))
    assert found(io.BytesIO(data)) == expected


INSIDE = gzip.compress(gzip.compress(RECORD) + b"\x1f\x8b\x08\0" * 9, 0)
MORE = {
    **BITS,
    "members in a member": INSIDE,
    "members in a member, and cut off": INSIDE[:-20],
    "a member with a sum of its header": member(RECORD, flags=2),
    "an empty member": gzip.compress(b""),
    "a padded member": member(RECORD) + bytes(30),
    "a member and its trailer": member(RECORD) + member(RECORD)[-8:],
    "beginnings of members": b"\x1f\x8b\x08\0" * 300,
}


@pytest.mark.parametrize("bit", MORE)
@pytest.mark.parametrize("behind", ["", "a member", "a record", "noise", "line ends"])
def test_a_file_has_the_same_pieces_with_libdeflate_and_without(bit: str, behind: str) -> None:
    same_without(MORE["a member"] + MORE[bit] + MORE.get(behind, b""))


@given(st.lists(st.sampled_from(sorted(MORE)), max_size=8))
def test_so_has_any_file_that_is_put_together(bits: list[str]) -> None:
    same_without(b"".join([MORE[bit] for bit in bits]))


def given_to_libdeflate(data: bytes, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes libdeflate is given, each time."""
    asked: list[int] = []
    decompress = gzip_members._decompress
    assert decompress is not None

    def counted(raw: bytes, size: int) -> bytearray:
        asked.append(len(raw))
        return decompress(raw, size)

    monkeypatch.setattr(gzip_members, "_decompress", counted)
    assert b"".join([piece.raw for piece in pieces(io.BytesIO(data), 4 * LONGEST)]) == data
    return asked


def test_members_are_opened_by_libdeflate(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [gzip.compress(RECORD + NOISE[: 10_000 * number]) for number in range(20)]
    assert given_to_libdeflate(b"".join(members), monkeypatch) == list(map(len, members))


@pytest.mark.parametrize("before", range(5))
def test_so_are_those_that_begin_where_the_bytes_that_are_held_end(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = member(NOISE[: CHUNK - before - len(member(NOISE[:65_000], 0)) + 65_000], 0)
    assert len(first) == CHUNK - before
    second = member(RECORD)
    assert given_to_libdeflate(first + second, monkeypatch) == [len(first), len(second)]


def test_the_largest_members_are_opened_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = random.Random(5).randbytes(LONGEST)  # noqa: S311 - the same in each run
    large = gzip.compress(noise)
    small = gzip.compress(RECORD)
    assert given_to_libdeflate(small + large + small, monkeypatch) == [len(small), len(small)]
    assert b"".join([piece.records or b"" for piece in pieces(io.BytesIO(large), LONGEST)]) == noise


@pytest.mark.parametrize(
    "inside",
    [b"\x1f\x8b\x08\0", b"\x1f\x8b\x08\0" + bytes(30), member(RECORD)],
    ids=["beginnings", "beginnings apart", "members"],
)
@pytest.mark.parametrize("broken", [False, True])
def test_libdeflate_is_given_no_byte_twice(inside: bytes, *, broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = gzip.compress(inside * (20_000 // len(inside)), 0)
    if broken:
        raw = raw[:-8] + bytes(8)
    data = raw * 20
    assert sum(given_to_libdeflate(data, monkeypatch)) <= len(data)
