"""Apache Spark: the inventory as a DataFrame, and rewrites, by the tasks of the local engine on many machines.

Paths are those of a file system that the driver and all executors see; absolve is installed where they run.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
from contextlib import chdir, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve import arrow, inputs, inventory, outputs, rewriting, stores
from absolve.engine import plan
from absolve.engine.archives import cut
from absolve.engine.documents import Reading
from absolve.engine.listing import AT_ONCE, Listing, listed
from absolve.engine.pieces import Failure, Ready, Rows
from absolve.engine.putting import Putting
from absolve.engine.rewriting import Job, Rewriting, rewritten
from absolve.errors import Diagnostic, DocumentError, UsageError
from absolve.globs import Globs
from absolve.ruled import shown
from absolve.selecting import Selection, only
from absolve.settings import Settings
from absolve.sources import STDIN

try:
    import pyarrow as pa
    from py4j.protocol import Py4JError
    from pyspark import StorageLevel
    from pyspark.errors import AnalysisException, PySparkException
    from pyspark.sql import SparkSession, functions
    from pyspark.sql.pandas.types import from_arrow_schema
except ImportError as error:
    raise UsageError("this needs pyspark and Java: pip install 'absolve[spark]'") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame

    from absolve.inputs import Input
    from absolve.rewriting import Policy

RANGE: Final = 64 << 20  # bytes of an archive that are listed apart
GROUP: Final = 16 << 20  # bytes of inputs that are worth a task of Spark's
MOST: Final = 1000  # inputs in one

ERRORS: Final = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("input", "name")),
        *(pa.field(name, pa.int64()) for name in ("line", "column")),
        *(pa.field(name, pa.string()) for name in ("code", "text")),
    ]
)
_FAILURE: Final = pa.field("failure", pa.struct(list(ERRORS)))  # the last column where rows and failures are together


class Tables(NamedTuple):
    """What a listing comes to: the links, and a row for whatever failed, as `--errors` has it.

    Both are taken from `all`, which is worked out anew for each of them unless it is `kept`.
    """

    links: DataFrame
    errors: DataFrame
    all: DataFrame

    def kept(self) -> Tables:
        """These tables; the first of them that is read is written to the executors' disks, with the other."""
        self.all.persist(StorageLevel.DISK_ONLY)
        return self


def links(spark: SparkSession, paths: str | Sequence[str], **options: Any) -> DataFrame:
    """The links of files, folders and archives, with the columns of the inventory in no order; options of `tables`."""
    return tables(spark, paths, **options).links


def tables(
    spark: SparkSession,
    paths: str | Sequence[str],
    *,
    columns: Sequence[str] = inventory.COLUMNS,
    where: str | None = None,
    unique: bool = False,
    **options: Any,
) -> Tables:
    """The links of files, folders and archives, and what failed.

    The options are those of `absolve links`, by the same names: url, url_map (a file), mirror_layout, include and
    exclude (globs), kind, scope and problem (words), media_type, charset, file_urls, and all that `absolve.links` has.
    `where` wants DuckDB on the executors. UsageError or TypeError for an option that is none.
    """
    for name in columns:
        if name not in inventory.COLUMNS:
            raise UsageError(f"there is no column {name!r}: choose from {', '.join(inventory.COLUMNS)}")
    if where is not None:
        from absolve.engine import conditions  # and with it DuckDB: few want it

        conditions.check(where)
    said: list[Diagnostic] = []
    found = _found(paths, options, said)
    selection = _selection(options)
    made = listing(spark, found, Listing(_reading(options), tuple(columns), _FORMAT, selection, where, unique))
    failed = [_failure(one.name, one) for one in said if one.failed]
    return made._replace(errors=made.errors.union(_errors(spark, failed))) if failed else made


def listing(spark: SparkSession, found: Iterable[Input], how: Listing) -> Tables:
    """The same for inputs that are found already, as the command line has them."""
    unique = how.unique
    how = how._replace(format=_FORMAT, unique=False)
    whole = list(found)
    if any(_size(input_) > RANGE for input_ in whole):  # they are read for that where they will be worked on
        told = _spread(spark, whole).mapInArrow(partial(_cut, how.reading, RANGE), "task binary").collect()
        whole = [pickle.loads(row.task) for row in told]  # noqa: S301 - of our own processes
    both = _spread(spark, whole).mapInArrow(partial(_listed, how), from_arrow_schema(_both(how.columns)))
    failed = functions.col(_FAILURE.name)
    rows = both.where(failed.isNull()).drop(_FAILURE.name)
    errors = both.where(failed.isNotNull()).select(f"{_FAILURE.name}.*")
    return Tables(rows.distinct() if unique else rows, errors, both)


