"""`--engine spark`: the same rows from a cluster, as a folder of files that Spark writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve import outputs
from absolve.cli import many
from absolve.errors import Diagnostic, DocumentError, UsageError
from absolve.sources import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.reporting import Report
    from absolve.engine.listing import Listing
    from absolve.inputs import Input

ENGINES: Final = ("local", "spark")
FORMATS: Final = {"jsonl": "json", "parquet": "parquet"}  # those with lists and nulls, by Spark's names


def add_engine(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--engine",
        choices=ENGINES,
        default="local",
        help="where the work is done: processes of this machine (local), or a cluster (absolve[spark]), and then OUT is"
        " a folder, or a URL, that Spark writes: *.parquet or *.jsonl",
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


def run(options: argparse.Namespace, how: Listing, found: Iterator[Input], report: Report) -> None:
    """List the inputs where Spark does; what failed there is said here."""
    if options.output in {None, outputs.STDOUT} or how.format not in FORMATS:
        raise UsageError(f"--engine spark writes {' or '.join(FORMATS)}: -o FOLDER, which ends so or has --format")
    from absolve import spark as cluster  # and with it pyspark

    with many.errors(options, report), cluster.session("absolve links", options.master) as spark:
        made = cluster.listing(spark, found, how).kept()
        cluster.save(made.links, options.output, FORMATS[how.format])
        for row in made.errors.toLocalIterator():
            report.input = row["input"]
            said = Diagnostic(row["code"], row["text"], row["name"], row["line"], row["column"], failed=True)
            report.failure(DocumentError(said))
        report.input = None
