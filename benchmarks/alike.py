"""Measure how the time and memory of `absolve audit --old` grow with the number of pages that are nearly equal.

Sites of n, 2n and 4n pages: calendars, products, soft 404s. Each old page has moved, so that its content is looked for.
"""

from __future__ import annotations

import random
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import table
from benchmarks.sites import cost

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.sites import Cost

MOST: Final = 2.2  # times the processor time, for twice the pages
COUNTS: Final = (2500, 5000, 10_000)  # pages of each site
SECONDS, MEGABYTES = 30, 500  # for the last of these
_WORDS: Final = tuple(f"w{number}{'aeiou'[number % 5]}rd" for number in range(3000))
_TEXT: Final = random.Random(1).choices(_WORDS, k=180)  # noqa: S311 - the same in each run


def equal(_: int, *, is_new: bool) -> str:  # noqa: ARG001 - as the others
    return "<h1>Not found</h1><p>The page that you look for is not here."


def numbered(number: int, *, is_new: bool) -> str:
    when = "come back later" if is_new else "please come back"
    return f"<h1>Calendar</h1><p>There are no events on day {number} of this calendar, {when}"


def shared(number: int, *, is_new: bool) -> str:
    """Return a page that has 90 % of its words in common with all others, in one paragraph."""
    chance, words = random.Random(number), list(_TEXT)  # noqa: S311
    for _ in range(len(words) // 10):
        words[chance.randrange(len(words))] = chance.choice(_WORDS)
    words[5] = "changed" if is_new else words[5]
    return f"<p>{' '.join(words)}"


SHAPES: Final[dict[str, Callable[..., str]]] = {"equal": equal, "one number": numbered, "90 % in common": shared}


def written(folder: Path, shape: str, count: int) -> None:
    """Write both sites."""
    for side, name in (("old", "{}.html"), ("new", "moved/{}-now.html")):
        for number in range(count):
            path = folder / side / name.format(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            body = SHAPES[shape](number, is_new=side == "new")
            path.write_text(f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Shop</title>{body}", "utf-8")


def audited(shape: str, count: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), shape, count)
        addresses = ("--url", "https://new.example/", "--old", "old", "--old-url", "http://old.example/")
        return cost(Path(folder), "audit", "new", *addresses, "--fail-on", "none", "-o", "audit.sqlite")


def alike_table(shapes: Sequence[str], counts: Sequence[int] = COUNTS) -> tuple[str, bool]:
    """Return a table of seconds and megabytes for each shape and count, and whether all are within the limits."""
    rows, is_fine = [], True
    for shape in shapes:
        took = [audited(shape, count) for count in counts]
        ratios = [more[0] / less[0] for less, more in pairwise(took)]
        is_fine = is_fine and all(ratio <= MOST for ratio in ratios)
        is_fine = is_fine and took[-1][0] <= SECONDS and took[-1][1] <= MEGABYTES
        cells = [cell for seconds, megabytes in took for cell in (f"{seconds:.1f}", f"{megabytes:.0f}")]
        rows.append([shape, *cells, *(f"{ratio:.2f}" for ratio in ratios)])
    head = ["shape", *(f"{count:,} {unit}" for count in counts for unit in ("s", "MB")), *("x2" for _ in counts[1:])]
    return table(head, rows), is_fine
