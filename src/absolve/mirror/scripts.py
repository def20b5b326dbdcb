"""Find in scripts what works from a server only: requests of their own, and questions for the page's origin.

In: the bytes of a script. Out: the offset of the first such place, and why it matters. A search for words: scripts are
not parsed, and never changed.
"""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = (
    *(b"fetch(", b"fetch (", b"fetch\t(", b"XMLHttpRequest", b"import("),
    *(b"location.", b"document.domain", b"serviceWorker"),
)
_PLACE: Final = re.compile(
    rb"\b(?P<request>fetch[\t ]?\(|XMLHttpRequest\b|import\()"
    rb"|\b(?P<origin>location\.(?:origin|protocol|host|hostname)\b|document\.domain\b)"
    rb"|\b(?P<worker>serviceWorker\b)"
)
_WHY: Final = {
    "request": "a script that makes requests of its own (%s): they are refused from file://",
    "origin": "a script that reads %s, which from file:// is not that of the site",
    "worker": "a script that asks for a %s: there is none from file://",
}
JAVASCRIPT: Final = frozenset(
    {
        *("", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "module"),
        *("text/x-javascript", "application/ecmascript", "text/jscript"),
    }
)


def may_need_server(data: bytes) -> bool:
    """Return whether the bytes of a document have a word that makes a script need a server: a fast test."""
    return any(word in data for word in _WORDS)


def needs_server(data: bytes, start: int = 0, end: int | None = None) -> tuple[int, str] | None:
    """Return the offset in a script, and why it needs a server; None where no word is a sign of that."""
    found = _PLACE.search(data, start, len(data) if end is None else end)
    if found is None or found.lastgroup is None:
        return None
    return found.start(), _WHY[found.lastgroup] % found[0].decode().rstrip("( ")
