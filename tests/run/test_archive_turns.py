"""Archives split into ranges at any offset give the same results as the whole archive."""

from __future__ import annotations

import gzip
import io
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from absolve.cli.totals import Totals
from absolve.core.errors import Diagnostic
from absolve.document.settings import Settings
from absolve.formats.warc.resync import first_record
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.run import archive_turns, segment_inputs
from absolve.run.archive_ranges import END, ArchiveRange, Progress
from absolve.run.archive_segments import counted, stretches
from absolve.run.archive_turns import renumbered
from absolve.run.filters import Selection
from absolve.run.inputs import Input
from absolve.run.links_task import ListOptions, Unique, listed
from absolve.run.load import ReadOptions
from absolve.run.pool.handoff import Handoff, LocalHandoffs
from absolve.run.pool.tasks import End
from absolve.run.results import BytesRead, Failure, LinkCounts, RowChunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


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
    "a record": ONE,
    "two links": TWO,
    "no links": NONE,
    "a request": GET,
    "a revisit": REVISIT,
    "no base": nowhere(b"<a href=4>"),
    "records in a record": NESTED,
    "records in a record in a record": record(record(NESTED * 2)),
    "a member": gzip.compress(ONE),
    "members": gzip.compress(TWO) + gzip.compress(NONE) + gzip.compress(GET),
    "several in a member": gzip.compress(ONE + GET + TWO),
    "members in a record": record(gzip.compress(ONE) * 3, body=b"application/gzip"),
    "members in a member": gzip.compress(record(gzip.compress(ONE) * 3), 0),
    "records in a member": gzip.compress(NESTED, 0),
    "an empty member": gzip.compress(b""),
    "a broken member": gzip.compress(TWO)[:-8] + b"\0" * 8,
    "a member cut off": gzip.compress(TWO)[:-20],
    "a frame": zstandard.compress(ONE),
    "a dictionary": b"".join(dictionary()),
    "a frame that wants a dictionary": dictionary()[1],
    "an ARC record": arc(b"<a href=5>"),
    "an ARC member": gzip.compress(arc(b"<a href=6>")),
    "ARC records in one": arc(b"<pre>\n" + arc(b"<a href=7>") * 3),
    "junk": b"junk\r\n\r\n",
    "a beginning": b"WARC/1.0\r\n",
    "a head": ONE[:80],
    "line ends": b"\r\n\r\n\n\n",
    "a length that is too large": ONE.replace(b"Length: ", b"Length: 1"),
    "a length that is too small": TWO.replace(b"Length: ", b"Length: 1\r\nX: "),
    "a record that is too large": record(b"<a href=8>" + b" " * 3000),
    "a member that is too large": gzip.compress(record(b"<a href=9>" + b" " * 3000)),
    "a member too large for a record": gzip.compress(record(b"<a href=9>" + b" " * 1500)),
    "too many links": record(b"<a href=x>" * 30),
}
SMALL = Settings(max_decompressed=2500, max_size=1400, max_links=20)


def joined(results: Iterable[Any]) -> tuple[bytes, list[Any], int]:
    """Return the rows table by table, the other results (each without a position only once), and the bytes read.

    The last of the other results are the counts of links, in total.
    """
    rows: dict[str, bytearray] = defaultdict(bytearray)
    unique = Unique()
    others: list[Any] = []
    totals = Totals()
    size = 0
    for piece in results:
        if isinstance(piece, RowChunk):
            chunk = piece.chunk
            rows[piece.table] += chunk if isinstance(chunk, bytes) else "".join(map(repr, unique.of(chunk))).encode()
        elif isinstance(piece, BytesRead):
            size += piece.read
        elif isinstance(piece, LinkCounts):  # of each range
            totals.add(piece)
        elif isinstance(piece, Failure) or piece not in others:
            others.append(piece)
    if totals.links:
        others.append((totals.scopes, totals.problems, totals.flawed))
    return b"".join(rows[table] for table in sorted(rows)), others, size


def in_parts(how: ListOptions, input_: Input, bounds: Iterable[int]) -> Iterator[Any]:
    """Return the results of the file split at these offsets."""
    results = archive_turns.unbroken(_in_parts(how, input_, bounds), lambda input_: input_)
    return (piece for _, piece in results if not isinstance(piece, End))


def _in_parts(how: ListOptions, input_: Input, bounds: Iterable[int]) -> Iterator[tuple[Input, Any]]:
    port = LocalHandoffs()
    starts = [0, *sorted(set(bounds))]
    for start, end in zip(starts, [*starts[1:], END], strict=True):
        port.next()
        part = input_._replace(within=ArchiveRange(start, end, None if start else 0))
        for piece in listed(how, part, port):
            yield part, piece
        yield part, End()


