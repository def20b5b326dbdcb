"""Files are put on the disk before they are renamed, in their order: many at once."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from absolve import tables
from absolve.core.errors import DocumentError, UsageError
from absolve.run import outputs
from absolve.run import results as waiting
from absolve.run.inputs import Input
from absolve.run.outputs import WrittenFile
from absolve.run.plan import Job, Publisher, check_new_folder
from absolve.run.results import BytesRead, Failure, FilesReady, flushed


def ready(folder: Path, number: int) -> FilesReady:
    temporary = folder / f"{number}.tmp"
    temporary.write_bytes(b"x")
    return FilesReady((WrittenFile(str(temporary), str(folder / f"{number}.html")),))


def test_results_without_an_earlier_pending_file_are_passed_on_at_once() -> None:
    asked: list[int] = []

    def results() -> Iterator[tuple[int, Any]]:
        for number in range(3):
            asked.append(number)
            yield number, BytesRead(number)

    for number, found in enumerate(flushed(results())):
        assert found == (number, BytesRead(number))
        assert asked[-1] == number


def test_ready_files_are_passed_on_in_order_after_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_disk: set[str] = set()

    def flush(made: WrittenFile) -> None:
        time.sleep(0.05 if made.temporary.endswith("0.tmp") else 0)
        on_disk.add(made.temporary)

    monkeypatch.setattr(outputs, "flush", flush)
    monkeypatch.setattr(waiting, "AHEAD", 15)
    results = [(number, piece) for number in range(100) for piece in (ready(tmp_path, number), BytesRead(number))]
    found = []
    for number, piece in flushed(results):
        found.append((number, piece))
        if isinstance(piece, FilesReady):
            assert {made.temporary for made in piece.files} <= on_disk
    assert found == results


def test_results_wait_for_a_slow_disk_only_in_a_bounded_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    threads: list[str] = []

    def flush(made: WrittenFile) -> None:
        threads.append(threading.current_thread().name)
        assert made.temporary.endswith("0.tmp") or done.wait(60)

    asked: list[int] = []

    def results() -> Iterator[tuple[int, Any]]:
        for number in range(100):
            asked.append(number)
            if len(asked) > waiting.AHEAD + 1:
                done.set()
            yield number, ready(tmp_path, number)

    monkeypatch.setattr(outputs, "flush", flush)
    monkeypatch.setattr(waiting, "AHEAD", 20)
    found = flushed(results())
    assert next(found)[0] == 0
    assert threads == [threading.main_thread().name]  # one file needs no other thread
    next(found)
    assert waiting.AHEAD < len(asked) <= waiting.AHEAD + 3
    assert [number for number, _ in found] == list(range(2, 100))


def test_a_file_that_cannot_be_synced_is_a_failure_and_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flush(made: WrittenFile) -> None:
        if made.temporary.endswith("1.tmp"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs, "flush", flush)
    pieces = [ready(tmp_path, number) for number in range(3)]
    found = [piece for _, piece in flushed(enumerate(pieces))]
    assert [type(piece) for piece in found] == [FilesReady, Failure, FilesReady]
    message = str(found[1].error)
    assert message == f"{tmp_path / '1.html'}: unwritable: No space left on device"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.tmp", "2.tmp"]


def test_a_file_that_vanishes_before_its_rename_fails_and_the_others_are_renamed(tmp_path: Path) -> None:
    jobs = [Job(Input(f"{number}", f"{number}"), str(tmp_path / f"{number}.html")) for number in range(10)]
    results = [(job, ready(tmp_path, number)) for number, job in enumerate(jobs)]
    (tmp_path / "3.tmp").unlink()
    failed = []
    with Publisher("token") as publisher:
        for job, piece in flushed(results):
            try:
                if isinstance(piece, Failure):
                    raise piece.error
                publisher.put(job, piece)
            except DocumentError as error:
                failed.append((job.input.name, error.diagnostic.code, error.diagnostic.name))
    assert failed == [("3", "unwritable", str(tmp_path / "3.html"))]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number}.html" for number in range(10) if number != 3]


@pytest.mark.parametrize("suffix", [*tables.SUFFIXES, *(f".{name}" for name in tables.OTHERWISE), ".warc", ".tar"])
def test_a_new_folder_has_no_name_of_a_file(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(UsageError, match="is the name of a file"):
        check_new_folder(str(tmp_path / f"out{suffix}"), "this is a folder")
    check_new_folder(f"{tmp_path / f'out{suffix}'}/", "this is a folder")
    check_new_folder(str(tmp_path / f"out{suffix}.example"), "this is a folder")