def rewrite(
    spark: SparkSession,
    paths: str | Sequence[str],
    output: str,
    *,
    policy: Policy = rewriting.absolute,
    verify: bool = False,
    **options: Any,
) -> DataFrame:
    """Rewrite files, folders and archives into an output folder; when it returns that is done, and errors are rows.

    `output` is a folder that all executors see, or the URL of one in a store (s3a://, gs://, abfs://, hdfs://), which
    Arrow writes (for S3 with the cluster's fs.s3a settings). Each file stands there complete or not at all. `policy`
    must be one that pickle can take to another process; the options are those of `absolve rewrite`, as `tables` has
    them. UsageError or TypeError for an option that is none, and where an output would be an input.
    """
    output = output.rstrip("/") + "/"  # a folder, also for a single input
    if not stores.is_url(output):
        plan.check(_names(paths), output)
    said: list[Diagnostic] = []
    found = _found(paths, options, said)
    selection = _selection(options)
    how = Rewriting(
        _reading(options),
        only(selection, policy) if any(selection) else policy,
        verify=verify,
        inside=str(Path(output).resolve()),
        token=os.urandom(4).hex(),
    )
    with Putting(how.token) as putting:
        jobs = plan.jobs(found, output, said.append)
        if stores.is_url(output):
            store = stores.of(output, spark.sparkContext._jsc.hadoopConfiguration().get)  # noqa: SLF001 - no other way
            work = partial(_sent, how, store)
        else:
            jobs, work = putting.watched(jobs), partial(_rewritten, how)
        schema = from_arrow_schema(pa.schema([_FAILURE]))
        told = _spread(spark, list(jobs)).mapInArrow(work, schema).collect()
    failed = [row[0].asDict() for row in told]
    return _errors(spark, failed + [_failure(one.name, one) for one in said if one.failed])


@contextmanager
def session(name: str, master: str | None = None) -> Iterator[SparkSession]:
    """Spark for a program, whose executors run this Python where nothing else is said; it is stopped at the end.

    UsageError where Spark does not start, and where its executors cannot work, while this lasts.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    try:
        spark = (builder.master(master) if master is not None else builder).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()
    except (Py4JError, PySparkException) as error:
        raise UsageError(_in_words(error)) from error


def _in_words(error: Exception) -> str:
    """What is wrong with a cluster, of all that Spark says of it."""
    text = str(error)
    if "JAVA_GATEWAY_EXITED" in text:
        home = os.environ.get("JAVA_HOME")
        why = "what it says stands above" if shutil.which("java", path=home and f"{home}/bin") else "there is no Java"
        return f"Spark does not start: {why}; it needs Java 17 or newer (Debian: apt-get install default-jre-headless)"
    if lacking := re.search(r"ModuleNotFoundError: (No module named '[^']+')", text):
        return (
            f"the executors cannot work: {lacking[1]} in their Python, which PYSPARK_PYTHON names:"
            " pip install 'absolve[spark]' there, too"
        )
    found = re.search(r"^: [\w.$]+: (.+)", text, re.MULTILINE)  # Java's exception, as py4j has it
    return f"Spark: {found[1] if found else text.partition(chr(10))[0]}"


def save(rows: DataFrame, path: str, format_: str) -> None:
    """Let Spark write rows to a folder that is not there yet; UsageError where it cannot be there."""
    try:
        rows.write.option("ignoreNullFields", "false").save(path, format_, "error")
    except AnalysisException as error:
        raise UsageError(str(error).partition("\n")[0]) from error


# --- on the driver ----------------------------------------------------------------------------------------------------

_FORMAT: Final = "parquet"  # its rows are Arrow's


def _names(paths: str | Sequence[str]) -> list[str]:
    names = [paths] if isinstance(paths, str) else list(paths)
    if STDIN in names:
        raise UsageError("the standard input (-) cannot go to a cluster")
    return names


def _found(paths: str | Sequence[str], options: dict[str, Any], said: list[Diagnostic]) -> Iterator[Input]:
    """All inputs, by the options that say which they are and where they came from, which are taken out."""
    url_map = options.pop("url_map", None)
    try:
        by_path = inputs.read_url_map(url_map) if url_map is not None else {}
    except DocumentError as error:
        raise UsageError(str(error)) from error
    origins = inputs.Origins(options.pop("url", None), by_path, options.pop("mirror_layout", False))
    globs = Globs(*(tuple(options.pop(name, ())) for name in ("include", "exclude"))).checked()
    return inputs.named(_names(paths), origins, globs, said.append)


def _selection(options: dict[str, Any]) -> Selection:
    return Selection(*(frozenset(options.pop(name, ())) for name in ("kind", "scope", "problem"))).checked()


def _reading(options: dict[str, Any]) -> Reading:
    """How inputs are read; what is left of the options is none."""
    settings = Settings(**{name: options.pop(name) for name in Settings._fields if name in options}).checked()
    return Reading(settings, **options)


def _spread(spark: SparkSession, tasks: Sequence[Input | Job]) -> DataFrame:
    """The tasks, in a column of groups of them, each in a partition of its own."""
    context = spark.sparkContext
    total = sum(map(_size, tasks))
    groups = list(_groups(tasks, min(GROUP, total // (4 * context.defaultParallelism) + 1)))
    folder = str(Path.cwd())
    rows = context.parallelize([(bytearray(pickle.dumps((folder, group))),) for group in groups], max(len(groups), 1))
    return spark.createDataFrame(rows, "tasks binary")


def _groups(tasks: Iterable[Input | Job], size: int) -> Iterator[list[Input | Job]]:
    group: list[Input | Job] = []
    held = 0
    for task in tasks:
        group.append(task)
        held += _size(task)
        if held >= size or len(group) == MOST:
            yield group
            group, held = [], 0
    if group:
        yield group


def _size(task: Input | Job) -> int:
    input_ = task.input if isinstance(task, Job) else task
    try:
        size = Path(input_.name).stat().st_size
    except (OSError, ValueError):
        return 0
    return min(input_.within.end, size) - input_.within.start


def _errors(spark: SparkSession, failures: list[dict[str, Any]]) -> DataFrame:
    rows = [tuple(failure[name] for name in ERRORS.names) for failure in failures]
    return spark.createDataFrame(rows, from_arrow_schema(ERRORS))


# --- on the executors -------------------------------------------------------------------------------------------------


def _tasks(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """The tasks of groups, each worked on in the folder that the driver is in: names are relative to it."""
    for batch in batches:
        for packed in batch.column(0):
            folder, group = pickle.loads(packed.as_py())  # noqa: S301 - of our own driver
            with chdir(folder) if Path(folder).is_dir() else nullcontext():
                yield from group


def _cut(how: Reading, size: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for input_ in _tasks(batches):
        tasks = [pickle.dumps(part) for part in cut(input_, how, size)]
        yield pa.RecordBatch.from_arrays([pa.array(tasks, pa.binary())], names=["task"])


def _listed(how: Listing, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of each task; and behind them all what failed, in rows that have nothing else."""
    failed: list[dict[str, Any]] = []
    rows = _rows(partial(listed, how), batches, failed)
    schema = _both(how.columns)
    for table in arrow.gathered(rows, arrow.schema(how.columns), AT_ONCE):
        plain = [column.cast(field.type) for column, field in zip(table.columns, schema, strict=False)]
        whole = pa.Table.from_arrays([*plain, pa.nulls(table.num_rows, _FAILURE.type)], schema=schema)
        yield from whole.combine_chunks().to_batches()
    if failed:
        empty = [pa.nulls(len(failed), field.type) for field in schema]
        yield pa.RecordBatch.from_arrays([*empty[:-1], pa.array(failed, _FAILURE.type)], schema=schema)