def same_in_parts(path: Path, *bounds: Iterable[int], url: str | None = None, **how: Any) -> None:
    """Assert the same results for the whole file and for each of these splits."""
    input_ = Input(str(path), path.name, url)
    listing = ListOptions(ReadOptions(how.pop("settings", Settings())), **how)
    expected = joined(listed(listing, input_))
    of_whole = slice(3 if expected[2] else 2)  # a failed file does not report the bytes read
    for some in bounds:
        assert joined(in_parts(listing, input_, some))[of_whole] == expected[of_whole]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("turns") / "x.warc"


@pytest.mark.parametrize("bit", BITS)
def test_splitting_an_archive_anywhere_gives_the_same_results(path: Path, bit: str) -> None:
    for around in (ONE, gzip.compress(TWO)):
        data = around + BITS[bit] + around
        path.write_bytes(data)
        same_in_parts(path, *([at] for at in range(1, len(data) + 2, 9)))


@pytest.mark.parametrize("limits", [Settings(), SMALL], ids=["no limits", "limits"])
@pytest.mark.parametrize("bit", BITS)
def test_splitting_an_archive_at_every_byte_gives_the_same_results(path: Path, bit: str, limits: Settings) -> None:
    path.write_bytes(ONE + BITS[bit] + TWO + gzip.compress(TWO))
    same_in_parts(path, range(1, path.stat().st_size + 5), settings=limits)


