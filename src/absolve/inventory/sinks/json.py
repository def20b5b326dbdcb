"""JSON sink: one array of objects (RFC 8259), a row on each line, in UTF-8. For programs that read no JSON lines."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from absolve.inventory.sinks.jsonl import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["encode", "write"]


def write(columns: Sequence[str], chunks: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the encoded chunks, which are JSON lines, as the items of an array."""
    del columns  # each row contains the names
    file.write(b"[")
    separator = b"\n"
    for chunk in chunks:
        if chunk:
            file.write(separator + bytes(chunk[:-1]).replace(b"\n", b",\n"))  # from another process: a memoryview
            separator = b",\n"
    file.write(b"\n]\n")
