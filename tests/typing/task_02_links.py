"""List the links of a page, and select among them by words that a type checker knows."""

import absolve

wanted: set[absolve.Problem] = {"unresolved", "malformed"}
found: list[tuple[absolve.Kind, absolve.Scope, str | None]] = []
for row in absolve.links(b"<base href=/x/><a href=y>", url="http://example.com/"):
    layer: absolve.Layer = row.base_layer
    if row.element == "a" and not wanted.intersection(row.problems) and layer is absolve.Layer.EMBEDDED:
        found.append((row.kind, row.scope, row.target))
assert found == [("navigation", "internal", "http://example.com/x/y")]
