"""The options that say which links count, which columns and rows are listed, and what old URLs become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.cli.options import completes_files
from absolve.core.errors import DocumentError, UsageError
from absolve.core.model import KINDS, PROBLEMS, SCOPES
from absolve.rewriting.policy import absolute
from absolve.run import inputs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from absolve.rewriting.policy import Policy
    from absolve.rewriting.remap import Change
    from absolve.run.filters import Selection


def add_selection(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """--kind, --scope and --problem; each takes several words, with commas between them or one at a time."""
    group = parser.add_argument_group(title)
    for option, meaning, words in (
        ("--kind", "of these kinds", sorted(KINDS)),
        ("--scope", "that lead to these scopes, seen from the document", SCOPES),
        ("--problem", "with any of these problems", PROBLEMS),
    ):
        group.add_argument(
            option,
            discovered=True,
            action="append",
            default=[],
            metavar="WORD,...",
            help=f"only links {meaning}: {', '.join(words)}",
        )
    return group


def add_table(group: argparse._ActionsContainer) -> None:
    """What of the rows goes into the list."""
    group.add_argument("--columns", discovered=True, metavar="NAME,...", help="only these columns, in this order")
    group.add_argument(
        "--where", metavar="CONDITION", help="only rows for which this holds, in DuckDB's SQL (absolve[duckdb])"
    )
    group.add_argument(
        "--unique",
        discovered=True,
        action="store_true",
        help="of rows that are equal in all of --columns only the first",
    )


def add_remapping(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("old URLs to new ones, when links are absolute")
    group.add_argument(
        "--remap",
        action="append",
        default=[],
        metavar="FROM=TO",
        help="a URL that is, or begins with, FROM begins with TO then; //host stands for http and https. The longest"
        " FROM counts; it ends where a part of the URL ends",
    )
    completes_files(
        group.add_argument(
            "--remap-file",
            metavar="FILE",
            help="the same as CSV: from, to, and prefix (if nothing else is said), exact or regex",
        )
    )


def selection(options: argparse.Namespace) -> Selection:
    """Which links count; UsageError for a word that is none."""
    from absolve.run.filters import Selection  # and with it what judges links: most rewrites are of all

    kinds, scopes, problems = (frozenset(_words(given)) for given in (options.kind, options.scope, options.problem))
    return Selection(kinds, scopes, problems).checked()


def columns(options: argparse.Namespace) -> tuple[str, ...]:
    """The columns of the list; UsageError for what is none, and for a list that could have no equal rows."""
    from absolve.inventory.columns import COLUMNS

    if options.columns is None:
        if options.unique:
            raise UsageError("--unique goes with --columns: whole rows say where a link stands, and no two are equal")
        return COLUMNS
    names = tuple(_words([options.columns]))
    for name in names:
        if name not in COLUMNS:
            raise UsageError(f"there is no column {name!r}: choose from {', '.join(COLUMNS)}")
    if len(set(names)) < len(names) or not names:
        raise UsageError(f"--columns names each column once: {options.columns!r}")
    return names


def policy(options: argparse.Namespace) -> Policy:
    """What becomes of links; UsageError for a rule that is none, or that cannot be read."""
    whole = _remapping(options) if options.remap or options.remap_file else absolute
    if not (options.kind or options.scope or options.problem):
        return whole
    from absolve.run.filters import only

    wanted = selection(options)
    if not any(wanted):
        return whole
    if options.base == "empty":
        raise UsageError("--base empty goes with all links: those that stay as they are need their base")
    return only(wanted, whole)


def _remapping(options: argparse.Namespace) -> Policy:
    from absolve.rewriting.remap import Remapping, parse

    changes = [parse(text) for text in options.remap]
    if options.remap_file:
        changes += _read(options.remap_file)
    return Remapping(changes).policy if changes else absolute


def _words(given: Iterable[str]) -> list[str]:
    return [word.strip() for text in given for word in text.split(",") if word.strip()]


def _read(name: str) -> list[Change]:
    """The rules in a CSV file: from, to, and how; rules that say nothing of how are prefixes."""
    from absolve.rewriting.remap import Change

    found = []
    try:
        for line, row in inputs.read_table(name):
            if len(row) not in {2, 3}:
                raise UsageError(f"{name}:{line}: a row has from, to, and how, not {len(row)} columns")
            found.append(Change(row[0], row[1], *(how for how in row[2:] if how)))
            _checked(found[-1], name, line)
    except DocumentError as error:
        raise UsageError(error.message) from error
    return found


def _checked(change: Change, name: str, line: int) -> None:
    from absolve.rewriting.remap import Remapping

    try:
        Remapping([change])
    except UsageError as error:
        raise UsageError(f"{name}:{line}: {error.message}") from error
