"""The inventory: one row per link, stored as columns; a `Row` is a view of one row (docs/decisions.md, I1).

In: positions, and the facts of a reference. Out: columns, rows, lists of selected columns. Values shared by all links
of one site under one base are stored once (`RowFacts`). link_rows.py fills the columns.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core import model
from absolve.core.column_buffers import NARROW, DictColumn, IntColumn, TextColumn
from absolve.core.model import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import cython

    from absolve.core.arrow_stream import Array
    from absolve.core.options import Kind, Problem, Scope
    from absolve.encodings.line_index import LineIndex
    from absolve.formats.html.row_text import LinkTexts
    from absolve.inventory.facts import RowFacts
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.column_buffers import grown
    from cython.cimports.libc.stdlib import free
    from cython.cimports.libc.string import memcpy


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
_PLACES: Final = {name: place for place, name in enumerate(RULED)}
LAYERS: Final = {layer.label: layer for layer in Layer}
_STORED: Final = "ruled line column start end rel text reference target scope problems".split()
NUMBERS: Final = frozenset({"line", "column", "start", "end"})


class Where(NamedTuple):
    """The columns of a row that depend on the position of its link; the fields have the names of `Row`."""

    line: int
    column: int
    start: int
    end: int
    rel: str
    text: str


_LONG = 1 << 20  # bytes of texts that are freed with the last row
MOST_TEXT: Final = 4 << 20  # bytes of references, targets and shared values after which columns of few rows are full


class Columns:
    """Rows, stored column by column; iterate for each `Row`, or for lists of the columns `names` only.

    `full`: there are `at_once` rows, or their references, targets and shared values have `most` bytes. A base is stored
    once, but counted in each row, where it is written. `ruled` has a tuple of shared values per row, the columns RULED.
    `more` has a list of values for each of the columns MORE in `names`.
    """

    def __init__(self, at_once: int = sys.maxsize, columns: tuple[str, ...] = COLUMNS, most: int = sys.maxsize) -> None:
        self.at_once = at_once
        self.most = most
        self.names = columns
        self.wanted = () if columns is COLUMNS else tuple([name for name in columns if name in MORE])
        self._last: tuple[Any, ...] | None = None  # of the last `row`, with its layer
        self._layer: Layer | None = None
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
        is_whole = self.names == (*COLUMNS, *self.wanted)
        cells = [self.cells(name, LAYERS.__getitem__ if name == "base_layer" else None) for name in self.names]
        if "problems" in self.names:
            cells[self.names.index("problems")] = list(map(list, self.cells("problems")))
        for row in zip(*cells, strict=True):
            yield model.new(Row, row) if is_whole else list(row)  # a Row may have items behind its fields

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

    def array(self, name: str, shown: Callable[[str], str]) -> Array:
        """Return a column, but none of MORE, as an array of Arrow; `shown` replaces lone surrogates in a word."""
        place = _PLACES.get(name)
        if place is not None:
            return self.ruled.part(place).array(shown)
        if name == "problems":
            return self.problems.lists(shown)
        column: Any = getattr(self, name)
        return column.array(shown) if isinstance(column, DictColumn) else column.array()

    def row(self, index: cython.Py_ssize_t) -> Row:
        """Return a row; faster than to iterate for it."""
        words: tuple[Any, ...] = self.ruled.at(index)
        document, entity, element, attribute, kind, base, layer, source = words
        if words is not self._last:  # as in most rows after one
            self._last = words
            self._layer = LAYERS[layer]
        codes: tuple[str, ...] = self.problems.at(index)
        reference = self.reference.at(index)
        # One str object for both if they are equal, as for absolute references.
        target = reference if self.target.equals(self.reference, index) else self.target.at(index)
        row = (
            document,
            entity,
            self.line.at(index),
            self.column.at(index),
            self.start.at(index),
            self.end.at(index),
            element,
            attribute,
            kind,
            self.rel.at(index),
            self.text.at(index),
            reference,
            base,
            self._layer,
            source,
            target,
            self.scope.at(index),
            list(codes) if codes else [],
        )
        return model.made(Row, row)

    def extend(self, rows: Columns) -> cython.int:
        """Append the rows of another object."""
        self.size += rows.size
        self.words += rows.words
        for name in _STORED:
            getattr(self, name).extend(getattr(rows, name))
        for name in self.wanted:
            self.more[name] += rows.more[name]
        return self.fill()

    def add_reference(self, ruled: RowFacts) -> cython.int:
        """Begin a row with the columns of the reference, which `ruled` has found."""
        self.size += 1
        self.words += ruled.size
        self.ruled.add(ruled.words)  # a RowFacts would keep the document in memory
        self.reference.add_behind(b"", ruled.data, ruled.start, ruled.end)
        if ruled.target is None:
            self.target.add(None)
        else:
            self.target.add_behind(ruled.target, ruled.data, ruled.start + ruled.skipped, ruled.end)
        self.scope.add(ruled.where)
        self.problems.add(ruled.codes)
        ruled.data = b""  # long texts are in the columns alone
        ruled.target = None
        return self.fill()

    def add_position(self, positions: LineIndex, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Add the columns of the position to the first row without them."""
        self.line.add(positions.line)
        self.column.add(positions.column)
        self.start.add(start)
        return self.end.add(end)

    def add_tag(self, texts: LinkTexts) -> cython.int:
        """Add the columns of the tag to the first row without them."""
        self.rel.add(texts.rel)
        return self.text.add_behind(b"", texts.source, texts.text, texts.text_end)

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

    def release(self) -> cython.int:
        """Free long references and targets, whose rows have all been returned."""
        if self.reference._size + self.target._size > _LONG:  # noqa: SLF001 - C attributes
            self.reference = TextColumn()
            self.target = TextColumn()
        return 0

    def texts(self) -> cython.Py_ssize_t:
        """Return the bytes of all rows when they are written, except numbers and short values."""
        return self.reference._size + self.target._size + self.text._size + self.words  # noqa: SLF001 - C attributes


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


