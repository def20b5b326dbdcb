"""Rewrite files into a store, large archives in ranges, by a job that goes on where it was stopped.

In: jobs and a store. Out: files below its folder, and the diagnostics of their inputs.
A range of an archive is rewritten into a part of its own in `_temporary`; when all are there, one task puts them
together. Each task writes what it has made last: the names and sizes of its files, with the diagnostics.
"""

from __future__ import annotations

import json
import os
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark import cloudpickle

from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.run import outputs
from absolve.run.inputs import WHOLE
from absolve.run.output_folder import OutputFolder
from absolve.run.results import Failure, FilesReady
from absolve.run.rewrite_task import rewritten as rewritten_locally
from absolve.spark import parts, tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from absolve.run.buckets import Store
    from absolve.run.inputs import Input
    from absolve.run.plan import Job, RewriteOptions
    from absolve.spark.tasks import NamedDiagnostic

_PLACE: Final = "file"  # of a file in a temporary folder: a key of a store need not be a path


class Record(NamedTuple):
    """What a task has made: the paths of files and their sizes; and the diagnostics, packed."""

    files: tuple[tuple[str, int], ...]
    diagnostics: str


# --- on the driver ----------------------------------------------------------------------------------------------------


def rewritten(
    spark: SparkSession, how: RewriteOptions, jobs: Sequence[Job], store: Store, *, resume: bool
) -> Iterator[NamedDiagnostic]:
    """Rewrite the inputs of jobs to their places in a store, and yield the diagnostics.

    Raise UsageError if `resume` finds what was begun with other inputs or options.
    """
    try:
        if parts.has_plan(store) and not resume:
            store.remove(parts.TEMPORARY)
        store.make(parts.TEMPORARY)
    except OSError as error:
        raise UsageError(f"{store.url}: unwritable: {error.strerror or error}") from error
    by_name = {job.input.name: job for job in jobs}
    found = [job.input for job in by_name.values()]
    cut = partial(_cut, spark, how)
    groups = [
        [by_name[one.name]._replace(input=one) for one in group]
        for group in parts.planned(store, found, (how.reading, cloudpickle.dumps(how.policy), how.verify), cut)
    ]
    yield from _run(spark, store, "rewritten", groups, partial(_sent, how, store))
    yield from _run(spark, store, "whole", [[*ranges] for ranges in _ranges(groups)], partial(_joined, store))
    store.remove(parts.TEMPORARY)


def _cut(spark: SparkSession, how: RewriteOptions, found: Sequence[Input]) -> list[list[Input]]:
    return tasks.grouped(spark, tasks.cut_up(spark, found, how.reading))


def _ranges(groups: Iterable[list[Job]]) -> Iterator[list[Job]]:
    """Yield the ranges of each archive that was cut."""
    cut = (job for group in groups for job in group if job.input.within != WHOLE)
    for _, ranges in groupby(cut, lambda job: job.input.name):
        yield list(ranges)


def _run(
    spark: SparkSession, store: Store, step: str, groups: Sequence[list[Any]], work: Callable[..., None]
) -> Iterator[NamedDiagnostic]:
    """Do the groups of a step that are not done, and yield the diagnostics of all."""
    names = [f"{parts.TEMPORARY}/{step}-{number:05}.json" for number in range(len(groups))]
    there = store.sizes(parts.TEMPORARY)
    begun = [name for name in names if name.rpartition("/")[2] in there]
    known = {name: Record(*json.loads(data)) for name, data in zip(begun, store.each(begun, store.read), strict=True)}
    places = [place for record in known.values() for place, _ in record.files]
    sizes = dict(zip(places, store.each(places, store.size), strict=True))
    done = {name for name in known if all(sizes[place] == size for place, size in known[name].files)}
    left = [(name, group) for name, group in zip(names, groups, strict=True) if name not in done]
    tasks.run(spark, left, work)
    for data in store.each(names, store.read):
        yield from parts.unpacked(Record(*json.loads(data)).diagnostics.encode())


# --- on the executors -------------------------------------------------------------------------------------------------


def _part(job: Job) -> str:
    """Return the path of what a job makes: of a range of an archive, a part."""
    place, within = job.input.place, job.input.within
    return place if within == WHOLE else f"{parts.TEMPORARY}/ranges/{place}.{within.start:015}"


def _sent(how: RewriteOptions, store: Store, record: str, jobs: Iterator[Job]) -> None:
    """Rewrite the input of each job into a local temporary folder and upload it; then write the record."""
    sizes: list[tuple[str, int]] = []

    def send(job: Job, ready: FilesReady) -> None:
        for made in ready.made:
            outputs.put(made)
            try:
                size = os.stat(made.target).st_size  # noqa: PTH116 - a text
                store.put(made.target, _part(job))
            except OSError as error:
                text = error.strerror or str(error)
                raise DocumentError(Diagnostic("unwritable", text, f"{store.url}/{_part(job)}")) from error
            sizes.append((_part(job), size))

    reported: list[NamedDiagnostic] = []
    for job in jobs:
        with TemporaryDirectory(prefix="absolve-") as folder:
            here = job._replace(target=f"{folder}/{_PLACE}", input=job.input._replace(place=_PLACE))
            inside = how._replace(inside=OutputFolder.of(folder))
            reported += worked(inside, here, lambda _, ready, job=job: send(job, ready))  # type: ignore[misc]
    _keep(store, record, sizes, reported)


def _joined(store: Store, record: str, ranges: Iterator[Job]) -> None:
    """Put the ranges of an archive together; if one is missing, the archive is not written."""
    jobs = list(ranges)
    reported: list[NamedDiagnostic] = []
    sizes: list[tuple[str, int]] = []
    place = jobs[0].input.place
    try:
        with TemporaryDirectory(prefix="absolve-") as folder:
            path = Path(folder, _PLACE)
            with path.open("wb") as file:
                for job in jobs:
                    store.copy(_part(job), file)
            store.put(path, place)
            sizes.append((place, path.stat().st_size))
    except OSError as error:
        text = f"not put together: {error.strerror or error}"
        reported.append((jobs[0].input.name, Failure(Diagnostic("unwritable", text, f"{store.url}/{place}"))))
    _keep(store, record, sizes, reported)


def _keep(
    store: Store, record: str, sizes: Iterable[tuple[str, int]], reported: Iterable[NamedDiagnostic]
) -> None:
    store.write(record, json.dumps(Record(tuple(sizes), parts.packed(reported).decode())).encode())


def worked(how: RewriteOptions, job: Job, put: Callable[[Job, FilesReady], None]) -> Iterator[NamedDiagnostic]:
    """Rewrite the input of a job; yield the diagnostics, and let `put` have the files."""
    for piece in rewritten_locally(how, job):
        if isinstance(piece, Failure) or (isinstance(piece, Diagnostic) and piece.failed):
            yield job.input.name, piece
        elif isinstance(piece, FilesReady):
            try:
                put(job, piece)
            except DocumentError as error:
                yield job.input.name, Failure(error.diagnostic)
