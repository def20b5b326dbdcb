r"""TSV sink: a header line, then a line for each row, cells separated by tabs, in UTF-8.

The format has no quotes: a tab, line end or backslash in a cell is `\t`, `\n`, `\r` or `\\`, as jq's @tsv writes it.
None is an empty cell; lists are joined by spaces.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from absolve.inventory.sinks.rows import Layout, text_of, write_lines

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _cell(cell: Any) -> str:
    return text_of(cell).translate(_ESCAPES)


encode = Layout(lambda _: _cell, between="\t", changed=b"\\\t\n\r").encode
write = partial(write_lines, encode)