# --- one batch for the C data interface of Arrow ----------------------------------------------------------------------

# An ArrowArray in words of 64 bits: length, null count, offset, the numbers of buffers and of children, the addresses
# of both, of the dictionary and of the function that releases it, and private data, here the block to be freed.
_WORDS = 10
_ALIGNMENT = 64  # bytes, as Arrow recommends it for buffers


def handed_over(arrays: Sequence[Array]) -> int:
    """Return the address of an ArrowArray with these columns, which the importer must release; 0 in interpreted code.

    One block of memory holds all structures and copies of their buffers. It has no reference to a Python object: so it
    can be freed in any thread, and after the interpreter has ended. No column may be moved out of it.
    """
    if cython.compiled and sys.maxsize > NARROW:
        rows = (arrays[0][0], (None,), tuple(arrays), None)
        block = grown(cython.NULL, _put(cython.NULL, _ALIGNMENT, rows))
        at: cython.Py_ssize_t = -cython.cast(cython.Py_ssize_t, block) & (_ALIGNMENT - 1)
        _put(block, at, rows)
        words: cython.p_longlong = cython.cast(cython.p_longlong, block + at)
        words[9] = cython.cast(cython.Py_ssize_t, block)
        return cython.cast(cython.Py_ssize_t, words)
    return 0


def _put(block: Any, at: cython.Py_ssize_t, array: Array) -> cython.Py_ssize_t:
    """Write an array at an offset of a block, then its buffers and the arrays in it; return their end.

    Only measure them if the block is NULL.
    """
    if cython.compiled:
        place: cython.Py_ssize_t
        end: cython.Py_ssize_t
        size, buffers, children, dictionary = array
        inner = children if dictionary is None else (dictionary,)
        words: cython.p_longlong = cython.cast(cython.p_longlong, block + at)
        first: cython.Py_ssize_t = at + 8 * _WORDS
        at = first + 8 * (len(buffers) + len(inner))
        if block:
            words[0] = size
            words[1] = -1 if buffers[0] is not None else 0  # -1: to be counted
            words[2] = words[9] = 0
            words[3] = len(buffers)
            words[4] = len(children)
            words[5] = cython.cast(cython.Py_ssize_t, block + first)
            words[6] = words[5] + 8 * len(buffers)
            words[8] = cython.cast(cython.Py_ssize_t, _release)
        for place, buffer in enumerate(buffers, _WORDS):
            at = (at + _ALIGNMENT - 1) & -_ALIGNMENT
            end = at
            if type(buffer) is IntColumn:
                end += cython.cast(IntColumn, buffer).put(block, at)
            elif type(buffer) is TextColumn:
                end += cython.cast(TextColumn, buffer).put(block, at)
            elif buffer is not None:
                end += len(buffer)
                if block:
                    memcpy(block + at, cython.cast(cython.p_uchar, cython.cast(bytes, buffer)), end - at)
            if block:
                words[place] = 0 if buffer is None else cython.cast(cython.Py_ssize_t, block + at)
            at = end
        for place, one in enumerate(inner, _WORDS + len(buffers)):
            at = (at + _ALIGNMENT - 1) & -_ALIGNMENT
            if block:
                words[place] = cython.cast(cython.Py_ssize_t, block + at)
            at = _put(block, at, one)
        if block:
            words[7] = 0 if dictionary is None else words[_WORDS + len(buffers)]
    return at


def _release(array: cython.p_longlong) -> None:
    if cython.compiled:
        free(cython.cast(cython.p_void, cython.cast(cython.Py_ssize_t, array[9])))
        array[8] = 0


__all__ = ["COLUMNS", "MORE", "Columns", "Layer", "Row", "handed_over"]
