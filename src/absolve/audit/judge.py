"""Judge all links of the new site, all URLs of the old one, and the pages: the queries, in their order.

In: a connection with the tables of both sites (`load`), a `Question`, the rules of the maps, a function that compares
contents. Out: the result tables (`tables`). Python sees only distinct URLs that no join decides: URLs that rules may
move, and odd spellings.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.load import NEW, OLD, quoted
from absolve.audit.servers import SERVERS, Server
from absolve.core.arrow_stream import BOOL, DOUBLE, NUMBER, TEXT, Field
from absolve.core.errors import UsageError, in_short
from absolve.document.companions import INDEXES
from absolve.inventory import batches
from absolve.rules import entries, functions
from absolve.rules.outcomes import Rules
from absolve.tables.duckdb import add_function, put
from absolve.urls import identity, whatwg
from absolve.urls.chain import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.audit.ignoring import Ignore
    from absolve.audit.matching import Match, Pair
    from absolve.rules.model import RuleSet

    Headings = list[tuple[int, str | None]]  # of resources: the text of their h1 elements
    Compare = Callable[[Sequence[tuple[int, int]]], tuple[list[Match], list[Pair], Headings]]

_FETCHED: Final = 10_000  # rows at once
_COMPARED: Final = 1000  # rules of a table whose direction is in question
_KINDS: Final = {"BIGINT": NUMBER, "DOUBLE": DOUBLE, "BOOLEAN": BOOL, "VARCHAR": TEXT}  # of columns in our tables
HTML: Final = ("text/html", "application/xhtml+xml")


class Question(NamedTuple):
    """The question that an audit answers.

    `new_url`, `old_url`: the root URL of each site. `server`: how URLs find files. `threshold`: the similarity from
    which two contents are the same. `ignores`: known and accepted findings. `other_old_urls`: roots of more hosts of
    the old site. `is_built`: a generator makes pages of the new site's Markdown, with names of its own for headings.
    """

    new_url: str
    old_url: str | None = None
    server: Server = SERVERS["plain"]
    threshold: float = 0.8
    ignores: tuple[Ignore, ...] = ()
    other_old_urls: tuple[str, ...] = ()
    is_built: bool = False


def run(connection: Any, name: str) -> None:
    """Run one file of queries, which is parsed once a process: that takes as long as to run it on a small site."""
    for statement in _statements(name):
        connection.execute(statement)


@cache
def _statements(name: str) -> list[Any]:
    import duckdb

    return duckdb.extract_statements(read_query(name))


def read_query(name: str) -> str:
    """Return the text of a file of queries."""
    return (resources.files("absolve.audit") / "queries" / name).read_text("utf-8")


def root(url: str) -> str:
    """Return the folder of a URL, for example `http://h/a/` for `http://h/a/b?c`. Raise UsageError for other URLs."""
    found = identity.normal(url)
    if found is None or not found.startswith(("http:", "https:")):
        raise UsageError(f"{in_short(url)!r} is not an http or https URL")
    bare = found.partition("?")[0]
    return bare[: bare.rindex("/") + 1]


# --- the sites --------------------------------------------------------------------------------------------------------


def prepare(connection: Any, question: Question) -> None:
    """Create the working tables, the functions for queries, and the tables of both sites' contents."""
    run(connection, "05_tables.sql")
    _add_functions(connection, question)
    _add_scopes(connection, question)
    _add_spellings(connection)
    run(connection, "10_resources.sql")
    if not has_rows(connection, "FROM resources WHERE media_type IN ('text/markdown', 'application/x-ipynb+json')"):
        connection.execute("CREATE OR REPLACE MACRO name_key(place, media_type, path) AS place")  # nothing to compile


