"""Names and columns of the result tables, and their types in DuckDB.

In: nothing. Out: constants that the queries, the outputs and the report share.
"""

from __future__ import annotations

from typing import Final

from absolve.inventory.columns import COLUMNS
from absolve.tables import SCHEMA_VERSION as SCHEMA_VERSION  # noqa: PLC0414 - of the result tables, too
from absolve.tables import TYPES

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


def created(table: str) -> str:
    """Return the CREATE TABLE statement of a result table."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in TABLES[table].items())
    return f"CREATE TABLE {table} ({columns})"
