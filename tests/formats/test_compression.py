"""Compressed data: round trips, broken data, and limits of the decompressed size."""

import gzip
import sys
import zlib
from collections.abc import Callable
from itertools import product
from typing import Any

import brotli
import pytest
import zstandard

from absolve.core.errors import CodingError
from absolve.formats.compression import (
    CODINGS,
    BareDeflate,
    Compressed,
    Gzip,
    Unread,
    Zstandard,
    ends_with_frame,
    frame_end,
)
from tests.shapes.memory import traced

TEXT = b"<a href='x'>" * 100
LIMIT = 1 << 20
SKIPPABLE = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"


def bare(data: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-15)
    return machine.compress(data) + machine.flush()


WRITTEN: dict[str, tuple[Callable[[int], Compressed], bytes]] = {
    "gzip": (CODINGS["gzip"], gzip.compress(TEXT)),
    "x-gzip": (CODINGS["x-gzip"], gzip.compress(TEXT)),
    "two members": (Gzip, gzip.compress(TEXT[:50]) + gzip.compress(TEXT[50:])),
    "deflate": (CODINGS["deflate"], zlib.compress(TEXT)), "deflate without its header": (CODINGS["deflate"], bare(TEXT)),
    "bare deflate": (BareDeflate, bare(TEXT)), "br": (CODINGS["br"], brotli.compress(TEXT)),
    "zstd": (CODINGS["zstd"], zstandard.compress(TEXT)),
    "zstd with a skippable frame": (Zstandard, SKIPPABLE + zstandard.compress(TEXT)),
    "zstd without its size": (Zstandard, zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)),
}


@pytest.mark.parametrize(("coding", "raw"), WRITTEN.values(), ids=WRITTEN)
def test_compressed_data_is_decoded_exactly_to_the_limit_and_encoded_and_truncated_data_is_an_error(coding: Callable[[int], Compressed], raw: bytes) -> None:
    made = coding(LIMIT)
    assert made.decode_mapped(raw) == (TEXT, None)
    assert coding(LIMIT).decode(made.encode(TEXT + b"more")) == TEXT + b"more"
    for size in (len(raw) - 1, len(raw) // 2):
        with pytest.raises(CodingError):
            coding(LIMIT).decode(raw[:size])
    assert coding(len(TEXT)).decode(raw) == TEXT
    with pytest.raises(CodingError, match="max-decompressed") as raised:
        coding(len(TEXT) - 1).decode(raw)
    assert raised.value.code == "too-large"


@pytest.mark.parametrize("name", sorted(CODINGS))
def test_other_data_in_place_of_compressed_data_is_an_error(name: str) -> None:
    with pytest.raises(CodingError) as raised:
        CODINGS[name](LIMIT).decode(b"\xff\xfe<html>")
    assert raised.value.code in {"broken", "truncated"}


BOMB = bytes(200 << 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "raw"), [("gzip", gzip.compress(BOMB, 1)), ("br", brotli.compress(BOMB, quality=1)), ("zstd", zstandard.compress(BOMB))]
)
def test_a_decompression_bomb_takes_no_more_memory_than_the_limit(name: str, raw: bytes) -> None:
    def refused() -> None:
        with pytest.raises(CodingError, match="max-decompressed"):
            CODINGS[name](LIMIT).decode(raw)

    assert traced(refused)[1] < 8 * LIMIT


def test_bytes_after_a_gzip_member_stay_after_it() -> None:
    coding = Gzip(LIMIT)
    assert coding.decode(gzip.compress(b"a") + b"\r\n") == b"a"
    assert coding.encode(b"b").endswith(b"\r\n")


@pytest.mark.parametrize(("coding", "package"), [("br", "brotli"), ("zstd", "zstandard")])
def test_a_missing_decompression_package_is_named(coding: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CodingError, match=rf"{package} is not installed \(pip install {package}\)"):
        CODINGS[coding](LIMIT).decode(b"x")
    with pytest.raises(CodingError, match="'sdch'"):
        Unread("sdch").decode(b"x")


@pytest.mark.parametrize("options", [{}, {"write_checksum": True}, {"write_content_size": False}], ids=str)
def test_the_end_of_a_zstandard_frame_is_found_without_decompression(options: dict[str, Any]) -> None:
    for level, size in product((1, 19), (0, 1, 255, 300, 70_000, 400_000)):
        raw = zstandard.ZstdCompressor(level=level, **options).compress((TEXT * 400)[:size])
        assert frame_end(b"before" + raw + b"after", 6) == 6 + len(raw)
        assert {frame_end(raw[:cut]) for cut in range(0, len(raw), max(1, len(raw) // 50))} == {None}
        assert [ends_with_frame(raw + more) for more in (SKIPPABLE, SKIPPABLE[:-1], b"x")] == [True, False, False]


def test_zlib_ng_reports_the_same_errors_as_zlib() -> None:
    zlib_ng = pytest.importorskip("zlib_ng.zlib_ng")
    whole = gzip.compress(b"".join(b"<a href='%d'>" % number for number in range(2000)), mtime=0)

    def reported(module: Any, data: bytes) -> list[object]:
        machine = module.decompressobj(31)
        found: list[object] = []
        try:
            for at in range(0, len(data), 700):
                found.append(machine.decompress(data[at : at + 700], 5000))
                found.append((len(machine.unconsumed_tail), len(machine.unused_data), machine.eof))
                while machine.unconsumed_tail:
                    found.append(machine.decompress(machine.unconsumed_tail, 5000))
        except module.error as error:
            found.append(str(error))
        return found

    for at in range(0, len(whole), 97):
        for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :], whole + whole[:at]):
            assert reported(zlib_ng, data) == reported(zlib, data), at
