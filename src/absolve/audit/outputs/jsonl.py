"""JSON lines: each row of each table is an object; its first member `table` names the table."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source

_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def write(source: Source, file: IO[bytes]) -> None:
    """Write all tables."""
    for table in source.tables:
        names = ("table", *source.columns(table))
        for rows in source.rows(source.select(table)).batches():
            lines = [f"{_JSON.encode(dict(zip(names, (table, *row), strict=True)))}\n" for row in rows]
            file.write("".join(lines).encode())
