"""`absolve verify`: prove that a rewrite changed only links, and that each link still has the same target.

Input: the document before and after. Output: each difference as a failure in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve import verifying
from absolve.cli import filters
from absolve.cli import options as shared
from absolve.core.errors import DocumentError, UsageError
from absolve.document.walk import walk
from absolve.run import load, sources

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

def run(options: argparse.Namespace, report: Report) -> None:
    how = shared.reading(options)
    policy = filters.policy(options)
    if options.before == options.after == sources.STDIN:
        raise UsageError("the standard input (-) can be read only once")
    input_ = shared.one_input(options.before, options)
    with report.guard(options.before):
        before = load.read(input_, how)
        after = sources.read(options.after, max_size=options.max_size)
        for difference in verifying.differences(walk(before, how.settings), before, after.data, policy):
            report.failure(DocumentError(difference))
