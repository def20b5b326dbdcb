"""Progress of a run over many inputs: a bar on a terminal, else a line every five seconds; nothing for short runs.

Input: the counts after each input. Output: on the standard error.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from absolve.cli import terminal
from absolve.cli.terminal import is_terminal
from absolve.core import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 1.0  # seconds before the bar appears
EVERY = 5.0  # seconds between two lines


class Counts(NamedTuple):
    """Counts so far: inputs done, bytes read from them, inputs that failed."""

    inputs: int = 0
    size: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return self.of(0)

    def of(self, total: int) -> str:
        """Return the counts beside the number of all inputs, 0 if it is unknown: `1,925 of 4,381 inputs, 12.0 MB`."""
        failed = f", {self.failed:,} failed" if self.failed else ""
        done = f"{self.inputs:,} of {inputs(total)}" if total else inputs(self.inputs)
        return f"{done}, {self.size / 1e6:,.1f} MB{failed}"

    def in_short(self, total: int) -> str:
        """Return the number of inputs, and of all inputs: `1,925/4,381`."""
        return f"{self.inputs:,}/{total:,}" if total else f"{self.inputs:,}"


def inputs(count: int) -> str:
    return printable.number(count, "input")


class Clock:
    """Measure the time of a run and show nothing; `was_seen`: progress was shown."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.was_seen = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def tick(self, counts: Counts) -> None:
        """Update the progress with the counts so far."""

    def close(self) -> None:
        """End the progress display."""


class Lines(Clock):
    """Print a line after an input is done, every five seconds at most."""

    def __init__(self) -> None:
        super().__init__()
        self._last = self.begun

    def tick(self, counts: Counts) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self.was_seen = True
            print(f"absolve: {counts} in {self.seconds:.0f} s so far", file=sys.stderr)


class Bar(Clock):
    """Show a bar below all output after one second; a thread counts the inputs for the total."""

    def __init__(self, count: Callable[[], int | None]) -> None:
        super().__init__()
        self._count = count
        self._last = 0.0
        self._inputs = 0  # as soon as they are counted

    def tick(self, counts: Counts) -> None:
        now = time.monotonic()
        if now - self.begun < PATIENCE or now - self._last < _BETWEEN:
            return
        self._last = now
        if not self.was_seen:
            self.was_seen = True
            from threading import Thread

            Thread(target=self._total, daemon=True).start()
        terminal.below(self.line(counts, terminal.width(sys.stderr) or terminal.WIDTH))

    def line(self, counts: Counts, columns: int) -> str:
        """Return the line: a bar where there is room for it, done of total, rate and time left."""
        rate = counts.inputs / max(self.seconds, _BETWEEN)
        left = f" {_clock((self._inputs - counts.inputs) / rate)} left" if self._inputs and rate else ""
        if columns < _WIDE:
            return f"{counts.in_short(self._inputs)} {rate:,.0f}/s{left}"[: columns - 1]
        room = min(columns - _WIDE, _BAR) + _BAR
        done = room * counts.inputs // self._inputs if self._inputs else 0
        bar = f"[{'=' * min(done, room):{room}}] "
        return f"{bar}{counts.of(self._inputs)}, {rate:,.0f}/s{left}"[: columns - 1]

    def _total(self) -> None:
        number = self._count() or 0
        if number > 1:  # of a single input only the end is known
            self._inputs = number

    def close(self) -> None:
        if self.was_seen:
            terminal.below("")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


_WIDE = 70  # columns of the counts and a small bar
_BAR = 10
_BETWEEN = 0.1  # seconds from one line to the next


@contextmanager
def shown(*, quiet: bool, streams: bool, count: Callable[[], int | None]) -> Iterator[Clock]:
    """Yield the progress display of a run, and close it.

    `streams`: results go to the standard output, where a display would mix with them; `count` returns the number of
    inputs, None if it is not known.
    """
    clock: Clock
    if quiet or (streams and is_terminal(sys.stdout)):
        clock = Clock()
    elif terminal.has_below():
        clock = Bar(count)
    else:
        clock = Lines()
    try:
        yield clock
    finally:
        clock.close()
