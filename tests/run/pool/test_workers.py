"""The pool: results arrive in the order of the items, whatever happens to the processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pool_work
import pytest

from absolve.run.pool import messages, receiver, tasks, workers
from absolve.run.pool.handoff import Handoff
from absolve.run.pool.tasks import End

if TYPE_CHECKING:
    from collections.abc import Callable


def results_of(work: Callable[[int], Any], items: int, jobs: int) -> list[tuple[int, Any]]:
    return list(tasks.run(work, range(items), jobs))


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("work", [pool_work.twice, pool_work.slow_at_first, pool_work.many])
def test_results_have_the_order_of_the_items(work: Callable[[int], Any], jobs: int) -> None:
    expected = [(item, piece) for item in range(100) for piece in (*work(item), End())]
    assert results_of(work, 100, jobs) == expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_pool_without_items_yields_nothing(jobs: int) -> None:
    assert results_of(pool_work.twice, 0, jobs) == []


def test_one_job_runs_in_this_process_and_more_in_workers() -> None:
    assert {piece for _, piece in results_of(pool_work.where, 9, 1)} == {os.getpid(), End()}
    assert os.getpid() not in {piece for _, piece in results_of(pool_work.where, 9, 2)}


def test_queued_results_are_bounded_without_a_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "HELD", 1000)
    assert [item for item, piece in results_of(pool_work.large, 20, 3) if piece == End()] == list(range(20))


def test_items_are_requested_only_when_the_queue_has_room() -> None:
    asked = 0

    def items() -> Any:
        nonlocal asked
        while True:
            asked += 1
            yield asked

    with closing(tasks.run(pool_work.twice, items(), 2)) as run:
        next(run)
        assert asked <= 2 * workers.WAITING


def test_a_worker_that_dies_loses_only_one_item() -> None:
    ended = {item: piece.lost for item, piece in results_of(pool_work.deadly, 12, 2) if isinstance(piece, End)}
    assert {item: lost for item, lost in ended.items() if lost} == {
        5: "the process that worked on it was ended by signal 9"
    }
    assert sorted(ended) == list(range(12))


def test_results_of_several_quick_items_share_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = []
    real = messages.received

    def counted(connection: Any) -> Any:
        found = real(connection)
        frames.append(len(found))
        return found

    monkeypatch.setattr(receiver, "received", counted)
    assert len(results_of(pool_work.twice, 1000, 2)) == 3000
    assert sum(frames) == 1000
    assert len(frames) < 500


def test_each_item_that_kills_its_worker_is_reported_and_no_result_is_repeated() -> None:
    found = results_of(pool_work.deadly_after_many, 100, 2)
    lost = {item for item, piece in found if isinstance(piece, End) and piece.lost}
    assert lost == set(range(9, 100, 10))
    assert [item for item, piece in found if isinstance(piece, End)] == list(range(100))
    assert [found_ for found_ in found if found_[0] not in lost] == [
        (item, piece) for item in range(100) if item not in lost for piece in (*range(item % 10 * 10), End())
    ]


@pytest.mark.parametrize("jobs", [2, 3])
def test_each_item_receives_the_handoff_of_the_previous_one(jobs: int) -> None:
    found = list(tasks.run(pool_work.summed, range(40), jobs, handoffs=True))
    ended = {item: piece.lost for item, piece in found if isinstance(piece, End)}
    assert list(ended) == list(range(40))
    assert {item for item, lost in ended.items() if lost} == {item for item in range(40) if item % 10 in {3, 6}}
    values = {item: piece for item, piece in found if isinstance(piece, tuple) and not isinstance(piece, End)}
    value = 0
    for item in range(40):
        if item % 10 != 3:
            value += item  # an item that ends without its handoff passes on the accumulated value
        if item in values:
            assert values[item] == (value, item % 10 == 4)
    assert len(values) >= 32


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_handoffs_that_are_not_received_need_not_be_sent(jobs: int) -> None:
    found = [piece for _, piece in tasks.run(pool_work.careless, range(60), jobs, handoffs=True) if piece != End()]
    assert found == [Handoff(item - 1) if item % 3 == 2 else item for item in range(60)]


def test_handoffs_are_passed_on_while_the_parent_processes_results(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(2 * workers.AHEAD)]
    with closing(tasks.run(pool_work.summed_in_files, paths, 2, handoffs=True)) as run:
        assert next(run) == (paths[0], 0)
        until = time.monotonic() + 60
        while not all(path.exists() for path in paths) and time.monotonic() < until:
            time.sleep(0.01)  # results that arrived meanwhile are not requested yet
        assert all(path.exists() for path in paths)
        assert [piece for _, piece in run if piece != End()] == [1, 3, 6, 10, 15, 21, 28]


CROWDED = """
import pool_work
from absolve.run.pool import tasks, workers
if __name__ == "__main__":
    workers.HELD = 1000
    results = tasks.run(pool_work.summed_behind_large_results, range(8), 2, handoffs=True)
    print(*[result for _, result in results if isinstance(result, int)])
"""


def test_a_full_queue_of_results_does_not_delay_handoffs(tmp_path: Path) -> None:
    """The worker whose turn it is waits for a handoff while results of the next item fill the queue: no deadlock."""
    assert in_a_program(CROWDED, tmp_path) == "0 1 3 6 10 15 21 28\n"


def in_a_program(code: str, tmp_path: Path) -> str:
    """Run code that starts processes in a subprocess, and return its output; fail if it does not end."""
    program = tmp_path / "program.py"  # every worker imports it
    program.write_text(code)
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
        text=True,
        timeout=60,
    )
    return done.stdout


UNGUARDED = """
import pool_work
from absolve.run.pool import tasks
from absolve.core.errors import UsageError
try:
    for result in tasks.run(pool_work.twice, range(1000), 2):
        print(result)
except UsageError as error:
    print(error)
"""


def test_if_no_worker_starts_one_error_is_raised_and_no_item_is_lost(tmp_path: Path) -> None:
    assert in_a_program(UNGUARDED, tmp_path) == (
        "no other process starts: each ended with status 1 before its work; "
        "a program that calls absolve does so under if __name__ == '__main__', or with one job\n"
    )


def test_closing_a_pool_ends_its_workers_at_once(tmp_path: Path) -> None:
    before = time.monotonic()
    run: Any = tasks.run(pool_work.sleepy, [tmp_path / "a", tmp_path / "b"], 2)
    ours: Any = workers.Pool(pool_work.sleepy, 2)
    for worker, name in zip(ours._workers, "ab", strict=True):
        ours._give(worker, ord(name), tmp_path / name)
        worker.send()
    while not ((tmp_path / "a").exists() and (tmp_path / "b").exists()):
        time.sleep(0.01)
    run.close()
    ours.close()
    assert time.monotonic() - before < 30
    assert not any(worker.process.is_alive() for worker in ours._workers)
