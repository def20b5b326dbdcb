"""A unified diff from the edits themselves: one pass over the file, however big, where difflib would compare lines."""

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
    """Lines that change, from the first to before the end, and what they become."""

    first: int
    end: int
    new: list[bytes]


def unified(name: str, data: bytes, edits: Sequence[Edit]) -> Iterator[bytes]:
    """The lines of a unified diff, as POSIX has it (diff -u), that makes `edits`, which are in order, in `data`.

    Lines end at LF, as `patch` sees it.
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
    """Return a file's name as git and GNU patch read it from a patch: in quotes, C's escapes in it, where it must be.

    A name cannot end its line then, nor be another name in the eyes of a person: all that is not visible is escaped.
    """
    if printable.printable(name) == name and not re.search(r'\A |["\\]', name):
        return os.fsencode(name) + (b"\t" if " " in name else b"")  # a tab ends a name with blanks in it
    return b'"' + b"".join(map(_quoted_character, name)) + b'"'


def _quoted_character(character: str) -> bytes:
    if character in _ESCAPES:
        return _ESCAPES[character]
    raw = os.fsencode(character)
    return raw if printable.printable(character) == character else b"".join(b"\\%03o" % byte for byte in raw)


_ESCAPES = {'"': b'\\"', "\\": b"\\\\", "\n": b"\\n", "\t": b"\\t", "\r": b"\\r"}


def _blocks(data: bytes, starts: list[int], edits: Iterable[Edit]) -> Iterator[Block]:
    """The edits by the lines that they touch; neighbouring lines are one block."""
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
    """Yield the lines of a diff for a terminal: what is not visible is escaped, but for tabs; coloured if it is to be.

    They are for people, who should not paste them into a file: `patch` takes what a file or a pipe is given.
    """
    for line in lines:
        text = printable.printable(line.rstrip(b"\n").decode("utf-8", "surrogateescape"), keep="\t")
        style = _STYLES.get(line[:1])
        yield f"{paint(text, style, on=colour) if style else text}\n".encode()
