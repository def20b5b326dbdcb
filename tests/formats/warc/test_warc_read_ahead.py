"""Members that a thread opens while those before are worked on: all is as it is without, and the thread goes."""

from __future__ import annotations

import gc
import gzip
import io
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_warc_gzip_members import MORE, member
from test_warc_reader import LIMIT, NOISE, Slow, warc

from absolve.document.settings import Settings
from absolve.formats.warc import gzip_members, read_ahead
from absolve.formats.warc.gzip_members import Opener
from absolve.formats.warc.read_ahead import BYTES, FEWEST, Ahead, helps
from absolve.formats.warc.reader import pieces
from absolve.run.archive_segments import stretches

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

pytestmark = pytest.mark.skipif(not gzip_members.is_direct, reason="the functions of libdeflate cannot be had")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of threads")

BIG = [member(warc(NOISE[1000 * number : 1000 * number + 5000])) for number in range(30)]
SMALL = [member(warc(b"%d" % number)) for number in range(3000)]


@pytest.fixture(autouse=True)
def _cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "helps", lambda: True)


def found(file: io.BytesIO, limit: int = LIMIT, *, ahead: bool) -> tuple[list[object], list[object], bytes]:
    """The records with their places, what is said, and all bytes: what is no record may come in any pieces."""
    all_ = list(pieces(file, limit, ahead=ahead))
    records = [(piece.offset, piece.raw, piece.records) for piece in all_ if piece.records is not None]
    return list(records), [finding for piece in all_ for finding in piece.findings], b"".join(piece.raw for piece in all_)


def same(data: bytes, limit: int = LIMIT) -> None:
    expected = found(io.BytesIO(data), limit, ahead=False)
    assert found(io.BytesIO(data), limit, ahead=True) == expected
    slow = Slow(data)
    slow.most = 5000
    assert found(slow, limit, ahead=True) == expected


def threads(expected: int = 0) -> int:
    """How many threads this process has; one that has just ended is there for a moment."""
    for _ in range(200):
        number = len(os.listdir("/proc/self/task"))  # noqa: PTH208 - threads of C, too
        if number == expected:
            break
        time.sleep(0.005 if expected else 0.0001)
    return number


@pytest.mark.parametrize("bit", MORE)
def test_all_pieces_are_the_same(bit: str) -> None:
    same(b"".join([*BIG[:15], MORE[bit], *BIG, MORE[bit], *SMALL, MORE[bit], MORE[bit]]))


@given(st.lists(st.sampled_from(sorted(MORE)), max_size=30), st.randoms())
def test_so_they_are_in_any_order(bits: list[str], rng: random.Random) -> None:
    all_ = [*[MORE[bit] for bit in bits], *SMALL[:300], *BIG]
    rng.shuffle(all_)
    same(b"".join([*BIG[:7], *all_]))


def test_members_in_members_are_not_taken_for_them() -> None:
    inside = member(warc(b"".join(SMALL)), 0)
    same(b"".join([*BIG, inside, *BIG, inside[:-9], *BIG]))


@pytest.mark.parametrize("limit", [1, 100, 4999, 5200, 1 << 30])
def test_the_limit_holds(limit: int) -> None:
    same(b"".join([*BIG, *SMALL, *BIG]), limit)


