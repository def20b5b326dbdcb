"""Cut an nginx configuration into directives and blocks.

In: the bytes of a file. Out: a tree of `Directive` (nginx.org/en/docs/beginners_guide.html#conf_structure).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.tables.text import NOT_UTF8, decoded, is_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+) | (?P<comment>\#[^\n]*) | (?P<sign>[{};])
    | "(?P<double>(?>(?:[^"\\]|\\.)*))" | '(?P<single>(?>(?:[^'\\]|\\.)*))'
    | (?P<word>(?>(?:\$\{\w*\}|\\.|[^\s;{}\\])+)) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_DEEPEST: Final = 50
_LONGEST: Final = 1 << 16  # characters of a directive that are kept for its text


class Directive(NamedTuple):
    """A directive with its arguments, the directives of its block (None without a block), its line and its text."""

    line: int
    name: str
    arguments: tuple[str, ...]
    block: tuple[Directive, ...] | None
    text: str
    problem: str | None = None
    start: int = -1  # offset of its text in the decoded file


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._line = 1
        self._place = 0

    def block(self, depth: int) -> Iterator[Directive]:
        """Yield the directives up to the end of the block."""
        words: list[str] = []
        start, line = self._place, self._line
        for kind, word in self._tokens():
            if not words:
                start, line = self._start, self._line_of_token
            if kind == "word":
                words.append(word)
                continue
            text = self._text[start : min(self._place, start + _LONGEST)].strip()
            if word == "}":
                if words:
                    yield Directive(line, words[0], tuple(words[1:]), None, text, "it does not end with ;")
                return
            if word == ";":
                if words:
                    yield _made(line, words, None, text)._replace(start=start)
            elif depth >= _DEEPEST:
                yield Directive(line, "", (), None, text, "its blocks are nested too deep")
                return
            else:
                inner = tuple(self.block(depth + 1))
                yield _made(line, words or [""], inner, text.removesuffix("{").rstrip())
            words = []
        if words:
            text = self._text[start : start + 200].strip()
            yield Directive(line, words[0], tuple(words[1:]), None, text, "it does not end with ;")

    def _tokens(self) -> Iterator[tuple[str, str]]:
        """Yield words without their quotes, and signs."""
        while self._place < len(self._text):
            found = _TOKEN.match(self._text, self._place)
            if found is None:  # a match is always there: the last alternative takes any character
                return
            self._start = self._place
            self._line_of_token = self._line
            self._place = found.end()
            self._line += found[0].count("\n")
            kind = found.lastgroup or ""
            if kind in {"space", "comment"}:
                continue
            if kind == "sign":
                yield kind, found[0]
            else:
                quoted = found[kind]
                yield "word", re.sub(r"\\([\"'])", r"\1", quoted) if kind in {"double", "single"} else quoted


def _made(line: int, words: list[str], block: tuple[Directive, ...] | None, text: str) -> Directive:
    problem = None if text.isascii() or is_text(text) else NOT_UTF8
    if problem is not None:
        text, words = shown(text), [*map(shown, words)]
    return Directive(line, words[0], tuple(words[1:]), block, text, problem)


def directives(data: bytes) -> list[Directive]:
    """Return the directives of a configuration file; those in blocks are in their directive."""
    reader = _Reader(decoded(data))
    found: list[Directive] = []
    while reader._place < len(reader._text):  # noqa: SLF001 - a } too many ends a block early
        found += reader.block(0)
    return found
