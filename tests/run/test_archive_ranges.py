"""Archives cut into ranges of records, or read record by record, give the same results as the whole archive."""

import gzip
import io
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from absolve.cli.reporting import Totals
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.inventory import link_rows
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.rewriting import rewriter
from absolve.run import load
from absolve.run.filters import Selection
from absolve.run.inputs import WHOLE, Input
from absolve.run.links_task import ListOptions, listed
from absolve.run.load import ReadOptions, Segment, archive_segments, segments_in, split_archive, split_archives
from absolve.run.results import BytesRead, Failure, LinkCounts, RowChunk
from tests.shapes.captures import page, zipped


def record(page: bytes, kind: bytes = b"response", *, body: bytes = b"text/html") -> bytes:
    http = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n\r\n%b" % (body, page)
    head = b"WARC/1.0\r\nWARC-Type: %b\r\nWARC-Target-URI: http://h/d/p\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"
    return head % (kind, len(http)) + http + b"\r\n\r\n"


def arc(page: bytes) -> bytes:
    return b"http://h/d/a 1.2.3.4 20240101000000 text/html %d\n%b\n" % (len(page), page)


def nowhere(page: bytes) -> bytes:
    return record(page).replace(b"WARC-Target-URI: http://h/d/p\r\n", b"")


def dictionary() -> tuple[bytes, bytes]:
    """Return a dictionary in a frame of its own, and a record that is compressed with it."""
    words = zstandard.ZstdCompressionDict(record(b"<a href=zstd>"))
    frame = b"\x5d\x2a\x4d\x18" + len(words.as_bytes()).to_bytes(4, "little") + words.as_bytes()
    return frame, zstandard.ZstdCompressor(dict_data=words).compress(record(b"<a href=zstd>"))


ONE, TWO, NONE = record(b"<a href=1>"), record(b"<a href=2><a href=3>"), record(b"<p>")
GET, REVISIT = record(b"", b"request"), record(b"", b"revisit")
NESTED = record(ONE + NONE + TWO + ONE)
BITS = {
    "a record": ONE, "two links": TWO, "no links": NONE, "a request": GET, "a revisit": REVISIT, "no base": nowhere(b"<a href=4>"),
    "records in a record": NESTED, "records in a record in a record": record(record(NESTED * 2)), "a member": gzip.compress(ONE),
    "members": gzip.compress(TWO) + gzip.compress(NONE) + gzip.compress(GET),
    "several in a member": gzip.compress(ONE + GET + TWO),
    "members in a record": record(gzip.compress(ONE) * 3, body=b"application/gzip"),
    "members in a member": gzip.compress(record(gzip.compress(ONE) * 3), 0),
    "records in a member": gzip.compress(NESTED, 0), "an empty member": gzip.compress(b""), "a broken member": gzip.compress(TWO)[:-8] + b"\0" * 8,
    "a member cut off": gzip.compress(TWO)[:-20], "a frame": zstandard.compress(ONE), "a dictionary": b"".join(dictionary()),
    "a frame that wants a dictionary": dictionary()[1], "an ARC record": arc(b"<a href=5>"), "an ARC member": gzip.compress(arc(b"<a href=6>")),
    "ARC records in one": arc(b"<pre>\n" + arc(b"<a href=7>") * 3), "junk": b"junk\r\n\r\n", "a beginning": b"WARC/1.0\r\n", "a head": ONE[:80],
    "line ends": b"\r\n\r\n\n\n", "a length that is too large": ONE.replace(b"Length: ", b"Length: 1"),
    "a length that is too small": TWO.replace(b"Length: ", b"Length: 1\r\nX: "),
    "a record that is too large": record(b"<a href=8>" + b" " * 3000),
    "a member that is too large": gzip.compress(record(b"<a href=9>" + b" " * 3000)),
    "a member too large for a record": gzip.compress(record(b"<a href=9>" + b" " * 1500)),
    "too many links": record(b"<a href=x>" * 30),
}
DEFAULTS = Settings()
SMALL = Settings(max_decompressed=2500, max_size=1400, max_links=20)


def joined(results: Iterable[Any]) -> tuple[bytes, list[Any], int]:
    """Return the rows table by table, the other results (each without a position only once), and the bytes read.

    The last of the other results are the counts of links, in total.
    """
    rows: dict[str, bytearray] = defaultdict(bytearray)
    others: list[Any] = []
    totals = Totals()
    size = 0
    for piece in results:
        if isinstance(piece, RowChunk):
            chunk = piece.chunk
            rows[piece.table] += chunk if isinstance(chunk, bytes) else "".join(map(repr, chunk)).encode()
        elif isinstance(piece, BytesRead):
            size += piece.read
        elif isinstance(piece, LinkCounts):  # of each range
            totals.add(piece)
        elif isinstance(piece, Failure) or piece not in others:
            others.append(piece)
    if totals.links:
        others.append((totals.scopes, totals.problems))
    return b"".join(rows[table] for table in sorted(rows)), others, size


def same_in_parts(path: Path, url: str | None = None, sizes: Iterable[int] = (1, 700), **how: Any) -> None:
    """Assert the same results for the whole file and for its ranges of each of these sizes."""
    input_ = Input(str(path), path.name, url)
    listing = ListOptions(ReadOptions(how.pop("settings", DEFAULTS)), **how)
    expected = joined(listed(listing, input_))
    for size in sizes:
        parts = list(split_archive(input_, listing.reading, size))
        assert [part.within.start for part in parts[1:]] == [part.within.end for part in parts[:-1]]
        assert joined(piece for part in parts for piece in listed(listing, part)) == expected


def streamed(data: bytes) -> list[Segment]:
    return list(archive_segments(io.BytesIO(data), "x.warc", DEFAULTS))