@given(
    st.lists(st.sampled_from(sorted(BITS)), min_size=1, max_size=12),
    st.lists(st.floats(0, 1), max_size=9),
    st.sampled_from([None, "http://u/", "mailto:x"]),
    st.sampled_from(
        [
            {},
            {"settings": SMALL},
            {"settings": Settings(max_depth=1)},
            {"unique": True, "columns": ("entity", "reference")},
            {"unique": True, "columns": ("reference",)},
            {"selection": Selection(frozenset({"navigation"}))},
            {"table": "documents", "columns": DOCUMENT_COLUMNS},
            {"format": "sqlite", "beside": True},
        ]
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_splitting_generated_archives_anywhere_gives_the_same_results(
    path: Path, bits: list[str], cuts: list[float], url: str | None, how: dict[str, Any]
) -> None:
    data = b"".join([BITS[bit] for bit in bits])
    path.write_bytes(data)
    same_in_parts(path, {int(cut * len(data)) for cut in cuts} - {0}, url=url, **how)


def test_a_record_without_links_is_walked_at_the_start_of_the_file_alone(path: Path) -> None:
    revisit = BITS["a revisit"].replace(b"WARC-Target-URI: ", b"WARC-Target-URI:\0")
    path.write_bytes(revisit + revisit)
    results = listed(ListOptions(ReadOptions(Settings())), Input(str(path), path.name, None))
    assert [one.code for one in results if isinstance(one, Diagnostic)] == ["control-character"]


def test_splitting_behind_a_first_record_that_is_broken_gives_the_same_results(path: Path) -> None:
    """The record behind it has a diagnostic and no link: it is walked in all ranges, or in none."""
    second = BITS["a revisit"].replace(b"WARC-Target-URI: ", b"WARC-Target-URI:\0")
    path.write_bytes(b"\0" + BITS["a request"][1:] + second)
    same_in_parts(path, [50], [200])


@given(st.lists(st.sampled_from(sorted(BITS)), min_size=2, max_size=8), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_splitting_corrupted_archives_anywhere_gives_the_same_results(path: Path, bits: list[str], draw: st.DataObject) -> None:
    data = bytearray(b"".join([BITS[bit] for bit in bits]))
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.sampled_from(b"\0\n\x1f\x8b\x08W:1\xff"))
    path.write_bytes(data)
    same_in_parts(path, range(1 + draw.draw(st.integers(0, 50)), len(data), draw.draw(st.integers(50, 500))))


def test_splitting_an_archive_of_images_gives_the_same_documents(path: Path) -> None:
    image = ONE.replace(b"application/http", b"image/png").replace(b"HTTP/1.1", b"PNG")
    path.write_bytes(ONE + image + TWO + gzip.compress(image + image) + GET + REVISIT + image + ONE)
    bounds = [[at] for at in range(1, path.stat().st_size, 29)]
    same_in_parts(path, *bounds, table="documents", columns=DOCUMENT_COLUMNS)


def test_a_range_that_begins_with_a_record_without_links_has_no_diagnostics(path: Path) -> None:
    path.write_bytes(ONE + REVISIT.replace(b"WARC-Target-URI: http://", b"WARC-Target-URI: http:/\0") + GET)
    same_in_parts(path, [10])


def test_a_condition_uses_the_record_numbers_of_the_rows(path: Path) -> None:
    path.write_bytes(ONE * 5)
    for condition in ("entity = 'record[4]/body[1]'", "false"):
        same_in_parts(path, [len(ONE), 3 * len(ONE)], where=condition)
    results = joined(in_parts(ListOptions(ReadOptions(Settings()), where="entity LIKE 'record[4]%'"), Input(str(path), ""), [700]))
    assert results[0].count(b"\n") == 1


SIX = "CAST(reference AS INT) >= 6"


def test_after_a_failure_later_ranges_of_the_archive_yield_nothing(path: Path) -> None:
    path.write_bytes(b"".join(record(b"<a href=%b>" % name) for name in (b"5", b"7", b"6", b"8", b"x", b"9")) + TWO * 3)
    assert joined(listed(ListOptions(ReadOptions(Settings()), where=SIX), Input(str(path), "x")))[0].count(b"\n") == 3
    same_in_parts(path, *([at, at + 200] for at in range(1, path.stat().st_size, 31)), where=SIX)
    same_in_parts(path, [1, 2, 3], where="CAST(entity AS INT) = 1")


def test_a_failure_does_not_affect_other_archives() -> None:
    first, middle, last = ArchiveRange(0, 9, 0), ArchiveRange(9, 20, None), ArchiveRange(20, END, None)

    def kept(*results: tuple[ArchiveRange, Any]) -> list[Any]:
        inputs = [(Input("x", "x", within=within), piece) for within, piece in results]
        return [piece for _, piece in archive_turns.unbroken(inputs, lambda input_: input_)]

    end, size, rows, lost = End(), BytesRead(1), RowChunk(b"", 0), End("lost")
    assert kept((first, rows), (first, end), (middle, size), (middle, end), (last, rows), (last, lost)) == [rows, end, end, end]
    assert kept((first, end), (last, rows), (last, end), (ArchiveRange(), rows), (ArchiveRange(), end), (first, rows)) == [end, end, rows, end, rows]
    assert kept((first, size), (first, end), (middle, lost), (last, rows)) == [size, end, lost, rows]
    assert kept((first, rows), (first, lost), (middle, rows), (middle, end), (last, rows)) == [rows, lost, rows, end]


@pytest.mark.parametrize("held", [0, 3000])
def test_kept_results_of_ranges_are_bounded_and_none_is_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr("absolve.run.links_task.AT_ONCE", 2)
    monkeypatch.setattr(archive_turns, "HELD", held)
    for unit in (TWO + ONE, TWO + b"junk" + gzip.compress(ONE)):
        path.write_bytes(unit * 20)
        same_in_parts(path, range(500, path.stat().st_size, 1500))


def test_a_range_waits_for_its_turn_before_it_keeps_more(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_turns, "HELD", 5000)
    path.write_bytes(ONE * 2)
    made: list[int] = []
    asked: list[Any] = []

    def found(_: Any) -> Iterator[Any]:
        for number in range(100):
            made.append(number)
            yield BytesRead(1)
        yield Progress(END, 1)

    input_ = Input(str(path), "x", within=ArchiveRange(9, 300, None))
    results = archive_turns.in_turn(found, input_, ReadOptions(Settings()), Waiting(Handoff(Progress(len(ONE), 1)), asked))
    assert next(results) == BytesRead(1)
    assert (asked, len(made)) == ([1], 6)
    assert list(results) == [BytesRead(1)] * 99
    assert asked[1].before == 2


class Waiting(LocalHandoffs):
    """A port that records requests and handoffs."""

    def __init__(self, handed: Handoff, asked: list[int]) -> None:
        super().__init__()
        self._taken = handed
        self._asked = asked

    def take(self) -> Handoff:
        self._asked.append(1)
        return super().take()

    def hand_on(self, value: Any) -> None:
        self._asked.append(value)


def part(path: Path, within: ArchiveRange, handed: Handoff) -> tuple[bytes, list[Any], list[Any]]:
    """Return the rows of a range, the other results, and the handoffs, with a 1 before each that was received."""
    asked: list[Any] = []
    results = listed(ListOptions(ReadOptions(Settings())), Input(str(path), "x", within=within), Waiting(handed, asked))
    rows, others, _ = joined(results)
    return rows, others, asked


def test_a_range_passes_on_its_end_even_after_a_wrong_guess(path: Path) -> None:
    path.write_bytes(NESTED + TWO + ONE)
    within = ArchiveRange(100, len(NESTED) + 1, None)
    with path.open("rb") as file:
        assert first_record(file, within.start, within.end) not in {None, len(NESTED)}  # a wrong guess
    rows, _, asked = part(path, within, Handoff(Progress(len(NESTED), 1)))
    assert [row.split(b'"')[7] for row in rows.splitlines()] == [b"record[2]/body[1]"] * 2
    assert [(it.position, it.before) for it in asked[1:]] == [(len(NESTED + TWO), 2)]
    rows, _, asked = part(path, within, Handoff(Progress(END, 3)))
    assert (rows, [(it.position, it.before) for it in asked[1:]]) == (b"", [(END, 3)])


def test_a_range_after_a_failed_or_last_one_receives_no_handoff(path: Path) -> None:
    path.write_bytes(ONE * 3)
    assert part(path, ArchiveRange(5, 700, None), Handoff()) == (b"", [], [1, None])
    assert part(path, ArchiveRange(0, END, 0), Handoff())[2] == []
    assert [it.before for it in part(path, ArchiveRange(0, 1, 0), Handoff())[2]] == [1]


@pytest.mark.parametrize("taken", [None, Progress(), Progress(len(ONE), 1)])
def test_record_numbers_are_right_after_a_range_whose_worker_died(path: Path, taken: Progress | None) -> None:
    path.write_bytes(ONE + GET + NESTED + TWO + ONE)
    start = len(ONE + GET) + 300
    rows, _, asked = part(path, ArchiveRange(start, len(ONE + GET + NESTED + TWO), None), Handoff(taken, lost=True))
    assert [row.split(b'"')[7] for row in rows.splitlines()] == [b"record[3]/body[1]"] * 2
    assert [(it.position, it.before) for it in asked[1:]] == [(len(ONE + GET + NESTED + TWO), 3)]


@given(st.lists(st.sampled_from(sorted(BITS)), max_size=8), st.floats(0, 1), st.sampled_from([Settings(), SMALL]))
def test_counting_records_gives_the_same_numbers_as_listing_them(bits: list[str], cut: float, limits: Settings) -> None:
    data = b"".join([BITS[bit] for bit in bits])
    end = int(cut * len(data))
    listed_, passed = Progress(), Progress()
    for _ in stretches(io.BytesIO(data), "x", limits, within=ArchiveRange(0, end), course=listed_):
        pass
    counted(io.BytesIO(data), limits, passed, end)
    assert (passed.position, passed.before) == (listed_.position, listed_.before)


def test_large_archives_are_split_by_size_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_inputs, "LARGE", 1000)
    monkeypatch.setattr(segment_inputs, "RANGE", 500)

    def cut(data: bytes, jobs: int = 2, name: str = path.name) -> list[ArchiveRange]:
        file = path.with_name(name)
        file.write_bytes(data)
        return [input_.within for input_ in segment_inputs.spread([Input(str(file), "x")], ReadOptions(Settings()), jobs)]

    assert cut(ONE * 9, 1) == cut(ONE) == cut(b"<p>" * 1000, name="x.html") == [ArchiveRange()]
    assert cut(zstandard.compress(ONE) * 9) == cut(dictionary()[0] * 9) == [ArchiveRange()]
    assert cut((ONE * 9)[:1001]) == [ArchiveRange(0, 500, 0), ArchiveRange(500, 1000, None), ArchiveRange(1000, END, None)]
    assert cut((gzip.compress(ONE) * 9)[:1500]) == [ArchiveRange(0, 500, 0), ArchiveRange(500, 1000, None), ArchiveRange(1000, END, None)]
    with suppress(OSError):
        path.unlink()
    missing = Input(str(path), "x")
    assert list(segment_inputs.spread([missing], ReadOptions(Settings()), 2)) == [missing]


def test_renumbering_changes_the_first_step_of_a_path() -> None:
    assert renumbered("record[2]/body[1]/part[3]", 10) == "record[12]/body[1]/part[3]"
    assert renumbered("revisit[9]", 1) == "revisit[10]"
    assert renumbered("", 3) == ""


def test_a_failure_of_a_range_is_reported_in_its_turn(path: Path) -> None:
    def found(_: Any) -> Iterator[Any]:
        yield BytesRead(1)
        raise ValueError("broken")

    path.write_bytes(ONE * 2)
    input_ = Input(str(path), "x", within=ArchiveRange(9, 300, None))
    results = archive_turns.in_turn(found, input_, ReadOptions(Settings()), Waiting(Handoff(Progress(len(ONE), 1)), []))
    assert next(results) == BytesRead(1)
    with pytest.raises(ValueError, match="broken"):
        next(results)
