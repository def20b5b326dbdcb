"""Turn SIGINT, SIGTERM and SIGHUP into one exception, so that every `with` and `finally` removes its temporary files.

A signal that is ignored when the run starts stays ignored: SIGHUP under nohup, SIGINT in the background of a shell. If
a library does not return, or a thread does not end, the process ends without them.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import start_new_thread  # the import of threading takes 1 % of a run over one page
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has the first two
_LONGEST_END: Final = 1.5  # seconds that a process may take to end after a signal
_LONGEST_CLEANUP: Final = 10.0  # seconds that it may take to remove its files
REPEATED: Final = 5.0  # seconds in which further signals belong to the first: timeout(1) and shells send several


class Interrupted(KeyboardInterrupt):
    """A signal of this number ends the run."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _State:
    """The signal received last, its time (monotonic), whether it is pending, and the number of deferring blocks.

    `is_active`: the block of `raising` runs; `ends`: and the process ends with it.
    """

    is_active = ends = False
    number: int | None = None
    received = 0.0
    is_pending = False
    deferrals = 0
    cancel: Callable[[], object] | None = None


_state = _State()


def received() -> int | None:
    """Return the number of the signal that ended the last run, or None."""
    return _state.number


def check() -> None:
    """Raise Interrupted if a signal was received, in case a library has swallowed the exception."""
    if _state.is_active and _state.number is not None:
        raise Interrupted(_state.number)


@contextmanager
def raising(*, ends: bool = False) -> Iterator[None]:
    """Raise Interrupted in the main thread on these signals while the block runs.

    It also replaces an error that a library has made of it. `ends`: the process ends with the block, and ignores
    signals after the first one.
    """
    old: dict[int, Any] = {}
    _state.number = None
    _state.is_active = True
    try:
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
                with suppress(ValueError):  # not the main thread, which alone may set handlers
                    old[number] = signal.signal(number, _raise)
        _state.ends = ends
        if ends:
            _watch(old)
        yield
    except Exception:
        check()
        raise
    finally:
        _state.is_active = False
        for number, handler in old.items():
            signal.signal(number, signal.SIG_IGN if ends and received() is not None else handler)


def _watch(numbers: Collection[int]) -> None:
    """Start a thread that ends the process after a signal, if it does not end by itself."""
    with suppress(OSError, ValueError):
        signals, end = os.pipe()
        os.set_blocking(end, False)
        signal.set_wakeup_fd(end, warn_on_full_buffer=False)  # the main thread may be in a library
        start_new_thread(_end, (signals, numbers))


def _end(signals: int, numbers: Collection[int]) -> None:
    while (number := os.read(signals, 1)[0]) not in numbers:
        pass
    time.sleep(_LONGEST_END)
    latest = time.monotonic() + _LONGEST_CLEANUP
    while _state.deferrals and time.monotonic() < latest:
        time.sleep(0.05)
    from shutil import rmtree

    from absolve.run import leftovers, outputs

    outputs.discard_unfinished()
    for folder in tuple(leftovers.folders):
        rmtree(folder, ignore_errors=True)
    os._exit(128 + number)


def _raise(number: int, _frame: object) -> None:
    now = time.monotonic()
    is_first = _state.number is None
    if not is_first and now - _state.received < REPEATED:
        return  # clean-up after the first one is under way
    _state.number, _state.received = number, now
    if is_first and _state.cancel is not None:
        _state.cancel()
        return
    if is_first and _state.deferrals:
        _state.is_pending = True
        return
    if _state.ends:  # it may be raised while an object is freed, and lost: the thread ends the process
        sys.unraisablehook = lambda _: None
    raise Interrupted(number)


@contextmanager
def cancelling(cancel: Callable[[], object]) -> Iterator[None]:
    """Call a function on the first signal of this block: in a loop of tasks no exception may be raised."""
    _state.cancel = cancel
    try:
        yield
    finally:
        _state.cancel = None


@contextmanager
def deferred() -> Iterator[None]:
    """Defer the first signal of this block to its end: for clean-up, which is short."""
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
    """Block these signals in this thread, and in processes started in the block until these unblock them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old = signal.pthread_sigmask(signal.SIG_BLOCK, _numbers(names))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def block(names: Collection[str]) -> None:
    """Block these signals in this thread for good, and in processes started by it until these unblock them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, _numbers(names))


def ignore(names: Collection[str]) -> None:
    """Ignore these signals from now on, including those blocked so far."""
    numbers = _numbers(names)
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def _numbers(names: Collection[str]) -> list[signal.Signals]:
    return [signal.Signals[name] for name in names if name in signal.Signals.__members__]
