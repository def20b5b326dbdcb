"""The inventory: one row per link, stored as columns; a `Row` is a view of one row (docs/decisions.md, I1).

In: positions, and the facts of a reference. Out: columns, rows, lists of selected columns. Values shared by all links
of one site under one base are stored once (`RowFacts`). link_rows.py fills the columns.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core import model
from absolve.core.column_buffers import DictColumn, IntColumn, TextColumn
from absolve.core.model import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import cython

    from absolve.core.options import Kind, Problem, Scope
    from absolve.encodings.line_index import LineIndex
    from absolve.inventory.facts import ReferenceFacts, RowFacts, Tag


RULED: Final = ("document", "entity", "element", "attribute", "kind", "base", "base_layer", "base_source")


class Row(NamedTuple):
    """One link; the fields are the columns in their order (docs/decisions.md, I1)."""

    document: str  # path or URL of the outermost input
    entity: str  # path of the inner document inside it, empty at the top
    line: int  # 1-based
    column: int  # 1-based, in characters
    start: int  # byte span in the entity
    end: int
    element: str
    attribute: str
    kind: Kind
    rel: str
    text: str  # anchor text or alt, white space folded
    reference: str  # as decoded and stripped
    base: str
    base_layer: Layer
    base_source: str
    target: str | None
    scope: Scope
    problems: list[Problem]


COLUMNS: Final = Row._fields
# On demand: `link_rows.Place` computes them.
MORE: Final = ("host", "url", "hreflang", "file_start", "file_end")
LAYERS: Final = {layer.label: layer for layer in Layer}
_STORED: Final = "ruled line column start end rel text reference target scope problems".split()
NUMBERS: Final = frozenset({"line", "column", "start", "end"})


class Where(NamedTuple):
    """The columns of a row that depend on the position of its link; the fields are those of `Row`."""

    line: int
    column: int
    start: int
    end: int
    rel: str
    text: str


class Columns:
    """Rows, stored column by column; iterate for each `Row`, or for lists of the columns `names` only.

    `full`: there are `at_once` rows, or their references, targets and shared values have `most` bytes. A base is stored
    once, but counted in each row, where it is written. `ruled` has a tuple of shared values per row, the columns RULED.
    `more` has lists of the values of the columns MORE that are among `names`.
    """

    def __init__(
        self, at_once: int = sys.maxsize, columns: tuple[str, ...] = COLUMNS, most: int = sys.maxsize
    ) -> None:
        self.at_once = at_once
        self.most = most
        self.names = columns
        self.wanted = tuple([name for name in columns if name in MORE])
        self._begin(0, None, None, None)

    def clear(self) -> None:
        """Replace the columns by empty ones of the same capacity; the old ones may still be in use (`taken`)."""
        self._begin(len(self), self.text, self.reference, self.target)

    def taken(self) -> Columns:
        """Return an object with the same columns, which stays valid when this one is cleared."""
        return _kept(*self.__reduce__()[1])

    def __reduce__(self) -> tuple[Any, ...]:
        numbers = (self.line, self.column, self.start, self.end)
        texts = (self.text, self.reference, self.target)
        words = (self.ruled, self.rel, self.scope, self.problems)
        return _kept, (self.at_once, self.names, numbers, texts, words, self.more)

    def weight(self) -> int:
        """Return an estimate of the memory of the rows, in bytes."""
        rows: cython.Py_ssize_t = len(self)
        texts: cython.Py_ssize_t = self.text.ends.at(rows) + self.reference.ends.at(rows) + self.target.ends.at(rows)
        return texts + 64 * rows

    def _begin(
        self, rows: cython.Py_ssize_t, text: TextColumn | None, reference: TextColumn | None, target: TextColumn | None
    ) -> cython.int:
        self.size = 0
        self.words = 0
        self.full = False
        self.ruled = DictColumn(rows)
        self.line = IntColumn(room=rows)
        self.column = IntColumn(room=rows)
        self.start = IntColumn(room=rows)
        self.end = IntColumn(room=rows)
        self.rel = DictColumn(rows)
        self.text = TextColumn(text)
        self.reference = TextColumn(reference)
        self.target = TextColumn(target)
        self.scope = DictColumn(rows)
        self.problems = DictColumn(rows)
        self.more: dict[str, list[Any]] = {name: [] for name in self.wanted}
        return 0

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        whole = (*COLUMNS, *self.wanted)
        places = [whole.index(name) for name in self.names] if self.names != whole else None
        for at in range(self.size):
            row = self.row(at, False)
            if self.wanted:  # a Row with more items behind its fields
                row = model.new(Row, (*row, *[cells[at] for cells in self.more.values()]))
            yield row if places is None else [row[place] for place in places]

    def cells(
        self, name: str, of: Callable[[Any], Any] | None = None, changed: bytes | None = None, begun: bytes = b""
    ) -> list[Any]:
        """Return the values of a column, problems as tuples, mapped by `of`: one call per distinct value if encoded.

        `changed`: `of` changes only texts with one of these ASCII characters, and those that begin with a byte of
        `begun`; it is not called for the others.
        """
        if name in self.more:
            return self.more[name] if of is None else list(map(of, self.more[name]))
        column = self.ruled if name in RULED else getattr(self, name)
        if not isinstance(column, DictColumn):
            cells: list[Any] = column.cells()
            if of is None:
                return cells
            if changed is None or not isinstance(column, TextColumn):
                return list(map(of, cells))
            for index in {*column.missing(), *column.with_any(changed), *column.begun_by(begun)}:
                cells[index] = of(cells[index])
            return cells
        words = column.words
        if name in RULED:
            place = RULED.index(name)
            words = [word[place] for word in words]
        if of is not None:
            words = list(map(of, words))
        return [words[number] for number in column.numbers.cells()]

    def extend(self, rows: Columns) -> cython.int:
        """Append the rows of another object."""
        self.size += rows.size
        self.words += rows.words
        for name in _STORED:
            getattr(self, name).extend(getattr(rows, name))
        for name in self.wanted:
            self.more[name] += rows.more[name]
        return self.fill()

    def add(
        self,
        ruled: RowFacts,
        positions: LineIndex,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        tag: Tag,
    ) -> cython.int:
        """Begin a row with the columns of the position; `add_fast` or `add_facts` adds those of the reference."""
        self.size += 1
        self.words += ruled.size
        self.ruled.add(ruled.words)  # a RowFacts would keep the document in memory
        self.line.add(positions.line)
        self.column.add(positions.column)
        self.start.add(start)
        self.end.add(end)
        self.rel.add(tag.rel)
        return self.text.add_behind(b"", tag.source, tag.text, tag.text_end)

    def add_fast(
        self, ruled: RowFacts, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """End a row with the reference in this span of `data`; `ruled` has its prefix, scope and problems."""
        self.reference.add_behind(b"", data, start, end)
        self.target.add_behind(ruled.target, data, start + ruled.skipped, end)
        self.scope.add(ruled.where)
        self.problems.add(ruled.codes)
        return self.fill()

    def add_facts(self, facts: ReferenceFacts) -> cython.int:
        self.reference.add(facts.reference)
        self.target.add(facts.target)
        self.scope.add(facts.scope)
        self.problems.add(facts.problems)
        return self.fill()

    def add_more(self, cells: Sequence[str | int | None]) -> cython.int:
        """Add the values of the `wanted` columns of the last row."""
        for name, cell in zip(self.wanted, cells, strict=True):
            self.more[name].append(cell)
            if isinstance(cell, str):
                self.words += len(cell)
        return self.fill()

    def fill(self) -> cython.int:
        """Set `full`."""
        texts: cython.Py_ssize_t = self.reference._size + self.target._size + self.words  # noqa: SLF001 - C attributes
        self.full = self.size >= self.at_once or texts >= self.most
        return 0

    def texts(self) -> cython.Py_ssize_t:
        """Return the bytes of all rows when they are written, except numbers and short values."""
        return self.reference._size + self.target._size + self.text._size + self.words  # noqa: SLF001 - C attributes

    def row(self, at: cython.Py_ssize_t, is_last: cython.bint) -> Row:
        """Return one row; with the last one free long texts: after that the columns can only be cleared."""
        document, entity, element, attribute, kind, base, layer, source = self.ruled.at(at)
        codes: tuple[str, ...] = self.problems.at(at)
        reference = self.reference.at(at)
        # One str object for both if they are equal, as for absolute references.
        target = reference if self.target.equals(self.reference, at) else self.target.at(at)
        if is_last:
            self.reference.release()
            self.target.release()
        return model.made(
            Row,
            (
                document,
                entity,
                self.line.at(at),
                self.column.at(at),
                self.start.at(at),
                self.end.at(at),
                element,
                attribute,
                kind,
                self.rel.at(at),
                self.text.at(at),
                reference,
                base,
                LAYERS[layer],
                source,
                target,
                self.scope.at(at),
                list(codes) if codes else [],
            ),
        )


def _kept(
    at_once: int,
    names: tuple[str, ...],
    numbers: tuple[IntColumn, ...],
    texts: tuple[TextColumn, ...],
    words: tuple[DictColumn, ...],
    more: dict[str, list[Any]],
) -> Columns:
    """Return the Columns that `Columns.__reduce__` describes."""
    found = Columns(at_once, names)
    found.line, found.column, found.start, found.end = numbers
    found.text, found.reference, found.target = texts
    found.ruled, found.rel, found.scope, found.problems = words
    found.more = more
    found.size = len(found.line)
    found.fill()
    return found


__all__ = ["COLUMNS", "MORE", "Columns", "Layer", "Row"]
