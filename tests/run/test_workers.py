"""The pool: results arrive in the order of the items, whatever happens to the processes; and signals that end a run."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pool_work
import pytest

from absolve.run import interrupts, workers
from absolve.run.results import End, in_order


def results_of(work: Callable[[int], Any], items: int, jobs: int) -> list[tuple[int, Any]]:
    return list(in_order(work, range(items), jobs, lambda _: 0))


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("work", [pool_work.twice, pool_work.slow_at_first, pool_work.many])
def test_results_have_the_order_of_the_items(work: Callable[[int], Any], jobs: int) -> None:
    for items in (0, 60):
        assert results_of(work, items, jobs) == [(item, piece) for item in range(items) for piece in (*work(item), End())]


def test_one_job_runs_in_this_process_and_more_in_workers() -> None:
    assert {piece for _, piece in results_of(pool_work.where, 9, 1)} == {os.getpid(), End()}
    assert os.getpid() not in {piece for _, piece in results_of(pool_work.where, 9, 2)}


def test_items_are_requested_only_when_the_queue_has_room() -> None:
    asked = 0

    def items() -> Any:
        nonlocal asked
        while True:
            asked += 1
            yield asked

    with closing(in_order(pool_work.twice, items(), 2, lambda _: 0)) as run:
        next(run)
        assert asked <= 2 * workers.AHEAD * workers.TOGETHER


def test_the_results_of_a_long_item_come_before_its_end_and_wait_for_their_reader(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    with closing(in_order(pool_work.endless, paths, 2, lambda _: workers.LARGE)) as run:
        pieces: list[Any] = [next(run)[1] for _ in range(100)]
        assert [int(piece) for piece in pieces] == list(range(100))
        time.sleep(0.3)
        assert int(paths[0].read_text()) < 200
        assert int(paths[1].read_text()) < 100


def test_each_item_that_kills_its_worker_is_reported_and_no_result_is_repeated() -> None:
    found = results_of(pool_work.deadly, 50, 2)
    lost = {item: piece.lost for item, piece in found if isinstance(piece, End) and piece.lost}
    assert lost == dict.fromkeys(range(9, 50, 10), "the process that worked on it was ended by signal 9")
    assert [item for item, piece in found if isinstance(piece, End)] == list(range(50))
    expected = [(item, piece) for item in range(50) if item not in lost for piece in (*range(item % 10 * 10), End())]
    assert [one for one in found if one[0] not in lost] == expected


@pytest.mark.parametrize("work", [pool_work.careless, pool_work.killed_in_sending])
def test_a_worker_that_fails_or_dies_in_sending_loses_only_one_item(work: Callable[[int], Any]) -> None:
    found = results_of(work, 12, 2)
    assert [item for item, piece in found if isinstance(piece, End) and piece.lost] == [5]
    assert [item for item, piece in found if not isinstance(piece, End)] == [*range(5), *range(6, 12)]


def test_large_items_are_worked_on_one_by_one_and_small_ones_together() -> None:
    with closing(workers.Pool(pool_work.twice, 1, lambda item: item)) as pool:
        sizes = [1, 2, workers.LARGE, workers.LARGE, *[0] * (workers.TOGETHER + 1)]
        assert list(map(len, pool._groups(sizes))) == [3, 1, workers.TOGETHER, 1]


UNGUARDED = """
import pool_work
from absolve.run.results import in_order
from absolve.core.errors import UsageError
try:
    for result in in_order(pool_work.twice, range(1000), 2, int):
        print(result)
except UsageError as error:
    print(error)
"""


def test_if_no_worker_starts_one_error_is_raised_and_no_item_is_lost(tmp_path: Path) -> None:
    program = tmp_path / "program.py"  # every worker imports it
    program.write_text(UNGUARDED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, check=False, env=environment, text=True, timeout=60)
    assert done.stdout == (
        "no other process starts: each ended with status 1 before its work; "
        "a program that calls absolve does so under if __name__ == '__main__', or with one job\n"
    )


def test_closing_a_pool_ends_its_workers_at_once(tmp_path: Path) -> None:
    before = time.monotonic()
    ours: Any = workers.Pool(pool_work.sleepy, 2, lambda _: workers.LARGE)
    run = ours.run([tmp_path / "a", tmp_path / "b"])

    def wait() -> None:
        with suppress(Exception):  # the pool is closed meanwhile
            next(run)

    waiting = Thread(target=wait)
    waiting.start()
    while not ((tmp_path / "a").exists() and (tmp_path / "b").exists()):
        time.sleep(0.01)
    processes = [worker.process for worker in ours._workers]
    ours.close()
    waiting.join()
    assert time.monotonic() - before < 30
    assert [process.exitcode for process in processes] == [-signal.SIGTERM] * 2


# --- signals that end a run raise one exception -----------------------------------------------------------------------

@pytest.fixture(autouse=True)
def _default_handlers() -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread handles signals")


def interrupted(body: Callable[[], object]) -> int | None:
    """Run a function with the signal handlers installed; return the number of the signal that ended it."""
    try:
        with interrupts.raising():
            body()
    except interrupts.Interrupted as error:
        return error.number
    return interrupts.received()


def test_signals_soon_after_the_first_do_not_interrupt_clean_up(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def body() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    assert (interrupted(body), done) == (signal.SIGTERM, [1])
    monkeypatch.setattr(interrupts, "REPEATED", 0.0)
    assert (interrupted(body), done) == (signal.SIGTERM, [1])  # clean-up that does not end can be interrupted


def test_a_deferred_signal_is_raised_when_the_outermost_block_ends() -> None:
    done = []

    def body() -> None:
        with interrupts.deferred():
            with interrupts.deferred():
                signal.raise_signal(signal.SIGTERM)
                done.append(1)
            done.append(2)
        done.append(3)

    assert (interrupted(body), done) == (signal.SIGTERM, [1, 2])


def test_a_signal_that_a_library_swallows_is_raised_by_the_next_check() -> None:
    def body() -> None:
        with suppress(BaseException):
            signal.raise_signal(signal.SIGTERM)
        interrupts.check()

    assert interrupted(body) == signal.SIGTERM
    interrupts.check()  # ends this run and no later one


def test_an_error_that_a_library_makes_of_a_signal_is_an_interrupt_again() -> None:
    def body() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException as error:
            raise RuntimeError("query interrupted") from error

    def other() -> None:
        raise RuntimeError("of another reason")

    assert interrupted(body) == signal.SIGTERM
    with pytest.raises(RuntimeError):
        interrupted(other)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="there are no signal masks here")
def test_a_process_started_with_blocked_signals_can_ignore_them() -> None:
    code = """
import sys, time
from absolve.run import interrupts
sys.stdin.readline()
interrupts.ignore(["SIGINT", "SIGHUP", "SIGNONE"])
print("alive")
"""
    with interrupts.blocked(["SIGINT", "SIGHUP"]):
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & {signal.SIGINT, signal.SIGHUP}
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGHUP)
    assert process.communicate(b"\n") == (b"alive\n", b"")
