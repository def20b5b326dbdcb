"""Give a table of a database the columns of a row, by its JSON Schema."""

import json
from typing import Any

import absolve

schema: dict[str, Any] = absolve.schema("links")
assert schema["version"] == 1
columns = [name for name in absolve.Row._fields if name in schema["properties"]]
assert columns == list(absolve.Row._fields)
assert json.loads(json.dumps(schema)) == schema
