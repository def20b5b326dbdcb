"""Options that select links (--kind, --scope, --problem), columns and rows, and that map old URLs to new ones.

Input: parsed options. Output: a `Selection`, the names of columns, a rewriting policy. Raise UsageError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.cli.totals import Table
from absolve.core.errors import DocumentError, UsageError, similar
from absolve.inventory import PROBLEMS
from absolve.rewriting.policy import absolute
from absolve.run import inputs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from absolve.cli.totals import Totals
    from absolve.rewriting.policy import Policy
    from absolve.rewriting.remap import Change
    from absolve.run.filters import Selection


def selection(options: argparse.Namespace) -> Selection:
    """Return the selection of links. Raise UsageError for an unknown word."""
    from absolve.run.filters import Selection  # its imports are slow, and most rewrites need none of them

    kinds, scopes, problems = (frozenset(_given(name, options)) for name in ("kind", "scope", "problem"))
    return Selection(kinds, scopes, problems).checked()


def fail_on(options: argparse.Namespace) -> frozenset[str]:
    """Return the problems of --fail-on. Raise UsageError for an unknown word."""
    words = frozenset(_words(options.fail_on))
    for word in sorted(words - {"any", *PROBLEMS}):
        raise UsageError(f"--fail-on: unknown problem {word!r}: choose from any, {', '.join(sorted(PROBLEMS))}")
    return frozenset(PROBLEMS) if "any" in words else words


def columns(options: argparse.Namespace, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the columns. Raise UsageError for unknown ones, and for --unique without --columns."""
    if options.count and not options.unique:
        raise UsageError("--count needs --unique: it counts equal rows")
    if options.columns is None:
        if options.unique:
            raise UsageError("--unique needs --columns: with all columns (offsets too) no two rows are equal")
        return known
    names = tuple(_words([options.columns]))
    for name in names:
        if name not in known:
            raise UsageError(f"unknown column {name!r}: choose from {', '.join(known)}", similar(name, known))
    if len(set(names)) < len(names) or not names:
        raise UsageError(f"--columns needs one or more names, each once, not {options.columns!r}")
    return names


def policy(options: argparse.Namespace, totals: Totals | None = None) -> Policy:
    """Return the rewriting policy. Raise UsageError for a rule that is malformed or cannot be read.

    The rules of --remap-file are added to the `totals`, which count those that meet no link.
    """
    whole = _remapping(options, totals) if options.remap or options.remap_file else absolute
    if not (options.kind or options.scope or options.problem):
        return whole
    from absolve.run.filters import only

    wanted = selection(options)
    if not any(wanted):
        return whole
    if options.base == "empty":
        raise UsageError("--base empty excludes --kind, --scope and --problem: links left unchanged need the base")
    return only(wanted, whole)


def _remapping(options: argparse.Namespace, totals: Totals | None) -> Policy:
    from absolve.rewriting.remap import Remapping, parse

    changes = [parse(text) for text in options.remap]
    if options.remap_file:
        lines = _read(options.remap_file)
        if totals is not None and not options.resume:  # an earlier run may have used the others
            numbered = dict(enumerate(lines, len(changes)))
            totals.tables.append(Table(options.remap_file, "link", numbered, totals.rules))
        changes += lines.values()
    return Remapping(changes).policy if changes else absolute


def _given(name: str, options: argparse.Namespace) -> list[str]:
    """Return the words of an option. Raise UsageError if it is given without a word."""
    given = vars(options)[name]
    words = _words(given)
    if given and not words:
        raise UsageError(f"--{name} needs a word, not {given[0]!r}")
    return words


def _words(given: Iterable[str]) -> list[str]:
    return [word.strip() for text in given for word in text.split(",") if word.strip()]


def _read(name: str) -> dict[int, Change]:
    """Return the rules in a CSV file by their lines: from, to and how, which defaults to prefix."""
    from absolve.rewriting.remap import Change

    found = {}
    try:
        for line, row in inputs.read_table(name):
            if len(row) not in {2, 3}:
                raise UsageError(f"{name}:{line}: a row has 2 or 3 columns (from, to, how), not {len(row)}")
            found[line] = Change(row[0], row[1], *(how for how in row[2:] if how))
            _checked(found[line], name, line)
    except DocumentError as error:
        raise UsageError(error.message) from error
    return found


def _checked(change: Change, name: str, line: int) -> None:
    from absolve.rewriting.remap import Remapping

    try:
        Remapping([change])
    except UsageError as error:
        raise UsageError(f"{name}:{line}: {error.message}") from error


def selecting(options: argparse.Namespace) -> str:
    """Return the options that select rows, as given; empty if there are none."""
    from shlex import quote

    given = vars(options)
    words = [f"--{name} {quote(','.join(given[name]))}" for name in ("kind", "scope", "problem") if given.get(name)]
    if given.get("where") is not None:
        words.append(f"--where {quote(given['where'])}")
    return " ".join(words)
