"""How far a run over many inputs is: a bar on a terminal, else a line every few seconds; nothing for short runs."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from absolve.cli.reporting import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 1.0  # seconds of a run before there is a bar
EVERY = 5.0  # seconds between two lines


class So(NamedTuple):
    """What is done so far: inputs, bytes of them, inputs that failed."""

    inputs: int = 0
    size: int = 0
    failed: int = 0

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.inputs:,} input{'' if self.inputs == 1 else 's'}, {self.size / 1e6:,.1f} MB{failed}"


class Clock:
    """Shows nothing, and knows how long the run takes and whether anybody saw that."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.was_seen = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def tick(self, so: So) -> None:
        """Something came of the run."""

    def close(self) -> None:
        """The run is over."""


class Lines(Clock):
    """A line every few seconds, when something has come of the run."""

    def __init__(self) -> None:
        super().__init__()
        self._last = self.begun

    def tick(self, so: So) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self.was_seen = True
            print(f"absolve: {so} in {self.seconds:.0f} s so far", file=sys.stderr)


class Bar(Clock):
    """rich's bar, after a moment; how many inputs there are is counted meanwhile."""

    def __init__(self, count: Callable[[], int] | None) -> None:
        super().__init__()
        self._count = count
        self._bar: Any = None

    def tick(self, so: So) -> None:
        if self._bar is None:
            if self.seconds < PATIENCE:
                return
            self._bar = _rich()
            self._task = self._bar.add_task("", total=None, so=so, rate=0.0)
            self._bar.start()
            self.was_seen = True
            if self._count is not None:
                from threading import Thread

                Thread(target=self._total, args=(self._count,), daemon=True).start()
        self._bar.update(self._task, completed=so.inputs, so=so, rate=so.inputs / self.seconds)

    def _total(self, count: Callable[[], int]) -> None:
        self._bar.update(self._task, total=count())

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _rich() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        BarColumn(),
        TextColumn("{task.fields[so]}, {task.fields[rate]:,.0f}/s", markup=False),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )


@contextmanager
def shown(*, quiet: bool, streams: bool, count: Callable[[], int] | None) -> Iterator[Clock]:
    """What shows a run. `streams`: its results go to the standard output as they come; `count` counts the inputs."""
    clock: Clock
    if quiet or (streams and is_terminal(sys.stdout)):
        clock = Clock()
    elif is_terminal(sys.stderr) and _has_rich():
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
