"""Archives processed record by record: the same results as for the whole archive, in little memory."""

import gzip
import io
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats import registry
from absolve.inventory import link_rows
from absolve.rewriting import rewriter
from absolve.run.inputs import Input
from absolve.run.load import ReadOptions, Segment, each, is_archive, ranges, stretches
from tests.shapes.captures import zipped

DEFAULTS = Settings()
PAGE = b'<a href="x">'


def record(page: bytes, url: str = "http://w.example/d/p.html") -> bytes:
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(page), page)
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %b\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"
    return head % (url.encode(), len(http)) + http + b"\r\n\r\n"


@pytest.mark.parametrize("head", [b"<p>", b"WARC/1.0\r\n", b"", b"\x1f\x8b"])
@pytest.mark.parametrize("name", ["a.warc", "a.WARC.gz", "a.arc", "a.html", "a", "warc"])
def test_an_archive_is_one_by_its_name_or_its_beginning(name: str, head: bytes) -> None:
    expected = registry.sniff(head, name) == registry.WARC
    assert is_archive(Input(name, name), ReadOptions(DEFAULTS), head) == expected
    assert expected == (("." in name and "html" not in name) or head[:4] == b"WARC")


def warc(http: bytes, kind: str, *fields: str) -> bytes:
    head = [f"WARC/1.0\r\nWARC-Type: {kind}", *fields, "WARC-Target-URI: http://w.example/x"]
    return "\r\n".join([*head, f"Content-Length: {len(http)}\r\n\r\n"]).encode() + http + b"\r\n\r\n"


def request(size: int = 0) -> bytes:
    http = b"GET /%b HTTP/1.1\r\n\r\n" % (b"x" * size)
    return b"WARC/1.0\r\nWARC-Type: request\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (len(http), http)


LINKS, NONE, CUT = record(b'<a href="x"><a href="y">'), record(b"<p>"), record(b'<a href="x">')[:-20]
FILES = {
    "plain": LINKS + NONE + LINKS,
    "compressed": gzip.compress(LINKS) + gzip.compress(NONE) + gzip.compress(LINKS),
    "several in a member": gzip.compress(LINKS + LINKS) + gzip.compress(NONE + LINKS),
    "broken": LINKS + b"junk" + LINKS + CUT,
    "a broken member": gzip.compress(LINKS) + gzip.compress(LINKS)[:-9] + gzip.compress(LINKS),
    "requests": LINKS + request() + NONE + request(),
    "requests in a member": gzip.compress(request()) + gzip.compress(request() + LINKS),
    "empty": b"",
}


def streamed(data: bytes) -> list[Segment]:
    return list(stretches(io.BytesIO(data), "x.warc", Settings()))


def same_as_a_whole(data: bytes) -> None:
    whole = walk(Document(data, name="x.warc", media_type="application/warc"), Settings())
    found = streamed(data)
    assert b"".join(one.raw for one in found) == data
    assert b"".join(one.rewritten() for one in found) == rewriter.rewrite(whole)
    rows = [row for one in found if one.entity for row in link_rows.rows(one.entity)]
    assert [row[:1] + row[2:] for row in rows] == [row[:1] + row[2:] for row in link_rows.rows(whole)]
    assert [row.entity for row in rows] == [row.entity for row in link_rows.rows(whole)]
    assert sorted(diagnostic for one in found for diagnostic in one.diagnostics) == sorted(whole.diagnostics)


def test_a_record_that_is_too_large_is_reported_for_any_media_type() -> None:
    found = list(stretches(io.BytesIO(request() + request(400)), "x.warc", Settings(max_size=300)))
    assert [[diagnostic.code for diagnostic in one.diagnostics] for one in found] == [[], ["too-large"]]


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_record_by_record_gives_the_results_of_the_whole_archive(data: bytes) -> None:
    same_as_a_whole(data)


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_unchanged_records_are_the_same_objects(data: bytes) -> None:
    assert all(one.rewritten(lambda _: None) is one.raw for one in streamed(data))


@pytest.mark.parametrize("name", ["iana.warc.gz", "example.warc", "example.arc.gz", "example-extra.warc"])
def test_real_archives_give_the_same_results_record_by_record(shared: Path, name: str) -> None:
    same_as_a_whole((shared / "warc/pywb/sample_archive/warcs" / name).read_bytes())



def in_ranges(data: bytes, size: int, settings: Settings = DEFAULTS) -> tuple[list[Any], list[Diagnostic], int]:
    """Return the rows and diagnostics of separate ranges, and the number of ranges."""
    found = list(ranges(io.BytesIO(data), settings, size))
    parts = [list(stretches(io.BytesIO(data), "x.warc", settings, within=within)) for within in found]
    assert b"".join(one.raw for part in parts for one in part) == data
    rows = [row for part in parts for one in part if one.entity for row in link_rows.rows(one.entity)]
    return rows, [diagnostic for part in parts for one in part for diagnostic in one.diagnostics], len(found)


