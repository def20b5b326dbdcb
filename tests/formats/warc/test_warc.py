"""WARC and ARC: unchanged records, walked records, their length and digest fields, and broken files."""

import base64
import gzip
import hashlib
import io
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import zstandard
from fastwarc.warc import ArchiveIterator as FastReader
from warcio.archiveiterator import ArchiveIterator

import absolve
from absolve.cli import main
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats import registry, sniffing
from absolve.formats.headers import record_at
from absolve.formats.warc.reader import pieces
from tests.shapes.captures import page

URL = "http://w.example/d/p.html"
PAGE = b'<a href="x">x</a>'
ABSOLUTE = b'<a href="http://w.example/d/x">x</a>'


def http(body: bytes = PAGE, *fields: str) -> bytes:
    head = ["HTTP/1.1 200 OK", "Content-Type: text/html", *fields, f"Content-Length: {len(body)}"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def record(block: bytes, *fields: str, kind: str = "response", media_type: str = "application/http", url: str = URL) -> bytes:
    head = [
        "WARC/1.1", f"WARC-Type: {kind}", "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000025>", f"WARC-Target-URI: {url}",
        *fields, f"Content-Type: {media_type}", f"Content-Length: {len(block)}",
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def arc(block: bytes, url: str = URL, media_type: str = "text/html") -> bytes:
    return f"{url} 127.0.0.1 20240101000000 {media_type} {len(block)}\n".encode() + block + b"\n"


FILEDESC = arc(b"1 0 t\nURL IP-address Archive-date Content-type Archive-length\n", "filedesc://x.arc", "text/plain")


def rewritten(data: bytes, **options: Any) -> bytes:
    return absolve.rewrite(data, media_type="application/warc", **options)


def reported(data: bytes, **options: Any) -> list[str]:
    entity = walk(Document(data, name="x.warc", media_type="application/warc"), Settings(**options))
    return [found.code for found in entity.diagnostics if found.failed]


STAYS = {
    "nothing": b"",
    "a request": record(b"GET / HTTP/1.1\r\nReferer: x\r\n\r\n", kind="request"),
    "warcinfo": record(b"software: t\r\n", kind="warcinfo", media_type="application/warc-fields"),
    "metadata": record(b"outlink: x\r\n", kind="metadata", media_type="application/warc-fields"),
    "an image": record(b"\x89PNG", kind="resource", media_type="image/png"),
    "a name": record(b"20240101000000\n1.2.3.4\n", media_type="text/dns", url="dns:w.example"),
    "no block": record(b"", kind="resource", media_type="text/html"),
    "absolute links and a wrong digest": record(http(ABSOLUTE), "WARC-Block-Digest: sha1:WRONG"),
    "a gzip member": gzip.compress(record(http(ABSOLUTE))),
    "an ARC file": FILEDESC + arc(http(ABSOLUTE)), "a segment of a record": record(http(), "WARC-Segment-Number: 1"),
    "blank lines between": b"\r\n\n" + record(http(ABSOLUTE)) + b"\r\n\r\n\r\n" + record(b"x", kind="metadata") + b"\n",
}


@pytest.mark.parametrize("data", STAYS.values(), ids=STAYS)
def test_unchanged_data_is_returned_as_the_same_object_and_segments_cover_all_bytes(data: bytes) -> None:
    assert rewritten(data) is data
    assert reported(data) == []
    for whole in (data, data + data, data[:-5], data[5:]):
        found = list(pieces(io.BytesIO(whole), 1 << 20))
        assert b"".join(piece.raw for piece in found) == whole


WALKED = {
    "a response": (record(http()), record(http(ABSOLUTE))),
    "lines that end without a carriage return": (
        record(http()).replace(b"\r", b"").replace(b"Length: 79", b"Length: 75").replace(b"Length: 81", b"Length: 77"),
        record(http(ABSOLUTE)).replace(b"\r", b"").replace(b"Length: 100", b"Length: 96"),
    ),
    "a resource": (record(PAGE, kind="resource", media_type="text/html"), record(ABSOLUTE, kind="resource", media_type="text/html")),
    "a conversion": (
        record(PAGE, kind="conversion", media_type="text/html; charset=utf-8"),
        record(ABSOLUTE, kind="conversion", media_type="text/html; charset=utf-8"),
    ),
    "wget's brackets": (record(http(), url=f"<{URL}>"), record(http(ABSOLUTE), url=f"<{URL}>")),
    "a repeated length field": (record(http(), f"Content-Length: {len(http())}"), record(http(ABSOLUTE), f"Content-Length: {len(http(ABSOLUTE))}")),
    "an empty length behind": (
        record(http()).replace(b"\r\n\r\nHTTP", b"\r\nContent-Length:\r\n\r\nHTTP"),
        record(http(ABSOLUTE)).replace(b"\r\n\r\nHTTP", b"\r\nContent-Length:\r\n\r\nHTTP"),
    ),
    "an ARC file": (FILEDESC + arc(http()), FILEDESC + arc(http(ABSOLUTE))),
    "two records": (
        record(http()) + record(b"x", kind="metadata") + record(http()),
        record(http(ABSOLUTE)) + record(b"x", kind="metadata") + record(http(ABSOLUTE)),
    ),
}


@pytest.mark.parametrize(("data", "new"), WALKED.values(), ids=WALKED)
def test_a_changed_record_gets_its_new_length(data: bytes, new: bytes) -> None:
    assert rewritten(data) == new
    assert rewritten(new) is new


@pytest.mark.parametrize("wrap", [bytes, gzip.compress], ids=["in a file", "in a gzip member"])
def test_each_of_many_records_is_rewritten_like_one_alone(wrap: Callable[[bytes], bytes]) -> None:
    field = f"WARC-Block-Digest: {digest('sha1', 'base32', http())}"
    records = [record(http(), field), *STAYS.values(), *(old for old, _ in WALKED.values())]
    records = [one for one in records if not one.startswith(b"\x1f\x8b")]
    found = rewritten(wrap(b"".join(records * 3)))
    if wrap is gzip.compress:
        found = gzip.decompress(found)
    assert found == b"".join([rewritten(one) for one in records] * 3)
    assert found != b"".join(records * 3)
    rows = absolve.links(wrap(b"".join(records * 3)), media_type="application/warc")
    alone = [row for one in records for row in absolve.links(one, media_type="application/warc")]
    assert [(row.reference, row.target, row.base) for row in rows] == [(row.reference, row.target, row.base) for row in alone * 3]


def test_unchanged_gzip_members_are_copied() -> None:
    first, second = gzip.compress(record(http(ABSOLUTE)), 1), gzip.compress(record(http()), 1)
    new = rewritten(first + second + first)
    assert new.startswith(first)
    assert new.endswith(first)
    assert gzip.decompress(new[len(first) : -len(first)]) == record(http(ABSOLUTE))


def test_zstandard_frames_are_decompressed_and_may_share_a_dictionary() -> None:
    for skippable in (b"", b"\x50\x2a\x4d\x18\x01\x00\x00\x00x"):
        new = rewritten(skippable + zstandard.compress(record(http())) * 2)
        assert new.startswith(skippable)
        with zstandard.ZstdDecompressor().stream_reader(new, read_across_frames=True) as reader:
            assert reader.read() == record(http(ABSOLUTE)) * 2
    samples: list[bytes | bytearray | memoryview] = [record(http(PAGE * count)) + b"%d" % count for count in range(1, 200)]
    dictionary = zstandard.train_dictionary(2000, samples)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    raw = dictionary.as_bytes()
    head = b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw
    new = rewritten(head + compressor.compress(record(http())))
    assert new.startswith(head)
    plain = zstandard.ZstdDecompressor(dict_data=dictionary).decompress(new[len(head) :])
    assert plain == record(http(ABSOLUTE))


def digest(algorithm: str, form: str, data: bytes) -> str:
    value = hashlib.new(algorithm, data).digest()
    shown = {
        "base32": base64.b32encode(value).decode(), "hex": value.hex(), "upper hex": value.hex().upper(),
        "bare base32": base64.b32encode(value).decode().rstrip("="), "base64": base64.b64encode(value).decode(),
    }
    return f"{algorithm}:{shown[form]}"


def test_recomputed_digests_keep_algorithm_and_encoding_and_one_that_was_wrong_stays() -> None:
    for kind in product(("sha1", "sha256", "md5", "sha512"), ("base32", "hex", "upper hex", "bare base32", "base64")):
        before, after = (
            record(http(body), f"WARC-Block-Digest: {digest(*kind, http(body))}", f"WARC-Payload-Digest: {digest(*kind, body)}") for body in (PAGE, ABSOLUTE)
        )
        assert rewritten(before) == after
    for value in ("sha1:WRONG", "sha1", "nonsense:ABC", "shake_128:ABC", "sha1:"):
        fields = (f"WARC-Block-Digest: {value}", f"WARC-Payload-Digest: {value}")
        assert rewritten(record(http(), *fields)) == record(http(ABSOLUTE), *fields)


def test_the_payload_digest_is_computed_like_the_original_one() -> None:
    def chunked(body: bytes) -> bytes:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        return head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)

    for with_chunks in (True, False):

        def with_digest(body: bytes, with_chunks: bool = with_chunks) -> bytes:
            block = chunked(body)
            payload = block.partition(b"\r\n\r\n")[2] if with_chunks else body
            return record(block, f"WARC-Payload-Digest: {digest('sha1', 'base32', payload)}")

        assert rewritten(with_digest(PAGE)) == with_digest(ABSOLUTE)


def test_a_revisit_record_keeps_the_payload_digest() -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nLocation: x\r\nContent-Length: 1000\r\n\r\n"
    new = block.replace(b"Location: x", b"Location: http://w.example/d/x")
    field = f"WARC-Payload-Digest: {digest('sha1', 'base32', b'')}"
    data = record(block, field, kind="revisit")
    assert rewritten(data) == record(new, field, kind="revisit")
    assert [row.entity for row in absolve.links(data)] == ["revisit[1]"]


def test_rows_have_the_path_and_url_of_their_record_which_the_url_option_precedes() -> None:
    row = absolve.links(record(http()), url="http://said.example/")[0]
    assert row.target == "http://said.example/x"
    data = gzip.compress(record(http())) + gzip.compress(record(b"x", kind="metadata")) + gzip.compress(record(http()) * 2)
    rows = list(absolve.links(data, name="x.warc.gz"))
    assert [row.entity for row in rows] == ["record[1]/body[1]", "record[2]/body[1]", "record[3]/body[1]"]
    assert {(row.document, row.base, row.base_layer, row.base_source) for row in rows} == {("x.warc.gz", URL, "retrieval", "WARC-Target-URI")}


# --- unreadable data --------------------------------------------------------------------------------------------------

GOOD, NEW = record(http()), record(http(ABSOLUTE))
SHORT = GOOD.replace(b"Length: 81", b"Length: 70")
LONG = GOOD.replace(b"Length: 81", b"Length: 90")
MEMBER = gzip.compress(GOOD)
BROKEN = {
    "a record cut off at the end": (GOOD + GOOD[:-30], NEW + GOOD[:-30], ["truncated"]),
    "a header cut off at the end": (GOOD + GOOD[:90], NEW + GOOD[:90], ["no-record"]),
    "a length that is too small": (GOOD + SHORT + GOOD, NEW + SHORT + NEW, ["wrong-length"]),
    "a length that is too large": (GOOD + LONG + GOOD, NEW + LONG + NEW, ["wrong-length"]),
    "a length past the end": (
        GOOD.replace(b"Length: 81", b"Length: 9999") + GOOD, GOOD.replace(b"Length: 81", b"Length: 9999") + NEW, ["wrong-length"],
    ),
    "no length": (GOOD.replace(b"\r\nContent-Length: 81", b"", 1) + GOOD, GOOD.replace(b"\r\nContent-Length: 81", b"", 1) + NEW, ["no-record"]),
    "something else between": (GOOD + b"junk\n" * 3 + GOOD, None, ["wrong-length"]),
    "something else at the start": (b"junk\n" * 3 + GOOD, b"junk\n" * 3 + NEW, ["no-record"]),
}


@pytest.mark.parametrize(("data", "new", "codes"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_stays_and_the_others_are_rewritten(data: bytes, new: bytes | None, codes: list[str]) -> None:
    assert reported(data) == codes
    if new is not None:
        assert rewritten(data) == new
    found = list(pieces(io.BytesIO(data), 1 << 20))
    assert b"".join(piece.raw for piece in found) == data


def test_a_broken_member_stays_and_the_others_are_rewritten() -> None:
    damaged = MEMBER[:40] + b"\0\0\0\0" + MEMBER[44:]
    for broken, code in ((MEMBER[:-20], "truncated"), (damaged, "broken"), (MEMBER[:40], "truncated")):
        assert reported(MEMBER + broken) == [code]
        assert rewritten(MEMBER + broken).endswith(broken)
        new = rewritten(broken + MEMBER)
        assert new.startswith(broken)
        assert gzip.decompress(new[len(broken) :]) == NEW
    data = gzip.compress(gzip.compress(GOOD))  # a member in a member is not decompressed
    assert rewritten(data, name="x.warc.gz") is data
    assert reported(data) == ["no-record"]


def test_a_record_beyond_the_size_limit_stays_and_the_others_are_rewritten() -> None:
    large = record(http(PAGE + b" " * 5000))
    member = gzip.compress(large)  # compressed once: the header contains the time
    for data in (large + GOOD, member + MEMBER):
        assert reported(data, max_decompressed=3000) == ["too-large"]
    assert rewritten(large + GOOD, max_decompressed=3000) == large + NEW
    made = rewritten(member + MEMBER, max_decompressed=3000)
    assert (made[: len(member)], gzip.decompress(made[len(member) :])) == (member, NEW)


def test_faults_of_a_payload_are_reported_with_offset_and_url() -> None:
    broken = record(http(PAGE, "Content-Encoding: gzip").replace(PAGE, b"\x1f\x8b" + PAGE[2:]))
    entity = walk(Document(GOOD + broken, name="x.warc"), Settings())
    at = len(GOOD) + broken.index(b"\x1f\x8b")
    assert [str(found) for found in entity.diagnostics] == [
        f"x.warc: broken: the gzip data is broken: Error -3 while decompressing data: unknown compression method ({URL}), at byte {at}"
    ]


KNOWN = {
    "WARC": (GOOD, True), "gzip": (gzip.compress(GOOD), True), "gzip of something else": (gzip.compress(b"x"), False),
    "zstd": (zstandard.compress(GOOD), True),
    "the start of zstd": (zstandard.compress(GOOD) + zstandard.compress(GOOD)[:9], True),
    "zstd of something else": (zstandard.compress(b"x"), False), "broken zstd": (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, False),
    "a dictionary": (b"\x5d\x2a\x4d\x18\1\0\0\0x", True),
}


def test_warc_and_arc_are_detected_by_the_first_bytes() -> None:
    for name, (data, is_warc) in KNOWN.items():
        assert (sniffing.sniff(data, None) == registry.WARC) is (sniffing.recognised(data, "x") == registry.WARC) is is_warc, name


HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc"
HEADERS = [  # and the type of the record, None for none
    (HEAD, "response"),
    (HEAD.replace(b"\r", b""), "response"),
    (HEAD.replace(b"WARC-Type: response", b"warc-type :\tRESPONSE "), "response"),
    (HEAD.replace(b"Content-Length: 3", b"content-length:3  "), "response"),
    (HEAD.replace(b"WARC-Type: response\r\n", b""), ""),
    (HEAD.replace(b"WARC-Type: response", b"WARC-Type: re\r\n sponse"), "re sponse"),
    (HEAD.replace(b"WARC-Type", b"WARC-Type: request\r\nWARC-Type"), "request"),
    (HEAD.replace(b"Length: 3", b"Length: 3\r\nContent-Length: 4"), "response"),
    (HEAD.replace(b"Length: 3", b"Length: x\r\nContent-Length: 4"), None),
    (HEAD.replace(b"Length: 3", b"Length: 1\r\n 3"), None), (HEAD.replace(b"Length: 3", b"Length:\r\n 3"), "response"),
    (HEAD.replace(b"Length: 3", b"Length: -3"), None), (HEAD.replace(b"Content-Length", b"Content\rLength"), None),
    (HEAD.replace(b"Type: ", b"Type:\r\n "), "response"),
    (HEAD.replace(b"Type: ", b"Type: x\r\n ").replace(b"Length: 3", b"Length: 3\r\nX: y"), "x response"),
    (HEAD.replace(b"Length: 3", b"Length: " + b"3" * 30), None),
    (HEAD.replace(b"Content-Length: 3", b"X: y\r\n Content-Length: 3"), None),
    (HEAD.replace(b"Content-Length: 3\r\n", b""), None),
    (HEAD.replace(b"Content-Length: 3", b"no field\r\nContent-Length: 3"), "response"),
    (HEAD.replace(b"\r\n\r\n", b"\r\n"), None), (HEAD.replace(b"abc", b"").replace(b"3", b"0"), "response"),
    (b"WARC/1.0\r\n\r\nContent-Length: 3\r\n\r\nabc", None), (FILEDESC, "filedesc"), (arc(b"abc"), "arc"), (b"", None),
]


def test_the_header_of_a_record_gives_its_type_and_its_block() -> None:
    for data, kind in HEADERS:
        found = record_at(b"\n" + data, 1)
        assert (found and found.kind) == kind, data
        if found is not None:
            assert data.strip().endswith((b"\n" + data)[found.block : found.end].strip())


def test_other_warc_readers_read_the_rewrite() -> None:
    fields = [f"WARC-{name}-Digest: {digest('sha1', 'base32', of)}" for name, of in (("Block", http()), ("Payload", PAGE))]
    new = rewritten(gzip.compress(record(http(), *fields)) * 3)
    found = ArchiveIterator(io.BytesIO(new), check_digests="raise")
    assert [one.content_stream().read() for one in found] == [ABSOLUTE] * 3
    assert all(one.verify_block_digest() for one in FastReader(io.BytesIO(new), parse_http=False))
    assert all(one.verify_payload_digest() for one in FastReader(io.BytesIO(new)))


def test_undecodable_bytes_of_a_record_url_are_percent_escaped_in_the_page() -> None:
    page = http(PAGE).replace(b"text/html", b"text/html; charset=shift_jis")
    data = record(page, url="http://w.example/~a/").replace(b"~a", b"\xe9a")
    assert b'<a href="http://w.example/%E9a/x">x</a>' in rewritten(data)


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "gzip"])
def test_a_cut_record_is_listed_as_far_as_it_goes_and_stays(tmp_path: Path, is_packed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    first, last = page("http://h.example/a", b"<a href=1>"), page("http://h.example/b", b"<a href=2><p>" + bytes(range(32, 127)) * 99)
    first, last = (gzip.compress(first), gzip.compress(last)[:-20]) if is_packed else (first, last[:-99])
    (tmp_path / "c.warc").write_bytes(first + last)
    assert main(["links", str(tmp_path / "c.warc"), "-f", "csv", "--columns", "target"]) == 3
    out, err = capsys.readouterr()
    assert (out.split(), "truncated" in err) == (["target", "http://h.example/1", "http://h.example/2"], True)
    assert main(["rewrite", str(tmp_path / "c.warc"), "-o", str(tmp_path / "out.warc")]) == 3
    written = (tmp_path / "out.warc").read_bytes()
    assert written.endswith(last)
    assert written[: -len(last)] != first
