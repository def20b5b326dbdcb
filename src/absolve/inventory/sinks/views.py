"""SQL views for databases of links, as templates for the dialects of SQLite and DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Name -> the required columns, and the SELECT statement.
VIEWS: Final = {
    "broken": ({"problems"}, "SELECT * FROM links WHERE {unresolved} OR {malformed}"),
    "by_host": (
        {"document", "target"},
        """SELECT host, count(*) AS links, count(DISTINCT document) AS documents
        FROM (SELECT document, {host} AS host FROM links) AS hosts WHERE host <> ''
        GROUP BY host ORDER BY links DESC, host""",
    ),
    "by_base_layer": (
        {"base_layer", "document"},
        """SELECT base_layer, count(*) AS links, count(DISTINCT document) AS documents
        FROM links GROUP BY base_layer ORDER BY links DESC, base_layer""",
    ),
}


def views(columns: Sequence[str], has_problem: str, host: str) -> Iterator[str]:
    """Yield the CREATE VIEW statements of the views whose columns are present.

    `has_problem` is an SQL condition with `{}` for a problem code; `host` is an SQL expression for the host of `target`
    in lower case, with its port, "" for no host.
    """
    for name, (needed, select) in VIEWS.items():
        if needed <= set(columns):
            words = {code: has_problem.format(code) for code in ("unresolved", "malformed")}
            yield f"CREATE VIEW {name} AS {select.format(host=host, **words)}"
