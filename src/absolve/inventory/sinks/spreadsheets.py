"""Protect against formula injection: make values literal text for spreadsheets.

Used for CSV with the option `--csv-safe`, and to be used by any sink of workbooks.
"""

from __future__ import annotations

from typing import Final

# OWASP, "CSV Injection": spreadsheets evaluate cells that begin with these characters, quoted or not, also with the
# fullwidth forms of East Asian input.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def literal(text: str) -> str:
    """Return the text, with an apostrophe before it if a spreadsheet would evaluate it as a formula.

    An anchor text such as `=HYPERLINK(...)` or `=cmd|...` would run an attacker's formula when the list is opened.
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
