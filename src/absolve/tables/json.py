"""JSON lines: each row is an object (RFC 8259) on one line, in UTF-8; and JSON: one array of them.

None is null, a list is an array. Where there are several tables, rows begin with a column `table`.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as string
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.tables import Sink
from absolve.tables.rows import Layout, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from absolve.tables import Table

_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)


# Most cells are of these types; calling the encoder for each takes three times as long.
_ENCODERS: Final[dict[type, Callable[[Any], str]]] = {str: string, int: str, type(None): lambda _: "null"}


def _cell(cell: Any) -> str:
    return _ENCODERS.get(type(cell), _JSON.encode)(cell)


def _write_array(tables: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    """Write encoded chunks, which are JSON lines, as the items of an array."""
    del tables  # each row contains the names
    file.write(b"[")
    separator = b"\n"
    for _, chunk in chunks:
        if chunk:
            file.write(separator + bytes(chunk[:-1]).replace(b"\n", b",\n"))  # from another process: a memoryview
            separator = b",\n"
    file.write(b"\n]\n")


encode: Final = Layout(lambda _: _cell, "{", ", ", "}\n", lambda name: f"{string(name)}: ").encode
JSONL: Final = lines(encode)
JSON: Final = Sink(encode, _write_array)
