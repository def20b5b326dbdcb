"""The pool: what is told comes in the order of the items, whatever becomes of the processes."""

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


def told(work: Callable[[int], Any], items: int, jobs: int) -> list[tuple[int, Any]]:
    return list(tasks.run(work, range(items), jobs))


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("work", [pool_work.twice, pool_work.slow_at_first, pool_work.many])
def test_what_is_told_comes_in_the_order_of_the_items(work: Callable[[int], Any], jobs: int) -> None:
    expected = [(item, piece) for item in range(100) for piece in (*work(item), End())]
    assert told(work, 100, jobs) == expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_items_are_no_work(jobs: int) -> None:
    assert told(pool_work.twice, 0, jobs) == []


def test_one_job_is_done_in_this_process_and_more_in_others() -> None:
    assert {piece for _, piece in told(pool_work.where, 9, 1)} == {os.getpid(), End()}
    assert os.getpid() not in {piece for _, piece in told(pool_work.where, 9, 2)}


def test_what_waits_for_its_turn_is_bounded_and_nothing_is_stuck_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "HELD", 1000)
    assert [item for item, piece in told(pool_work.large, 20, 3) if piece == End()] == list(range(20))


def test_items_are_asked_for_only_when_there_is_room() -> None:
    asked = 0

    def items() -> Any:
        nonlocal asked
        while True:
            asked += 1
            yield asked

    with closing(tasks.run(pool_work.twice, items(), 2)) as run:
        next(run)
        assert asked <= 2 * workers.WAITING


def test_a_process_that_dies_takes_one_item_with_it() -> None:
    ended = {item: piece.lost for item, piece in told(pool_work.deadly, 12, 2) if isinstance(piece, End)}
    assert {item: lost for item, lost in ended.items() if lost} == {
        5: "the process that worked on it was ended by signal 9"
    }
    assert sorted(ended) == list(range(12))


def test_of_quick_items_several_are_told_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = []
    real = messages.received

    def counted(connection: Any) -> Any:
        found = real(connection)
        frames.append(len(found))
        return found

    monkeypatch.setattr(receiver, "received", counted)
    assert len(told(pool_work.twice, 1000, 2)) == 3000
    assert sum(frames) == 1000
    assert len(frames) < 500


def test_each_item_that_ends_its_process_is_known_and_nothing_is_told_twice() -> None:
    found = told(pool_work.deadly_after_many, 100, 2)
    lost = {item for item, piece in found if isinstance(piece, End) and piece.lost}
    assert lost == set(range(9, 100, 10))
    assert [item for item, piece in found if isinstance(piece, End)] == list(range(100))
    assert [found_ for found_ in found if found_[0] not in lost] == [
        (item, piece) for item in range(100) if item not in lost for piece in (*range(item % 10 * 10), End())
    ]


@pytest.mark.parametrize("jobs", [2, 3])
def test_each_item_takes_what_the_one_before_hands_on(jobs: int) -> None:
    found = list(tasks.run(pool_work.summed, range(40), jobs, handoffs=True))
    ended = {item: piece.lost for item, piece in found if isinstance(piece, End)}
    assert list(ended) == list(range(40))
    assert {item for item, lost in ended.items() if lost} == {item for item in range(40) if item % 10 in {3, 6}}
    told = {item: piece for item, piece in found if isinstance(piece, tuple) and not isinstance(piece, End)}
    value = 0
    for item in range(40):
        if item % 10 != 3:
            value += item  # what ends before it has taken passes on what there is
        if item in told:
            assert told[item] == (value, item % 10 == 4)
    assert len(told) >= 32


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_what_nobody_takes_need_not_be_handed_on(jobs: int) -> None:
    found = [piece for _, piece in tasks.run(pool_work.careless, range(60), jobs, handoffs=True) if piece != End()]
    assert found == [Handoff(item - 1) if item % 3 == 2 else item for item in range(60)]


def test_what_is_handed_on_is_not_held_up_by_who_works_on_what_was_told(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(2 * workers.AHEAD)]
    with closing(tasks.run(pool_work.summed_in_files, paths, 2, handoffs=True)) as run:
        assert next(run) == (paths[0], 0)
        until = time.monotonic() + 60
        while not all(path.exists() for path in paths) and time.monotonic() < until:
            time.sleep(0.01)  # what was told meanwhile nobody has asked for
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


def test_a_full_queue_of_results_does_not_hold_up_handoffs(tmp_path: Path) -> None:
    """The worker whose turn it is waits for a hand-off while results of the next item fill the queue: no deadlock."""
    assert in_a_program(CROWDED, tmp_path) == "0 1 3 6 10 15 21 28\n"


def in_a_program(code: str, tmp_path: Path) -> str:
    """Run code that starts processes in a program of its own, and return its output. Fail where it does not end."""
    program = tmp_path / "program.py"  # which each process imports
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
    for told in tasks.run(pool_work.twice, range(1000), 2):
        print(told)
except UsageError as error:
    print(error)
"""


def test_where_no_process_starts_that_is_said_once_and_no_item_is_lost(tmp_path: Path) -> None:
    assert in_a_program(UNGUARDED, tmp_path) == (
        "no other process starts: each ended with status 1 before its work; "
        "a program that calls absolve does so under if __name__ == '__main__', or with one job\n"
    )


def test_closing_ends_the_processes_at_once(tmp_path: Path) -> None:
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
