r"""CSV (RFC 4180, but with LF as line end) and TSV: a header line, then a line for each row, in UTF-8.

None is an empty field; lists are joined by spaces. TSV has no quotes: a tab, line end or backslash in a cell is `\t`,
`\n`, `\r` or `\\`, as jq's @tsv writes it. `literal` makes a text that no spreadsheet evaluates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.core.lazy_regex import pattern
from absolve.tables.rows import Layout, lines, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.inventory.columns import Columns

# OWASP, "CSV Injection": spreadsheets evaluate cells that begin with these characters, quoted or not, also with the
# fullwidth forms of East Asian input. A program that splits lines at every line break, or fields at `;` or a tab (the
# default in many countries), begins a cell in the middle of ours.
_OPERATOR: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_FORMULA: Final = pattern(rf"\A(?=[{_OPERATOR}\t\r\n])|(?<=[;\t\r\n])(?=[{_OPERATOR}])")

# csv.writer quotes a carriage return only since Python 3.13, and takes longer: it compares each character.
_UNQUOTED: Final = pattern(r'[^,"\r\n]*')
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def literal(text: str) -> str:
    """Return the text, with an apostrophe wherever a spreadsheet would evaluate what follows as a formula.

    An anchor text such as `=HYPERLINK(...)` or `=cmd|...` would run an attacker's formula when the list is opened.
    """
    return _FORMULA.sub("'", text)


def quoted(text: str) -> str:
    """Return a field of CSV in quotes."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _field(cell: Any) -> str:
    """Return a field of CSV (RFC 4180, 2), quoted if it has a comma, a quote or any line end."""
    text = cell if isinstance(cell, str) else text_of(cell)
    return text if _UNQUOTED.fullmatch(text) else quoted(text)


def _only(cell: Any) -> str:
    """Return the only field of a line, quoted if it is empty: a blank line is no row."""
    return _field(cell) or '""'


_FIELDS: Final = Layout(lambda _: _field, between=",", changed=b',"\r\n')
_ONE_FIELD: Final = Layout(lambda _: _only)
_CELLS: Final = Layout(lambda _: lambda cell: text_of(cell).translate(_ESCAPES), between="\t", changed=b"\\\t\n\r")


def _encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    return (_ONE_FIELD if len(columns) == 1 else _FIELDS).encode(columns, rows)


CSV: Final = lines(_encode, lambda columns: _encode(columns, [columns]))
TSV: Final = lines(_CELLS.encode, lambda columns: _CELLS.encode(columns, [columns]))