@pytest.mark.parametrize("size", [1, 300, 100_000])
@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_each_separate_range_gives_its_part_of_the_whole_results(data: bytes, size: int) -> None:
    rows, diagnostics, _ = in_ranges(data, size)
    whole = streamed(data)
    assert rows == [row for one in whole if one.entity for row in link_rows.rows(one.entity)]
    assert diagnostics == [diagnostic for one in whole for diagnostic in one.diagnostics]


@pytest.mark.parametrize("limit", [{"max_depth": 0}, {"max_depth": 1}, {"max_size": 400}, {"max_links": 1}], ids=str)
@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_ranges_count_documents_skipped_by_limits(data: bytes, limit: dict[str, int]) -> None:
    settings = Settings(**limit)  # type: ignore[arg-type]
    whole = list(stretches(io.BytesIO(data), "x.warc", settings))
    expected = [row for one in whole if one.entity for row in link_rows.rows(one.entity)]
    assert in_ranges(data, 1, settings)[0] == expected


def test_a_range_begins_with_a_record_and_has_the_requested_size() -> None:
    assert [in_ranges(FILES["plain"], size)[2] for size in (1, len(LINKS) + 1, 100_000)] == [3, 2, 1]
    assert [in_ranges(FILES["several in a member"], size)[2] for size in (1, 100_000)] == [2, 1]


@pytest.mark.parametrize("name", ["iana.warc.gz", "example-extra.warc"])
def test_ranges_of_real_archives_give_the_results_of_the_whole(shared: Path, name: str) -> None:
    data = (shared / "warc/pywb/sample_archive/warcs" / name).read_bytes()
    whole = streamed(data)
    rows, _, number = in_ranges(data, 1000)
    assert number > 1
    assert rows == [row for one in whole if one.entity for row in link_rows.rows(one.entity)]


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_memory_does_not_grow_with_the_archive(compressed: bool) -> None:
    unit = record(b"<p>" + b"x" * 20_000)
    peaks = []
    for count in (20, 400):
        file = io.BytesIO((gzip.compress(unit) if compressed else unit) * count)
        tracemalloc.start()
        assert sum(one.entity is not None for one in stretches(file, "x", Settings())) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + (1 << 20)


class Counted(io.BytesIO):
    """A file that counts its reads; each read copies."""

    reads = 0

    def read(self, size: int | None = -1) -> bytes:
        self.reads += 1
        return super().read(size)


def test_a_large_member_is_read_in_few_steps() -> None:
    reads = []
    for megabytes in (4, 8):
        noise = random.Random(1808).randbytes(megabytes << 20)  # noqa: S311 - what gzip cannot make smaller
        file = Counted(gzip.compress(record(noise), 1))
        assert sum(len(one.raw) for one in stretches(file, "x.warc.gz", Settings())) == len(file.getvalue())
        reads.append(file.reads)
    assert reads[1] <= reads[0] + 2  # one copy of half the member per read would need as many again


def test_compressed_data_in_a_broken_record_is_no_member() -> None:
    inside = gzip.compress(b'<a href="x">')
    broken = record(inside).replace(b"Content-Length: ", b"Content-Length: 9", 1)
    found = streamed(broken + LINKS)
    assert [diagnostic.code for one in found for diagnostic in one.diagnostics] == ["wrong-length"]
    assert [one.raw for one in found if one.document] == [LINKS]


@pytest.mark.parametrize("stored", [True, False])
def test_a_wacz_is_listed_record_by_record(tmp_path: Path, *, stored: bool) -> None:
    """The rows are those of the whole package, also of one that is larger than --max-size, and with a broken file."""
    crawl = gzip.compress(LINKS) + gzip.compress(record(b'{"a', "http://w.example/b.json")) + gzip.compress(LINKS)
    files = {"archive/a.warc.gz": crawl, "read.html": PAGE, "archive/b.warc": LINKS + LINKS, "archive/c.warc.gz": crawl[:-9]}
    data = zipped({"datapackage.json": b"{}", **files, "last.html": PAGE}, stored=stored)
    path = tmp_path / "a.wacz"
    path.write_bytes(data)
    whole = walk(Document(data, name=str(path)), DEFAULTS)
    expected = list(link_rows.rows(whole, str(path)))
    found = list(each(Input(str(path), path.name), ReadOptions(DEFAULTS._replace(max_size=len(data) - 1))))
    rows = [row for one in found if one.entity is not None for row in link_rows.rows(one.entity, str(path))]
    assert rows == expected
    assert len({row.entity for row in rows}) > 5
    assert [one.code for segment in found for one in segment.diagnostics] == [one.code for one in whole.diagnostics]
    assert max(len(segment.raw) for segment in found) <= len(crawl) / (1 + stored)
