"""Read a map in CSV: old URL, new URL, and perhaps a status, or exact, prefix or regex as in `--remap-file`.

In: the bytes of the file; comma, semicolon or tab separate cells (RFC 4180). Out: a `RuleSet`. A rule without `how` is
exact; one with a query precedes one without. Rules with a host, and those with a status such as `301!`, apply also
where the new site has a file of this path, other rules do not.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from absolve.audit.maps.model import EXACT, PATH, PREFIX, REGEX, URL, Rule, RuleSet
from absolve.audit.maps.request import SHEET_ERROR, STATUS, check_pattern, source, target_fault, to_https
from absolve.audit.maps.text import cut, decoded, line
from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.tables.csv import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_HOW: Final = frozenset({EXACT, PREFIX, REGEX})
_SNIFFED: Final = 1 << 16
# Comments and quoted cells, whose characters separate nothing.
_NO_SEPARATORS: Final = re.compile(r'(?<![^\r\n])[ \t]*#[^\r\n]*|(?<![^,;\t\r\n])"(?>(?:[^"]|"")*)"?')
_TO_QUOTE: Final = re.compile(r'[,;\t"\r\n]')


def read(name: str, data: bytes) -> RuleSet:
    """Return the rules of a map in CSV."""
    rules = list(_rules(name, decoded(data)))
    rules.sort(key=lambda rule: rule.how != EXACT or "?" not in rule.source)
    return RuleSet(name, "csv", rules)


def _rules(name: str, text: str) -> Iterator[Rule]:
    delimiter = delimiter_of(text)
    rows = csv.reader(io.StringIO(text, newline="") if "\r" in text else cut(text), delimiter=delimiter)
    is_first = True
    while True:
        number = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Rule(name, number, "", f"it is no CSV: {error}")
            continue
        row = _cells(row)
        if not row or (row[0].startswith("#") and not (row[1:] and re.fullmatch(SHEET_ERROR, row[0]))):
            continue
        if is_first and _is_header(row):
            is_first = False
            continue
        is_first = False
        yield _rule(name, number, row, delimiter)


def fitting(text: str) -> Callable[[str], str]:
    """Return a function that gives a row the separator of a map, and no status if its first row has two columns."""
    delimiter = delimiter_of(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    width = 0
    with suppress(csv.Error):
        width = next((len(cells) for row in rows if (cells := _cells(row)) and not cells[0].startswith("#")), 0)

    def fitted(row: str) -> str:
        cells = next(csv.reader([row]))
        return csv_row(*(cells[:2] if width == 2 and cells[2:] == ["301"] else cells), delimiter=delimiter)

    return fitted


def may_be_joined(text: str, *, is_first: bool) -> bool:
    """Return whether a map with other maps around it is still read as alone.

    It has commas, closes each quote, and has no header unless it is the first.
    """
    if delimiter_of(text) != ",":
        return False
    rows = map(_cells, csv.reader(io.StringIO(text, newline=""), strict=True))
    try:
        first = next((row for row in rows if row and not row[0].startswith("#")), [])
        deque(rows, 0)  # to the end, where a quote may be open
    except csv.Error:
        return False
    return is_first or not _is_header(first)


def lines_of_row(lines: Iterable[str], delimiter: str) -> int:
    """Return the number of lines of the row with which they begin; one if it cannot be read."""
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        next(rows, None)
    except csv.Error:
        return 1
    return rows.line_num


def lines_before_rules(text: str, delimiter: str) -> int:
    """Return the number of lines before the first rule: comments, empty rows, and the header, which ends them."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 0
    with suppress(csv.Error):  # a row that cannot be read is a rule
        for row in rows:
            cells = _cells(row)
            if cells and not cells[0].startswith("#"):
                return rows.line_num if _is_header(cells) else before
            before = rows.line_num
    return before


def recognisable(text: str, delimiter: str, line_end: str) -> str:
    """Return a table whose separator is recognised: the same text if it is, else with other cells quoted."""
    if delimiter_of(text) == delimiter:
        return text
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return text
    return "".join(csv_row(*row, delimiter=delimiter) + line_end for row in rows)


