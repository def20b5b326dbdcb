"""Names and columns of the result tables, their types in DuckDB, and the verdicts.

In: nothing. Out: constants that the queries, the outputs and the report share.
"""

from __future__ import annotations

from typing import Final

from absolve.core.errors import UsageError
from absolve.inventory.columns import COLUMNS
from absolve.tables import SCHEMA_VERSION as SCHEMA_VERSION  # noqa: PLC0414 - of the result tables, too
from absolve.tables.inventory import TYPES

_COLUMNS: Final = {
    "links": (
        *COLUMNS,
        "verdict",
        "final",  # where it should lead, or leads in the end, with the fragment of the link
        "hops",  # redirects on the way to `final`
        "fix",  # the reference to write instead, in the form of the old one
        "suggestion",  # a URL that is likely, never applied by itself
        "cause",
    ),
    "urls": (  # one row for each URL of the old site
        *("url", "verdict", "final", "hops"),
        "method",  # same, rule, digest, content
        "score",  # similarity of the two contents, 0 to 1
        *("suggestion", "cause"),
        "rule",  # the rule that moved it, FILE:LINE; else the rule to add, as text
        "requests",  # clicks, views or requests that lists of the old site count, if any does
    ),
    "pages": ("url", "document", "verdict", "detail", "cause"),
    "changes": ("url", "final", "what", "old", "new"),  # what is different on pages of the old site that stayed
    "answers": (  # what servers answered, one row for each URL
        *("url", "kind", "expected", "status", "final", "hops", "verdict", "detail"),
        *("date", "links"),
    ),
    "mentions": ("document", "entity", "line", "column", "kind", "mention"),  # of the old host, outside links
    "rules": (
        *("file", "line", "text"),
        "used",  # URLs that it moved
        "problem",  # why it could not be read
        "finding",  # unused, repeats LINE, or one of a wrong rule
        "cause",
    ),
    "causes": (
        *("cause", "verdict", "title", "links", "pages"),
        *("example_document", "example_line", "example_column", "example_reference"),
        *("final", "fix", "suggestion", "rule"),
    ),
    "sections": ("section", "verdict", "links", "pages", "urls"),  # by the first segment of the path, as /docs/
    "flows": ("old_section", "new_section", "verdict", "urls"),
    "hosts": ("host", "links"),
    "layers": ("base_layer", "links"),
    "summary": ("name", "value"),
}
_TYPES: Final = {
    **TYPES,
    **dict.fromkeys(("hops", "requests", "used", "pages", "urls", "example_line", "example_column"), "BIGINT"),
    "score": "DOUBLE",
}
TABLES: Final = {table: {name: _TYPES.get(name, "VARCHAR") for name in columns} for table, columns in _COLUMNS.items()}

# In the order in which they are tried: the first that holds counts.
LINK_VERDICTS: Final = (
    *("ok", "same", "external", "malformed", "unresolved", "placeholder", "divergent"),
    *("leftover", "local", "mixed", "insecure"),
    *("loop", "chain", "redirected", "case", "slash", "encoding", "fragment", "unsure", "broken"),
)
URL_VERDICTS: Final = ("kept", "mapped", "moved", "replaced", "gone", "lost")
DIFFERS: Final = "differs"  # a server does not answer as the maps and files have it
EXPECTED: Final = "; expected: "  # between what it answered and a URL
PAGE_VERDICTS: Final = (
    *("noindex", "orphan", "canonical", "hreflang", "sitemap", "duplicate"),
    DIFFERS,
)
UNREAD: Final = "unread-rule"
WRONG: Final = "wrong-rule"
RULE_VERDICTS: Final = (UNREAD, WRONG)
CHANGED: Final = "changed"

QUIET: Final = ("ok", "same", "external")  # links that are no findings
FINE: Final = ("kept", "mapped", "gone")  # old URLs that are no findings
# No exit status 1, unless --fail-on names them.
TOLERATED: Final = (*QUIET, *FINE, "insecure", "orphan", "unsure", CHANGED)
BY_KIND: Final = {
    "links": LINK_VERDICTS,
    "old URLs": URL_VERDICTS,
    "pages": PAGE_VERDICTS,
    "rules": RULE_VERDICTS,
    "pages that stayed": (CHANGED,),
}
VERDICTS: Final = tuple(word for words in BY_KIND.values() for word in words)

# The rules with a verdict, of the table that `{}` names; the dialect is that of DuckDB and SQLite.
RULES_FOUND: Final = f"""
SELECT CASE WHEN problem IS NULL THEN '{WRONG}' ELSE '{UNREAD}' END AS verdict, file, line, text, problem, finding
FROM {{}} WHERE problem IS NOT NULL OR (finding <> 'unused' AND finding NOT LIKE 'repeats %')
"""  # noqa: S608 - names of ours
# Those that change nothing: no finding.
WITHOUT_EFFECT: Final = "problem IS NULL AND (finding = 'unused' OR finding LIKE 'repeats %')"
PLACE: Final = "http://localhost/"  # the root of a folder without --url


def failing(words: str | None) -> frozenset[str]:
    """Return the verdicts of --fail-on. Raise UsageError for an unknown word."""
    if words is None:
        return frozenset(VERDICTS) - frozenset(TOLERATED)
    given = [word.strip() for word in words.split(",") if word.strip()]
    if given == ["none"]:
        return frozenset()
    for word in given:
        if word not in VERDICTS:
            raise UsageError(f"--fail-on: {word!r} is no verdict: choose from {', '.join(VERDICTS)}")
    return frozenset(given)


def created(table: str) -> str:
    """Return the CREATE TABLE statement of a result table."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in TABLES[table].items())
    return f"CREATE TABLE {table} ({columns})"