def _rows(
    work: Callable[[Input], Iterable[Any]], batches: Iterable[pa.RecordBatch], failed: list[dict[str, Any]]
) -> Iterator[pa.RecordBatch]:
    for input_ in _tasks(batches):
        for piece in work(input_):
            if isinstance(piece, Rows):
                yield piece.chunk
            else:
                failed += _failures(input_, piece)


def _rewritten(how: Rewriting, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rewrite each task's input and put it where it is to stand; what failed is told."""
    putting = Putting(how.token)
    for job in _tasks(batches):
        yield from _told(_worked(how, job, putting.put))


def _sent(how: Rewriting, store: stores.Store, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same, by way of a folder of this machine, into a store."""

    def send(job: Job, ready: Ready) -> None:
        for made in ready.made:
            outputs.put(made)
            try:
                store.put(Path(made.target), job.input.place)
            except (OSError, ValueError) as error:
                text = str(error).partition("\n")[0]
                raise DocumentError(Diagnostic("unwritable", text, f"{store.root}/{job.input.place}")) from error

    for job in _tasks(batches):
        with TemporaryDirectory(prefix="absolve-") as folder:
            inside = str(Path(folder).resolve())
            here = job._replace(target=f"{inside}/{job.input.place}")
            yield from _told(_worked(how._replace(inside=inside), here, send))


def _worked(how: Rewriting, job: Job, put: Callable[[Job, Ready], None]) -> Iterator[dict[str, Any]]:
    for piece in rewritten(how, job):
        yield from _failures(job.input, piece)
        if isinstance(piece, Ready):
            try:
                put(job, piece)
            except DocumentError as error:
                yield _failure(job.input.name, error.diagnostic)


def _told(failed: Iterator[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    if found := list(failed):
        yield pa.RecordBatch.from_arrays([pa.array(found, _FAILURE.type)], names=[_FAILURE.name])


def _failures(input_: Input, piece: object) -> Iterator[dict[str, Any]]:
    if isinstance(piece, Failure):
        yield _failure(input_.name, piece.diagnostic)
    elif isinstance(piece, Diagnostic) and piece.failed:
        yield _failure(input_.name, piece)


def _failure(input_: str, diagnostic: Diagnostic) -> dict[str, Any]:
    row = {"input": input_, **diagnostic._asdict()}
    return {name: shown(row[name]) if isinstance(row[name], str) else row[name] for name in ERRORS.names}


def _both(columns: Sequence[str]) -> pa.Schema:
    """The inventory's schema as Spark can have it, which knows no dictionaries, and what failed behind it."""
    kinds = [(field.name, pa.string() if field.type == arrow.WORD else field.type) for field in arrow.schema(columns)]
    return pa.schema([*(pa.field(name, kind) for name, kind in kinds), _FAILURE])
