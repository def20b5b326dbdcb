"""Run the inventory and rewrites on Apache Spark, with the same task functions as on one machine.

In: paths or URLs of files, folders and archives, and options. Out: DataFrames, or a folder of files.
URLs are those of a store (s3://bucket/crawl/*.warc.gz); paths are on a file system that the driver and all executors
share. absolve must be installed on all of them.
"""

from __future__ import annotations

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from absolve.core import arguments
from absolve.core.errors import Diagnostic, DocumentError, MissingPackageError, UsageError
from absolve.document.settings import CHOICES, Settings
from absolve.rewriting.policy import absolute
from absolve.run import buckets, inputs, leftovers, plan
from absolve.run.filters import Selection, only
from absolve.run.globs import Globs
from absolve.run.links_task import DOCUMENTS, LINKS, ListOptions, columns_of, every_column
from absolve.run.load import ReadOptions
from absolve.run.output_folder import OutputFolder
from absolve.run.plan import RewriteOptions
from absolve.run.publish import Publisher
from absolve.run.sources import STDIN
from absolve.tables import FORMATS, name_of

try:
    from absolve.spark import frames, parts, ranges, tasks
    from absolve.spark.frames import Tables
    from absolve.spark.sessions import session
except ImportError as error:
    raise MissingPackageError("this needs pyspark and Java: pip install 'absolve[spark]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Unpack

    from pyspark.sql import DataFrame, SparkSession

    from absolve.core.options import ClusterOptions, RewritingOptions
    from absolve.rewriting.policy import Policy
    from absolve.run.inputs import Input
    from absolve.run.plan import Job
    from absolve.spark.tasks import NamedDiagnostic

__all__ = ["Tables", "documents", "links", "rewrite", "session", "tables", "write", "written"]


def links(spark: SparkSession, paths: str | Sequence[str], **options: Unpack[ClusterOptions]) -> DataFrame:
    """Return the links of files, folders and archives: the columns of the inventory, rows in no order.

    The options are those of `tables`.
    """
    return tables(spark, paths, **options).links


def documents(spark: SparkSession, paths: str | Sequence[str], **options: Unpack[ClusterOptions]) -> DataFrame:
    """Return the documents in files, folders and archives: the columns of `absolve.documents`, rows in no order.

    It takes the options of `tables`, but for kind, scope and problem; columns are about documents.
    """
    _configure(spark)
    found, how = _listing(paths, "parquet", {**options}, [], DOCUMENTS)
    return frames.tables(spark, tasks.cut_up(spark, found, how.reading), how).links


def tables(spark: SparkSession, paths: str | Sequence[str], **options: Unpack[ClusterOptions]) -> Tables:
    """Return the links of files, folders and archives, and the errors.

    The options are those of `absolve links`, by the same names: columns, url, url_map (a file),
    mirror_layout, include and exclude (globs), kind, scope and problem (words), media_type, charset, file_urls, and all
    of `absolve.links`. Raise UsageError or TypeError for an unknown option.
    """
    reported: list[Diagnostic] = []
    _configure(spark)
    found, how = _listing(paths, "parquet", {**options}, reported)  # its encoded rows are Arrow batches
    made = frames.tables(spark, tasks.cut_up(spark, found, how.reading), how)
    failed = [(one.name, one) for one in reported if one.failed]
    return made._replace(errors=made.errors.union(frames.errors(spark, failed))) if failed else made


def write(
    spark: SparkSession,
    paths: str | Sequence[str],
    output: str,
    *,
    resume: bool = False,
    **options: Unpack[ClusterOptions],
) -> DataFrame:
    """List into a new folder and return the errors as rows. The tasks write the files, which is the fastest way.

    `output` is a folder that all executors can access, or the URL of one in a store, as for `rewrite`. It gets a file
    of rows for each task, in the order of the inputs, in the format of its suffix, by default Parquet. It is created
    complete (with `_SUCCESS`), or, with what is done, for `resume` to go on with, where nothing is done twice. The
    options are those of `tables`. Raise UsageError, too, where it exists already, or is of other inputs or options.
    """
    _configure(spark)
    format_ = name_of(output) if PurePath(output).suffix else "parquet"
    reported: list[Diagnostic] = []
    found, how = _listing(paths, format_, {**options}, reported)
    found_by_tasks = list(written(spark, found, how, output, resume=resume))
    return frames.errors(spark, [*found_by_tasks, *((one.name, one) for one in reported)])


def written(
    spark: SparkSession, found: Iterable[Input], how: ListOptions, output: str, *, resume: bool = False
) -> Iterator[NamedDiagnostic]:
    """List inputs that are found already into a new folder, and yield their diagnostics; for the command line.

    The folder is complete when the iterator is exhausted. `resume`: see `write`.
    """
    if not FORMATS[how.format].cluster:
        raise UsageError(f"{how.format} is no format for a folder of files")
    store = _store(spark, output)
    with parts.begun(store, resume=resume):
        groups = parts.planned(store, list(found), how, partial(_grouped, spark, how.reading))
        planned = [parts.Part.of(number, how.format) for number in range(len(groups))]
        done = {part.name: part for part in parts.done(store, planned)}
        left = [(part, group) for part, group in zip(planned, groups, strict=True) if part.name not in done]
        done |= {part.name: part for part in tasks.run(spark, left, partial(parts.write, how, store))}
        made = [done[part.name] for part in planned]
        yield from parts.diagnostics(store, made)
        parts.put(store, made)


def rewrite(
    spark: SparkSession,
    paths: str | Sequence[str],
    output: str,
    *,
    policy: Policy = absolute,
    verify: bool = False,
    resume: bool = False,
    **options: Unpack[RewritingOptions],
) -> DataFrame:
    """Rewrite files, folders and archives into an output folder, and return the errors as rows.

    `output` is a folder that all executors can access, or the URL of one in a store (for S3 the cluster's settings of
    fs.s3a count). Each file is written complete or not at all. In a store large archives are rewritten in ranges, and a
    job that was stopped goes on with `resume`: what is done is seen by the names and sizes of files. `policy` must be
    picklable; the options are those of `absolve rewrite`, named as in `tables`. Raise UsageError or TypeError for an
    unknown option, where an output would be an input, and for `resume` without a store.
    """
    _configure(spark)
    output = output.rstrip("/") + "/"  # a folder, also for a single input
    if resume and not buckets.is_url(output):
        raise UsageError("resume needs the URL of a store as output (file:///folder for a disk)")
    plan.check(_names(paths), output)
    reported: list[Diagnostic] = []
    given: dict[str, Any] = {**options}
    found = _found(paths, given, reported)
    selection = _selection(given)
    how = RewriteOptions(
        _reading(given),
        only(selection, policy) if any(selection) else policy,
        verify=verify,
        inside=None if buckets.is_url(output) else OutputFolder.of(output),
        token=leftovers.token(),
    )
    jobs = plan.jobs(found, output, reported.append)
    if buckets.is_url(output):
        found_by_tasks = list(ranges.rewritten(spark, how, list(jobs), _store(spark, output), resume=resume))
    else:
        with Publisher(how.token, inside=how.inside) as putting:
            groups = tasks.numbered(tasks.grouped(spark, list(putting.watched(jobs))))
            found_by_tasks = [one for group in tasks.run(spark, groups, partial(_rewritten, how)) for one in group]
    return frames.errors(spark, [*found_by_tasks, *((one.name, one) for one in reported)])


# --- on the driver ----------------------------------------------------------------------------------------------------


def _listing(
    paths: str | Sequence[str], format_: str, options: dict[str, Any], reported: list[Diagnostic], table: str = LINKS
) -> tuple[Iterator[Input], ListOptions]:
    """Return the inputs and the options of listing. Raise UsageError or TypeError for unknown options."""
    known = every_column(table)
    columns = tuple(options.pop("columns", columns_of(table)))
    for name in columns:
        if name not in known:
            raise UsageError(f"there is no column {name!r}: choose from {', '.join(known)}")
    found = _found(paths, options, reported)
    selection = _selection(options) if table == LINKS else Selection()
    return found, ListOptions(_reading(options), columns, format_, selection, table=table)


def _names(paths: str | Sequence[str]) -> list[str]:
    names = [paths] if isinstance(paths, str) else list(paths)
    if STDIN in names:
        raise UsageError("the standard input (-) cannot go to a cluster")
    return names


def _found(paths: str | Sequence[str], options: dict[str, Any], reported: list[Diagnostic]) -> Iterator[Input]:
    """Yield all inputs, by the options for their selection and origin, which are removed from `options`."""
    url_map = options.pop("url_map", None)
    try:
        by_path = inputs.read_url_map(url_map).urls if url_map is not None else {}
    except DocumentError as error:
        raise UsageError(error.message) from error
    origins = inputs.Origins(options.pop("url", None), by_path, options.pop("mirror_layout", False))
    globs = Globs(tuple(options.pop("include", ())), tuple(options.pop("exclude", ()))).checked()
    return inputs.named(_names(paths), origins, globs, reported.append)


def _selection(options: dict[str, Any]) -> Selection:
    return Selection(*(frozenset(options.pop(name, ())) for name in ("kind", "scope", "problem"))).checked()


def _reading(options: dict[str, Any]) -> ReadOptions:
    """Return the options of reading. Raise TypeError for unknown options."""
    arguments.check_options(options, {*CHOICES, "media_type", "charset", "file_urls"}, "absolve.spark")
    chosen = {name: options.pop(name) for name in CHOICES if name in options}
    return ReadOptions(Settings(**arguments.choices_of(chosen, CHOICES)).checked(), **options)


def _grouped(spark: SparkSession, how: ReadOptions, found: Sequence[Input]) -> list[list[Input]]:
    return tasks.grouped(spark, tasks.cut_up(spark, found, how))


def _configure(spark: SparkSession) -> None:
    """Use the cluster's settings of stores for inputs, too."""
    buckets.configure(spark.sparkContext._jsc.hadoopConfiguration().get)  # noqa: SLF001 - no other way


def _store(spark: SparkSession, output: str) -> buckets.Store:
    return buckets.of(output, spark.sparkContext._jsc.hadoopConfiguration().get)  # noqa: SLF001 - no other way


# --- on the executors -------------------------------------------------------------------------------------------------


def _rewritten(how: RewriteOptions, _: int, jobs: Iterator[Job]) -> list[NamedDiagnostic]:
    """Rewrite the input of each job and rename the output into place; return the diagnostics."""
    putting = Publisher(how.token, inside=how.inside)
    return [found for job in jobs for found in ranges.worked(how, job, putting.put)]
