"""JSON lines sink: each row is a JSON object (RFC 8259) on one line, in UTF-8; None is null, a list is an array."""

from __future__ import annotations

import json
from itertools import repeat
from json.encoder import encode_basestring as string
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.inventory.columns import NUMBERS, RULED, Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    """Return rows as JSON lines in UTF-8; lone surrogates become question marks."""
    if isinstance(rows, Columns):
        text = "".join(_lines(columns, rows))
    else:
        text = "".join([f"{_JSON.encode(dict(zip(columns, row, strict=True)))}\n" for row in rows])
    return text.encode("utf-8", "replace")  # lone surrogates are not allowed in UTF-8


def _lines(columns: Sequence[str], rows: Columns) -> list[str]:
    """Encode columns: values that rows share are formatted once, as a template for the values of each row."""
    templates = [_template(columns, dict(zip(RULED, words, strict=True))) for words in rows.ruled.words]
    cells = [rows.cells(name, None if name in NUMBERS else _written) for name in columns if name not in RULED]
    values = zip(*cells, strict=True) if cells else repeat(())
    return [templates[number] % own for number, own in zip(rows.ruled.numbers.cells(), values, strict=bool(cells))]


def _template(columns: Sequence[str], shared: dict[str, str]) -> str:
    """Return the line of rows with these shared values, with %s for each other column."""
    pairs = [
        f"{string(name)}: {string(shared[name]).replace('%', '%%') if name in shared else '%s'}" for name in columns
    ]
    return f"{{{', '.join(pairs)}}}\n"


def _written(cell: str | tuple[str, ...] | None) -> str:
    return string(cell) if isinstance(cell, str) else _JSON.encode(cell)


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the encoded chunks."""
    del columns  # each row contains the names
    file.writelines(chunks)
