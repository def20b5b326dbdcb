"""`--engine spark`: the same rows from a cluster, as a folder of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.cli import failures, many
from absolve.core.errors import Diagnostic, UsageError
from absolve.inventory import sinks
from absolve.run import outputs
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input
    from absolve.run.links_task import ListOptions

ENGINES: Final = ("local", "spark")


def add_engine(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--engine",
        choices=ENGINES,
        default="local",
        help="where the work is done: processes of this machine (local), or a cluster (absolve[spark]), and then OUT is"
        " a new folder, or the URL of one, with a file of each task: *.parquet, *.jsonl or *.csv",
    )
    group.add_argument("--master", metavar="URL", help="with --engine spark, the cluster: spark://host:7077, yarn...")


def is_wanted(options: argparse.Namespace) -> bool:
    """Whether Spark does the work; UsageError for options that do not go with that."""
    if options.engine == "local":
        if options.master is not None:
            raise UsageError("--master goes with --engine spark")
        return False
    if options.jobs is not None:
        raise UsageError("--jobs goes with --engine local: how many work at once is the cluster's affair")
    if STDIN in many.names(options):
        raise UsageError("the standard input (-) cannot go to a cluster")
    return True


def run(options: argparse.Namespace, how: ListOptions, found: Iterator[Input], report: Report) -> None:
    """List the inputs where Spark does; what is to be said of them is said here, when all are done."""
    if options.output in {None, outputs.STDOUT} or not sinks.is_stream(how.format):
        formats = " or ".join(filter(sinks.is_stream, sinks.FORMATS))
        raise UsageError(f"--engine spark writes {formats}: -o FOLDER, which ends so or has --format")
    from absolve import spark as cluster  # and with it pyspark

    report.quiet, report.verbose = options.quiet, options.verbose
    with failures.written(options, report), cluster.session("absolve links", options.master) as spark:
        for report.input, piece in cluster.written(spark, found, how, options.output):
            if isinstance(piece, Diagnostic):
                report.finding(piece)
            else:
                report.failure(piece.error)
        report.input = None
    report.rest()
