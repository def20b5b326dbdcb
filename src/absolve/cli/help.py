"""`absolve help`: the help of a command, and the manual page of all commands.

Output: text on the standard output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.cli.parsing import parser

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve help                     the commands
  absolve help links               as absolve links --help
  absolve help --man > ~/.local/share/man/man1/absolve.1    then man absolve"""


def run(options: argparse.Namespace, report: Report) -> None:
    del report  # no input, so no diagnostics
    if options.man:
        from absolve.cli.manual import page

        print(page(parser()), end="")
    elif options.about is None:
        print(parser(()).format_help(), end="")
    else:
        print(parser((options.about,)).commands[options.about].format_help(), end="")
