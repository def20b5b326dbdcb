"""Find where the new site still names the old host outside links: in scripts, text, comments, attributes, other files.

In: the two sites, a reader of files. Out: the table `mentions`: file, line, column and kind of each. They are counted
apart from findings, because no rule and no repair concerns them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from absolve.audit import tables
from absolve.audit.judge import insert
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.audit.judge import Question
    from absolve.audit.texts import Found

_TEXTS: Final = (
    "media_type IS NULL OR media_type = 'image/svg+xml'"
    " OR NOT regexp_matches(media_type, '^(image|audio|video|font)/|zip|pdf|octet-stream|font|wasm|compressed')"
)
# Markup of a page; what is between two of them is text. One that is not closed ends with the page.
_MARKUP: Final = re.compile(
    rb"<!--(?P<comment>.*?(?:-->|\Z))|<(?P<name>script|style)\b[^>]*>(?P<raw>.*?(?:</(?P=name)|\Z))|<[A-Za-z/!?](?P<tag>[^>]*)",
    re.DOTALL | re.IGNORECASE,
)
_KINDS: Final = {"text/css": "style", "application/json": "json", "application/ld+json": "json"}
_AROUND: Final = 60  # bytes before and after a mention that are shown
_LINE_END: Final = re.compile(rb"\r\n?|\n")
# A link in a document inside a page has its place in that document, and the line and column of the page.
_OUTSIDE_LINKS: Final = """
DELETE FROM mentions m WHERE EXISTS (SELECT 1 FROM new_all_links l WHERE l.document = m.document
    AND (l.entity = m.entity AND m.start >= l.start AND m.start < l."end"
        OR l.entity <> m.entity AND l.line = m.line AND m."column" >= l."column"
            AND m."column" <= l."column" + length(l.reference)))
"""


def find(connection: Any, question: Question, read: Callable[[str, str], Iterable[Found]]) -> None:
    """Create the table `mentions`; it is empty if the old site has no URL of its own."""
    connection.execute(tables.created("mentions"))
    pattern = _pattern(question)
    if pattern is None:
        return
    connection.execute("ALTER TABLE mentions ADD COLUMN start BIGINT")
    insert(connection, "mentions", (row for found in read("new", _TEXTS) for row in _rows(found, pattern)))
    connection.execute(_OUTSIDE_LINKS)
    connection.execute("ALTER TABLE mentions DROP COLUMN start")


def _pattern(question: Question) -> re.Pattern[bytes] | None:
    """Return the pattern of the old site's hosts, each with the folder that it is in; None if the new site has them."""
    new = _named(question.new_url)
    olds = [_named(url) for url in (question.old_url, *question.other_old_urls) if url is not None]
    names = [re.escape(old.encode()).replace(b"/", rb"\\?/") for old in olds if not new.startswith(old)]
    if not names:
        return None
    name = rb"(?:" + b"|".join(names) + rb")"
    return re.compile(rb"(?<![A-Za-z0-9@._-])" + name + rb"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])", re.IGNORECASE)


def _named(url: str) -> str:
    return identity.named(url) + url[url.index("/", url.index("//") + 2) :].rstrip("/")


def _rows(found: Found, pattern: re.Pattern[bytes]) -> Iterator[tuple[Any, ...]]:
    data = found.data
    hits = [hit.span() for hit in pattern.finditer(data)]
    if not hits:
        return
    ends = [end.end() for end in _LINE_END.finditer(data)]
    kinds = _of_markup(data) if found.media_type in tables.MARKUP else iter(())
    piece = next(kinds, None)
    for start, end in hits:
        while piece is not None and piece[1] <= start:
            piece = next(kinds, None)
        is_inside = piece is not None and piece[0] <= start
        kind = piece[2] if is_inside and piece is not None else _kind(found.media_type)
        line = bisect_right(ends, start)
        before = ends[line - 1] if line else 0
        column = len(data[before:start].decode(found.charset or "utf-8", "replace")) + 1
        yield (found.document, found.entity, line + 1, column, kind, _shown(data, start, end), start)


def _kind(media_type: str | None) -> str:
    if media_type is not None and "script" in media_type:
        return "script"
    return _KINDS.get(media_type or "", "text")


def _of_markup(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of what is not text, with their kinds, in order."""
    for found in _MARKUP.finditer(data):
        if found["comment"] is not None:
            yield *found.span("comment"), "comment"
        elif found["raw"] is not None:
            yield *found.span("raw"), found["name"].decode().lower()
        else:
            yield *found.span("tag"), "attribute"


def _shown(data: bytes, start: int, end: int) -> str:
    """Return the line around a mention, cut, with white space folded."""
    text = data[max(start - _AROUND, 0) : end + _AROUND]
    before, after = start - max(start - _AROUND, 0), end - max(start - _AROUND, 0)
    first = max(text.rfind(b"\n", 0, before), text.rfind(b"\r", 0, before)) + 1
    last = min((place for mark in (b"\n", b"\r") if (place := text.find(mark, after)) >= 0), default=len(text))
    return " ".join(text[first:last].decode("utf-8", "replace").split())
