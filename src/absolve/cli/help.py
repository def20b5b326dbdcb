"""`absolve help`: the help of a command, and the manual page of all commands.

Output: text on the standard output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.cli import COMMANDS

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve help                     the commands
  absolve help links               as absolve links --help
  absolve help --man > ~/.local/share/man/man1/absolve.1    then man absolve"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("about", nargs="?", choices=tuple(COMMANDS), metavar="COMMAND", help="one of the commands")
    parser.add_argument_group("output").add_argument(
        "--man", action="store_true", help="print the manual page of absolve (roff) with all commands"
    )


def run(options: argparse.Namespace, report: Report) -> None:
    del report  # no input, so no diagnostics
    from absolve.cli.running import parser

    if options.man:
        from absolve.cli.manual import page

        print(page(parser()), end="")
    elif options.about is None:
        print(parser(()).format_help(), end="")
    else:
        print(parser((options.about,)).commands[options.about].format_help(), end="")
