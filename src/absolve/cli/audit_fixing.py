"""`absolve audit --fix`: write the sure repairs into the files of the new site, or print a diff.

Input: the options, the database of repairs. Output: changed files in place; only link bytes change.
"""

from __future__ import annotations

import copy
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from absolve.audit import load, repair
from absolve.cli import audit_reading, many
from absolve.cli import options as shared
from absolve.cli.rewrite import compared
from absolve.cli.terminal import colours, drawing, is_terminal
from absolve.document.resolved import shown
from absolve.run import leftovers, outputs
from absolve.run.inputs import WHOLE
from absolve.run.plan import Job, RewriteOptions
from absolve.run.publish import Publisher
from absolve.run.results import StdoutBytes
from absolve.run.rewrite_task import rewritten

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.cli.audit_reading import Sites
    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input


def run(path: str, options: argparse.Namespace, found: Sites, report: Report) -> int:
    """Write the repairs, or print them as a diff; return the number of files that changed."""
    own = copy.copy(options)
    own.errors = None  # has the failures of the audit
    policy = repair.RepairPolicy(path)
    token = leftovers.token()
    how = RewriteOptions(shared.reading(options), policy, verify=options.verify, in_place=True, token=token)
    jobs = _jobs(path, options, found, report)
    if options.diff:
        work = partial(compared, how, is_terminal(sys.stdout), colours(sys.stdout))
        with closing(many.run(work, jobs, _input, own, report, summed=str)) as results:
            for _, piece in results:
                if isinstance(piece, StdoutBytes):
                    with outputs.stdout() as file:
                        drawing(file).write(piece.data)
        return 0
    changed = 0
    with Publisher(how.token) as publisher:

        def ended(job: Job) -> None:
            publisher.ended(job, failed=job.input.name in report.failures)

        watched = publisher.watched(jobs)
        work = partial(rewritten, how)
        results = many.run(work, watched, _input, own, report, ended, summed=str)
        with closing(results):
            for job, piece in results:
                with report.guard(job.input.name):
                    publisher.put(job, piece)
                    changed += 1
    return changed


def _input(job: Job) -> Input:
    return job.input


def _jobs(path: str, options: argparse.Namespace, found: Sites, report: Report) -> Iterator[Job]:
    wanted = repair.documents(path)
    seen: set[str] = set()
    for input_ in audit_reading.inputs_of(options, found, load.NEW, report, follow=False):
        if shown(input_.name) in wanted and input_.name not in seen:
            seen.add(input_.name)
            yield Job(input_._replace(within=WHOLE))
