"""Rows for sinks: the lines of text formats, and rows with lists joined to text.

In: rows, or `Columns`, whose shared values are encoded once. Out: lines, or rows.

    >>> Layout(lambda name: str, before="<", between="|", after=">").encode(("a", "b"), [(1, "x"), (2, "y")])
    b'<1|x><2|y>'
"""

from __future__ import annotations

import re
from itertools import repeat
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from absolve.inventory.columns import NUMBERS, RULED, Columns
from absolve.tables import Sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from absolve.tables import Table


class Layout(NamedTuple):
    """The lines of a text format: `before`, the cells with `between` between them, `after`.

    `encoder` returns for a column the function that encodes its values: str, int, None, and lists or tuples of str.
    `label` returns the text before each cell of a column. `changed`: a text without any of these ASCII characters,
    which does not begin with a byte of `begun`, is encoded as it is; None: any text may change.
    """

    encoder: Callable[[str], Callable[[Any], str]]
    before: str = ""
    between: str = ""
    after: str = "\n"
    label: Callable[[str], str] = lambda _: ""
    changed: bytes | None = None
    begun: bytes = b""

    def encode(self, columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
        """Return rows as lines in UTF-8; lone surrogates become question marks."""
        encoders = {name: self.encoder(name) for name in columns}
        lines = self._shared(encoders, rows) if isinstance(rows, Columns) else self._single(encoders, rows)
        return "".join(lines).encode("utf-8", "replace")

    def _single(self, encoders: Mapping[str, Callable[[Any], str]], rows: Iterable[Sequence[Any]]) -> list[str]:
        template = self._template(encoders, {})
        columns = tuple(encoders.values())
        return [template % tuple([encode(cell) for encode, cell in zip(columns, row, strict=True)]) for row in rows]

    def _shared(self, encoders: Mapping[str, Callable[[Any], str]], rows: Columns) -> list[str]:
        templates = [self._template(encoders, dict(zip(RULED, words, strict=True))) for words in rows.ruled.words]
        own = [
            rows.cells(name, None if name in NUMBERS else encode, self.changed, self.begun)
            for name, encode in encoders.items()
            if name not in RULED
        ]
        values = zip(*own, strict=True) if own else repeat(())
        numbers = rows.ruled.numbers.cells()
        return [templates[number] % cells for number, cells in zip(numbers, values, strict=bool(own))]

    def _template(self, encoders: Mapping[str, Callable[[Any], str]], shared: Mapping[str, str]) -> str:
        """Return the line of rows with these shared values, with %s for each other column."""
        cells = [
            self.label(name) + (encode(shared[name]).replace("%", "%%") if name in shared else "%s")
            for name, encode in encoders.items()
        ]
        return f"{self.before}{self.between.join(cells)}{self.after}"


def joined(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> Iterator[Sequence[Any]]:
    """Yield the rows with lists joined to text by spaces."""
    if isinstance(rows, Columns):
        yield from zip(*[rows.cells(name, " ".join if name == "problems" else None) for name in columns], strict=True)
    else:
        for row in rows:
            yield [words(cell) if isinstance(cell, list) else cell for cell in row]


def cell_text(cell: Any) -> str:
    """Return a cell as text: for example `a b` for `["a", "b"]`, and "" for None."""
    if isinstance(cell, (list, tuple)):
        return words(cell)
    return "" if cell is None else str(cell)


def words(items: Iterable[str]) -> str:
    """Return the items of a list joined by spaces."""
    return " ".join(map(_word, items))


LINKED: Final = frozenset({"target", "url", "base", "canonical"})  # columns whose URLs are hyperlinks for people
_SPACE: Final = re.compile(r"\s")


def _word(item: str) -> str:
    """Return an item of a list with percent-escaped white space, as in a URL: for example `a%20b`."""
    return _SPACE.sub(lambda found: quote(found[0]), item) if _SPACE.search(item) else item


def lines(
    encode: Callable[[Sequence[str], Iterable[Sequence[Any]]], bytes],
    head: Callable[[Sequence[str]], bytes] = lambda _: b"",
    end: bytes = b"",
) -> Sink:
    """Return the sink of a format with a head for the columns, the encoded chunks, and an end."""

    def write(tables: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
        file.write(head(tuple(tables[0].columns)))
        file.writelines(chunk for _, chunk in chunks)
        file.write(end)

    return Sink(encode, write)