def _add_functions(connection: Any, question: Question) -> None:
    """Add the functions that compare URLs to the connection, and constants of the question."""
    add_function(connection, "normal", lambda url: identity.normal(url) or url)
    add_function(connection, "site_of", identity.named)
    server = question.server
    add_function(connection, "key_of", server.path_key)
    bases = {"new_base": root(question.new_url), "old_base": root(question.old_url) if question.old_url else None}
    constants = {
        **{name: "NULL::VARCHAR" if base is None else quoted(base) for name, base in bases.items()},
        "has_private_site": False,
        "is_built": question.is_built,
        "threshold": question.threshold,
        "index_names": f"[{', '.join(map(quoted, server.indexes))}]::VARCHAR[]",
        "names_of_indexes": f"[{', '.join(map(quoted, INDEXES))}]",
        "answers": f"[{', '.join(map(quoted, map(server.path_key, server.answers)))}]::VARCHAR[]",
        "extensions": f"[{', '.join(map(quoted, server.extensions))}]::VARCHAR[]",
        "redirects_folders": server.bare_folder == "redirect",
        "serves_folders": server.bare_folder == "serve",
        "redirects_html": server.html == "redirect",
        "ignores_queries": server.queries == "ignore",
        "not_found_page": quoted(server.not_found) if server.not_found else "NULL::VARCHAR",
    }
    connection.execute(";".join(f"CREATE OR REPLACE MACRO {name}() AS {value}" for name, value in constants.items()))
    name = "lower(name)" if server.case == "ignore" else "name"
    connection.execute(f"CREATE OR REPLACE MACRO own_case(name) AS {name}")
    run(connection, "00_macros.sql")
    if one(connection, "SELECT is_private(new_base())")[0]:
        connection.execute("CREATE OR REPLACE MACRO has_private_site() AS true")


def _add_scopes(connection: Any, question: Question) -> None:
    rows = []
    others = ((OLD, url, False) for url in question.other_old_urls)
    for side, url, is_main in ((NEW, question.new_url, True), (OLD, question.old_url, True), *others):
        if url is not None:
            base = root(url)
            rows.append((side, identity.named(base), base[base.index("/", base.index("//") + 2) :], base, is_main))
    insert(connection, "scopes", rows)


def _add_spellings(connection: Any) -> None:
    """Add the normal form of document URLs that are not written as in the URL Standard."""
    connection.execute(
        "CREATE OR REPLACE TABLE spellings AS SELECT DISTINCT url AS raw, normal(url) AS url"
        " FROM (SELECT url FROM new_documents UNION ALL SELECT url FROM old_documents) WHERE normal(url) <> url"
    )


_MISSING: Final = "FROM located WHERE resource IS NULL AND variant IS NULL AND contains(path, '%')"


def locate(connection: Any) -> None:
    """Find the URLs in the table `wanted`, and try odd spellings of missing ones."""
    if not has_rows(connection, "FROM wanted"):
        return
    run(connection, "20_located.sql")
    if not has_rows(connection, _MISSING):
        return
    odd = (
        "WITH linked AS (SELECT DISTINCT normal(bare(l.target)) AS url, d.charset FROM links_in l"
        " JOIN (SELECT DISTINCT document, charset FROM new_documents WHERE charset <> 'utf-8') d USING (document)"
        " WHERE contains(l.target, '%') OR strlen(l.target) > length(l.target))"
        "SELECT DISTINCT l.url, l.path, coalesce(c.charset, 'utf-8')"
        " FROM located l SEMI JOIN wanted USING (side, url) LEFT JOIN linked c ON c.url = l.url"
        " SEMI JOIN (SELECT DISTINCT side, site FROM served) s ON s.side = l.side AND s.site = l.site"
        " WHERE l.resource IS NULL AND l.variant IS NULL AND contains(l.path, '%')"
        " AND l.url NOT IN (SELECT url FROM respelled)"
    )
    found = [(url, key) for url, path, charset in each(connection, odd) for key in _respelled(path, charset)]
    if found:
        insert(connection, "respelled", found)
        connection.execute(
            "DELETE FROM located WHERE resource IS NULL AND variant IS NULL AND url IN (SELECT url FROM respelled)"
        )
        run(connection, "20_located.sql")


def _respelled(path: str, charset: str) -> Iterator[str]:
    """Yield keys for a path with escapes in a legacy charset, or escaped twice: for example `/a b` for `/a%2520b`."""
    key = identity.decoded(path)
    yield from identity.respelled(path, charset)
    if (twice := identity.decoded(key.replace("%25", "%"))) != key:
        yield twice


