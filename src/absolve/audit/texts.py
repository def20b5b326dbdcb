"""Read documents of both sites once more, to compare the texts of pages, and for facts that no table has.

In: the table `resources`, options of reading. Out: documents with their bytes; matches and scores; the tables `metas`
and `mentions`. A document is read from the file or archive that its row names, if its bytes still have the digest of
that row. An inventory may name any file, so only regular files below some folders are opened for it.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_left
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urljoin

from absolve.audit import matching, tables, text_blocks
from absolve.audit.judge import each, insert
from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.formats import registry
from absolve.formats.html.start_tags import attributes, start_tags
from absolve.inventory import documents
from absolve.rewriting import mentions
from absolve.run.inputs import Input
from absolve.run.load import segments_in as segments
from absolve.run.sources import local
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.audit.judge import Compare, Headings, Question
    from absolve.run.load import ReadOptions

_ROWS: Final = """
SELECT document, entity, resource, digest, title, media_type, charset, size, url,
    document IN (SELECT document FROM {side}_foreign) AS is_foreign
FROM resources WHERE side = ? AND digest IS NOT NULL AND ({condition}) ORDER BY document, entity, resource
"""

_MENUS: Final = r"regexp_matches(path, '/(menudata|navtreedata|[a-z]+_dup)\.js$')"
_IN_MENU: Final = re.compile(rb'"([^"#\s]+\.html)[#"]')
_NAMELESS: Final = """
CREATE OR REPLACE TABLE nameless AS SELECT r.resource, l.id, l.start, l.target
FROM links_in l JOIN resources r ON r.side = 'new' AND r.document = l.document AND r.entity = l.entity
WHERE l.element = 'meta' AND (l.kind = 'metadata' AND r.canonical IS NOT NULL AND l.target <> r.canonical
    OR l.kind <> 'navigation' AND is_relative(l.reference))
