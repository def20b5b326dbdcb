"""Archives processed record by record: the same results as for the whole archive, in little memory."""

import gzip
import io
import random
from pathlib import Path

import pytest
from test_archive_ranges import BITS, GET, NONE, ONE, TWO, record

from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.inventory import link_rows
from absolve.rewriting import rewriter
from absolve.run.inputs import Input
from absolve.run.load import ReadOptions, Segment, archive_segments, each
from tests.shapes.captures import page, zipped

DEFAULTS = Settings()
PAGE = b'<a href="x">'
LINKS = record(b'<a href="x"><a href="y">')


def streamed(data: bytes) -> list[Segment]:
    return list(archive_segments(io.BytesIO(data), "x.warc", Settings()))


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
    large = record(b" " * 400, b"request")
    found = list(archive_segments(io.BytesIO(GET + large), "x.warc", Settings(max_size=300)))
    assert [[diagnostic.code for diagnostic in one.diagnostics] for one in found] == [[], ["too-large"]]


@pytest.mark.parametrize("bit", BITS)
def test_record_by_record_gives_the_results_of_the_whole_archive(bit: str) -> None:
    data = ONE + BITS[bit] + NONE + GET + BITS[bit] + TWO
    same_as_a_whole(data)
    assert all(one.rewritten(lambda _: None) is one.raw for one in streamed(data))


@pytest.mark.parametrize("name", ["iana.warc.gz", "example.warc", "example.arc.gz", "example-extra.warc"])
def test_real_archives_give_the_same_results_record_by_record(shared: Path, name: str) -> None:
    same_as_a_whole((shared / "warc/pywb/sample_archive/warcs" / name).read_bytes())


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
        assert sum(len(one.raw) for one in archive_segments(file, "x.warc.gz", Settings())) == len(file.getvalue())
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
    crawl = gzip.compress(LINKS) + gzip.compress(page("http://w.example/b.json", b'{"a')) + gzip.compress(LINKS)
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
