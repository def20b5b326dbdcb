"""What is ready is told when it is on the disk, and in its order."""

from __future__ import annotations

import threading
import time
from concurrent import futures
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from absolve.run import fsync, outputs
from absolve.run.inputs import Input
from absolve.run.outputs import Made
from absolve.run.publish import Publisher
from absolve.run.results import BytesRead, Failure, FilesReady
from absolve.run.rewrite_task import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def ready(folder: Path, number: int) -> FilesReady:
    temporary = folder / f"{number}.tmp"
    temporary.write_bytes(b"x")
    return FilesReady((Made(str(temporary), str(folder / f"{number}.html")),))


def test_what_nothing_ready_stands_before_comes_at_once() -> None:
    asked: list[int] = []

    def told() -> Iterator[tuple[int, Any]]:
        for number in range(3):
            asked.append(number)
            yield number, BytesRead(number)

    for number, found in enumerate(fsync.flushed(told())):
        assert found == (number, BytesRead(number))
        assert asked[-1] == number


def test_what_is_ready_comes_in_its_order_when_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk: set[str] = set()

    def flush(made: Made) -> None:
        time.sleep(0.05 if made.temporary.endswith("0.tmp") else 0)
        on_disk.add(made.temporary)

    monkeypatch.setattr(outputs, "flush", flush)
    monkeypatch.setattr(fsync, "TOGETHER", 15)
    told = [(number, piece) for number in range(100) for piece in (ready(tmp_path, number), BytesRead(number))]
    found = []
    for number, piece in fsync.flushed(told):
        found.append((number, piece))
        if isinstance(piece, FilesReady):
            assert piece.flushed
            assert {made.temporary for made in piece.made} <= on_disk
    assert found == [(number, _flushed(piece)) for number, piece in told]


def _flushed(piece: Any) -> Any:
    return piece._replace(flushed=True) if isinstance(piece, FilesReady) else piece


def test_what_is_ready_is_expected_many_at_a_time_when_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk: set[str] = set()
    monkeypatch.setattr(outputs, "flush", lambda made: on_disk.add(made.temporary))
    monkeypatch.setattr(fsync, "LONG", 60.0)
    expected: list[int] = []
    groups: list[int] = []

    def expect(group: list[tuple[int, FilesReady]]) -> None:
        groups.append(len(group))
        expected.extend(number for number, _ in group)
        assert {made.temporary for _, piece in group for made in piece.made} <= on_disk

    told = [(number, piece) for number in range(100) for piece in (ready(tmp_path, number), BytesRead(number))]
    for number, _ in fsync.flushed(told, expect):
        assert number in expected
    assert expected == list(range(100))
    assert groups == [32, 32, 36]


class AtOnce:
    """An executor that does what it is given when it is given it."""

    def __init__(self, _threads: int) -> None:
        pass

    def submit(self, function: Callable[..., None], *arguments: Any) -> futures.Future[None]:
        done: futures.Future[None] = futures.Future()
        function(*arguments)
        done.set_result(None)
        return done

    def shutdown(self, **_options: bool) -> None:
        pass


@pytest.mark.parametrize(("long", "waits"), [(0.0, False), (60.0, True)])
def test_what_is_on_the_disk_does_not_wait_long_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: float, *, waits: bool
) -> None:
    monkeypatch.setattr(futures, "ThreadPoolExecutor", AtOnce)
    monkeypatch.setattr(fsync, "LONG", long)
    asked: list[int] = []

    def told() -> Iterator[tuple[int, Any]]:
        for number in range(6):
            asked.append(number)
            yield number, ready(tmp_path, number)

    for number, _ in fsync.flushed(told()):
        assert asked[-1] == (5 if waits else number)


@pytest.mark.parametrize("flushed", [False, True])
def test_what_is_not_on_the_disk_is_flushed_before_it_is_put(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, flushed: bool
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(outputs, "flush", lambda made: begun.append(Path(made.target).exists()))
    job = Job(Input("0.html", "0.html"), str(tmp_path / "0.html"))
    Publisher("token").put(job, ready(tmp_path, 0)._replace(flushed=flushed))
    assert begun == ([] if flushed else [False])
    assert (tmp_path / "0.html").read_bytes() == b"x"


def test_what_does_not_get_to_the_disk_is_a_failure_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flush(made: Made) -> None:
        if made.temporary.endswith("1.tmp"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs, "flush", flush)
    pieces = [ready(tmp_path, number) for number in range(3)]
    found = [piece for _, piece in fsync.flushed(enumerate(pieces))]
    assert [type(piece) for piece in found] == [FilesReady, Failure, FilesReady]
    message = str(found[1].error)
    assert message == f"{tmp_path / '1.html'}: unwritable: No space left on device"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.tmp", "2.tmp"]


def test_who_stops_waits_for_no_file_that_nobody_is_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = threading.Event()

    class Stopping(futures.ThreadPoolExecutor):
        def shutdown(self, *arguments: bool, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            stopped.set()
            super().shutdown(*arguments)

    begun = []

    def flush(made: Made) -> None:
        begun.append(made)
        if int(Path(made.temporary).stem) >= fsync.TOGETHER:
            assert stopped.wait(60)

    monkeypatch.setattr(futures, "ThreadPoolExecutor", Stopping)
    monkeypatch.setattr(outputs, "flush", flush)
    monkeypatch.setattr(fsync, "LONG", 60.0)
    told = ((number, ready(tmp_path, number)) for number in range(1000))
    with closing(fsync.flushed(told)) as found:
        next(found)
        assert not stopped.is_set()
    assert fsync.TOGETHER <= len(begun) <= fsync.TOGETHER + fsync.AT_ONCE
