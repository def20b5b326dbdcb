"""`--engine spark`: list links or documents on a Spark cluster.

Input: the inputs of `absolve links` or `absolve documents`. Output: the same rows as without a cluster, in a new
folder with a file per task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve import tables
from absolve.cli import failures, many, progress
from absolve.core.errors import Diagnostic, UsageError, in_short
from absolve.run import special_files
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input
    from absolve.run.links_task import ListOptions

LOCAL: Final = "local"
_CLUSTERS: Final = ("spark://", "k8s://", "local[")
CONFIGURED: Final = "spark"  # the cluster of Spark's own configuration
_FORMATS: Final = tuple(name for name, form in tables.FORMATS.items() if form.cluster)  # that tasks write


def is_wanted(options: argparse.Namespace) -> bool:
    """Return whether to run on Spark. Raise UsageError if another option excludes the engine."""
    if options.engine == LOCAL:
        return False
    if options.engine not in {CONFIGURED, "yarn"} and not options.engine.startswith(_CLUSTERS):
        raise UsageError(f"--engine takes local, spark or the URL of a Spark cluster, not {in_short(options.engine)!r}")
    if options.jobs is not None:
        raise UsageError("--jobs needs --engine local: the cluster has its own number of tasks at once")
    if STDIN in many.names(options):
        raise UsageError("--engine spark cannot read the standard input (-): name files or folders")
    return True


def run(options: argparse.Namespace, how: ListOptions, found: Iterator[Input], report: Report) -> None:
    """List the inputs on Spark. Diagnostics and failures are reported here, when all tasks are done."""
    if options.output in {None, special_files.STDOUT} or how.format not in _FORMATS:
        formats = " or ".join(_FORMATS)
        raise UsageError(f"--engine spark writes {formats}: give -o FOLDER with such a suffix, or --format")
    from absolve import spark as cluster  # imports pyspark

    report.quiet, report.verbose = options.quiet, options.verbose
    whole = list(found)
    master = options.engine if options.engine != CONFIGURED else None
    with failures.written(options, report), cluster.session(f"absolve {how.table}", master) as spark:
        for report.input, piece in cluster.written(spark, whole, how, options.output):
            if isinstance(piece, Diagnostic):
                report.finding(piece)
            else:
                report.failure(piece.error)
        report.input = None
    report.rest()
    if not options.quiet:
        failed = f"; {progress.inputs(len(report.failures))} failed" if report.failures else ""
        report.summary(f"{progress.inputs(len(whole))} read, rows written to {options.output}{failed}", repeats=False)
