"""Read the rules of a rewrite from a table of redirects: `--remap @FILE`.

In: the bytes of a file. Out: a `Change` for each row that leads somewhere, by its line. A row that cannot be used
raises UsageError with file and line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from absolve.core import patterns
from absolve.core.errors import UsageError, in_short
from absolve.rewriting.remap import Change, Remapping
from absolve.rules import cells, table
from absolve.rules.model import CONTROL, without_groups
from absolve.rules.table import EXACT, PREFIX, SEARCH, SPLAT, WILDCARD
from absolve.urls import resolver
from absolve.urls.predicates import runs_code

if TYPE_CHECKING:
    from absolve.rules.table import Redirect


_WITH_PLACES: Final = frozenset({EXACT, PREFIX})  # how rows match whose cells are URLs or paths


def rules(name: str, data: bytes, url: str | None) -> dict[int, Change]:
    """Return the rules in a table of redirects by their lines, without those that lead nowhere.

    For example, the row `/a,/b` for `http://h/` gives `Change("http://h/a", "http://h/b")`. A row without a word for
    how it matches is a prefix; in a table with statuses, which has redirects of servers, it is exact. Paths belong to
    the host of `url`. Raise UsageError for a row that cannot be used.
    """
    found: dict[int, Change] = {}
    row = None
    read = table.read(cells.table(name, data))
    otherwise = EXACT if "status" in read.columns.places else PREFIX
    for row in read.rows:
        try:
            change = _change(row, url, row.how or otherwise)
        except UsageError as error:
            raise UsageError(f"{name}:{row.line}: {error.message}") from error
        if change is not None:
            found[row.line] = change
    if row is None:
        raise UsageError(f"{name}:1: no rule is in this file")
    return found


def _change(row: Redirect, url: str | None, how: str) -> Change | None:
    """Return the rule of a row, None without one. Raise UsageError for one that cannot be used, or runs code."""
    if row.problem is not None:
        raise UsageError(row.problem)
    if (row.status or 0) >= 400:
        return None
    old, new = row.old, row.new
    if how in _WITH_PLACES:
        old, new = _url_of(old, url), _url_of(new, url)
    elif how in {SEARCH, WILDCARD}:
        old, new, how = _of_paths(row, url)
    if runs_code(new):
        raise UsageError(f"the new URL {in_short(new)!r} runs code in the page that has it")
    if CONTROL.search(new):
        raise UsageError(f"the new URL {in_short(new)!r} has a line end or another control character")
    change = Change(old, new, how)
    Remapping([change])  # raises for one that is malformed
    return change


def _of_paths(row: Redirect, url: str | None) -> tuple[str, str, str]:
    r"""Return the rule for a wildcard or a server's regular expression: for example, `(http:)//h/a/(.*)` for `/a/*`.

    The query stays behind the new URL: it is the last group. Raise UsageError if there is no such rule.
    """
    new = _url_of(row.new, url).replace("\\", r"\\")
    site = urlsplit(url or "").netloc
    if not site and (row.how == SEARCH or re.match("/(?!/)", row.old)):
        raise UsageError("a rule for paths needs --url, the URL of their host")
    if row.how == WILDCARD:
        scheme, _, place = _url_of(row.old, url).partition("//")
        new = SPLAT.sub(r"\\2", rf"\1{new}" if new.startswith("//") else new)
        return f"({scheme or 'https?:'})//{re.escape(place)}(.*)", new, "regex"
    if "|" in without_groups(row.old):
        raise UsageError("the alternatives of its regular expression need parentheses")
    start = "/" if row.in_folder or re.match(r"\^[\w-]", row.old) else ""
    start += "" if row.old.startswith("^") else "[^?#]*?"
    is_whole = row.old.endswith("$") and not row.old.endswith(r"\$")
    path = row.old.removeprefix("^").removesuffix("$" if is_whole else "") + ("" if is_whole else "[^?#]*")
    pattern = f"https?://{re.escape(site)}{start}{path}([?#].*)?"
    rest = "" if "?" in new or "#" in new else rf"\g<{patterns.groups(pattern)}>"
    return pattern, re.sub(r"\$(\d)", r"\\g<\1>", new) + rest, "regex"


def _url_of(cell: str, url: str | None) -> str:
    """Return a path in a table as a URL, other cells unchanged: for example, `/a` for `http://h/b` is `http://h/a`."""
    is_path = cell.startswith("/") and not cell.startswith("//")
    return (resolver("rfc3986", url)(cell) if is_path and url else None) or cell