# --- rules ------------------------------------------------------------------------------------------------------------

_CANDIDATES: Final = """
SELECT DISTINCT url FROM (
    SELECT l.url FROM located l JOIN scopes s
        ON s.side = 'new' AND s.site = l.site AND starts_with(l.path, s.prefix)
    WHERE l.side = 'new' AND (l.resource IS NULL OR ? OR l.resource IN (SELECT resource FROM stubs))
    UNION ALL SELECT old_url FROM counterparts
    UNION ALL SELECT url FROM old_urls UNION ALL SELECT file_url FROM old_urls)
"""
# Pages with a refresh to another one, by a meta element or a header. It counts after any delay: search engines take an
# instant one for a permanent redirect, others for a temporary one. A header precedes the elements, and only the first
# refresh counts (HTML 7.5.7). A refresh to the page itself reloads it.
_STUBS: Final = """
CREATE OR REPLACE TABLE stubs AS
SELECT r.resource, l.target, l.document, l.line
FROM links_in l JOIN resources r
    ON r.side = 'new' AND r.document = l.document AND answer_of(r.entity) = answer_of(l.entity)
LEFT JOIN located t ON t.side = 'new' AND t.url = bare(l.target)
WHERE (l.element = 'meta' AND l.kind = 'navigation' OR l.element = 'header' AND l.attribute = 'refresh')
AND l.target IS NOT NULL AND l.scope <> 'other'
QUALIFY row_number() OVER (PARTITION BY r.resource ORDER BY l.element, l.start) = 1
AND l.scope <> 'same-document' AND t.resource IS DISTINCT FROM r.resource
"""
_RECORDED: Final = f"""
SELECT d.url, l.target, d.status, d.url, l.line FROM new_documents d
JOIN new_all_links l ON l.document = d.document AND l.entity = answer_of(d.entity)
    AND l.element = 'header' AND l.attribute = 'location'
WHERE d.status IN {tuple(REDIRECTS)} AND d.url IS NOT NULL AND l.target IS NOT NULL
UNION ALL SELECT a.url, s.target, 302, s.document, s.line FROM stubs s
JOIN served a ON a.side = 'new' AND a.resource = s.resource
"""  # noqa: S608 - a constant


_KEYS: Final = "SELECT DISTINCT side, key FROM served WHERE key IN (SELECT unnest(?::VARCHAR[]))"


def is_reversed(connection: Any, question: Question, found: RuleSet) -> bool:
    """Return whether the unnamed columns of a table are swapped: its paths lead from the new site to the old one."""
    columns = found.columns
    if columns is None or columns.header is None or not columns.by_words.isdisjoint({"old", "new"}):
        return False
    pairs = [(rule.source, rule.target[0]) for rule in islice(found.rules, _COMPARED) if rule.target]
    paths = [tuple(question.server.path_key(str(one).partition("?")[0]) for one in pair) for pair in pairs]
    rows = connection.execute(_KEYS, [[one for pair in paths for one in pair]]).fetchall()
    side_of_key = {key: side for side, key in rows if (OLD if side == NEW else NEW, key) not in rows}
    sides = [(side_of_key.get(first), side_of_key.get(second)) for first, second in paths]
    return sum(_direction(*pair) for pair in sides) < 0


def _direction(source: str | None, target: str | None) -> int:
    """Return 1 for a source of the old site or a target of the new one, -1 for the reverse."""
    return {None: 0, OLD: 1, NEW: -1}[source] + {None: 0, OLD: -1, NEW: 1}[target]


def all_rules(connection: Any, question: Question, sets: Sequence[RuleSet]) -> Rules:
    """Return the rules of the maps and of the redirects in the new site's captures."""
    connection.execute(_STUBS)
    recorded = entries.recorded(each(connection, _RECORDED))
    every = [*sets, recorded] if recorded.rules else sets
    rules = Rules(every, question.old_url, question.new_url, question.other_old_urls)
    if every:  # otherwise no file can hide a rule to add
        rules.exists = Held(connection, question.server)
        rules.adds_slash = question.server.bare_folder == "redirect"
        rules.indexes = question.server.indexes
    return rules


