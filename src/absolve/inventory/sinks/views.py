"""The views that a database of links comes with, written once for the dialects of SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Name -> the columns that it needs, and what it selects.
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
    """The statements that make the views for which the columns are there.

    `has_problem` is the condition for a problem code, `{}` in it; `host` is the host of `target` in lower case, with
    its port, and "" where there is none.
    """
    for name, (needed, select) in VIEWS.items():
        if needed <= set(columns):
            words = {code: has_problem.format(code) for code in ("unresolved", "malformed")}
            yield f"CREATE VIEW {name} AS {select.format(host=host, **words)}"