def same_as_a_whole(data: bytes) -> None:
    whole = walk(Document(data, name="x.warc", media_type="application/warc"), DEFAULTS)
    found = streamed(data)
    assert b"".join(one.raw for one in found) == data
    assert b"".join(one.rewritten() for one in found) == rewriter.rewrite(whole)
    rows = [row for one in found if one.entity for row in link_rows.rows(one.entity)]
    assert [row[:1] + row[2:] for row in rows] == [row[:1] + row[2:] for row in link_rows.rows(whole)]
    assert [row.entity for row in rows] == [row.entity for row in link_rows.rows(whole)]
    assert sorted(diagnostic for one in found for diagnostic in one.diagnostics) == sorted(whole.diagnostics)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranges") / "x.warc"


@pytest.mark.parametrize("bit", BITS)
def test_an_archive_in_ranges_or_record_by_record_gives_the_same_results(path: Path, bit: str) -> None:
    for around, limits in ((ONE, DEFAULTS), (gzip.compress(TWO), SMALL)):
        path.write_bytes(around + BITS[bit] + TWO + around)
        same_in_parts(path, settings=limits)
    data = ONE + BITS[bit] + NONE + GET + BITS[bit] + TWO
    same_as_a_whole(data)
    assert all(one.rewritten(lambda _: None) is one.raw for one in streamed(data))


HOW: list[dict[str, Any]] = [
    *({}, {"settings": SMALL}, {"settings": Settings(max_depth=1)}, {"columns": ("entity", "reference")}, {"format": "sqlite", "beside": True}),
    *({"selection": Selection(frozenset({"navigation"}))}, {"table": "documents", "columns": DOCUMENT_COLUMNS}),
]


@given(st.lists(st.sampled_from(sorted(BITS)), min_size=1, max_size=12), st.sampled_from([None, "http://u/", "mailto:x"]), st.sampled_from(HOW))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_generated_archives_in_ranges_give_the_same_results(path: Path, bits: list[str], url: str | None, how: dict[str, Any]) -> None:
    path.write_bytes(b"".join([BITS[bit] for bit in bits]))
    same_in_parts(path, url, **how)


@given(st.lists(st.sampled_from(sorted(BITS)), min_size=2, max_size=8), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_corrupted_archives_in_ranges_give_the_same_results(path: Path, bits: list[str], draw: st.DataObject) -> None:
    data = bytearray(b"".join([BITS[bit] for bit in bits]))
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.sampled_from(b"\0\n\x1f\x8b\x08W:1\xff"))
    path.write_bytes(data)
    same_in_parts(path)


@pytest.mark.parametrize("name", ["iana.warc.gz", "example.warc", "example.arc.gz", "example-extra.warc"])
def test_real_archives_give_the_same_results(shared: Path, name: str) -> None:
    same_as_a_whole((shared / "warc/pywb/sample_archive/warcs" / name).read_bytes())
    if name in {"iana.warc.gz", "example-extra.warc"}:
        same_in_parts(shared / "warc/pywb/sample_archive/warcs" / name, sizes=[1000])


def test_an_archive_of_images_in_ranges_gives_the_same_documents(path: Path) -> None:
    image = ONE.replace(b"application/http", b"image/png").replace(b"HTTP/1.1", b"PNG")
    path.write_bytes(ONE + image + TWO + gzip.compress(image + image) + GET + REVISIT + image + ONE)
    same_in_parts(path, table="documents", columns=DOCUMENT_COLUMNS)


def test_only_a_large_archive_is_cut_and_only_for_several_processes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "LARGE", 1000)
    monkeypatch.setattr(load, "RANGE", 500)

    def parts(data: bytes, jobs: int = 2, name: str = path.name) -> list[int]:
        file = path.with_name(name)
        file.write_bytes(data)
        return [input_.within.start for input_ in split_archives([Input(str(file), "x")], ReadOptions(Settings()), jobs)]

    assert parts(ONE * 9, 1) == parts(ONE) == parts(b"<p>" * 1000, name="x.html") == parts(dictionary()[0] * 9) == [0]
    assert parts(ONE * 9) == [len(ONE) * number for number in (0, 3, 6)]
    missing = Input(str(path.with_name("missing")), "x")
    assert list(split_archives([missing], ReadOptions(Settings()), 2)) == [missing]
    assert missing.within == WHOLE


# --- record by record -------------------------------------------------------------------------------------------------

PAGE = b'<a href="x">'
LINKS = record(b'<a href="x"><a href="y">')


def test_a_record_that_is_too_large_is_reported_for_any_media_type() -> None:
    large = record(b" " * 400, b"request")
    found = list(archive_segments(io.BytesIO(GET + large), "x.warc", Settings(max_size=300)))
    assert [[diagnostic.code for diagnostic in one.diagnostics] for one in found] == [[], ["too-large"]]


class Counted(io.BytesIO):
    """A file that counts its reads; each read copies."""

    reads = 0

    def read(self, size: int | None = -1) -> bytes:
        self.reads += 1
        return super().read(size)


def test_a_large_member_is_read_in_few_steps() -> None:
    reads = []
    for megabytes in (2, 4):
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
    found = list(segments_in(Input(str(path), path.name), ReadOptions(DEFAULTS._replace(max_size=len(data) - 1))))
    rows = [row for one in found if one.entity is not None for row in link_rows.rows(one.entity, str(path))]
    assert rows == expected
    assert len({row.entity for row in rows}) > 5
    assert [one.code for segment in found for one in segment.diagnostics] == [one.code for one in whole.diagnostics]
    assert max(len(segment.raw) for segment in found) <= len(crawl) / (1 + stored)