def follow(connection: Any, rules: Rules) -> None:
    """Fill the table `moves` with the end of each URL that rules move."""
    if rules.sets:
        insert(connection, "moves", _moves(rules, each(connection, _CANDIDATES, [rules.is_forced])))
    connection.execute(
        "CREATE OR REPLACE TABLE wanted AS SELECT 'new' AS side, coalesce(served, bare(final)) AS url FROM moves"
        " WHERE final IS NOT NULL"
    )


def _moves(rules: Rules, urls: Iterable[tuple[str]]) -> Iterator[tuple[Any, ...]]:
    for (url,) in urls:
        found = rules.chain(url)
        if found.rules:
            first, last = found.rules[0], found.rules[-1]
            served = identity.normal(found.served) if found.served is not None else None
            yield (
                *(url, found.final, found.hops, found.loop, found.gone, served),
                *(f"{last.file}:{last.line}", f"{first.file}:{first.line}", found.status, found.is_sure),
            )


class Held:
    """Return whether the new site has a file for a URL, to which rules without force do not apply."""

    def __init__(self, connection: Any, server: Server) -> None:
        self._connection = connection.cursor()
        self._server = server
        self._found: dict[str, bool] = {}
        self._held: set[int] | None = None

    def __call__(self, url: str) -> bool:
        if self._held is None:
            rows = each(
                self._connection,
                "SELECT site, key FROM served WHERE side = 'new' AND resource NOT IN (SELECT resource FROM stubs)",
            )
            self._held = {hash(row) for row in rows}
        normal = identity.normal(url)
        if normal is None:
            return False
        site, (bare, mark, query) = identity.named(normal), normal.partition("?")
        path = self._server.path_key(bare[len(identity.origin(bare)) :] or "/")
        return hash((site, path)) in self._held or (mark != "" and hash((site, f"{path}?{query}")) in self._held)


# --- contents ---------------------------------------------------------------------------------------------------------


_PAIRS: Final = """
SELECT DISTINCT u.resource, n.resource FROM (
    SELECT u.resource, l.resource AS other FROM old_urls u JOIN located l ON l.side = 'new' AND l.url = u.new_url
    UNION SELECT u.resource, d.resource FROM old_urls u JOIN led d ON d.url = u.url
    UNION SELECT u.resource, d.resource FROM old_urls u JOIN led d ON d.url IN (u.file_url, u.new_url)
) p JOIN old_urls u ON u.resource = p.resource JOIN resources o ON o.resource = p.resource
JOIN resources n ON n.resource = p.other
WHERE u.is_page AND n.is_page AND o.digest IS NOT NULL AND n.digest IS NOT NULL AND o.digest <> n.digest
"""
_UNDECIDED: Final = """
SELECT count(*) FROM old_urls u JOIN resources o ON o.resource = u.resource
LEFT JOIN located l ON l.side = 'new' AND l.url = u.new_url
LEFT JOIN resources n ON n.resource = l.resource
WHERE u.is_page AND o.digest IS NOT NULL AND n.digest IS DISTINCT FROM o.digest
"""


def compare(connection: Any, compared: Compare | None) -> None:
    """Fill the tables of similar contents; `compared` is called with the pairs of resources to compare."""
    connection.execute(
        "CREATE OR REPLACE TABLE home AS SELECT resource FROM served a JOIN scopes s ON s.side = 'new' AND s.is_main"
        " AND a.side = 'new' AND a.site = s.site AND a.key = s.prefix"
    )
    if compared is None or not one(connection, _UNDECIDED)[0]:
        return
    matches, scores, headings = compared(connection.execute(_PAIRS).fetchall())
    insert(connection, "content_matches", matches)
    insert(connection, "pair_scores", scores)
    insert(connection, "headings", headings)


# Broken links of a site with a known old one, or out of the folder of the site: only their targets may be elsewhere.
_MAY_BE_ELSEWHERE: Final = "FROM findings WHERE verdict = 'broken' AND (EXISTS (FROM homes) OR EXISTS (FROM strays))"

# --- all --------------------------------------------------------------------------------------------------------------


