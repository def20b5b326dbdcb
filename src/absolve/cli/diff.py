"""Unified diff (POSIX `diff -u`) made from the edits: one pass over the file, without comparing lines as difflib does.

Input: a name, the bytes of a document, its edits in order. Output: lines for `patch`, or for a terminal.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from absolve.cli.reporting import paint
from absolve.core import printable
from absolve.core.model import Edit
from absolve.rewriting.edits import splice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

CONTEXT = 3


class Block(NamedTuple):
    """Adjacent lines that change: line numbers `first` to `end` (exclusive, from 0), and the new lines."""

    first: int
    end: int
    new: list[bytes]


def unified(name: str, data: bytes, edits: Sequence[Edit]) -> Iterator[bytes]:
    """Yield the lines of a unified diff (POSIX `diff -u`) for `edits`, which are in order, of `data`.

    Only LF ends a line, as for `patch`.
    """
    if not edits:
        return
    starts = [0, *(found.end() for found in re.finditer(b"\n", data))]
    if starts[-1] == len(data):
        starts.pop()
    label = quoted(name)
    yield b"--- " + label + b"\n"
    yield b"+++ " + label + b"\n"
    starts.append(len(data))
    shift = 0
    for hunk in _hunks(_blocks(data, starts, edits)):
        first = max(0, hunk[0].first - CONTEXT)
        end = min(len(starts) - 1, hunk[-1].end + CONTEXT)
        grown = sum(len(block.new) - (block.end - block.first) for block in hunk)
        old = end - first
        yield b"@@ -%d,%d +%d,%d @@\n" % (first + 1, old, first + 1 + shift, old + grown)
        shift += grown
        for block in hunk:
            yield from _marked(b" ", _lines(data, starts, first, block.first))
            yield from _marked(b"-", _lines(data, starts, block.first, block.end))
            yield from _marked(b"+", block.new)
            first = block.end
        yield from _marked(b" ", _lines(data, starts, first, end))


def quoted(name: str) -> bytes:
    """Return a file name as git and GNU patch read it: quoted, with C escapes, where necessary.

    Characters that are not visible are escaped, so that a name cannot end its line or pass for another name.
    """
    if printable.printable(name) == name and not re.search(r'\A |["\\]', name):
        return os.fsencode(name) + (b"\t" if " " in name else b"")  # a tab ends a name that contains spaces
    return b'"' + b"".join(map(_quoted_character, name)) + b'"'


def _quoted_character(character: str) -> bytes:
    if character in _ESCAPES:
        return _ESCAPES[character]
    raw = os.fsencode(character)
    return raw if printable.printable(character) == character else b"".join(b"\\%03o" % byte for byte in raw)


_ESCAPES = {'"': b'\\"', "\\": b"\\\\", "\n": b"\\n", "\t": b"\\t", "\r": b"\\r"}


def _blocks(data: bytes, starts: list[int], edits: Iterable[Edit]) -> Iterator[Block]:
    """Group the edits by the lines that they touch; adjacent lines form one block."""
    inside: list[Edit] = []
    first = end = 0
    for edit in edits:
        line = bisect_right(starts, edit.start, hi=len(starts) - 1) - 1
        if inside and line > end:
            yield _block(data, starts, first, end, inside)
            inside = []
        if not inside:
            first = line
        end = max(line, bisect_right(starts, max(edit.start, edit.end - 1), hi=len(starts) - 1) - 1) + 1
        inside.append(edit)
    yield _block(data, starts, first, end, inside)


def _block(data: bytes, starts: list[int], first: int, end: int, edits: list[Edit]) -> Block:
    start = starts[first]
    shifted = [Edit(edit.start - start, edit.end - start, edit.new) for edit in edits]
    return Block(first, end, re.findall(rb"[^\n]*\n|[^\n]+\Z", splice(data[start : starts[end]], shifted)))


def _hunks(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    hunk: list[Block] = []
    for block in blocks:
        if hunk and block.first - hunk[-1].end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(block)
    yield hunk


def _lines(data: bytes, starts: list[int], first: int, end: int) -> Iterator[bytes]:
    return (data[starts[line] : starts[line + 1]] for line in range(first, end))


def _marked(mark: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


_STYLES = {b"-": "red", b"+": "green", b"@": "cyan"}


def on_terminal(lines: Iterator[bytes], *, colour: bool) -> Iterator[bytes]:
    """Yield the lines of a diff for a terminal: invisible characters except tabs escaped, coloured if `colour`.

    For people only: `patch` needs the unescaped lines, which go to a file or a pipe.
    """
    for line in lines:
        text = printable.printable(line.rstrip(b"\n").decode("utf-8", "backslashreplace"), keep="\t")
        style = _STYLES.get(line[:1])
        yield f"{paint(text, style, on=colour) if style else text}\n".encode()
