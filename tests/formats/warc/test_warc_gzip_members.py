"""Gzip members decompressed by libdeflate: zlib decompresses them to the same bytes, and stops at the same offset."""

import gzip
import io
import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_warc_reader import BITS, RECORD, found

from absolve.formats.compression import decompress_member
from absolve.formats.warc import reader

LIMIT = 1 << 20
pytestmark = pytest.mark.skipif(not reader.is_there, reason="libdeflate is not installed")


def by_zlib(raw: bytes, limit: int = LIMIT) -> bytes | None:
    """Decompress these bytes with zlib; return None unless they are exactly one member."""
    machine = zlib.decompressobj(31)
    try:
        value = machine.decompress(raw, limit + 1)
    except zlib.error:
        return None
    return value if machine.eof and not machine.unused_data and len(value) <= limit else None


def member(value: bytes, level: int = 6, flags: int = 0) -> bytes:
    """Return a member whose header has these flags (RFC 1952 2.3.1): 2 CRC, 4 extra field, 8 name, 16 comment."""
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
def test_libdeflate_decompresses_a_whole_member_like_zlib(raw: bytes) -> None:
    value = decompress_member(raw, LIMIT)
    if value is None:  # its size occurs twice, or its header has a CRC
        assert raw[3] & 2 or raw.find(raw[-4:], 14) < len(raw) - 4
    else:
        assert value == by_zlib(raw)


@given(MEMBERS, st.data())
def test_data_that_zlib_rejects_is_rejected(raw: bytes, data: st.DataObject) -> None:
    made: dict[str, Callable[[], bytes]] = {
        "cut off": lambda: raw[: data.draw(st.integers(0, len(raw)))],
        "padded": lambda: raw + data.draw(st.binary(max_size=30)),
        "padded with its size": lambda: raw + data.draw(st.binary(max_size=9)) + raw[-4:],
        "padded with its trailer": lambda: raw + data.draw(st.binary(max_size=9)) + raw[-8:],
        "two members": lambda: raw + data.draw(MEMBERS),
        "twice the same": lambda: raw + raw,
        "one byte changed": lambda: raw[: (at := data.draw(st.integers(0, len(raw) - 1)))] + bytes((raw[at] ^ data.draw(st.integers(1, 255)),)) + raw[at + 1 :],
    }
    broken = made[data.draw(st.sampled_from(sorted(made)))]()
    assert decompress_member(broken, LIMIT) in (None, by_zlib(broken))


def test_libdeflate_decompresses_only_to_the_limit() -> None:
    assert decompress_member(member(bytes(1 << 20), 9), 1 << 20) == bytes(1 << 20)
    raw = member(RECORD)
    assert decompress_member(raw, len(RECORD)) == RECORD
    assert decompress_member(raw, len(RECORD) - 1) is None


def same_without(data: bytes) -> None:
    """Assert that the pieces are the same without libdeflate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "is_there", False)
        expected = found(io.BytesIO(data))
    assert found(io.BytesIO(data)) == expected


INSIDE = gzip.compress(gzip.compress(RECORD) + b"\x1f\x8b\x08\0" * 9, 0)
MORE = {
    **BITS, "members in a member": INSIDE, "members in a member, and cut off": INSIDE[:-20],
    "a member with a sum of its header": member(RECORD, flags=2), "an empty member": gzip.compress(b""),
    "a padded member": member(RECORD) + bytes(30), "a member and its trailer": member(RECORD) + member(RECORD)[-8:],
    "beginnings of members": b"\x1f\x8b\x08\0" * 300,
}


@pytest.mark.parametrize("bit", MORE)
def test_files_have_the_same_segments_with_and_without_libdeflate(bit: str) -> None:
    for behind in ("", "a member", "a record", "noise", "line ends"):
        same_without(MORE["a member"] + MORE[bit] + MORE.get(behind, b""))
