"""Spark tasks: group inputs, and process each group on an executor with the local task functions.

In: inputs or jobs, and a function. Out: the results of the function, in order of the groups.
"""

from __future__ import annotations

import pickle
from contextlib import chdir, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import Diagnostic
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


# --- on the driver ----------------------------------------------------------------------------------------------------


def cut_up(spark: SparkSession, found: Iterable[Input], how: ReadOptions) -> list[Input]:
    """Return the inputs, with large archives split into ranges; the executors read them to find the limits."""
    whole = list(found)
    if not any(_size(input_) > RANGE for input_ in whole):
        return whole
    return [input_ for group in run(spark, whole, partial(_cut, how, RANGE)) for input_ in group]


def run(spark: SparkSession, tasks: Sequence[Task], work: Callable[[int, Iterator[Any]], Any]) -> list[Any]:
    """Return the result of `work` for each group of tasks, called with its number, in order."""
    return spread(spark, tasks).mapPartitionsWithIndex(partial(_run, work)).collect()  # type: ignore[no-any-return]


def spread(spark: SparkSession, tasks: Sequence[Task]) -> RDD:
    """Return an RDD with a row for each group of tasks, in a partition of its own; at least one, perhaps empty."""
    context = spark.sparkContext
    total = sum(map(_size, tasks))
    groups = list(_groups(tasks, min(RANGE, total // (4 * context.defaultParallelism) + 1))) or [[]]
    folder = str(Path.cwd())
    return context.parallelize([(bytearray(pickle.dumps((folder, group))),) for group in groups], len(groups))


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
    return (task.input if isinstance(task, Job) else task).size


# --- on the executors -------------------------------------------------------------------------------------------------


def unpacked(groups: Iterable[bytes | bytearray]) -> Iterator[Any]:
    """Yield the tasks of groups, in the working directory of the driver, because names are relative to it."""
    for packed in groups:
        folder, group = pickle.loads(packed)  # noqa: S301 - from the driver of this program
        with chdir(folder) if Path(folder).is_dir() else nullcontext():
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


def _run(work: Callable[[int, Iterator[Any]], Any], number: int, partition: Iterable[Any]) -> Iterator[Any]:
    yield work(number, unpacked(packed for (packed,) in partition))


def _cut(how: ReadOptions, size: int, _: int, tasks: Iterator[Input]) -> list[Input]:
    return [part for input_ in tasks for part in cut(input_, how, size)]
