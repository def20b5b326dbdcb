"""Split an nginx configuration or a Caddyfile into directives and blocks.

In: the bytes of a file. Out: a tree of `Directive`. In nginx `;` ends a directive
(nginx.org/en/docs/beginners_guide.html#conf_structure), in a Caddyfile the line does
(caddyserver.com/docs/caddyfile/concepts#structure), where a brace that opens or closes a block is a separate word.

    >>> [(one.words, one.block) for one in directives(b"redir /a '/b c'; # moved", NGINX)]
    [(('redir', '/a', '/b c'), None)]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.rules.cells import NOT_UTF8, decoded, is_text, shown, with_line_feeds

if TYPE_CHECKING:
    from collections.abc import Iterator

NGINX: Final = re.compile(
    r"""(?P<space>\s+) | (?P<comment>\#[^\n]*) | (?P<sign>[{};])
    | "(?P<double>(?>(?:[^"\\]|\\.)*))" | '(?P<single>(?>(?:[^'\\]|\\.)*))'
    | (?P<word>(?>(?:\$\{\w*\}|\\.|[^\s;{}\\])+)) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
CADDY: Final = re.compile(
    r"""(?P<space>[^\S\n]+) | (?P<comment>\#[^\n]*) | (?P<sign>\n|[{}](?=\s|\Z))
    | "(?P<text>(?>(?:[^"\\\n]|\\.)*))" | `(?P<raw>[^`\n]*)` | (?P<word>\S+)""",
    re.VERBOSE,
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

    @property
    def words(self) -> tuple[str, ...]:
        """Its name and its arguments; empty for a block without a name."""
        return (self.name, *self.arguments) if self.name else ()


class _Reader:
    def __init__(self, text: str, token: re.Pattern[str]) -> None:
        self._text = text
        self._token = token
        self._line = 1
        self._place = 0

    def block(self, depth: int) -> Iterator[Directive]:
        """Yield the directives up to the end of the block."""
        words: list[str] = []
        start, line = self._place, self._line
        for kind, word in self._tokens():
            if not words:
                start, line = self._start, self._token_line
            if kind == "word":
                words.append(word)
                continue
            text = self._text[start : min(self._place, start + _LONGEST)].strip()
            if word == "}":
                if words:
                    yield self._last(line, words, text)
                return
            if word in {";", "\n"}:
                if words:
                    yield _directive(line, words, None, text)._replace(start=start)
            elif depth >= _DEEPEST:
                yield Directive(line, "", (), None, text, "its blocks are nested too deep")
                return
            else:
                inner = tuple(self.block(depth + 1))
                yield _directive(line, words or [""], inner, text.removesuffix("{").rstrip())
            words = []
        if words:
            yield self._last(line, words, self._text[start : start + 200].strip())

    def _last(self, line: int, words: list[str], text: str) -> Directive:
        """Return the directive at the end of a block; nginx needs a `;` there, too."""
        directive = _directive(line, words, None, text)
        return directive if self._token is CADDY else directive._replace(problem="it does not end with ;")

    def _tokens(self) -> Iterator[tuple[str, str]]:
        """Yield words without their quotes, and signs."""
        while self._place < len(self._text):
            found = self._token.match(self._text, self._place)
            if found is None:  # a match is always there: the alternatives cover every character
                return
            self._start = self._place
            self._token_line = self._line
            self._place = found.end()
            self._line += found[0].count("\n")
            kind = found.lastgroup or ""
            if kind in {"space", "comment"}:
                continue
            if kind == "sign":
                yield kind, found[0]
            else:
                quoted = found[kind]
                yield "word", quoted if self._token is CADDY else re.sub(r"\\([\"'\\])", r"\1", quoted)


def _directive(line: int, words: list[str], block: tuple[Directive, ...] | None, text: str) -> Directive:
    problem = None if text.isascii() or is_text(text) else NOT_UTF8
    if problem is not None:
        text, words = shown(text), [*map(shown, words)]
    return Directive(line, words[0], tuple(words[1:]), block, text, problem)


def directives(data: bytes, token: re.Pattern[str]) -> list[Directive]:
    """Return the directives of a file; `token` matches the tokens of its form. A block is in its directive."""
    reader = _Reader(with_line_feeds(decoded(data)) if token is CADDY else decoded(data), token)
    found: list[Directive] = []
    while reader._place < len(reader._text):  # noqa: SLF001 - a } too many ends a block early
        found += reader.block(0)
    return found
