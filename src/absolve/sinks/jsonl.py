"""JSON lines: a row is an object on one line, in UTF-8; None is null, a list a list."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def write(columns: Sequence[str], rows: Iterable[Sequence[Any]], file: IO[bytes]) -> None:
    encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
    for row in rows:
        line = encode(dict(zip(columns, row, strict=True)))
        file.write(line.encode("utf-8", "replace"))  # no JSON text has a lone surrogate
        file.write(b"\n")
