"""The links of many documents, and their rewrite, on Apache Spark; requires `pip install 'absolve[spark]'`.

In: a Spark session, and paths on a disk that all machines share, or URLs of a store (s3://bucket/crawl/*.warc.gz).
Out: a DataFrame, or files: the rows and bytes of `absolve links` and `absolve rewrite`. absolve must be installed on
all machines. Spark repeats a task whose executor ends: a repeated one replaces the files of the first.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import chdir, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core import arguments
from absolve.core.errors import Diagnostic, MissingPackageError, UsageError, in_short
from absolve.document.resolved import shown
from absolve.document.settings import CHOICES, Settings
from absolve.inventory.columns import COLUMNS
from absolve.rewriting.policy import absolute
from absolve.run import buckets, inputs, leftovers, plan
from absolve.run.filters import Cells
from absolve.run.folders import Globs
from absolve.run.links_task import AT_ONCE, ListOptions, listed
from absolve.run.load import ReadOptions
from absolve.run.output_folder import OutputFolder
from absolve.run.plan import Job, Publisher, RewriteOptions
from absolve.run.results import Failure, FilesReady, RowChunk, guarded, settle
from absolve.run.rewrite_task import rewritten
from absolve.run.sources import STDIN

try:
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    from absolve.tables import parquet
except ImportError as error:
    raise MissingPackageError("this needs pyspark and Java: pip install 'absolve[spark]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Unpack

    from pyspark.sql import DataFrame, Row, SparkSession

    from absolve.core.options import ClusterOptions
    from absolve.rewriting.policy import Policy
    from absolve.run.inputs import Input

    Item = Input | Job | Diagnostic  # a diagnostic is about an input that was not found

__all__ = ["links", "rewrite"]

_NUMBERS: Final = ("line", "column")
_FAILURE: Final = pa.schema(
    [(name, pa.int64() if name in _NUMBERS else pa.string()) for name in ("input", "name", *_NUMBERS, "code", "text")]
)
_OF_LINKS: Final = pa.field("failure", pa.struct(list(_FAILURE)))
_MOST_BYTES: Final = 64 << 20  # bytes of inputs in a task; a file of unknown size fills one
_MOST: Final = 1000  # inputs in a task
_TURNS: Final = 4  # tasks for each core, so that the last ones end at about the same time


def __dir__() -> list[str]:
    """Return the public names, for `dir`, `help` and completion."""
    return [*__all__]


def links(
    spark: SparkSession,
    paths: str | Sequence[str],
    *,
    columns: Sequence[str] = COLUMNS,
    failures: bool = False,
    **options: Unpack[ClusterOptions],
) -> DataFrame:
    """Return the links of files, folders and archives: the columns of the inventory, rows in no order.

    The inputs are found now, and read when Spark computes the rows, in which passwords in URLs are masked. A failed
    input is in the logs of its executor; with `failures` also in a row with nothing but the last column, `failure`,
    which is null in the others. The options are url, media_type, charset and the choices of `absolve.links`. Raise
    UsageError or TypeError for an unknown one.

    For example, `links(spark, "s3://crawl/*.warc.gz").groupBy("scope").count()`.
    """
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise UsageError(f"there is no column {unknown[0]!r}: choose from {', '.join(COLUMNS)}")
    reading = _reading(options)
    how = ListOptions(reading, tuple(columns), "parquet", cells=Cells(masked=True))  # in chunks that are Arrow batches
    reported: list[Diagnostic] = []
    found = list(_inputs_of(_checked(paths), options.get("url"), reported))
    plain = [pa.field(field.name, _without_dictionaries(field.type)) for field in parquet.schema(columns)]
    schema = pa.schema([*plain, _OF_LINKS] if failures else plain)
    return _as_tasks(spark, [*reported, *found]).mapInArrow(partial(_listed, how, schema), from_arrow_schema(schema))


def rewrite(
    spark: SparkSession,
    paths: str | Sequence[str],
    output: str,
    *,
    policy: Policy = absolute,
    verify: bool = False,
    **options: Unpack[ClusterOptions],
) -> list[Row]:
    """Rewrite files, folders and archives into a folder, and return a row for each failure.

    `output` is a folder on a disk that all machines share, or the URL of a folder in a store. Each file is complete, or
    the old one. `policy` must be picklable; the options are the same as for `links`. Raise UsageError or TypeError for
    an unknown one, and if an output would be an input.
    """
    names = _checked(paths)
    (output,) = _checked(output.rstrip("/") + "/")  # a folder, also for a single input
    plan.check(names, output)
    sends = buckets.is_bucket(output)
    inside = None if sends else OutputFolder.at_path(output)
    how = RewriteOptions(_reading(options), policy, verify, inside=inside, token=leftovers.token(), sends=sends)
    reported: list[Diagnostic] = []
    jobs = plan.jobs(_inputs_of(names, options.get("url"), reported), output, reported.append)
    with Publisher(how.token, inside=inside) as publisher:  # removes the temporary files of executors that ended
        items: list[Item] = list(jobs if sends else publisher.watched(jobs))
        tasks = _as_tasks(spark, [*(one for one in reported if one.failed), *items])
        found: list[Row] = tasks.mapInArrow(partial(_rewritten, how), from_arrow_schema(_FAILURE)).collect()
    return found


# --- on the driver ----------------------------------------------------------------------------------------------------


def _checked(paths: str | Sequence[str]) -> list[str]:
    """Return names. Raise UsageError for one that executors cannot read or write."""
    names = [paths] if isinstance(paths, str) else list(paths)
    for name in names:
        if name == STDIN or ("://" in name and (buckets.is_web(name) or not buckets.is_bucket(name))):
            known = ", ".join(buckets.SCHEMES)
            raise UsageError(f"{in_short(name)} is no path, and no URL of a store ({known}) for a cluster")
    return names


def _reading(options: ClusterOptions) -> ReadOptions:
    arguments.check_options(options, {*CHOICES, "media_type", "charset", "url"}, "absolve.spark")
    chosen = {name: value for name, value in options.items() if name in CHOICES}
    settings = Settings(**arguments.choices_of(chosen, CHOICES)).checked()
    return ReadOptions(settings, options.get("media_type"), options.get("charset"))


def _inputs_of(names: Sequence[str], url: str | None, reported: list[Diagnostic]) -> Iterator[Input]:
    return inputs.named(names, inputs.Origins(url, source="url="), Globs(), reported.append)


def _as_tasks(spark: SparkSession, items: Sequence[Item]) -> DataFrame:
    """Return a DataFrame with a row for each task, in a partition of its own: names are relative to this folder."""
    most = min(_MOST_BYTES, sum(map(_size, items)) // (_TURNS * spark.sparkContext.defaultParallelism) + 1)
    rows = [(bytearray(pickle.dumps((str(Path.cwd()), group))),) for group in _groups(items, most)]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, len(rows) or 1), "task binary")


def _groups(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    group: list[Item] = []
    held = 0
    for item in items:
        group.append(item)
        held += _size(item)
        if held >= most or len(group) == _MOST:
            yield group
            group, held = [], 0
    if group:
        yield group


def _size(item: Item) -> int:
    if isinstance(item, Diagnostic):
        return 0
    input_ = item.input if isinstance(item, Job) else item
    return input_.size if input_.stored is not None or not buckets.is_bucket(input_.name) else _MOST_BYTES


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    """Return a type of the inventory for Spark, which supports no dictionaries."""
    return pa.string() if kind == parquet.DICTIONARY else kind


# --- on the executors -------------------------------------------------------------------------------------------------


def _listed(how: ListOptions, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the links of each task, and its failures as rows without other values, if the schema has them."""
    failed: list[dict[str, Any]] = []
    chunks = _chunks(how, batches, failed)
    for table in parquet.gathered(chunks, parquet.schema(how.columns), AT_ONCE):
        cells = [column.cast(_without_dictionaries(column.type)) for column in table.columns]
        yield from _batches(cells, schema, table.num_rows)
    if failed and _OF_LINKS.name in schema.names:
        empty = [pa.nulls(len(failed), kind) for kind in schema.types[:-1]]
        yield from _batches([*empty, pa.array(failed, _OF_LINKS.type)], schema, len(failed))


