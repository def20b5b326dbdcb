"""Values for spreadsheets: fields of CSV, and protection against formula injection.

In: texts. Out: the same, quoted for CSV, or (option `--csv-safe`) literal text that no spreadsheet evaluates.
"""

from __future__ import annotations

from typing import Final

from absolve.core.lazy_regex import pattern

# OWASP, "CSV Injection": spreadsheets evaluate cells that begin with these characters, quoted or not, also with the
# fullwidth forms of East Asian input. A program that splits lines at every line break, or fields at `;` or a tab (the
# default in many countries), begins a cell in the middle of ours.
_OPERATOR: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_FORMULA: Final = pattern(rf"\A(?=[{_OPERATOR}\t\r\n])|(?<=[;\t\r\n])(?=[{_OPERATOR}])")

# csv.writer quotes a carriage return only since Python 3.13, and takes longer: it compares each character.
_UNQUOTED: Final = pattern(r'[^,"\r\n]*')


def field(text: str) -> str:
    """Return a field of CSV (RFC 4180, 2), quoted if it has a comma, a quote or any line end."""
    return text if _UNQUOTED.fullmatch(text) else quoted(text)


def quoted(text: str) -> str:
    """Return a field of CSV in quotes."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def literal(text: str) -> str:
    """Return the text, with an apostrophe wherever a spreadsheet would evaluate what follows as a formula.

    An anchor text such as `=HYPERLINK(...)` or `=cmd|...` would run an attacker's formula when the list is opened.
    """
    return _FORMULA.sub("'", text)
