"""The engine of fuzzing: random mutations where coverage cannot guide, and findings, which are minimized and kept in a folder."""

import hashlib
import random
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from absolve.core.errors import AbsolveError

LONGEST: Final = 4096


def loop(check: Callable[[bytes], None], corpus: Sequence[bytes], words: Sequence[bytes], seconds: float) -> int:
    """Run every input of the corpus, then mutations of them until the time is over; return their number."""
    chance = random.Random(1808)  # noqa: S311 - the same run every time
    ends = time.monotonic() + seconds
    runs = 0
    for seed in corpus:
        check(seed)
        runs += 1
    while time.monotonic() < ends:
        data = bytearray(chance.choice(corpus)[:LONGEST])
        for _ in range(chance.randint(1, 6)):
            mutate(data, corpus, words, chance)
        check(bytes(data[:LONGEST]))
        runs += 1
    return runs


def mutate(data: bytearray, corpus: Sequence[bytes], words: Sequence[bytes], chance: random.Random) -> None:
    """Mutate one span: insert a word or part of another input, delete, duplicate, or overwrite with noise."""
    start = chance.randint(0, len(data))
    end = min(len(data), start + chance.choice((0, 1, 2, 8, 64)))
    kind = chance.randrange(5)
    if kind == 0:
        data[start:start] = chance.choice(words)
    elif kind == 1:
        other = chance.choice(corpus)
        at = chance.randint(0, len(other))
        data[start:end] = other[at : at + chance.choice((1, 8, 64, 256))]
    elif kind == 2:
        del data[start:end]
    elif kind == 3:
        data[start:start] = data[start:end]
    else:
        data[start:end] = chance.randbytes(end - start)


# --- findings of fuzzing ----------------------------------------------------------------------------------------------

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
