"""Progress of a run over many inputs: a bar on a terminal, else a line every five seconds; nothing for short runs.

Input: the counts after each input. Output: on the standard error.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from absolve.cli.terminal import is_dumb, is_terminal
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
    """Show a progress bar of rich after one second; a thread counts the inputs for the total."""

    def __init__(self, count: Callable[[], int | None]) -> None:
        super().__init__()
        self._count = count
        self._bar: Any = None
        self._inputs = 0  # as soon as they are counted

    def tick(self, counts: Counts) -> None:
        if self._bar is None:
            if self.seconds < PATIENCE:
                return
            self._bar = _rich()
            self._task = self._bar.add_task("", total=None, shown="", rate=0.0, left="")
            self._bar.start()
            self.was_seen = True
            from threading import Thread

            Thread(target=self._total, daemon=True).start()
        left = "left" if self._inputs else ""
        rate = counts.inputs / self.seconds
        is_wide = self._bar.console.width >= _WIDE
        shown = f"{counts.of(self._inputs)}," if is_wide else counts.in_short(self._inputs)
        self._bar.update(self._task, completed=counts.inputs, shown=shown, rate=rate, left=left)

    def _total(self) -> None:
        number = self._count() or 0
        if number > 1:  # of a single input only the end is known
            self._inputs = number
            self._bar.update(self._task, total=number)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _rich() -> Any:
    """Return rich's progress display: a bar where there is room for it, done of total, rate and time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from absolve.cli import terminal

    styled = terminal.colours(sys.stderr)
    console = Console(file=terminal.moving(sys.stderr), no_color=not styled, highlight=False)
    columns: list[Any] = [
        TextColumn("{task.fields[shown]}", markup=False),
        TextColumn("{task.fields[rate]:,.0f}/s", markup=False),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[left]}", markup=False),
    ]
    if console.width >= _WIDE:
        columns.insert(0, BarColumn(bar_width=min(console.width - _WIDE, _BAR) + _BAR))
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)


_WIDE = 70  # columns of the counts and a small bar
_BAR = 10


@contextmanager
def shown(*, quiet: bool, streams: bool, count: Callable[[], int | None]) -> Iterator[Clock]:
    """Yield the progress display of a run, and close it.

    `streams`: results go to the standard output, where a display would mix with them; `count` returns the number of
    inputs, None if it is not known.
    """
    clock: Clock
    if quiet or (streams and is_terminal(sys.stdout)):
        clock = Clock()
    elif is_terminal(sys.stderr) and not is_dumb() and _has_rich():
        clock = Bar(count)
    else:
        clock = Lines()
    try:
        yield clock
    finally:
        clock.close()


def _has_rich() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None
