"""JSON lines: a row is an object on one line, in UTF-8; None is null, a list a list."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    line = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
    text = "".join([f"{line(dict(zip(columns, row, strict=True)))}\n" for row in rows])
    return text.encode("utf-8", "replace")  # no JSON text has a lone surrogate


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    del columns  # each row names them
    file.writelines(chunks)