def test_more_than_is_opened_ahead_comes_all_the_same() -> None:
    zeros = [member(warc(bytes(size))) for size in (BYTES // 3, BYTES // 2, BYTES - 200, BYTES, BYTES + 1, 3 * BYTES)]
    same(b"".join([*BIG, *zeros, *BIG, *reversed(zeros), *zeros * 9]), 4 * BYTES)


@pytest.mark.parametrize("end", range(60_000, 600_000, 45_000))
def test_an_error_of_the_file_comes_where_it_comes_without(end: int) -> None:
    class Failing(io.BytesIO):
        failed = False

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            if self.tell() < end:
                return data
            if self.failed:
                return b""
            self.failed = True
            raise OSError("it is gone")

    def until_it_fails(*, ahead: bool) -> list[bytes]:
        raws: list[bytes] = []
        with pytest.raises(OSError, match="it is gone"):
            raws.extend(piece.raw for piece in pieces(Failing(b"".join(BIG * 4)), LIMIT, ahead=ahead))
        return raws

    assert until_it_fails(ahead=True) == until_it_fails(ahead=False)


# --- the thread -------------------------------------------------------------------------------------------------------


def taken(ahead: Ahead, members: Iterable[bytes], at: int = 0) -> list[bytes | None]:
    """What is said to be in each of them, the first at this offset."""
    values = []
    for raw in members:
        assert ahead.size_at(at) == len(raw)
        values.append(ahead.value(raw, Opener()))
        at += len(raw)
    return values


def test_it_opens_what_it_is_given() -> None:
    for patience in range(1, 9):  # it may have to wait for a core
        ahead = Ahead(LIMIT)
        ahead.see(b"".join(BIG), 0, 0)
        time.sleep(0.02 * patience**2)
        assert taken(ahead, BIG[:-1]) == [gzip.decompress(raw) for raw in BIG[:-1]]
        ahead.close()
        if ahead.opened == len(BIG) - 1:
            return
    pytest.fail("it did not")


def test_nothing_waits_for_what_it_has_not_begun() -> None:
    for _ in range(50):  # at once, so that some are open, some are not, and one is just being opened
        ahead = Ahead(LIMIT)
        ahead.see(b"".join(BIG), 0, 0)
        assert taken(ahead, BIG[:-1]) == [gzip.decompress(raw) for raw in BIG[:-1]]
        ahead.close()


@pytest.mark.parametrize("is_broken", [False, True])
def test_who_comes_to_the_one_that_it_is_at_opens_others_as_well(*, is_broken: bool) -> None:
    large = member(warc(b"".join([b"%d" % number for number in range(200_000)])))
    if is_broken:
        large = large[:-8] + bytes(4) + large[-4:]
    broken = [raw[:-8] + bytes(4) + raw[-4:] for raw in BIG]
    members = [large, *[raw for pair in zip(BIG, broken, strict=True) for raw in pair]]
    expected = [None if is_broken else gzip.decompress(large), *[value for raw in BIG for value in (gzip.decompress(raw), None)]]
    for pause in range(60):  # so long that it has begun with the large one, and is not through
        ahead = Ahead(1 << 21)
        ahead.see(b"".join([*members, BIG[0]]), 0, 0)
        time.sleep(pause / 20_000)
        assert taken(ahead, members) == expected
        ahead.close()


def test_what_it_was_given_last_is_what_counts() -> None:
    other = [member(warc(NOISE[number : number + 3000])) for number in range(40)]
    ahead = Ahead(LIMIT)
    for turn in range(0, 400, 2):
        ahead.see(b"".join(BIG) * 12, 0, turn << 22)
        time.sleep(turn / 500_000)  # it is at one of them, or through
        ahead.see(b"".join(other), 0, turn + 1 << 22)
        assert taken(ahead, other[:-1], turn + 1 << 22) == [gzip.decompress(raw) for raw in other[:-1]]
    ahead.close()


def test_it_opens_no_broken_one() -> None:
    broken = BIG[1][:-8] + bytes(4) + BIG[1][-4:]
    ahead = Ahead(LIMIT)
    ahead.see(b"".join([BIG[0], broken, BIG[2], BIG[3]]), 0, 0)
    time.sleep(0.05)
    assert taken(ahead, [BIG[0], broken, BIG[2]]) == [gzip.decompress(BIG[0]), None, gzip.decompress(BIG[2])]


def test_those_that_are_passed_over_are_not_asked_for() -> None:
    ahead = Ahead(LIMIT)
    ahead.see(b"".join(BIG), 0, 1000)
    second = 1000 + len(BIG[0])
    assert ahead.size_at(999) == 0
    assert ahead.size_at(second) == len(BIG[1])
    assert ahead.value(BIG[1], Opener()) == gzip.decompress(BIG[1])
    assert ahead.size_at(second + 1) == 0
    assert ahead.size_at(second + len(BIG[1])) == len(BIG[2])
    assert ahead.size_at(1 << 40) == 0


@on_linux
def test_it_is_there_only_as_long_as_the_pieces_are_asked_for() -> None:
    before = threads()
    data = b"".join(BIG)
    cut = pieces(io.BytesIO(data), LIMIT, ahead=True)
    next(cut)
    assert threads(before + 1) == before + 1
    for _ in cut:
        pass
    assert threads(before) == before


@on_linux
@pytest.mark.parametrize("way", ["closed", "failed", "dropped", "a cycle"])
def test_it_goes_when_nobody_asks_any_more(way: str) -> None:
    before = threads()
    for _ in range(20):
        cut = pieces(io.BytesIO(b"".join(BIG)), LIMIT, ahead=True)
        next(cut)
        assert threads(before + 1) == before + 1
        if way == "closed":
            cut.close()  # type: ignore[attr-defined]  # it is a generator
            assert threads(before) == before
        elif way == "failed":
            with pytest.raises(ZeroDivisionError):
                cut.throw(ZeroDivisionError)  # type: ignore[attr-defined]
            assert threads(before) == before
        elif way == "a cycle":
            cycle: list[object] = [cut]
            cycle.append(cycle)
            del cycle
        del cut
        gc.collect()
        assert threads(before) == before


@on_linux
def test_signals_are_left_to_the_others() -> None:
    before = set(os.listdir("/proc/self/task"))  # noqa: PTH208
    ahead = Ahead(LIMIT)
    (thread,) = set(os.listdir("/proc/self/task")) - before  # noqa: PTH208
    for _ in range(200):
        status = Path(f"/proc/self/task/{thread}/status").read_text("ascii").split()
        blocked = int(status[status.index("SigBlk:") + 1], 16)
        if blocked:
            break
        time.sleep(0.005)
    assert all(blocked >> number - 1 & 1 for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1))
    ahead.close()


@on_linux
def test_it_goes_before_what_it_writes_to_does() -> None:
    before = threads()
    for _ in range(50):
        ahead = Ahead(LIMIT)
        ahead.see(b"".join(BIG), 0, 0)
        del ahead
    assert threads(before) == before


@on_linux
def test_small_files_have_none_and_neither_has_who_does_not_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = threads()
    small = [*BIG[:1], SMALL[0] * 3]
    assert sum(map(len, small)) < FEWEST
    for data, ahead in ((b"".join(small), True), (b"".join(BIG), False)):
        cut = pieces(io.BytesIO(data), LIMIT, ahead=ahead)
        next(cut)
        assert threads(before) == before
    monkeypatch.setattr(read_ahead, "helps", lambda: False)
    cut = pieces(io.BytesIO(b"".join(BIG)), LIMIT, ahead=True)
    next(cut)
    assert threads(before) == before


@on_linux
def test_archives_are_worked_on_with_one() -> None:
    before = threads()
    cut = stretches(io.BytesIO(b"".join(BIG)), "x.warc.gz", Settings())
    next(cut)
    assert threads(before + 1) == before + 1
    del cut
    assert threads(before) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:This process")  # is multi-threaded: Python 3.12 warns of it
def test_behind_a_fork_all_goes_on_without_it() -> None:
    data = b"".join([*BIG * 3, *SMALL])
    expected = [piece.records for piece in pieces(io.BytesIO(data), LIMIT)]
    for _ in range(10):
        cut = pieces(io.BytesIO(data), LIMIT, ahead=True)
        first = [next(cut).records for _ in range(5)]
        child = os.fork()
        if not child:
            status = 1
            try:
                status = int([*first, *[piece.records for piece in cut]] != expected)
                del cut
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert [*first, *[piece.records for piece in cut]] == expected


def test_it_helps_where_there_are_two_cores_and_no_processes_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)), raising=False)
        assert helps() is (cores > 1)
    import multiprocessing.process

    monkeypatch.setattr(multiprocessing.process, "parent_process", object)
    assert not helps()
    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: None)
    assert helps()
