"""SIGINT, SIGTERM and SIGHUP end a run by one exception, so that each block removes its temporary files.

A signal that is ignored when the run starts stays ignored: SIGHUP under nohup, SIGINT in a shell's background.
"""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has the first two
REPEATED: Final = 5.0  # seconds in which further signals belong to the first: timeout(1) and shells send several


class Interrupted(KeyboardInterrupt):
    """A signal of this number ends the run."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _State:
    """The signal that was received last, when, and whether it is still to be raised; how many blocks defer it.

    `is_active`: the block of `raising` runs.
    """

    is_active = False
    number: int | None = None
    received = 0.0
    is_pending = False
    deferrals = 0


_state = _State()


def received() -> int | None:
    """Return the number of the signal that has ended the last run, or None."""
    return _state.number


def check() -> None:
    """Raise Interrupted where a signal was received, in case that a library has swallowed the exception."""
    if _state.is_active and _state.number is not None:
        raise Interrupted(_state.number)


@contextmanager
def raising(*, ends: bool = False) -> Iterator[None]:
    """Let these signals raise Interrupted in the main thread while the block runs.

    An error that a library has made of it is Interrupted again. `ends`: the process ends with the block, and ignores
    the signals that come after the first one.
    """
    old: dict[int, Any] = {}
    _state.number = None
    _state.is_active = True
    try:
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
                with suppress(ValueError):  # only the main thread may
                    old[number] = signal.signal(number, _raise)
        yield
    except Exception:
        check()
        raise
    finally:
        _state.is_active = False
        for number, handler in old.items():
            signal.signal(number, signal.SIG_IGN if ends and received() is not None else handler)


def _raise(number: int, _frame: object) -> None:
    now = time.monotonic()
    is_first = _state.number is None
    if not is_first and now - _state.received < REPEATED:
        return  # what the first one ends is being cleaned up
    _state.number, _state.received = number, now
    if is_first and _state.deferrals:
        _state.is_pending = True
        return
    raise Interrupted(number)


@contextmanager
def deferred() -> Iterator[None]:
    """Raise the first signal that comes in this block only at its end: for clean-up, which takes little time."""
    _state.deferrals += 1
    try:
        yield
    finally:
        _state.deferrals -= 1
        if _state.is_pending and not _state.deferrals:
            _state.is_pending = False
            check()


@contextmanager
def blocked(names: Collection[str]) -> Iterator[None]:
    """Block these signals in this thread, and in each process that is started in the block, until it unblocks them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old = signal.pthread_sigmask(signal.SIG_BLOCK, _numbers(names))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def ignore(names: Collection[str]) -> None:
    """Ignore these signals from now on, also those that were blocked so far."""
    numbers = _numbers(names)
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def _numbers(names: Collection[str]) -> list[signal.Signals]:
    return [signal.Signals[name] for name in names if name in signal.Signals.__members__]
