"""FilesReady results are passed on after fsync, in their order."""

from __future__ import annotations

import threading
import time
from concurrent import futures
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from absolve.core.errors import DocumentError
from absolve.run import fsync, outputs, syncfs
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


def test_results_without_an_earlier_pending_file_are_passed_on_at_once() -> None:
    asked: list[int] = []

    def results() -> Iterator[tuple[int, Any]]:
        for number in range(3):
            asked.append(number)
            yield number, BytesRead(number)

    for number, found in enumerate(fsync.flushed(results())):
        assert found == (number, BytesRead(number))
        assert asked[-1] == number


def test_ready_files_are_passed_on_in_order_after_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk: set[str] = set()

    def flush(made: Made) -> None:
        time.sleep(0.05 if made.temporary.endswith("0.tmp") else 0)
        on_disk.add(made.temporary)

    monkeypatch.setattr(outputs, "flush", flush)
    monkeypatch.setattr(fsync, "TOGETHER", 15)
    results = [(number, piece) for number in range(100) for piece in (ready(tmp_path, number), BytesRead(number))]
    found = []
    for number, piece in fsync.flushed(results):
        found.append((number, piece))
        if isinstance(piece, FilesReady):
            assert piece.flushed
            assert {made.temporary for made in piece.made} <= on_disk
    assert found == [(number, _flushed(piece)) for number, piece in results]


def _flushed(piece: Any) -> Any:
    return piece._replace(flushed=True) if isinstance(piece, FilesReady) else piece


def test_many_ready_files_are_synced_in_parallel(
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

    results = [(number, piece) for number in range(100) for piece in (ready(tmp_path, number), BytesRead(number))]
    for number, _ in fsync.flushed(results, expect):
        assert number in expected
    assert expected == list(range(100))
    assert groups == [32, 32, 32, 4]


@pytest.mark.parametrize("safe", [True, False])
def test_a_group_is_synced_by_one_call_where_that_reports_errors_and_else_file_by_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, safe: bool
) -> None:
    calls: list[int] = []
    alone: list[str] = []
    monkeypatch.setattr(syncfs, "_IS_REPORTING", True)

    def call(number: int) -> bool:
        calls.append(number)
        return safe

    monkeypatch.setattr(syncfs, "_call", call)
    monkeypatch.setattr(outputs, "flush", lambda made: alone.append(made.temporary))
    monkeypatch.setattr(fsync, "LONG", 60.0)
    systems = syncfs.FileSystems()
    systems.watch(str(tmp_path))
    pieces = [ready(tmp_path, number) for number in range(100)]
    with closing(systems):
        found = [piece for _, piece in fsync.flushed(enumerate(pieces), None, systems)]
    assert found == [_flushed(piece) for piece in pieces]
    together = 3 * fsync.TOGETHER if safe else 0
    assert len(calls) == (3 if safe else 1)
    assert sorted(alone) == sorted(piece.made[0].temporary for piece in pieces[together:])


class AtOnce:
    """An executor that runs its jobs at once."""

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
def test_a_synced_file_does_not_wait_long_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: float, *, waits: bool
) -> None:
    monkeypatch.setattr(futures, "ThreadPoolExecutor", AtOnce)
    monkeypatch.setattr(fsync, "LONG", long)
    asked: list[int] = []

    def results() -> Iterator[tuple[int, Any]]:
        for number in range(6):
            asked.append(number)
            yield number, ready(tmp_path, number)

    for number, _ in fsync.flushed(results()):
        assert asked[-1] == (5 if waits else number)


@pytest.mark.parametrize("flushed", [False, True])
def test_a_file_is_synced_before_it_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, flushed: bool
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(outputs, "flush", lambda made: begun.append(Path(made.target).exists()))
    job = Job(Input("0.html", "0.html"), str(tmp_path / "0.html"))
    Publisher("token").put(job, ready(tmp_path, 0)._replace(flushed=flushed))
    assert begun == ([] if flushed else [False])
    assert (tmp_path / "0.html").read_bytes() == b"x"


def test_a_file_that_cannot_be_synced_is_a_failure_and_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_closing_does_not_wait_for_files_not_yet_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    results = ((number, ready(tmp_path, number)) for number in range(1000))
    with closing(fsync.flushed(results)) as found:
        next(found)
        assert not stopped.is_set()
    assert fsync.TOGETHER <= len(begun) <= fsync.TOGETHER + fsync.AT_ONCE


@pytest.mark.parametrize("synced", [False, True], ids=["fsync", "syncfs"])
def test_a_file_that_vanishes_before_its_rename_fails_and_the_others_are_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synced: bool
) -> None:
    monkeypatch.setattr(syncfs, "_call", lambda _: synced)
    jobs = [Job(Input(f"{number}", f"{number}"), str(tmp_path / f"{number}.html")) for number in range(10)]
    results = [(job, ready(tmp_path, number)) for number, job in enumerate(jobs)]
    (tmp_path / "3.tmp").unlink()
    failed = []
    with Publisher("token") as publisher:
        publisher.systems.watch(str(tmp_path))
        for job, piece in fsync.flushed(results, systems=publisher.systems):
            try:
                if isinstance(piece, Failure):
                    raise piece.error
                publisher.put(job, piece)
            except DocumentError as error:
                failed.append((job.input.name, error.diagnostic.code, error.diagnostic.name))
    assert failed == [("3", "unwritable", str(tmp_path / "3.html"))]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number}.html" for number in range(10) if number != 3]