def judge(
    connection: Any,
    question: Question,
    sets: Sequence[RuleSet],
    compared: Compare | None = None,
    answered: Callable[[], Sequence[RuleSet]] | None = None,
) -> Rules:
    """Judge links and URLs by the maps: create `findings` and `judged_urls`. Return all rules, with their counts.

    `answered` fills the tables `answered` and `working`, and returns redirects among the answers as rules.
    """
    _take_includes(connection)
    _take_what_is_there(connection)
    if question.old_url is not None:
        _unwrap(connection)
    run(connection, "15_asked.sql")
    run(connection, "12_old_urls.sql")
    locate(connection)
    run(connection, "25_counterparts.sql")
    locate(connection)
    rules = all_rules(connection, question, [*sets, *(answered() if answered is not None else ())])
    follow(connection, rules)
    locate(connection)
    if has_rows(connection, "FROM moves"):
        run(connection, "30_led.sql")
    compare(connection, compared if question.old_url is not None else None)
    if has_rows(connection, "FROM old_urls"):
        run(connection, "60_urls.sql")
    run(connection, "40_ends.sql")
    _find_places(connection)
    run(connection, "45_targets.sql")
    run(connection, "50_findings.sql")
    if has_rows(connection, _MAY_BE_ELSEWHERE):
        run(connection, "52_old_targets.sql")
        locate(connection)
        run(connection, "55_relocated.sql")
        _find_places(connection)
        run(connection, "57_repaired.sql")
    return rules


def _find_places(connection: Any) -> None:
    """Add to `missing_places` the fragments in `wanted_places` without a place on their page."""
    if has_rows(connection, "FROM wanted_places"):
        run(connection, "42_places.sql")


# --- rows -------------------------------------------------------------------------------------------------------------