def csv_row(*cells: str, delimiter: str = ",") -> str:
    """Return a row of CSV without its line end; `delimiter_of` counts nothing in its cells."""
    return delimiter.join(quoted(cell) if _TO_QUOTE.search(cell) else cell for cell in cells)


def _cells(row: Sequence[str]) -> list[str]:
    """Return the cells of a row without white space around them, and without empty ones at the end."""
    found = [cell.strip() for cell in row]
    while found and not found[-1]:
        found.pop()
    return found


def delimiter_of(text: str) -> str:
    """Return the separator of the first rows: the one of which there are most, outside of comments and quotes."""
    head = _NO_SEPARATORS.sub("", text[:_SNIFFED])
    return max(",;\t", key=head.count)


def _is_header(row: Sequence[str]) -> bool:
    return len(row) > 1 and all(re.fullmatch(r"[^/:]+", cell) for cell in row[:2])


def _rule(name: str, number: int, row: Sequence[str], delimiter: str) -> Rule:
    found = line(number, delimiter.join(row))
    rule = Rule(name, number, found.text, found.problem)
    if found.problem is not None:
        return rule
    how, status, is_forced, fault = _extras(row[2:])
    if fault is None and status < 400:
        fault = target_fault(row[1]) if len(row) > 1 and how != REGEX else None if len(row) > 1 else "it has no target"
    if fault is not None:
        return rule._replace(problem=fault)
    rule = rule._replace(how=how, status=status, target=None if status >= 400 else (row[1],))
    rule = _of_pattern(rule, row[0]) if how == REGEX else _of_path(rule, row[0])
    return rule._replace(forced=True) if is_forced else rule


def _extras(cells: Sequence[str]) -> tuple[str, int, bool, str | None]:
    """Return how a row matches, its status, whether it is forced (`301!`), and why one of its cells is neither."""
    how, status, is_forced = EXACT, 301, False
    for cell in cells:
        if cell.lower() in _HOW:
            how = cell.lower()
        elif (found := STATUS.fullmatch(cell)) is not None:
            status, is_forced = int(found[1]), bool(found[2])
        elif cell:
            return how, status, False, f"{cell[:40]!r} is neither a status nor one of exact, prefix, regex"
    return how, status, is_forced, None


def _of_path(rule: Rule, old: str) -> Rule:
    found = source(old)
    if isinstance(found, str):
        return rule._replace(problem=found)
    target = rule.target
    if rule.how == PREFIX and target is not None:
        if "?" in found.path:
            return rule._replace(problem="a prefix has no query")
        target = with_rest(str(target[0]), found.path)
    only = to_https(old, str(target[0])) if target else ()
    is_forced = found.host is not None
    return rule._replace(source=found.path, host=found.host, target=target, forced=is_forced, conditions=only)


def with_rest(new: str, prefix: str) -> tuple[str | int, ...]:
    """Return the target of a prefix: the rest of the path follows the path of the new URL, with one slash between."""
    ends = min((place for mark in "?#" if (place := new.find(mark)) >= 0), default=len(new))
    head, tail = new[:ends], new[ends:]
    if head.endswith("/") and not prefix.endswith("/"):
        head = head[:-1]
    elif prefix.endswith("/") and not head.endswith("/"):
        head += "/"
    return (head, 1, tail) if tail else (head, 1)


def _of_pattern(rule: Rule, old: str) -> Rule:
    r"""Return the rule of a regular expression for URLs, or for paths if it begins with /; `\1` is its first group."""
    whole = f"^(?:{old})$"
    try:
        check_pattern(whole)
        target = None if rule.target is None else patterns.template(str(rule.target[0]), whole)
    except UsageError as error:
        return rule._replace(problem=error.message)
    is_path = old.removeprefix("^").startswith(("/", "\\/"))
    return rule._replace(
        source=whole,
        target=target,
        subject=PATH if is_path else URL,
        forced=not is_path,
    )
