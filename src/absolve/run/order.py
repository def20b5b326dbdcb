"""`--sort` and `--limit`: rows in the order of some columns, and the first of them.

Input: rows of one table as lists. Output: the same rows, sorted. Memory is bounded: sorted stretches of the rows go to
a temporary file without a name, and are merged when all rows are there. A limit keeps only the rows that may be listed.
DuckDB would sort faster; but a list is sorted without any optional package, and in the same order everywhere.
"""

from __future__ import annotations

from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import UsageError, in_short, similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Cells = Sequence[Any]

AT_ONCE: Final = 50_000  # rows that are sorted in memory,
TEXT: Final = 64 << 20  # unless they have more characters,
_BLOCK: Final = 256  # rows that are read at once of each stretch, or yielded at once,
_BLOCK_TEXT: Final = 1 << 16  # unless they have more characters
_WORDS: Final = {"": False, "asc": False, "desc": True}


class Key(NamedTuple):
    """A column to sort by, upwards unless it is `down`. Empty cells come last in both directions, as in SQL."""

    column: str
    down: bool = False


def parsed(text: str, columns: Sequence[str], known: Sequence[str]) -> tuple[Key, ...]:
    """Return the keys of `line,size:desc`. Raise UsageError for a column that is not listed."""
    return tuple(_key(word.strip(), columns, known) for word in text.split(","))


def _key(word: str, columns: Sequence[str], known: Sequence[str]) -> Key:
    name, _, direction = word.partition(":")
    if direction.lower() not in _WORDS:
        raise UsageError(f"--sort takes COLUMN or COLUMN:desc, not {in_short(word)!r}")
    if name not in known:
        bare = name.lstrip("+-")
        hint = f"--sort {bare}:desc sorts downwards" if bare in known else similar(name, known)
        raise UsageError(f"--sort: unknown column {in_short(name)!r}: choose from {', '.join(known)}", hint)
    if name not in columns:
        raise UsageError(f"--sort {name}: this column is not listed: add it to --columns")
    return Key(name, _WORDS[direction.lower()])


class Order:
    """Collect rows of these columns, and yield them sorted by the keys, at most `limit` of them.

    Rows that are equal under all keys keep their order.
    """

    def __init__(self, keys: Sequence[Key], columns: Sequence[str], limit: int | None = None) -> None:
        self._keys = [(columns.index(key.column), key.down) for key in keys]
        self._limit = limit
        self._rows: list[Cells] = []
        self._text = 0
        self._file: IO[bytes] | None = None
        self._stretches: list[list[int]] = []  # the places of the blocks of each

    def add(self, rows: Iterable[Cells]) -> None:
        """Add rows."""
        for row in rows:
            self._rows.append(row)
            self._text += _weight(row)
            if len(self._rows) >= AT_ONCE or self._text >= TEXT:
                self._empty()

    def sorted(self) -> Iterator[list[Cells]]:
        """Yield all rows in their order, in lists."""
        from heapq import merge  # as pickle and tempfile: most lists are not sorted

        stretches = [self._read(places) for places in self._stretches]
        rows = merge(*stretches, self._in_order(), key=self._key) if stretches else iter(self._in_order())
        yield from _blocks(islice(rows, self._limit))

    def close(self) -> None:
        """Remove the temporary file."""
        if self._file is not None:
            self._file.close()

    def _key(self, row: Cells) -> list[Any]:
        key: list[Any] = []
        for place, down in self._keys:
            cell = row[place]
            is_empty = not cell and cell != 0
            key += (is_empty, "" if is_empty else _Down(cell) if down else cell)
        return key

    def _in_order(self) -> list[Cells]:
        return sorted(self._rows, key=self._key)[: self._limit]

    def _empty(self) -> None:
        """Make room for more rows: drop those beyond the limit, or put all of them into the file."""
        self._rows = self._in_order()
        self._text = sum(map(_weight, self._rows))
        if len(self._rows) * 2 <= AT_ONCE and self._text * 2 <= TEXT:
            return
        import pickle
        from tempfile import TemporaryFile

        file = self._file = self._file or TemporaryFile()  # noqa: SIM115 - it is closed when it is no longer used
        file.seek(0, 2)
        places = []
        for block in _blocks(self._rows):
            places.append(file.tell())
            pickle.dump(block, file)
        self._stretches.append(places)
        self._rows, self._text = [], 0

    def _read(self, places: Sequence[int]) -> Iterator[Cells]:
        import pickle

        for place in places:
            if self._file is not None:
                self._file.seek(place)
                yield from pickle.load(self._file)  # noqa: S301 - of our own file, which has no name


def _weight(row: Cells) -> int:
    return sum([len(cell) for cell in row if cell.__class__ is str])


def _blocks(rows: Iterable[Cells]) -> Iterator[list[Cells]]:
    """Yield the rows as lists."""
    block: list[Cells] = []
    text = 0
    for row in rows:
        block.append([*row])
        text += _weight(row)
        if len(block) == _BLOCK or text >= _BLOCK_TEXT:
            yield block
            block, text = [], 0
    if block:
        yield block


class _Down:
    """A value in descending order."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Down) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Down) and bool(other.value == self.value)

    __hash__ = None  # type: ignore[assignment]  # it is a key to sort by


class Cut:
    """The first `limit` rows of a table, all without one: `number` of them so far, and `more` if there are others."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.number = 0
        self.more = False

    def of(self, rows: Sequence[Cells]) -> Sequence[Cells]:
        """Return those of the next rows that are among the first ones."""
        room = len(rows) if self.limit is None else self.limit - self.number
        self.more = self.more or len(rows) > room
        self.number += min(room, len(rows))
        return rows[:room]
