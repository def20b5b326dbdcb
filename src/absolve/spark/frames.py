"""DataFrames of links and errors, exchanged with Spark as Arrow batches.

In: inputs and the options of listing. Out: DataFrames with the columns of the inventory, or of `ERRORS`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_schema

from absolve.document.resolved import shown
from absolve.inventory import arrow_batches
from absolve.run.links_task import AT_ONCE, listed
from absolve.run.results import Failure
from absolve.spark import tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from absolve.run.inputs import Input
    from absolve.run.links_task import ListOptions
    from absolve.spark.tasks import NamedDiagnostic

ERRORS: Final = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("input", "name")),
        *(pa.field(name, pa.int64()) for name in ("line", "column")),
        *(pa.field(name, pa.string()) for name in ("code", "text")),
    ]
)
_FAILURE: Final = pa.field("failure", pa.struct(list(ERRORS)))  # the last column of a table with links and errors


class Tables(NamedTuple):
    """The result of listing: the links, and a row for each error, as in the file of `--errors`.

    Both are selected from `all`, which is computed again for each of them unless it is `kept`.
    """

    links: DataFrame
    errors: DataFrame
    all: DataFrame

    def kept(self) -> Tables:
        """Return these tables, cached on the executors' disks when the first of them is read."""
        self.all.persist(StorageLevel.DISK_ONLY)
        return self


def tables(spark: SparkSession, inputs: Sequence[Input], how: ListOptions) -> Tables:
    """Return the links of inputs and the errors."""
    work = partial(_listed, how)
    schema = pa.schema([*_plain(how.columns), _FAILURE])
    groups = tasks.numbered(tasks.grouped(spark, inputs))
    spread = spark.createDataFrame(tasks.spread(spark, groups), "tasks binary")
    whole = spread.mapInArrow(work, from_arrow_schema(schema))
    failed = functions.col(_FAILURE.name)
    rows = whole.where(failed.isNull()).drop(_FAILURE.name)
    errors = whole.where(failed.isNotNull()).select(f"{_FAILURE.name}.*")
    return Tables(rows, errors, whole)


def errors(spark: SparkSession, found: Iterable[NamedDiagnostic]) -> DataFrame:
    """Return a row for each failure among diagnostics."""
    rows = [tuple(row[name] for name in ERRORS.names) for row in _failed(found)]
    return spark.createDataFrame(rows, from_arrow_schema(ERRORS))


# --- on the executors -------------------------------------------------------------------------------------------------


def _listed(how: ListOptions, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the links of each task, then the errors in rows with no other values."""
    reported: list[NamedDiagnostic] = []
    packed = (cell.as_py() for batch in batches for cell in batch.column(0))
    rows = tasks.rows(partial(listed, how), tasks.unpacked(packed), reported)
    plain = _plain(how.columns)
    schema = pa.schema([*plain, _FAILURE])
    for table in arrow_batches.gathered(rows, arrow_batches.schema(how.columns), AT_ONCE):
        whole = [*table.cast(plain).columns, pa.nulls(table.num_rows, _FAILURE.type)]
        yield from pa.Table.from_arrays(whole, schema=schema).combine_chunks().to_batches()
    if failed := list(_failed(reported)):
        empty = [pa.nulls(len(failed), field.type) for field in plain]
        yield pa.RecordBatch.from_arrays([*empty, pa.array(failed, _FAILURE.type)], schema=schema)


def _failed(found: Iterable[NamedDiagnostic]) -> Iterator[dict[str, Any]]:
    for input_, piece in found:
        diagnostic = piece.diagnostic if isinstance(piece, Failure) else piece
        if isinstance(piece, Failure) or diagnostic.failed:
            row = {"input": input_, **diagnostic._asdict()}
            yield {name: shown(row[name]) if isinstance(row[name], str) else row[name] for name in ERRORS.names}


def _plain(columns: Sequence[str]) -> pa.Schema:
    """Return the schema of the inventory for Spark, which supports no dictionary types."""
    types = {field.name: field.type for field in arrow_batches.schema(columns)}
    return pa.schema({name: pa.string() if own == arrow_batches.DICTIONARY else own for name, own in types.items()})
