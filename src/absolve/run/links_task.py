"""Task of `absolve links` and `absolve documents`: from one input to rows of one table, or of both.

Input: an `Input` and `ListOptions`. Output: `RowChunk`s as the sink needs them, diagnostics, a failure, the bytes read.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import FAULTS, DocumentError
from absolve.document.resolved import shown
from absolve.formats import registry, sniffing
from absolve.inventory import columns as inventory
from absolve.inventory import link_rows
from absolve.run.filters import Cells, Selection
from absolve.run.load import first_bytes, head_of, is_archive, is_document, left, not_read, segments_in, walked
from absolve.run.results import BytesRead, LinkCounts, RowChunk, guarded
from absolve.tables import FORMATS, Table, by_name, typed_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.core.column_buffers import DictColumn
    from absolve.core.model import Document
    from absolve.document.entity import Entity
    from absolve.inventory.documents import DocumentRow, Documents
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.results import TaskResult

    _Rows = inventory.Columns | list[DocumentRow]

AT_ONCE = 10_000  # rows in a RowChunk
LINKS: Final = "links"  # the names of the tables
DOCUMENTS: Final = "documents"


class ListOptions(NamedTuple):
    """How inputs are listed: selection of links, columns, format of the sink.

    `cells`: changes to the text of rows. `table`: the table that all these options are about, "links" or "documents".
    `beside`: list the table of documents beside the links, with all columns.
    """

    reading: ReadOptions
    columns: tuple[str, ...] = inventory.COLUMNS
    format: str = "jsonl"
    selection: Selection = Selection()
    cells: Cells = Cells()
    table: str = LINKS
    beside: bool = False

    @property
    def has_documents(self) -> bool:
        return self.beside or self.table == DOCUMENTS

    @property
    def tables(self) -> list[Table]:
        """The tables that are listed, the one that the options are about first."""
        beside = [typed_table(DOCUMENTS, columns_of(DOCUMENTS))] if self.beside else []
        return [typed_table(self.table, self.columns), *beside]

    @property
    def whole(self) -> tuple[str, ...]:
        """The columns that rows need for the selection: all default ones, and listed columns on demand."""
        return (*columns_of(self.table), *[name for name in self.columns if name in inventory.MORE])

    def read(self) -> ReadOptions:
        """Return the options of reading, for walkers that collect what the tables need."""
        settings = self.reading.settings._replace(documents=self.has_documents, data_urls=self.table == LINKS)
        return self.reading._replace(settings=settings)


def columns_of(table: str) -> tuple[str, ...]:
    """Return all columns that a table has by default."""
    return inventory.COLUMNS if table == LINKS else _documents_module().DOCUMENT_COLUMNS


def every_column(table: str) -> tuple[str, ...]:
    """Return all columns of a table, also columns on demand."""
    return (*columns_of(table), *(inventory.MORE if table == LINKS else ()))


def _documents_module() -> Any:
    """Return the module of the table of documents, which a list of links does not import."""
    from absolve.inventory import documents

    return documents


def listed(how: ListOptions, input_: Input) -> Iterator[TaskResult]:
    """Yield the rows of one input; none for a file found in a folder that is not a document."""
    return guarded(input_.name, _listed(how, input_), strict=sys.flags.dev_mode)


def _listed(how: ListOptions, input_: Input) -> Iterator[TaskResult]:
    head = head_of(input_)
    if head is not None and not is_document(input_, head, how.reading):
        yield not_read(input_, head)
        if how.has_documents:
            yield from _list_other(how, input_)
        return
    counts = LinkCounter()
    try:
        for found in _list_document(how, head, input_):
            if isinstance(found, inventory.Columns):
                yield _piece(how, found, counts)
            elif isinstance(found, list):
                yield _document_piece(how, found)
            else:
                yield found
    except Exception:  # rows before an error are listed, too
        yield from counts.results()
        raise
    yield from counts.results()


def _list_other(how: ListOptions, input_: Input) -> Iterator[TaskResult]:
    """Yield the row of a file found in a folder that absolve does not read, such as an image."""
    entity = walked(input_, how.read()._replace(media_type=registry.OTHER)).entity
    yield _document_piece(how, _row_of(entity, input_))
    yield BytesRead(len(entity.own_data))


def _row_of(entity: Entity, input_: Input) -> list[DocumentRow]:
    """Return the row of the outermost document alone."""
    documents: Documents = _documents_module().Documents(shown(input_.name))
    documents.begin(entity)
    return documents.taken()


def _list_document(how: ListOptions, head: bytes | None, input_: Input) -> Iterator[TaskResult | _Rows]:
    """Yield rows as columns, which are cleared and reused for the next rows, and the other results.

    `head` are the first bytes of the input, if they are known.
    """
    asks = any(how.selection)  # whether all columns are needed to select rows
    # Filled across records: many records of an archive have only a few rows.
    waiting = inventory.Columns(AT_ONCE, how.whole if asks else how.columns, inventory.MOST_TEXT)
    documents: Documents | None = None
    if how.has_documents:
        documents = _documents_module().Documents(shown(input_.name))
    size = number = 0
    try:
        for segment in segments_in(input_, how.read(), head=head):
            yield from segment.diagnostics
            size += len(segment.raw)
            if segment.entity is not None:
                number += 1
                faults: list[Exception] = []
                if (header := _header(segment.document, how, documents)) is not None and how.table == LINKS:
                    for _ in _faultless(how, waiting, header, input_.name, None, faults):
                        yield from _waiting(waiting, documents, how)
                for _ in _faultless(how, waiting, segment.entity, input_.name, documents, faults):
                    yield from _waiting(waiting, documents, how)
                for fault in faults:
                    yield left(segment, fault)
    except DocumentError as error:
        if documents is not None:
            yield list(_unwalkable(how, input_, error))
        raise
    yield from _waiting(waiting, documents, how, every=True)
    yield BytesRead(size, number)


def _header(document: Document | None, how: ListOptions, documents: Documents | None) -> Entity | None:
    """Return the response header of a document, whose fields have links; add its facts to `documents`."""
    if document is None or document.headers is None:
        return None
    from absolve.document import response_header  # few inputs are URLs

    header = response_header.entity_of(document, how.read().settings)
    if documents is not None:
        documents.above = _documents_module().of_response(header, document)
    return header


def _waiting(
    columns: inventory.Columns, documents: Documents | None, how: ListOptions, *, every: bool = False
) -> Iterator[_Rows]:
    """Yield the columns, and the rows of documents if there are many, or with `every`."""
    if documents is not None and documents.rows and (every or documents.is_full):
        yield documents.taken()
    if how.table == LINKS and len(columns):
        yield columns


def _unwalkable(how: ListOptions, input_: Input, error: DocumentError) -> Iterator[DocumentRow]:
    """Yield the row of a document that was read, but not walked, with its problem."""
    with suppress(DocumentError, OSError):
        if is_archive(input_, how.reading):
            return
        media_type = how.reading.media_type or sniffing.sniff(first_bytes(input_), input_.name) or ""
        entity = walked(input_, how.read()._replace(media_type=registry.OTHER)).entity
        for row in _row_of(entity, input_):
            essence = registry.essence_of(media_type)[0] or row.media_type
            yield row._replace(media_type=essence, problems=[error.diagnostic.code, *row.problems])


def _faultless(
    how: ListOptions,
    columns: inventory.Columns,
    entity: Entity,
    name: str,
    documents: Documents | None,
    faults: list[Exception],
) -> Iterator[None]:
    """Fill the columns, yielding when they are full; a DocumentError or internal error ends this and is stored."""
    try:
        if how.table == LINKS:
            yield from link_rows.fill(columns, entity, name, documents)
        elif documents is not None:
            yield from documents.fill(entity)
    except (DocumentError, *FAULTS) as error:
        faults.append(error)


def _document_piece(how: ListOptions, rows: list[DocumentRow]) -> RowChunk:
    """Return rows of the table of documents, encoded."""
    columns = columns_of(DOCUMENTS)
    if how.table == DOCUMENTS:
        return _rows(how, _columns(rows, how.columns, columns))
    cells = how.cells.applied(columns, rows)
    if not FORMATS[how.format].columns:  # the writing process encodes the rows of many inputs at once
        cells = by_name(how.format).encode(columns, cells)
    return RowChunk(cells, len(rows), DOCUMENTS)


def _piece(how: ListOptions, found: inventory.Columns, counts: LinkCounter) -> RowChunk:
    if not any(how.selection):
        counts.add(found)
        return _rows(how, found)
    rows = [row for row in found if how.selection.wants(row)]
    counts.add_rows(rows)
    return _rows(how, _columns(rows, how.columns, how.whole))


def _rows(how: ListOptions, cells: inventory.Columns | Sequence[Sequence[Any]]) -> RowChunk:
    cells = how.cells.applied(how.columns, cells)
    if isinstance(cells, inventory.Columns) and FORMATS[how.format].columns:
        return RowChunk(cells.taken(), len(cells))  # only the writing process imports the packages of the format
    return RowChunk(by_name(how.format).encode(how.columns, cells), len(cells), how.table)


def _columns(rows: Sequence[Sequence[Any]], columns: Sequence[str], whole: Sequence[str]) -> Sequence[Sequence[Any]]:
    """Select `columns` from rows with the columns `whole`: for example, b and a from rows with a, b and c."""
    if columns == whole:
        return rows
    places = [whole.index(name) for name in columns]
    return [[row[place] for place in places] for row in rows]


_BYTE: Final = 256  # values whose indexes fit a byte
_LOW: Final = slice(0 if sys.byteorder == "little" else 3, None, 4)  # the low byte of numbers of 32 bits


class LinkCounter:
    """Counts of the listed links of one input by scope and by problem code, for the summary and for --fail-on.

    Columns store each scope and each combination of codes once, so most counts count a byte in a byte string.
    """

    def __init__(self) -> None:
        self._scopes: Counter[str] = Counter()
        self._codes: Counter[tuple[str, ...]] = Counter()

    def add(self, columns: inventory.Columns) -> None:
        """Count the rows of columns."""
        for scope, count in _numbers(columns.scope):
            self._scopes[scope] += count
        for codes, count in _numbers(columns.problems):
            self._codes[codes] += count

    def add_rows(self, rows: Iterable[inventory.Row]) -> None:
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
        yield LinkCounts(dict(self._scopes), dict(problems))


def _numbers(column: DictColumn) -> Iterator[tuple[Any, int]]:
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


class Sided(NamedTuple):
    """An input of one of the two sites of an audit. Its workers import none of the packages that judge the rows."""

    side: str
    input: Input


def listed_of(how: ListOptions, item: Sided) -> Iterator[TaskResult]:
    """Yield the rows of an input of a site: a task."""
    return listed(how, item.input)
