"""The tables `links` and `documents` as they are written: types of columns, indexes, views of common questions.

In: names of columns. Out: a `Table`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES: Final = {
    **dict.fromkeys(("line", "column", "start", "end", "status", "size", "links", "count"), "BIGINT"),
    **dict.fromkeys(("file_start", "file_end"), "BIGINT"),
    **dict.fromkeys(("problems", "anchors", "alternates"), "VARCHAR[]"),
}
INDEXED: Final = {"links": ("document", "target", "reference"), "documents": ("document", "url")}
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


def typed_table(name: str, columns: Sequence[str]) -> Table:
    """Return the table `links` or `documents` with these columns, or another one with columns of these names."""
    indexed = tuple(column for column in INDEXED.get(name, ()) if column in columns)
    views = {view: select for view, (needed, select) in VIEWS.items() if name == "links" and needed <= set(columns)}
    return Table(name, {column: TYPES.get(column, "VARCHAR") for column in columns}, indexed, views)
