"""Spark tasks: group inputs, and process each group on an executor with the local task functions.

In: inputs or jobs, and a function. Out: the results of the function, in order of the groups.
"""

from __future__ import annotations

import pickle
from contextlib import chdir, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import Diagnostic
from absolve.run import buckets
from absolve.run.load import cut
from absolve.run.plan import Job
from absolve.run.results import Failure, RowChunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark import RDD
    from pyspark.sql import SparkSession

    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

    Task = Input | Job
    NamedDiagnostic = tuple[str, Diagnostic | Failure]  # of an input, by its name

RANGE: Final = 64 << 20  # bytes of a range of an archive; bytes of inputs from which on a task gets no more
MOST: Final = 1000  # inputs in a task
_TURNS: Final = 4  # tasks for each core: the last ones end at about the same time


# --- on the driver ----------------------------------------------------------------------------------------------------


def cut_up(spark: SparkSession, found: Iterable[Input], how: ReadOptions) -> list[Input]:
    """Return the inputs, with large archives split into ranges, which the executors read first to find the limits.

    Where there are large archives for all cores, none is split: it would be read twice.
    """
    whole = list(found)
    large = sum(_size(input_) > RANGE for input_ in whole)
    if not 0 < large < _TURNS * spark.sparkContext.defaultParallelism:
        return whole
    groups = numbered(grouped(spark, whole))
    return [input_ for group in run(spark, groups, partial(_cut, how, RANGE)) for input_ in group]


def grouped(spark: SparkSession, tasks: Sequence[Task]) -> list[list[Any]]:
    """Return the tasks in groups, one for each task of Spark; at least one, perhaps empty."""
    total = sum(map(_size, tasks))
    most = min(RANGE, total // (_TURNS * spark.sparkContext.defaultParallelism) + 1)
    return list(_groups(tasks, most)) or [[]]


def numbered(groups: Sequence[list[Any]]) -> list[tuple[Any, list[Any]]]:
    """Return groups with their numbers as keys."""
    return list(enumerate(groups))


def run(
    spark: SparkSession, groups: Sequence[tuple[Any, list[Any]]], work: Callable[[Any, Iterator[Any]], Any]
) -> list[Any]:
    """Return the result of `work` for each group of tasks, called with its key, in order."""
    return spread(spark, groups).mapPartitions(partial(_run, work)).collect() if groups else []


def spread(spark: SparkSession, groups: Sequence[tuple[Any, list[Any]]]) -> RDD:
    """Return an RDD with a row for each group of tasks, in a partition of its own."""
    here = str(Path.cwd()), buckets.settings
    rows_ = [(bytearray(pickle.dumps((*here, *group))),) for group in groups]
    return spark.sparkContext.parallelize(rows_, len(rows_))


def _groups(tasks: Iterable[Task], size: int) -> Iterator[list[Task]]:
    group: list[Task] = []
    held = 0
    for task in tasks:
        group.append(task)
        held += _size(task)
        if held >= size or len(group) == MOST:
            yield group
            group, held = [], 0
    if group:
        yield group


def _size(task: Task) -> int:
    """Return the bytes of a task; of a file in a store whose size is not known (of a list) those of a whole task."""
    input_ = task.input if isinstance(task, Job) else task
    return input_.size if input_.stored is not None or not buckets.is_bucket(input_.name) else RANGE


# --- on the executors -------------------------------------------------------------------------------------------------


def unpacked(groups: Iterable[bytes | bytearray]) -> Iterator[Any]:
    """Yield the tasks of groups, in the working directory of the driver, because names are relative to it."""
    for packed in groups:
        yield from _unpacked(packed)[1]


def _unpacked(packed: bytes | bytearray) -> tuple[Any, Iterator[Any]]:
    """Return the key of a group, and its tasks; use the driver's settings of stores."""
    folder, settings, key, group = pickle.loads(packed)  # noqa: S301 - from the driver of this program
    buckets.settings.update(settings)
    return key, _in_folder(folder, group)


def _in_folder(folder: str, group: Iterable[Task]) -> Iterator[Task]:
    is_here = False
    with suppress(OSError):
        is_here = Path(folder).is_dir()
    with chdir(folder) if is_here else nullcontext():
        yield from group


def rows(
    work: Callable[[Input], Iterable[Any]], tasks: Iterable[Input], reported: list[NamedDiagnostic]
) -> Iterator[Any]:
    """Yield the rows of each input, encoded by the sink; append its diagnostics to `reported`."""
    for input_ in tasks:
        for piece in work(input_):
            if isinstance(piece, RowChunk):
                yield piece.chunk
            elif isinstance(piece, Diagnostic | Failure):
                reported.append((input_.name, piece))


def _run(work: Callable[[Any, Iterator[Any]], Any], partition: Iterable[Any]) -> Iterator[Any]:
    for (packed,) in partition:
        yield work(*_unpacked(packed))


def _cut(how: ReadOptions, size: int, _: int, tasks: Iterator[Input]) -> list[Input]:
    return [part for input_ in tasks for part in cut(input_, how, size)]