"""


class Found(NamedTuple):
    """A document of a site, with the columns of the table `resources` and its bytes."""

    document: str
    entity: str
    resource: int
    digest: str
    title: str | None
    media_type: str | None
    charset: str | None
    size: int | None
    url: str
    data: bytes


class Reader:
    """Reads documents of both sites once more.

    `roots` are the folders for documents that only an inventory names; `notify` is called for others. `texts` are the
    files without links that only this class read, such as robots.txt and scripts.
    """

    def __init__(
        self, connection: Any, reading: ReadOptions, roots: Sequence[Path], notify: Callable[[Diagnostic], None]
    ) -> None:
        self._connection = connection
        self._reading = reading
        real = map(os.path.realpath, roots)
        self._roots = tuple(os.path.join(root, "") for root in real)  # noqa: PTH118 - with a slash at its end
        self._notify = notify
        self.texts: set[str] = set()

    def __call__(self, side: str, condition: str) -> Iterator[Found]:
        """Yield the documents of a side for which a condition holds, if their bytes have the digest of the row."""
        outside = []
        query = _ROWS.format(side=side, condition=condition)
        for name, group in groupby(each(self._connection, query, [side]), lambda row: row[0]):
            rows = {row[1]: row for row in group}
            *_, size, _, is_foreign = next(iter(rows.values()))
            if is_foreign and not _is_below(name, self._roots, size if set(rows) == {""} else None):
                outside.append(name)
                continue
            for entity, data in _contents(name, rows.keys(), self._reading):
                found = Found._make((*rows[entity][:-1], data))
                if documents.digest(data) == found.digest:
                    if not is_foreign and not entity and found.media_type not in registry.WALKERS:
                        self.texts.add(name)
                    yield found
        if outside:
            text = (
                f"the contents of {len(outside):,} files that an inventory names are not read: they are not there, have"
                " changed, or are neither below the working folder nor beside the inventory"
            )
            self._notify(Diagnostic("outside", text, outside[0]))


def comparing(reader: Reader, threshold: float) -> Compare:
    """Return the function that `judge.judge` calls for the contents."""

    def compared(pairs: Sequence[tuple[int, int]]) -> tuple[list[matching.Match], list[matching.Pair], Headings]:
        headings: Headings = []
        old, new = (pages(reader, side, headings) for side in ("old", "new"))
        return *matching.match(old, new, threshold=threshold, pairs=pairs), headings

    return compared


def pages(reader: Reader, side: str, headings: Headings) -> Iterator[matching.PageText]:
    """Yield the pages of a site with their texts; add the headings of each."""
    for found in reader(side, "is_page"):
        texts = text_blocks.blocks(found.data, found.media_type, found.charset)
        own = " / ".join(text[1:] for text in texts if text.startswith(text_blocks.HEADING))
        headings.append((found.resource, in_short(own) or None))
        yield matching.PageText(found.resource, found.digest, found.title, texts)


def metas(connection: Any, read: Callable[[str, str], Iterable[Found]]) -> None:
    """Fill the table `metas`: the names of meta elements that are relative, or contradict the canonical link."""
    connection.execute(_NAMELESS)
    insert(connection, "metas", _metas(connection, read))


def _metas(connection: Any, read: Callable[[str, str], Iterable[Found]]) -> Iterator[tuple[int, int, str, str]]:
    of_pages: dict[int, list[tuple[int, int, str]]] = {}
    for resource, *row in each(connection, "SELECT resource, start, id, target FROM nameless ORDER BY start, id"):
        of_pages.setdefault(resource, []).append(tuple(row))
    for page in read("new", "resource IN (SELECT resource FROM nameless)"):
        nameless = of_pages[page.resource]
        for tag in start_tags(page.data, b"meta"):
            found = attributes(page.data, tag.start, tag.end)
            names = [found[key].raw.strip().lower() for key in (b"property", b"name") if key in found]
            own = slice(*(bisect_left(nameless, at, key=itemgetter(0)) for at in (tag.start, tag.end)))
            for (_, number, target), name in product(nameless[own], names):
                yield page.resource, number, target, name.decode("utf-8", "replace")


# The links of sitemaps to other languages, each with the `loc` before it.
_IN_SITEMAPS: Final = """
SELECT resource, start, page, target FROM (
    SELECT r.resource, l.start, l.target, l.element,
        last_value(CASE WHEN l.element = 'loc' THEN l.target END IGNORE NULLS) OVER (
            PARTITION BY r.resource ORDER BY l.start ROWS UNBOUNDED PRECEDING) AS page
    FROM links_in l JOIN resources r ON r.side = 'new' AND r.document = l.document AND r.entity = l.entity
    WHERE (l.element = 'loc' AND l.attribute = '' OR l.element = 'link' AND l.rel = 'alternate')
    AND l.target IS NOT NULL AND r.media_type IN ('application/xml', 'text/xml'))
