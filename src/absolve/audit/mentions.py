"""Find where the new site still names the old host outside links: in scripts, text, comments, attributes, other files.

In: the two sites, a reader of files. Out: the table `mentions`: file, line, column and kind of each. They are counted
apart from findings, because no rule and no repair concerns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.audit import tables
from absolve.audit.judge import insert
from absolve.inventory import mentions
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.audit.judge import Question
    from absolve.audit.texts import Found

_TEXTS: Final = (
    "media_type IS NULL OR media_type = 'image/svg+xml'"
    " OR NOT regexp_matches(media_type, '^(image|audio|video|font)/|zip|pdf|octet-stream|font|wasm|compressed')"
)
# A link in a document inside a page has its place in that document, and the line and column of the page. What the query
# of a link names is a mention, unless the link itself leads to the old site.
_OUTSIDE_LINKS: Final = """
DELETE FROM mentions m WHERE EXISTS (SELECT 1 FROM (
    SELECT l.*, CASE WHEN contains(l.reference, '?') AND t.target IS NULL THEN instr(l.reference, '?') END AS query
    FROM new_all_links l LEFT JOIN targets t ON t.target = l.target AND t.verdict = 'leftover'
) l WHERE l.document = m.document
    AND (l.entity = m.entity AND m.start >= l.start AND m.start < coalesce(l.start + l.query, l."end")
        OR l.entity <> m.entity AND l.line = m.line AND m."column" >= l."column"
            AND m."column" <= l."column" + coalesce(l.query, length(l.reference))))
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


def _pattern(question: Question) -> mentions.Names | None:
    """Return the pattern of the old site's hosts, each with the folder that it is in; None if the new site has them."""
    new = _named(question.new_url)
    olds = [_named(url) for url in (question.old_url, *question.other_old_urls) if url is not None]
    return mentions.pattern(old for old in olds if not new.startswith(old))


def _named(url: str) -> str:
    return identity.named(url) + url[url.index("/", url.index("//") + 2) :].rstrip("/")


def _rows(found: Found, pattern: mentions.Names) -> Iterator[tuple[Any, ...]]:
    data = found.data
    every = mentions.mentions(data, pattern, found.media_type)
    for one, column in mentions.columns(data, every, found.charset):
        yield (found.document, found.entity, one.line, column, one.kind, mentions.shown(data, one), one.start)
