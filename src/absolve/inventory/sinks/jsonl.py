"""JSON lines: a row is an object on one line, in UTF-8; None is null, a list a list."""

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
    if isinstance(rows, Columns):
        text = "".join(_lines(columns, rows))
    else:
        text = "".join([f"{_JSON.encode(dict(zip(columns, row, strict=True)))}\n" for row in rows])
    return text.encode("utf-8", "replace")  # no JSON text has a lone surrogate


def _lines(columns: Sequence[str], rows: Columns) -> list[str]:
    """The same, but what links have in common is written once, as what their own cells are put into."""
    templates = [_template(columns, dict(zip(RULED, words, strict=True))) for words in rows.ruled.words]
    cells = [rows.cells(name, None if name in NUMBERS else _written) for name in columns if name not in RULED]
    values = zip(*cells, strict=True) if cells else repeat(())
    return [templates[number] % own for number, own in zip(rows.ruled.numbers.cells(), values, strict=bool(cells))]


def _template(columns: Sequence[str], said: dict[str, str]) -> str:
    """The line of a row that has this in common with others, and %s in the place of all else."""
    pairs = [f"{string(name)}: {string(said[name]).replace('%', '%%') if name in said else '%s'}" for name in columns]
    return f"{{{', '.join(pairs)}}}\n"


def _written(cell: str | tuple[str, ...] | None) -> str:
    return string(cell) if isinstance(cell, str) else _JSON.encode(cell)


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    del columns  # each row names them
    file.writelines(chunks)
