"""`absolve mirror --check DIR`: print what is wrong with a mirror, that of any tool.

Input: the options. Output: a line for each fault on the standard output, and the counts.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from absolve.cli import options as shared
from absolve.core import printable
from absolve.core.errors import Diagnostic, UsageError
from absolve.mirror.check import WRONG, Checker

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report


def run(options: argparse.Namespace, report: Report) -> None:
    if options.inputs:
        raise UsageError("--check takes no INPUT: name the folder of the mirror after it")
    folder = Path(options.check)
    if not folder.is_dir():
        raise UsageError(f"--check {options.check}: this is no folder")
    checker = Checker(folder, shared.settings(options)._replace(profile="whatwg"))
    counts: Counter[str] = Counter()
    for fault in checker.faults():
        counts[fault.code] += 1
        if not options.quiet or fault.code in WRONG:
            line = Diagnostic(fault.code, fault.text, fault.path, fault.line, fault.column).printed(
                credentials=options.show_credentials
            )
            print(line)
    if wrong := [code for code in counts if code in WRONG]:
        report.failures.setdefault(options.check, Diagnostic(wrong[0], "see the standard output", options.check))
    if not options.quiet:
        found = ", ".join(f"{number:,} {code}" for code, number in sorted(counts.items())) or "nothing is wrong"
        name = printable.printable(options.check)
        print(f"absolve: {name}: {checker.files:,} files, {checker.links:,} links: {found}", file=sys.stderr)