def _batches(cells: list[Any], schema: pa.Schema, rows: int) -> list[pa.RecordBatch]:
    cells += [pa.nulls(rows, kind) for kind in schema.types[len(cells) :]]
    return pa.Table.from_arrays(cells, schema=schema).combine_chunks().to_batches()  # type: ignore[no-any-return]


def _chunks(how: ListOptions, batches: Iterable[pa.RecordBatch], failed: list[dict[str, Any]]) -> Iterator[Any]:
    for item in _items(batches):
        for piece in [item] if isinstance(item, Diagnostic) else listed(how, item):
            if isinstance(piece, RowChunk):
                yield piece.chunk
            else:
                failed += _failed(item, piece)


def _rewritten(how: RewriteOptions, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rewrite the input of each job, and put its file in its place; yield the failures."""
    for item in _items(batches):
        with leftovers.temporary_folder() if how.sends else nullcontext() as folder:
            here = how if folder is None else how._replace(inside=OutputFolder.at_path(folder))
            pieces = [item] if isinstance(item, Diagnostic) else guarded(item.input.name, _settled(here, item))
            if failed := [row for piece in pieces for row in _failed(item, piece)]:
                yield pa.RecordBatch.from_pylist(failed, _FAILURE)


def _settled(how: RewriteOptions, job: Job) -> Iterator[Any]:
    """Yield the results of a job, and put its file in its place. Raise DocumentError if that fails."""
    for piece in rewritten(how, job):
        if isinstance(piece, FilesReady):
            settle(piece, job.target or job.input.name)
        else:
            yield piece


def _items(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """Yield the items of tasks, in the working folder of the driver where it is one here, too."""
    for packed in (cell.as_py() for batch in batches for cell in batch.column(0)):
        folder, group = pickle.loads(packed)  # noqa: S301 - from the driver of this program
        with chdir(folder) if Path(folder).is_dir() else nullcontext():
            yield from group


def _failed(item: Item, piece: Any) -> Iterator[dict[str, Any]]:
    """Yield the row of a failure, which is printed to the log of the executor; nothing for other results."""
    found = piece.diagnostic if isinstance(piece, Failure) else piece
    if isinstance(piece, Failure) or (isinstance(found, Diagnostic) and found.failed):
        sys.stderr.write(f"absolve: {found}\n")
        about = item.input.name if isinstance(item, Job) else item.name
        row = {"input": about, **found._asdict()}
        yield {name: shown(row[name]) if isinstance(row[name], str) else row[name] for name in _FAILURE.names}
