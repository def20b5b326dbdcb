"""JSON lines sink: each row is a JSON object (RFC 8259) on one line, in UTF-8; None is null, a list is an array."""

from __future__ import annotations

import json
from json.encoder import encode_basestring as string
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.inventory.sinks.rows import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def _cell(cell: Any) -> str:
    return string(cell) if isinstance(cell, str) else _JSON.encode(cell)


encode = Layout(lambda _: _cell, "{", ", ", "}\n", lambda name: f"{string(name)}: ").encode


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the encoded chunks."""
    del columns  # each row contains the names
    file.writelines(chunks)
