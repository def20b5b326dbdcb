"""Protect against formula injection: make values literal text for spreadsheets.

Used for CSV with the option `--csv-safe`, and to be used by any sink of workbooks.
"""

from __future__ import annotations

from typing import Final

from absolve.core.lazy_regex import pattern

# OWASP, "CSV Injection": spreadsheets evaluate cells that begin with these characters, quoted or not, also with the
# fullwidth forms of East Asian input. A program that splits lines at every line break, or fields at `;` or a tab (the
# default in many countries), begins a cell in the middle of ours.
_OPERATOR: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_FORMULA: Final = pattern(rf"\A(?=[{_OPERATOR}\t\r\n])|(?<=[;\t\r\n])(?=[{_OPERATOR}])")


def literal(text: str) -> str:
    """Return the text, with an apostrophe wherever a spreadsheet would evaluate what follows as a formula.

    An anchor text such as `=HYPERLINK(...)` or `=cmd|...` would run an attacker's formula when the list is opened.
    """
    return _FORMULA.sub("'", text)
