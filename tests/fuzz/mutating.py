"""Random mutations, for compiled modules and Pythons without atheris, where coverage cannot guide."""

import random
import time
from collections.abc import Callable, Sequence
from typing import Final

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
