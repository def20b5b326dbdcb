"""`absolve resolve`: resolve references against a base URL (RFC 1808 section 4, or another profile).

Input: the base URL and references from the command line. Output: one URL per line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve import urls
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.run import outputs

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
Prints one URL per line. A reference that cannot be resolved gives an empty
line, and the exit status is 1. Invisible characters and line ends are
percent-escaped.

examples:
  absolve resolve http://a/b/c/d ../g                         http://a/b/g
  absolve resolve http://a/b/c/d ../../../g                   http://a/../g
  absolve resolve --profile whatwg http://a/b/c/d ../../../g  http://a/g
  absolve resolve http://a/b/c/d -- --g                       (-- ends options)"""


def run(options: argparse.Namespace, report: Report) -> None:
    with outputs.stdout() as file:
        for reference in options.references:
            target = urls.resolve(options.base, reference, options.profile)
            file.write(f"{printable.printable(target or '', escape=printable.percent_escaped)}\n".encode())
            if target is None:
                against = repr(in_short(options.base)) if options.base else "an empty base URL"
                text = f"{in_short(reference)!r} cannot be resolved against {against}"
                report.failure(DocumentError(Diagnostic("unresolved", text, "resolve")))
