"""Read a map in a table: a `Rule` for each redirect that `absolve.tables` finds in it, and write rows of CSV.

In: the bytes of the file. Out: a `RuleSet`. A rule without `how` is exact; one with a query precedes one without.
Rules with a host, and those with a status such as `301!`, apply also where the new site has a file of this path, other
rules do not.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Final

from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.rules import cells, table
from absolve.rules.cells import delimiter_of, rows
from absolve.rules.functions import has_functions
from absolve.rules.model import (
    Condition,
    Rule,
    RuleSet,
    check_pattern,
    check_target,
    source,
    target_parts,
    to_https,
    tried,
    with_pattern,
    with_target,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.rules.columns import Columns
    from absolve.rules.model import How, Query
    from absolve.rules.table import Redirect

_TO_QUOTE: Final = re.compile(r'[,;\t"\r\n]')
_GROUP: Final = re.compile(r"\$(\d)")


def read(name: str, data: bytes, hosts: Sequence[str] = (), *, new_first: bool = False) -> RuleSet:
    """Return the rules of a table. `hosts` and `new_first` choose columns that no word names."""
    found = table.read(cells.table(name, data), hosts, new_first=new_first)
    rules = [rule(name, row) for row in found.rows]
    rules.sort(key=lambda one: one.how != "exact" or "?" not in one.source)
    return RuleSet(name, "csv", rules, words=found.words, columns=found.columns, hidden=len(found.hidden))


class Layout:
    """The form of a map in CSV, in which rules are written: its separator, its header, the order of its cells."""

    def __init__(self, text: str, columns: Columns | None) -> None:
        self.delimiter = delimiter_of(text)
        found = list(rows(text, self.delimiter))
        self.columns = columns or table.read(cells.Table(iter(found), "")).columns
        self.lines_before_rules = self._before(found)
        self._width = next((len(row.cells) for row in found if not row.is_comment), 0)
        self.ends = {row.first: row.last for row in found}

    def _before(self, found: Sequence[cells.Row]) -> int:
        """Return the number of lines before the first rule: comments, empty rows, and the header, which ends them."""
        header, before = self.columns.header, 0
        for row in found:
            if not row.is_comment and (header is None or row.first >= header.first):
                return row.last if header is not None else before
            before = row.last
        return before

    def row(self, text: str) -> str:
        """Return a row `old,new,status,how` in the order of the columns; what has none follows them."""
        cells = dict(zip(("old", "new", "status", "how"), next(csv.reader([text])), strict=False))
        header, places = self.columns.header, self.columns.places
        if cells.get("status") == "301" and "how" not in cells and "status" not in places and self._width == 2:
            del cells["status"]
        by_place = {places[name]: cell for name, cell in cells.items() if name in places}
        width = max([*by_place, len(header.cells) - 1 if header is not None else 1]) + 1
        made = [by_place.get(place, "") for place in range(width)]
        made += [cell for name, cell in cells.items() if name not in places]
        return csv_row(*_trimmed(made), delimiter=self.delimiter)


def _trimmed(cells: list[str]) -> list[str]:
    return cells if cells[-1] or len(cells) < 3 else _trimmed(cells[:-1])


def recognisable(text: str, delimiter: str, line_end: str) -> str:
    """Return a table whose separator is recognised: the same text if it is, else with other cells quoted."""
    if delimiter_of(text) == delimiter:
        return text
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return text
    return "".join(csv_row(*row, delimiter=delimiter) + line_end for row in found)


def csv_row(*cells: str, delimiter: str = ",") -> str:
    """Return a row of CSV without its line end; `delimiter_of` counts nothing in its cells."""
    return delimiter.join('"' + cell.replace('"', '""') + '"' if _TO_QUOTE.search(cell) else cell for cell in cells)


def rule(name: str, row: Redirect) -> Rule:
    """Return the rule of a row, or its problem."""
    made = tried(Rule(name, row.line, row.text, row.problem), _led, row)
    if made.problem is not None:
        return made
    made = tried(made, _MATCHED.get(row.how or "exact", _of_path), row)
    return made._replace(forced=True) if row.is_forced else made


def _led(made: Rule, row: Redirect) -> Rule:
    """Return a rule with its status and target, the text of the row. Raise UsageError for one that is not read."""
    if row.how in {table.QUERY, table.PRESET} or has_functions(row.new):
        raise UsageError("it is for rewrites: no server applies it")
    status, is_pattern = row.status or 301, row.how in {table.REGEX, table.SEARCH}
    if status < 400 and not (is_pattern and row.new):
        check_target(row.new)
    is_regex = is_pattern or row.how == table.WILDCARD
    how: How = "regex" if is_regex else "prefix" if row.how == table.PREFIX else "exact"
    query: Query = "drop" if row.keeps_query is False else "keep"
    return made._replace(how=how, status=status, target=None if status >= 400 else (row.new,), query=query)


def _of_path(made: Rule, row: Redirect) -> Rule:
    """Return the rule of a path or URL: exact, or all below it."""
    made = _placed(made, row)
    if made.how == "prefix" and made.target:
        if "?" in made.source:
            raise UsageError("a prefix has no query")
        made = made._replace(target=with_rest(row.new, made.source) if row.keeps_rest else (row.new,))
    if row.has_subdomains and made.host is not None:  # no form but Cloudflare's has such rules
        host = Condition("host", rf"^(?:.*\.)?{re.escape(made.host)}$")
        made = made._replace(conditions=(host, *made.conditions))
    return made


def _placed(made: Rule, row: Redirect) -> Rule:
    """Return a rule with the host and the path of its source; one with a host applies where a file is, too."""
    found = source(row.old)
    only = to_https(row.old, row.new) if made.target else ()
    return made._replace(source=found.path, host=found.host, forced=found.host is not None, conditions=only)


def with_rest(new: str, prefix: str) -> tuple[str | int, ...]:
    """Return the target of a prefix: the rest of the path follows the path of the new URL, with one slash between."""
    ends = min((place for mark in "?#" if (place := new.find(mark)) >= 0), default=len(new))
    head, tail = new[:ends], new[ends:]
    if head.endswith("/") and not prefix.endswith("/"):
        head = head[:-1]
    elif prefix.endswith("/") and not head.endswith("/"):
        head += "/"
    return (head, 1, tail) if tail else (head, 1)


def _of_pattern(made: Rule, row: Redirect) -> Rule:
    r"""Return the rule of a regular expression for URLs, or for paths if it begins with /; `\1` is its first group."""
    whole = f"^(?:{row.old})$"
    check_pattern(whole)
    target = patterns.template(row.new, whole) if made.target else made.target
    is_path = row.old.removeprefix("^").startswith(("/", "\\/"))
    return made._replace(source=whole, target=target, subject="path" if is_path else "url", forced=not is_path)


def _of_wildcard(made: Rule, row: Redirect) -> Rule:
    """Return the rule of all paths that begin with this one; `:splat`, or `*` at the end of a target, is the rest."""
    made = _placed(made, row)
    target = target_parts(row.new, table.SPLAT, lambda _: 1) if made.target else None
    return made._replace(source=f"^{re.escape(made.source)}(.*)$", target=target)


def _of_search(made: Rule, row: Redirect) -> Rule:
    """Return the rule of a regular expression that is searched for in paths; `$1` is its first group.

    One that begins with a letter has paths without the slash at their beginning.
    """
    subject = "folder" if row.in_folder or re.match(r"\^[\w-]", row.old) else "path"
    made = with_pattern(made._replace(forced=False), row.old, subject=subject)
    return tried(made, with_target, row.new, _GROUP, lambda one: int(one[1])) if made.target else made


_MATCHED: Final = {table.REGEX: _of_pattern, table.SEARCH: _of_search, table.WILDCARD: _of_wildcard}
