"""Signals that end a run raise one exception; later signals do not interrupt clean-up."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from absolve.run import interrupts

NAMES = [name for name in interrupts.SIGNALS if hasattr(signal, name)]


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


@pytest.mark.parametrize("name", NAMES)
def test_a_signal_raises_an_interrupt_with_its_number(name: str) -> None:
    number = signal.Signals[name]
    before = signal.getsignal(number)
    assert interrupted(lambda: signal.raise_signal(number)) == number
    assert signal.getsignal(number) == before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    def body() -> None:
        signal.raise_signal(signal.SIGTERM)
        interrupts.check()

    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert interrupted(body) is None
    finally:
        signal.signal(signal.SIGTERM, before)
    assert interrupts.received() is None


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
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & {signal.SIGINT, signal.SIGHUP}
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGHUP)
    assert process.communicate(b"\n") == (b"alive\n", b"")


@pytest.mark.skipif(os.name != "posix", reason="signals that end a process")
def test_an_ending_process_ignores_later_signals() -> None:
    code = """
import signal
from absolve.run import interrupts
try:
    with interrupts.raising(ends=True):
        signal.raise_signal(signal.SIGTERM)
except interrupts.Interrupted:
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)
    print("cleaned up")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"cleaned up\n")


_SORTING = """
import os, signal, sys, threading, time
import duckdb
from absolve.audit import load
from absolve.run import interrupts
def kill():
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGINT)
with interrupts.raising():
    threading.Thread(target=kill).start()
    WORK
"""
WORK = {
    "a query": 'load.connect(sys.argv[1], 2, on_disk=False).execute("SELECT count(*) FROM (SELECT range, jaccard(range::VARCHAR, (range + 1)::VARCHAR) j FROM range(20000000) ORDER BY j, md5(range::VARCHAR))")',
    "a library": "interrupts.aside(lambda: time.sleep(60))",
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_a_signal_ends_within_two_seconds_what_a_library_would_finish(tmp_path: Path, work: str) -> None:
    done = subprocess.run([sys.executable, "-c", _SORTING.replace("WORK", work), tmp_path], timeout=20, capture_output=True, check=False)
    assert done.returncode
    assert b"Interrupted" in done.stderr
