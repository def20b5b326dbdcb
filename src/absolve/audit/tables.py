"""Names and columns of the result tables, their types in DuckDB, and the verdicts.

In: nothing. Out: constants that the queries, the outputs and the report share.
"""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 1  # of the result tables; a change of a column's name or meaning adds one

LINKS: Final = {  # columns of `absolve links`, and the six of the audit
    "document": "VARCHAR",
    "entity": "VARCHAR",
    "line": "BIGINT",
    "column": "BIGINT",
    "start": "BIGINT",
    "end": "BIGINT",
    "element": "VARCHAR",
    "attribute": "VARCHAR",
    "kind": "VARCHAR",
    "rel": "VARCHAR",
    "text": "VARCHAR",
    "reference": "VARCHAR",
    "base": "VARCHAR",
    "base_layer": "VARCHAR",
    "base_source": "VARCHAR",
    "target": "VARCHAR",
    "scope": "VARCHAR",
    "problems": "VARCHAR[]",
    "verdict": "VARCHAR",
    "final": "VARCHAR",  # where it should lead, or leads in the end, with the fragment of the link
    "hops": "BIGINT",  # redirects on the way to `final`
    "fix": "VARCHAR",  # the reference to write instead, in the form of the old one
    "suggestion": "VARCHAR",  # a URL that is likely, never applied by itself
    "cause": "VARCHAR",
}
URLS: Final = {  # one row for each URL of the old site
    "url": "VARCHAR",
    "verdict": "VARCHAR",
    "final": "VARCHAR",
    "hops": "BIGINT",
    "method": "VARCHAR",  # same, rule, digest, content
    "score": "DOUBLE",  # similarity of the two contents, 0 to 1
    "suggestion": "VARCHAR",
    "cause": "VARCHAR",
    "rule": "VARCHAR",  # the rule that moved it, FILE:LINE; else the rule to add, as text
}
PAGES: Final = {"url": "VARCHAR", "document": "VARCHAR", "verdict": "VARCHAR", "detail": "VARCHAR"}
RULES: Final = {
    "file": "VARCHAR",
    "line": "BIGINT",
    "text": "VARCHAR",
    "used": "BIGINT",  # URLs that it moved
    "problem": "VARCHAR",  # why it could not be read
    "finding": "VARCHAR",  # unused, repeats LINE, or one of a wrong rule
}
CAUSES: Final = {
    "cause": "VARCHAR",
    "verdict": "VARCHAR",
    "title": "VARCHAR",
    "links": "BIGINT",
    "pages": "BIGINT",
    "example_document": "VARCHAR",
    "example_line": "BIGINT",
    "example_column": "BIGINT",
    "example_reference": "VARCHAR",
    "final": "VARCHAR",
    "fix": "VARCHAR",
    "suggestion": "VARCHAR",
    "rule": "VARCHAR",
}
SECTIONS: Final = {
    "section": "VARCHAR",  # the first segment of the path, as /docs/
    "verdict": "VARCHAR",
    "links": "BIGINT",
    "pages": "BIGINT",
    "urls": "BIGINT",
}
FLOWS: Final = {"old_section": "VARCHAR", "new_section": "VARCHAR", "verdict": "VARCHAR", "urls": "BIGINT"}
HOSTS: Final = {"host": "VARCHAR", "links": "BIGINT"}
LAYERS: Final = {"base_layer": "VARCHAR", "links": "BIGINT"}
SUMMARY: Final = {"name": "VARCHAR", "value": "VARCHAR"}
BASELINE: Final = {"change": "VARCHAR", "table_name": "VARCHAR"}  # and the columns that identify a finding

TABLES: Final = {
    "links": LINKS,
    "urls": URLS,
    "pages": PAGES,
    "rules": RULES,
    "causes": CAUSES,
    "sections": SECTIONS,
    "flows": FLOWS,
    "hosts": HOSTS,
    "layers": LAYERS,
    "summary": SUMMARY,
}

# In the order in which they are tried: the first that holds counts.
LINK_VERDICTS: Final = (
    *("ok", "same", "external", "malformed", "unresolved", "divergent", "leftover", "mixed", "insecure"),
    *("loop", "chain", "redirected", "case", "slash", "encoding", "fragment", "broken"),
)
URL_VERDICTS: Final = ("kept", "mapped", "moved", "replaced", "gone", "lost")
PAGE_VERDICTS: Final = ("orphan", "canonical", "hreflang", "sitemap", "duplicate")
UNREAD: Final = "unread-rule"
WRONG: Final = "wrong-rule"
RULE_VERDICTS: Final = (UNREAD, WRONG)

QUIET: Final = ("ok", "same", "external")  # links that are no findings
FINE: Final = ("kept", "mapped", "gone")  # old URLs that are no findings
TOLERATED: Final = (*QUIET, *FINE, "insecure", "orphan")  # no reason for exit status 1, unless --fail-on names them
VERDICTS: Final = (*LINK_VERDICTS, *URL_VERDICTS, *PAGE_VERDICTS, *RULE_VERDICTS)

# The rules with a verdict, of the table that `{}` names; the dialect is that of DuckDB and SQLite.
RULES_FOUND: Final = f"""
SELECT CASE WHEN problem IS NULL THEN '{WRONG}' ELSE '{UNREAD}' END AS verdict, file, line, text, problem, finding
FROM {{}} WHERE problem IS NOT NULL OR (finding <> 'unused' AND finding NOT LIKE 'repeats %')
"""  # noqa: S608 - names of ours


def created(table: str) -> str:
    """Return the CREATE TABLE statement of a result table."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in TABLES[table].items())
    return f"CREATE TABLE {table} ({columns})"
