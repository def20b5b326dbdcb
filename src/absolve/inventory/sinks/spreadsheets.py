"""Text that a spreadsheet takes for text: for CSV on demand (`--csv-safe`), and for every sink of workbooks."""

from __future__ import annotations

from typing import Final

# OWASP, "CSV Injection": what begins so is computed where it is opened, with or without quotes around it. Spreadsheets
# take the wide forms of East Asian input for the same signs.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def literal(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet would take it for a formula.

    An anchor text `=HYPERLINK(...)` or `=cmd|...` is a stranger's program in the eyes of whoever opens the list.
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
