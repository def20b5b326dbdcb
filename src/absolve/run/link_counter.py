"""Count the listed links of one input by scope and by problem code, for the summary and for --fail-on.

Input: `Columns` of the inventory, or rows. Output: `LinkCounts`. Columns store each scope and each combination of codes
once, so that most counts are those of a byte in a string of bytes.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from absolve.run.results import LinkCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.core.column_buffers import DictColumn
    from absolve.inventory.columns import Columns, Row

_BYTE: Final = 256  # indexes of values that fit a byte
_LOW: Final = slice(0 if sys.byteorder == "little" else 3, None, 4)  # the low byte of numbers of 32 bits


class LinkCounter:
    """Counts of the links so far."""

    def __init__(self) -> None:
        self._scopes: Counter[str] = Counter()
        self._codes: Counter[tuple[str, ...]] = Counter()

    def add(self, columns: Columns) -> None:
        """Count the rows of columns."""
        for scope, count in _counted(columns.scope):
            self._scopes[scope] += count
        for codes, count in _counted(columns.problems):
            self._codes[codes] += count

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Count rows, which have all columns."""
        for row in rows:
            self._scopes[row.scope] += 1
            self._codes[tuple(row.problems)] += 1

    def results(self) -> Iterator[LinkCounts]:
        """Yield the counts, nothing if there are no links."""
        if not self._scopes:
            return
        problems: Counter[str] = Counter()
        for codes, count in self._codes.items():
            for code in codes:
                problems[code] += count
        flawed = self._codes.total() - self._codes[()]
        yield LinkCounts(dict(self._scopes), dict(problems), flawed)


def _counted(column: DictColumn) -> Iterator[tuple[Any, int]]:
    """Yield each value of a column with the number of its cells."""
    words = column.words
    if len(words) == 1:
        yield words[0], len(column)
    elif len(words) <= _BYTE:
        low = column.numbers.raw()[_LOW]
        for number, word in enumerate(words):
            yield word, low.count(number)
    else:
        for number, count in Counter(column.numbers.cells()).items():
            yield words[number], count
