"""`absolve resolve`: the resolver alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve import urls
from absolve.cli import options as shared
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.run import outputs

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
One URL a line, an empty line for a reference that has none; then the exit status is 1.
Characters that are not visible, line ends among them, are percent-escaped.

examples:
  absolve resolve http://a/b/c/d ../g                       http://a/b/g
  absolve resolve http://a/b/c/d ../../../g                 http://a/../g, as RFC 1808 has it
  absolve resolve --profile whatwg http://a/b/c/d ../../../g      http://a/g
  absolve resolve http://a/b/c/d -- --g                     a reference that starts with a hyphen"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE", help="the base URL; '' for none")
    parser.add_argument("references", nargs="+", metavar="REFERENCE", help="what to resolve against it")
    shared.add_profile(parser)


def run(options: argparse.Namespace, report: Report) -> None:
    with outputs.stdout() as file:
        for reference in options.references:
            target = urls.resolve(options.base, reference, options.profile)
            file.write(f"{printable.printable(target or '', escape=printable.percent_escaped)}\n".encode())
            if target is None:
                against = repr(in_short(options.base)) if options.base else "no base"
                text = f"{in_short(reference)!r} has no URL against {against}"
                report.failure(DocumentError(Diagnostic("unresolved", text, "resolve")))
