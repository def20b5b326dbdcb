"""HTML: one page with a table, which needs no other file and no network.

Every text of a document is escaped; only http and https URLs are hyperlinks, without a referrer. A policy in the page
forbids scripts and requests. Invisible characters are escaped: the format is for people.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

from absolve.core.printable import printable
from absolve.tables.rows import LINKED, Layout, lines, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>absolve</title>
<style>
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif }
table { border-collapse: collapse }
th { position: sticky; top: 0; background: Canvas; text-align: left }
th, td { padding: .2em .6em; border-bottom: 1px solid GrayText; vertical-align: top; overflow-wrap: anywhere }
</style>
<main>
<h1>absolve</h1>
<table>
"""
_END: Final = b"</table>\n</main>\n</html>\n"


def _cell(cell: Any) -> str:
    return escape(printable(text_of(cell)))


def _linked(cell: Any) -> str:
    """Return a URL as a hyperlink, if it is safe to follow: browsers read a backslash as a slash."""
    text = _cell(cell)
    if not isinstance(cell, str) or not cell.lower().startswith(("http://", "https://")):
        return text
    if "***@" in cell or "\\" in cell or printable(cell) != cell:
        return text
    return f'<a href="{text}">{text}</a>'


def _head(columns: Sequence[str]) -> bytes:
    names = "".join(f'<th scope="col">{escape(name)}' for name in columns)
    return f"{_HEAD}<tr>{names}\n".encode()


_ROWS: Final = Layout(lambda name: _linked if name in LINKED else _cell, "<tr>", label=lambda _: "<td>")
HTML: Final = lines(_ROWS.encode, _head, _END)