WHERE element = 'link' AND page IS NOT NULL ORDER BY resource, start"""
_LARGEST_TAG: Final = 4096
_HREFLANG: Final = re.compile(rb"""\bhreflang\s*=\s*["']([^"'<>]{1,40})["']""")


def find_languages(connection: Any, read: Callable[[str, str], Iterable[Found]]) -> None:
    """Fill the table `sitemap_languages`, for example with `de` of `hreflang="de"` in a sitemap."""
    insert(connection, "sitemap_languages", _languages(connection, read))


def _languages(connection: Any, read: Callable[[str, str], Iterable[Found]]) -> Iterator[tuple[str, str, str]]:
    of_sitemaps: dict[int, list[tuple[int, str, str]]] = {}
    for resource, *row in each(connection, _IN_SITEMAPS):
        of_sitemaps.setdefault(resource, []).append(tuple(row))
    for file in read("new", f"resource IN ({', '.join(map(str, of_sitemaps))})") if of_sitemaps else ():
        for start, page, target in of_sitemaps[file.resource]:
            first = max(file.data.rfind(b"<", max(start - _LARGEST_TAG, 0), start), 0)
            tag = file.data[first : start + _LARGEST_TAG].partition(b">")[0]
            if (found := _HREFLANG.search(tag)) is not None:
                yield file.document, page, f"{found[1].decode('utf-8', 'replace')}={target}"


def find_menus(connection: Any, read: Callable[[str, str], Iterable[Found]]) -> None:
    """Fill the table `in_menus` with the pages in the menus of Doxygen, for example `"pages.html"` in menudata.js."""
    found = ((one.url, name) for one in read("new", _MENUS) for name in _IN_MENU.findall(one.data))
    insert(connection, "in_menus", ((urljoin(url, name.decode("utf-8", "replace")),) for url, name in found))


def _is_below(name: str, roots: tuple[str, ...], size: int | None) -> bool:
    """Return whether a path is a regular file of this size (None: any size) below one of the folders."""
    try:
        real = os.path.realpath(name)
        found = os.stat(real)  # noqa: PTH116 - for each of very many
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and size in {None, found.st_size} and real.startswith(roots)


def _contents(name: str, entities: Iterable[str], reading: ReadOptions) -> Iterator[tuple[str, bytes]]:
    """Yield the wanted documents of an input: their entity paths and bytes."""
    wanted = set(entities)
    try:
        if wanted == {""}:
            yield "", Path(local(name)).read_bytes()
            return
        how = reading._replace(settings=reading.settings._replace(documents=True))
        walked = documents.Documents(name)
        for segment in segments(Input(name, Path(name).name), how):
            if segment.entity is not None:
                yield from _texts_in(walked, segment.entity, wanted)
    except (OSError, ValueError, DocumentError):  # it was reported when the rows were made, or is of another machine
        return


def _texts_in(walked: documents.Documents, entity: Any, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    first = walked.begin(entity)
    for found in (first, *walked.inside(entity)) if first is not None else walked.inside(entity):
        walked.taken()
        if found.row.entity in wanted and found.data is not None:
            yield found.row.entity, found.data


# --- mentions of the old host -----------------------------------------------------------------------------------------

_WITH_TEXT: Final = (
    "media_type IS NULL OR media_type = 'image/svg+xml'"
    " OR NOT regexp_matches(media_type, '^(image|audio|video|font)/|zip|pdf|octet-stream|font|wasm|compressed')"
)
# A link in a document inside a page has its offset in that document, and the line and column of the page. A host in the
# query of a link is a mention, unless the link itself leads to the old site.
_OUTSIDE_LINKS: Final = """
DELETE FROM mentions m WHERE EXISTS (SELECT 1 FROM (
    SELECT l.*, CASE WHEN contains(l.reference, '?') AND t.target IS NULL THEN instr(l.reference, '?') END AS query
    FROM new_all_links l LEFT JOIN targets t ON t.target = l.target AND t.verdict = 'leftover'
) l WHERE l.document = m.document
    AND (l.entity = m.entity AND m.start >= l.start AND m.start < coalesce(l.start + l.query, l."end")
        OR l.entity <> m.entity AND l.line = m.line AND m."column" >= l."column"
            AND m."column" <= l."column" + coalesce(l.query, length(l.reference))))
"""


def find_mentions(connection: Any, question: Question, read: Callable[[str, str], Iterable[Found]]) -> None:
    """Create the table `mentions` of places that still name the old host outside links, for example in a script.

    They are counted apart from findings, because no rule and no repair concerns them. The table is empty if the URL of
    the old site is not known.
    """
    connection.execute(tables.created("mentions"))
    pattern = _pattern(question)
    if pattern is None:
        return
    connection.execute("ALTER TABLE mentions ADD COLUMN start BIGINT")
    insert(connection, "mentions", (row for found in read("new", _WITH_TEXT) for row in _mentions(found, pattern)))
    connection.execute(_OUTSIDE_LINKS)
    connection.execute("ALTER TABLE mentions DROP COLUMN start")


def _pattern(question: Question) -> mentions.Names | None:
    """Return a pattern for the old site's hosts with their folders; None if the new site has the same."""
    new = _host_and_folder(question.new_url)
    olds = [_host_and_folder(url) for url in (question.old_url, *question.other_old_urls) if url is not None]
    return mentions.pattern(old for old in olds if not new.startswith(old))


def _host_and_folder(url: str) -> str:
    return identity.named(url) + url[url.index("/", url.index("//") + 2) :].rstrip("/")


def _mentions(found: Found, pattern: mentions.Names) -> Iterator[tuple[Any, ...]]:
    data = found.data
    every = mentions.mentions(data, pattern, found.media_type)
    for one, column in mentions.columns(data, every, found.charset):
        yield (found.document, found.entity, one.line, column, one.kind, mentions.shown(data, one), one.start)