def one(connection: Any, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
    """Return the only row of a query."""
    (row,) = connection.execute(query, list(values)).fetchall()  # all, because an open result blocks the connection
    return tuple(row)


def has_rows(connection: Any, query: str) -> bool:
    """Return whether `FROM table WHERE condition` has rows."""
    return bool(connection.execute(f"SELECT 1 {query} LIMIT 1").fetchall())


_BEFORE: Final = """
SELECT l.rowid, d.url, l.reference FROM new_links l
JOIN new_documents d ON d.document = l.document AND d.entity = regexp_replace(l.entity, '/?srcdoc\\[.*', '')
WHERE list_contains(l.problems, 'before-base') AND d.url IS NOT NULL
AND bare(l.target) NOT IN (SELECT url FROM resources WHERE side = 'new')"""
_INSTEAD: Final = """
UPDATE new_links SET target = instead.url FROM instead
WHERE new_links.rowid = instead.link AND bare(instead.url) IN (SELECT url FROM resources WHERE side = 'new')"""


_IN_FRAGMENTS: Final = """
SELECT l.rowid, b.base, l.reference FROM new_links l
JOIN resources f ON f.side = 'new' AND f.document = l.document AND f.entity = l.entity
JOIN wanted_bases b ON b.fragment = f.resource AND b.is_own = regexp_matches(l.reference, '^([#?]|$)')
WHERE l.element <> 'include' AND (is_relative(l.reference) AND NOT starts_with(l.reference, '/') OR l.reference = '')"""
_IN_PAGES: Final = """
CREATE OR REPLACE TABLE in_pages AS SELECT i.link, i.url, a.key IS NOT NULL AS is_there FROM instead i
LEFT JOIN served a ON a.side = 'new' AND a.site = site_of(i.url) AND a.key = key_of(path_of(i.url));
INSERT INTO in_fragments
SELECT link, bool_or(is_there) AND NOT bool_and(is_there), arg_min(is_there, (length(url), url))
FROM in_pages GROUP BY link;
UPDATE new_links SET target = p.url FROM (
    SELECT link, arg_min(url, (NOT is_there, url)) AS url FROM in_pages GROUP BY link) p WHERE rowid = p.link;
DELETE FROM instead"""


def _take_includes(connection: Any) -> None:
    """Set the targets of links in files that pages include to the URLs that they have in these pages."""
    if has_rows(connection, "FROM new_all_links WHERE element = 'include' AND attribute IN ('virtual', 'file')"):
        run(connection, "11_included.sql")
        found = ((link, whatwg.parse(reference, base)) for link, base, reference in each(connection, _IN_FRAGMENTS))
        insert(connection, "instead", (pair for pair in found if pair[1] is not None))
        connection.execute(_IN_PAGES)


def _take_what_is_there(connection: Any) -> None:
    """Set the targets of links before a base element to the URL without that base, where only this URL is there."""
    found = ((link, whatwg.parse(reference, own)) for link, own, reference in each(connection, _BEFORE))
    insert(connection, "instead", (pair for pair in found if pair[1] is not None))
    connection.execute(_INSTEAD)


_OUTSIDE: Final = "SELECT DISTINCT target FROM new_links WHERE scope = 'external' AND target IS NOT NULL"
_WRAPS: Final = "proxies", "redirects"  # presets: what the owner of a site has not written


def _unwrap(connection: Any) -> None:
    """Set the targets of links to the URLs in them, for example in the URL of an image proxy, if these are old ones."""
    rules = [(0, functions.Preset(name)) for name in _WRAPS]
    old = {site for (site,) in each(connection, "SELECT site FROM scopes WHERE side = 'old'")}
    some = (url for (url,) in each(connection, _OUTSIDE) if functions.may_unwrap(rules, url))
    pairs = [(url, functions.unwrapped(rules, url, functions.Facts())[0]) for url in some]
    names_old = ([identity.named(one) in old for one in pair] == [False, True] for pair in pairs)
    insert(connection, "wrapped", compress(pairs, names_old))
    connection.execute("UPDATE new_links SET target = wrapped.url FROM wrapped WHERE target = wrapped.raw")


# References in the HTML of feeds that lead to nothing, or to another site: by the other bases that readers take.
_IN_FEEDS: Final = """
WITH homes AS (
    SELECT document, entity, arg_min(target, start) AS home FROM links_in
    WHERE element = 'link' AND (attribute = '' OR kind = 'navigation') OR attribute = 'home_page_url' GROUP BY ALL)
SELECT l.id, unnest([home, d.url, l.base || '/']), l.reference FROM findings f JOIN links_in l USING (id)
JOIN new_documents d ON d.document = l.document AND d.entity = regexp_replace(l.entity, '/?[^/]*$', '')
    AND d.media_type IN ('application/xml', 'application/feed+json')
JOIN homes h ON h.document = d.document AND h.entity = d.entity
WHERE l.base_layer = 'encapsulating' AND is_relative(l.reference) AND NOT starts_with(l.reference, '#')
AND NOT regexp_matches(l.base_source, '^srcdoc|xml:base')
AND (f.verdict = 'broken' AND f.final IS NULL OR f.verdict = 'external')"""


def try_bases_of_feeds(connection: Any) -> None:
    """Fill the table `instead` with other targets of references in feeds (docs/decisions.md, B25)."""
    connection.execute("DELETE FROM instead")
    if has_rows(connection, "FROM findings WHERE verdict IN ('broken', 'external') AND entity <> ''"):
        found = ((link, whatwg.parse(reference, base)) for link, base, reference in each(connection, _IN_FEEDS) if base)
        insert(connection, "instead", (pair for pair in found if pair[1] is not None))


def each(connection: Any, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query; other queries may run on the connection meanwhile."""
    cursor = connection.cursor().execute(query, list(values))
    while rows := cursor.fetchmany(_FETCHED):
        yield from rows


def insert(connection: Any, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows into a table, by way of Arrow."""
    fields: list[Field] = []
    for some in batched(rows, _FETCHED):
        described = () if fields else connection.execute(f"DESCRIBE {table}").fetchall()
        fields += [Field(name, _KINDS[kind]) for name, kind, *_ in described]
        put(connection, table, batches.stream([batches.typed(fields, some)]))


def batched(rows: Iterable[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    """Yield lists of at most `size` rows, as itertools.batched of Python 3.12."""
    iterator = iter(rows)
    while some := list(islice(iterator, size)):
        yield some
