r"""JSON lines: each row of each table is an object; its first member `table` names the table.

Invisible characters are escaped (`\u009b`): the values are exact, and no line changes the terminal that shows it.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Final

from absolve.core.printable import json_escaped, printable

if TYPE_CHECKING:
    from absolve.audit.outputs.source import Source

_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def write(source: Source, file: IO[bytes]) -> None:
    """Write all tables."""
    for table in source.tables:
        names = ("table", *source.columns(table))
        for rows in source.rows(source.select(table)).batches():
            lines = [_JSON.encode(dict(zip(names, (table, *row), strict=True))) for row in rows]
            file.write("".join(f"{printable(line, escape=json_escaped)}\n" for line in lines).encode())
