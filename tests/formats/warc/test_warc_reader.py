"""Pieces of archives: the same, however many bytes each read returns."""

import gzip
import io
import random
import tracemalloc
import zlib
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from absolve.formats.warc.reader import pieces

LIMIT = 300_000


def warc(block: bytes, *fields: bytes) -> bytes:
    head = b"\r\n".join([b"WARC/1.0", b"WARC-Target-URI: http://h/", *fields, b"Content-Length: %d" % len(block)])
    return head + b"\r\n\r\n" + block + b"\r\n\r\n"


def arc(url: bytes) -> bytes:
    return b"http://h/%b 1.2.3.4 20240101000000 text/html 3\nabc\n" % url


NOISE = random.Random(25).randbytes(400_000)  # noqa: S311 - the same in each run
RECORD = warc(b"abc")
LONG = warc(b"abc", b"X: " + b"x" * 100_000)
MEMBER = gzip.compress(RECORD)
STORED = gzip.compress(warc(NOISE[:40_000]), 0)
BITS = {
    "a record": RECORD, "a record with a long head": LONG, "a record that is too large": warc(NOISE),
    "a version line with many blanks": RECORD.replace(b"1.0", b"1.0" + b" " * 70_000),
    "an ARC record": arc(b"x"), "an ARC record with a long line": arc(b"x" * 10_000),
    "an ARC record with too long a line": arc(b"x" * 70_000), "a member": MEMBER,
    "a member with a long name": b"\x1f\x8b\x08\x08" + MEMBER[4:10] + b"x" * 70_000 + b"\0" + MEMBER[10:],
    "a member that is too large": gzip.compress(warc(NOISE)),
    "a member too large, and broken behind": gzip.compress(warc(NOISE))[:350_000] + b"\xff" * 40_000,
    "a broken member": MEMBER[:-8] + b"\0" * 8, "a long broken member": STORED[:30_000] + STORED[30_010:], "a member cut off": MEMBER[:-9],
    "stored members": zlib.compressobj(0, wbits=31).compress(b"") + MEMBER,
    "a frame": zstandard.compress(RECORD), "a frame of too many bytes": zstandard.compress(warc(NOISE)),
    "a frame cut off": zstandard.compress(NOISE[:9_000])[:-9], "no head": b"\x1f\x8b\x08\nWARC/1.0\r\n" + RECORD, "junk": b"junk",
    "line ends": b"\r\n" * 70, "noise": NOISE[:70_000], "no length": RECORD.replace(b"Content-Length", b"Content"),
    "a length that is too large": RECORD.replace(b": 3", b": 4"), "a length past the end": RECORD.replace(b": 3", b": 299000"),
}


class Slow(io.BytesIO):
    """A file that returns at most this many bytes per read, as a pipe may."""

    most = 1

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.most if size is None or size < 0 else min(size, self.most))


def found(file: io.BytesIO | bytes) -> tuple[list[tuple[int, bytes, Any]], list[Any], bytes]:
    """Return the records with their offsets, the diagnostics, and all bytes."""
    all_ = list(pieces(file, LIMIT))
    records = [(piece.offset, piece.raw, piece.records) for piece in all_ if piece.records is not None]
    return records, [finding for piece in all_ for finding in piece.findings], b"".join(piece.raw for piece in all_)


def same_however_it_is_read(data: bytes, most: int) -> None:
    slow = Slow(data)
    slow.most = most
    whole = found(io.BytesIO(data))
    assert found(slow) == whole
    assert found(data) == whole
    assert whole[2] == data


@pytest.mark.parametrize("bit", BITS)
def test_segments_do_not_depend_on_the_size_of_reads(bit: str) -> None:
    for before, most in (("a record", 1000), ("junk", 65_000), ("a member", 1000), ("noise", 65_000), ("a record with a long head", 1 << 20)):
        same_however_it_is_read(BITS[before] + BITS[bit] + RECORD + MEMBER, most)


@settings(max_examples=20)
@given(st.lists(st.sampled_from(sorted(BITS)), max_size=6), st.sampled_from([997, 4096, 65_536, 300_000]))
def test_segments_of_generated_files_do_not_depend_on_the_size_of_reads(bits: list[str], most: int) -> None:
    same_however_it_is_read(b"".join([BITS[bit] for bit in bits]), most)


def test_version_lines_without_headers_are_skipped_in_linear_time() -> None:
    data = b"junk\n" + b"WARC/1.0\r\n" * 100_000 + RECORD
    found = list(pieces(io.BytesIO(data), 10_000_000))
    assert b"".join(piece.raw for piece in found) == data
    assert [piece.records for piece in found if piece.records is not None] == [RECORD]


@pytest.mark.parametrize(("before", "behind"), [(b"", b""), (RECORD, MEMBER), (MEMBER, RECORD), (b"", warc(NOISE))], ids=["alone", "before a member", "before a record", "before more"])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_large_record_is_in_memory_once(before: bytes, behind: bytes, is_compressed: bool) -> None:
    record = warc(NOISE * 8)
    large = gzip.compress(record, 1) if is_compressed else record
    file = io.BytesIO(before + large + behind)
    tracemalloc.start()
    for piece in pieces(file, 9 * len(NOISE)):
        if len(piece.raw) == len(large):
            held = tracemalloc.get_traced_memory()[0] - len(piece.raw) - (len(record) if is_compressed else 0)
            assert held < 2 * len(NOISE) + 300_000  # with the bytes read after it
            assert piece.records == record
            break
    else:
        pytest.fail("there is one")
    tracemalloc.stop()
