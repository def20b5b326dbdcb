"""Read a map in CSV: old URL, new URL, and perhaps a status, or exact, prefix or regex as in `--remap-file`.

In: the bytes of the file; comma, semicolon or tab separate cells (RFC 4180). Out: a `RuleSet`. A rule without `how` is
exact; one with a query precedes one without. Rules with a host, and those with a status such as `301!`, apply also
where the new site has a file of this path, other rules do not.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.model import EXACT, PATH, PREFIX, REGEX, URL, Rule, RuleSet
from absolve.audit.maps.request import SHEET_ERROR, STATUS, check_pattern, source, target_fault, to_https
from absolve.audit.maps.text import cut, decoded, line
from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.tables.csv import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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


class Row(NamedTuple):
    """A row: the numbers of its first and last line, its cells, and why it cannot be read, or None.

    Its cells have no white space around them, and no empty one is at the end.
    """

    first: int
    last: int
    cells: list[str]
    problem: str | None = None

    @property
    def is_comment(self) -> bool:
        """Whether a row is empty or a comment: `#N/A` in a cell before others is what a spreadsheet left."""
        if self.problem is not None:
            return False
        first, *others = self.cells or ("#",)
        return first.startswith("#") and not (others and re.fullmatch(SHEET_ERROR, first))

    @property
    def is_header(self) -> bool:
        return len(self.cells) > 1 and all(re.fullmatch(r"[^/:]+", cell) for cell in self.cells[:2])


def rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[Row]:
    """Yield the rows of a table. `strict`: a quote that is not closed makes a row that cannot be read."""
    lines = io.StringIO(text, newline="") if "\r" in text else cut(text)
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    while True:
        first = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(first, reader.line_num, [], f"it is no CSV: {error}")
            continue
        while cells and not cells[-1]:
            cells.pop()
        yield Row(first, reader.line_num, cells)


def _rules(name: str, text: str) -> Iterator[Rule]:
    delimiter = delimiter_of(text)
    may_be_header = True
    for row in rows(text, delimiter):
        if row.problem is not None:
            yield Rule(name, row.first, "", row.problem)
        elif not row.is_comment:
            if not (may_be_header and row.is_header):
                yield _rule(name, row.first, row.cells, delimiter)
            may_be_header = False


def fitting(text: str) -> Callable[[str], str]:
    """Return a function that gives a row the separator of a map, and no status if its first row has two columns."""
    delimiter = delimiter_of(text)
    width = next((len(row.cells) for row in rows(text, delimiter) if not row.is_comment), 0)

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
    found = [row for row in rows(text, ",", strict=True) if not row.is_comment]
    return not any(row.problem for row in found) and (is_first or not (found and found[0].is_header))


def lines_before_rules(text: str, delimiter: str) -> int:
    """Return the number of lines before the first rule: comments, empty rows, and the header, which ends them."""
    before = 0
    for row in rows(text, delimiter):
        if not row.is_comment:
            return row.last if row.is_header else before
        before = row.last
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


def delimiter_of(text: str) -> str:
    """Return the separator of the first rows: the one of which there are most, outside of comments and quotes."""
    head = _NO_SEPARATORS.sub("", text[:_SNIFFED])
    return max(",;\t", key=head.count)


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
