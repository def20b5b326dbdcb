"""Names and columns of the result tables with their types in DuckDB, and JSON Schemas of the JSON that absolve writes.

In: the name of a schema. Out: constants that the queries, the outputs and the report share; a new dict. Rows may lack
columns (`--columns`), and have no others; each row of an audit has all columns of its table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.audit import verdicts
from absolve.core import arguments
from absolve.core.errors import UsageError, similar
from absolve.core.model import KINDS, SCOPES, VERDICTS
from absolve.inventory import PROBLEMS
from absolve.inventory.columns import COLUMNS, LAYERS, MORE
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.run import change_log
from absolve.tables import SCHEMA_VERSION as SCHEMA_VERSION  # noqa: PLC0414 - of the result tables, too
from absolve.tables import TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_COLUMNS: Final = {
    "links": (
        *COLUMNS,
        "verdict",
        "final",  # the URL where it should lead, or leads in the end, with the fragment of the link
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
        "rule",  # the rule that moved it, FILE:LINE; otherwise the rule to add, as text
        "requests",  # clicks, views or requests that lists of the old site count, if any does
    ),
    "pages": ("url", "document", "verdict", "detail", "cause"),
    "changes": ("url", "final", "what", "old", "new"),  # differences on pages of the old site that stayed
    "answers": (  # answers of servers, one row for each URL
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
    "sections": ("section", "verdict", "links", "pages", "urls"),  # by the first folder of the path, as /docs/
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
    """Return the statement for a result table, for example `CREATE TABLE layers ("base_layer" VARCHAR, ...)`."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in TABLES[table].items())
    return f"CREATE TABLE {table} ({columns})"


# --- JSON Schemas (draft 2020-12) -------------------------------------------------------------------------------------

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_JSON_TYPES: Final[dict[str, dict[str, Any]]] = {
    "VARCHAR": {"type": ["string", "null"]},
    "BIGINT": {"type": ["integer", "null"]},
    "DOUBLE": {"type": ["number", "null"]},
    "VARCHAR[]": {"type": ["array", "null"], "items": {"type": "string"}},
}
_WORDS: Final = {
    "kind": sorted(KINDS),
    "scope": list(SCOPES),
    "base_layer": list(LAYERS),
    "verdict": list(verdicts.VERDICTS),
}
_TEXT: Final = {"type": "string"}
_WHOLE: Final = {"type": ["integer", "null"], "minimum": 1}
_MAYBE: Final = _JSON_TYPES["VARCHAR"]
_LAYER: Final = {"enum": list(LAYERS)}


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema for the JSON output of a command, for example `schema("links")["title"]`.

    `name`: "links" or "documents", a row of these commands; "audit", a row of any of its tables; "base", the output of
    `absolve base -f json`; "changes", a row of `--log`. All tables have one `version`. Raise UsageError for another
    name, TypeError for a value that is not text.
    """
    if arguments.text_of(name, "name") not in _SCHEMAS:
        raise UsageError(f"there is no schema {name!r}: choose from {', '.join(_SCHEMAS)}", similar(name, _SCHEMAS))
    about = {"$schema": _DRAFT, "$id": f"urn:absolve:schema:{SCHEMA_VERSION}:{name}", "version": SCHEMA_VERSION}
    return about | {"title": _TITLES[name]} | _SCHEMAS[name]()


def _object(properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    whole = {"type": "object", "properties": dict(properties), "required": list(required)}
    return whole | {"additionalProperties": False}


def _column(name: str, kind: str) -> dict[str, Any]:
    """Return the schema of a cell: for example, an enumeration for a column with fixed words."""
    if name in _WORDS:
        return {"enum": [*_WORDS[name], None]}
    if name == "problems":
        return {"type": "array", "items": {"type": "string"}}
    return dict(_JSON_TYPES[kind])


def _rows(names: Iterable[str]) -> dict[str, Any]:
    found = {name: _column(name, TYPES.get(name, "VARCHAR")) for name in (*names, "count")}
    return _object(found, ())


def _links() -> dict[str, Any]:
    found = _rows((*COLUMNS, *MORE))
    found["properties"]["problems"]["items"] = {"enum": list(PROBLEMS)}
    return found


def _audit() -> dict[str, Any]:
    schemas = []
    for table, columns in TABLES.items():
        found = {"table": {"const": table}} | {name: _column(name, kind) for name, kind in columns.items()}
        for name in ("kind", "base_layer") if table in {"mentions", "answers", "layers"} else ():
            if name in found:
                found[name] = dict(_MAYBE)  # words of its own
        schemas.append(_object(found, found))
    return {"oneOf": schemas}


def _base() -> dict[str, Any]:
    claim = {
        "layer": _LAYER, "source": _TEXT, "line": _WHOLE, "reference": _TEXT, "url": _MAYBE,
        "verdict": {"enum": list(VERDICTS)},
    }
    own = {"url": _TEXT, "layer": _LAYER, "source": _TEXT}
    claims = {"type": "array", "items": _object(claim, claim)}
    found = {"document": _TEXT, "entity": _TEXT, "base": _TEXT, "layer": _LAYER, "source": _TEXT}
    whole = found | {"own": _object(own, own), "claims": claims}
    inside = {"type": "array", "items": _object(whole, whole)}
    return {"type": "array", "items": _object(whole | {"documents": inside}, whole)}


def _changes() -> dict[str, Any]:
    numbers = {"line", "column"}
    found = {name: _WHOLE if name in numbers else _MAYBE for name in change_log.COLUMNS}
    return _object(found, found)


_SCHEMAS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "links": _links,
    "documents": lambda: _rows(DOCUMENT_COLUMNS),
    "audit": _audit,
    "base": _base,
    "changes": _changes,
}
_TITLES: Final = {
    "links": "A row of absolve links",
    "documents": "A row of absolve documents",
    "audit": "A row of absolve audit, of any table",
    "base": "The output of absolve base -f json",
    "changes": "A row of absolve rewrite --log",
}
