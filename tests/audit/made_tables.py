"""Result tables of an audit as of a real site, made by a seeded generator, of any size."""

import json
import random
from collections.abc import Sequence
from typing import Any, Final

import duckdb
import pyarrow as pa

from absolve.audit import tables, verdicts

NEW: Final = "https://docs.example.org"
OLD: Final = "https://www.example.com"
SECTIONS: Final = ("docs", "blog", "api", "guide", "reference", "images", "downloads", "community", "legal", "press")
WORDS: Final = "install upgrade config network storage security backup index search query replica cluster node user role".split()
VERDICTS: Final = {  # with their share of the findings
    "broken": 30, "leftover": 22, "fragment": 14, "redirected": 10, "chain": 4, "case": 6, "slash": 5, "insecure": 4,
    "encoding": 1, "mixed": 2, "loop": 1, "malformed": 1,
}
FIXED: Final = {"leftover", "redirected", "chain", "case", "slash", "encoding", "mixed"}
HOSTILE: Final = (  # texts that a page may contain
    *("<script>document.title='harmed'</script>", "</script><img src=x onerror=\"document.title='harmed'\">"),
    *("\x1b[2J\x1b[31mred\x1b]0;title\x07", "https://docs.example.org/\u202egnp.exe", '=HYPERLINK("http://evil","x")'),
    *("https://user:secret@docs.example.org/a", "@SUM(1+1)", "]]>&<!--", "::error file=x::y", "`a` | <b>b</b> [x](javascript:1)"),
    "one\rforged",
)


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows, as columns: row by row is slow."""
    names = list(tables.TABLES[table])
    found = pa.table({name: [row[at] if at < len(row) else None for row in rows] for at, name in enumerate(names)})
    connection.register("made", found)
    connection.execute(f"INSERT INTO {table} SELECT * FROM made")  # noqa: S608
    connection.unregister("made")


def made(findings: int = 200, *, ok: int = 100, hostile: bool = False, seed: int = 1808) -> duckdb.DuckDBPyConnection:
    """Return a connection with all result tables: so many findings on links, and so many links without."""
    chance = random.Random(seed)  # noqa: S311
    connection = duckdb.connect()
    for table in tables.TABLES:
        connection.execute(tables.created(table))
    pages = [page(chance, number) for number in range(max(20, findings // 20))]
    causes = [cause(chance, number) for number in range(max(8, findings // 12))]
    if hostile:
        causes[: len(HOSTILE)] = [(text, "broken", text, text) for text in HOSTILE]
    links = [link(chance, chance.choice(pages), found) for found in spread(chance, causes, findings)]
    links += [link(chance, chance.choice(pages), None) for _ in range(ok)]
    if hostile:
        links = [(*row[:10], HOSTILE[number % len(HOSTILE)], *row[11:]) for number, row in enumerate(links)]
    insert(connection, "links", links)
    connection.execute("CREATE TABLE places (document VARCHAR, entity VARCHAR, url VARCHAR, section VARCHAR)")
    rows = [[f"new/{path}", "", f"{NEW}/{path}", f"/{path.partition('/')[0]}/"] for path in sorted(set(pages))]
    connection.register("made", pa.table({n: [row[i] for row in rows] for i, n in enumerate(("document", "entity", "url", "section"))}))
    connection.execute("INSERT INTO places SELECT * FROM made")
    insert(connection, "urls", [old_url(chance, number) for number in range(max(40, findings // 30))])
    insert(connection, "pages", [
        [f"{NEW}/{path}", f"new/{path}", chance.choice(verdicts.PAGE_VERDICTS), "canonical names the old host"]
        for path in pages[: max(5, len(pages) // 30)]
    ])
    texts = HOSTILE if hostile else ("before", "now")
    insert(connection, "mentions", [[f"new/{texts[0]}.html", "", 3, 7, "script", text] for text in texts for _ in range(60)])
    insert(connection, "changes", [[f"{OLD}/{text}", f"{NEW}/{text}", "title", text, text[::-1]] for text in texts])
    insert(connection, "rules", [
        ["redirects.csv", 1, "/blog/*,/news/:splat", 210, None, None], ["redirects.csv", 2, "/team,/about", 1, None, "chain"],
        ["redirects.csv", 3, "/x,/y", 0, None, "unused"],
        [".htaccess", 14, "RewriteCond %{HTTP_USER_AGENT} Mobile", 0, "a condition on the visitor cannot be known", None],
    ])
    summarize(connection, causes)
    return connection


def page(chance: random.Random, number: int) -> str:
    section = chance.choices(SECTIONS, range(len(SECTIONS), 0, -1))[0]
    return f"{section}/{chance.choice(WORDS)}-{chance.choice(WORDS)}-{number}.html"


def cause(chance: random.Random, number: int) -> tuple[str, str, str, str]:
    """Return key, verdict, title and reference of a cause."""
    verdict = chance.choices(list(VERDICTS), list(VERDICTS.values()))[0]
    section, word = chance.choice(SECTIONS), chance.choice(WORDS)
    reference = f"../{section}/{word}-{number}.html" + ("#" + chance.choice(WORDS) if verdict == "fragment" else "")
    if verdict == "leftover":
        reference = f"{OLD}/{section}/{word}-{number}.html"
    return f"{verdict}:{section}/{word}-{number}", verdict, f"{reference} in the page footer", reference


def spread(chance: random.Random, causes: list[Any], count: int) -> list[Any]:
    """Return a cause for each finding: each once, a few of them for very many."""
    first = causes[:count]
    weights = [1 / (1 + number) for number in range(len(causes))]
    return first + chance.choices(causes, weights, k=count - len(first))


def link(chance: random.Random, path: str, found: tuple[str, str, str, str] | None) -> tuple[Any, ...]:
    reference = found[3] if found else f"{chance.choice(WORDS)}.html"
    verdict = found[1] if found else chance.choice(("ok", "ok", "ok", "external", "same"))
    target = f"https://host{chance.randrange(9)}.example/" if verdict == "external" else f"{NEW}/{reference.lstrip('./')}"
    start = chance.randrange(100, 60_000)
    fix = f"../{reference.rpartition('/')[2]}" if verdict in FIXED else None
    return (
        *(f"new/{path}", "", chance.randrange(1, 900), chance.randrange(1, 120), start, start + len(reference)),
        *("a", "href", "link", "", "text", reference, f"{NEW}/{path}", chance.choice(("retrieval", "retrieval", "embedded"))),
        *("--url", target, "internal", [], verdict, target if verdict in FIXED else None, 2 if verdict == "chain" else 0),
        *(fix, f"{NEW}/docs/near.html" if verdict == "broken" and chance.random() < 0.3 else None, found[0] if found else None),
    )


def old_url(chance: random.Random, number: int) -> list[Any]:
    verdict = chance.choices(verdicts.URL_VERDICTS, (60, 20, 6, 3, 1, 10))[0]
    section = chance.choice(SECTIONS)
    url = f"{OLD}/{section}/{chance.choice(WORDS)}-{number}.html"
    final = f"{NEW}/{section}/{chance.choice(WORDS)}.html" if verdict in {"kept", "mapped", "moved"} else None
    method = {"kept": "same", "mapped": "rule", "moved": "content"}.get(verdict)
    rule = f"{url},{final}" if verdict == "moved" else "redirects.csv:1" if verdict == "mapped" else None
    return [url, verdict, final, int(verdict == "mapped"), method, 0.93 if verdict == "moved" else None, None, None, rule, 1000 - number]


def summarize(connection: duckdb.DuckDBPyConnection, causes: list[tuple[str, str, str, str]]) -> None:
    """Fill the tables that count."""
    connection.execute("UPDATE pages SET cause = verdict")
    connection.execute(f"UPDATE urls SET cause = verdict WHERE verdict NOT IN {verdicts.FINE}")  # noqa: S608
    connection.execute("""
        INSERT INTO causes SELECT cause, verdict, verdict || ' URLs', 0, count(*), min(url), NULL, NULL, NULL, NULL, NULL, NULL, NULL
        FROM urls WHERE cause IS NOT NULL GROUP BY ALL""")
    connection.execute("UPDATE rules SET cause = CASE WHEN problem IS NULL THEN 'wrong-rule:' || finding ELSE 'unread-rule' END WHERE finding = 'chain' OR problem IS NOT NULL")
    connection.register("named", pa.table({"cause": [c[0] for c in causes], "title": [c[2] for c in causes]}))
    connection.execute("""
        INSERT INTO causes SELECT l.cause, any_value(verdict), any_value(n.title), count(*), count(DISTINCT document),
            arg_min(document, line), min(line), arg_min("column", line), any_value(reference), any_value(final),
            any_value(fix), any_value(suggestion), CASE WHEN any_value(verdict) = 'broken' THEN any_value(reference) || ',/new' END
        FROM links l JOIN named n ON n.cause = l.cause GROUP BY l.cause ORDER BY count(*) DESC, l.cause""")
    connection.execute("""
        INSERT INTO sections SELECT section, verdict, count(*), count(DISTINCT l.document), 0
        FROM links l JOIN places p ON p.document = l.document GROUP BY ALL ORDER BY ALL""")
    connection.execute("""
        INSERT INTO sections SELECT regexp_extract(url, '^[a-z]+://[^/]+(/[^/]*/)', 1), verdict, 0, 0, count(*)
        FROM urls GROUP BY ALL ORDER BY ALL""")
    connection.execute("""
        INSERT INTO flows SELECT regexp_extract(url, '^[a-z]+://[^/]+(/[^/]*/)', 1) AS o,
            nullif(regexp_extract(coalesce(final, ''), '^[a-z]+://[^/]+(/[^/]*/)', 1), '') AS n, verdict, count(*)
        FROM urls GROUP BY ALL ORDER BY ALL""")
    connection.execute("""
        INSERT INTO hosts SELECT regexp_extract(target, '://([^/]+)', 1) AS host, count(*) AS c FROM links
        WHERE verdict = 'external' GROUP BY host ORDER BY c DESC, host""")
    connection.execute("INSERT INTO layers SELECT base_layer, count(*) FROM links GROUP BY base_layer ORDER BY base_layer")
    counts = connection.execute("""SELECT (SELECT count(*) FROM links), (SELECT count(*) FROM links WHERE verdict
        NOT IN ('ok', 'same', 'external')), (SELECT count(*) FROM causes), (SELECT count(*) FROM urls),
        (SELECT count(*) FROM urls WHERE verdict = 'lost')""").fetchall()[0]
    names = ("links", "findings", "causes", "urls", "lost")
    summary = [*zip(names, map(str, counts), strict=True), ("rules_unread", "1"), ("can_switch", "false")]
    summary += [("reasons", reasons(connection))]
    summary += [("new_url", f"{NEW}/"), ("old_url", f"{OLD}/"), ("created_by", "absolve 0.1.0"), ("schema_version", "1")]
    insert(connection, "summary", summary)


def reasons(connection: duckdb.DuckDBPyConnection) -> str:
    rows = connection.execute(f"""SELECT verdict, count(*) FROM (SELECT verdict FROM links UNION ALL SELECT verdict FROM urls
        UNION ALL SELECT verdict FROM pages) WHERE verdict NOT IN {verdicts.TOLERATED} GROUP BY verdict""").fetchall()  # noqa: S608
    counts = dict(rows)
    found = [{"verdict": verdict, "count": counts[verdict]} for verdict in verdicts.VERDICTS if verdict in counts]
    return json.dumps([*found, {"verdict": "unread-rule", "count": 1}])
