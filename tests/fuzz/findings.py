"""Findings of fuzzing: inputs on which an invariant fails, minimized, and kept in a folder."""

import hashlib
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

from absolve.core.errors import AbsolveError

Check = Callable[[bytes], None]
Failure = tuple[str, str, int]  # the exception's name; file and line of the innermost call

KEPT: Final = 12  # inputs for one failure: one line may have several causes
PATIENCE: Final = 5.0  # seconds for minimizing an input


def failure(check: Check, data: bytes) -> Failure | None:
    """Return how the check fails on this input; None if it passes."""
    try:
        check(data)
    except AbsolveError:  # the one exception that any input may raise
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return type(error).__name__, frame.filename, frame.lineno or 0
    return None


class Findings:
    """Runs a check and keeps failing inputs; `count` is by failure."""

    def __init__(self, check: Check, folder: Path) -> None:
        self._check = check
        self._folder = folder
        self.count: dict[Failure, int] = {}

    def run(self, data: bytes) -> None:
        found = failure(self._check, data)
        if found is None:
            return
        self.count[found] = self.count.get(found, 0) + 1
        if self.count[found] <= KEPT:
            self._keep(found, smaller(self._check, data, found))

    def _keep(self, found: Failure, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / hashlib.sha256(data).hexdigest()[:16]
        if path.exists():
            return
        path.write_bytes(data)
        print(f"FINDING {found[0]} at {found[1]}:{found[2]}: {data!r} in {path}", flush=True)


def smaller(check: Check, data: bytes, found: Failure) -> bytes:
    """Return the input without the spans that the failure does not need."""
    ends = time.monotonic() + PATIENCE
    length = len(data)
    while length:
        at = 0
        while at < len(data) and time.monotonic() < ends:
            shorter = data[:at] + data[at + length :]
            if failure(check, shorter) == found:
                data = shorter
            else:
                at += length
        length //= 2
    return data
