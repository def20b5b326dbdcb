"""Signals that end a run raise one exception; later signals do not interrupt clean-up."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

from absolve.run import interrupts


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
