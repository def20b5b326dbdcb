"""Globs over paths below a folder: `*` and `?` stay within a part of the path, `**` goes through any number of them.

A path is matched in time that grows as its length, whatever the glob is made of: all ways to match are followed at once
(K. Thompson, 1968), where a backtracking matcher tries one after the other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.bounded_cache import BoundedCache
from absolve.core.errors import UsageError
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable


class Globs(NamedTuple):
    """Which files of a folder are wanted, by their paths below it, with `/` between the parts.

    A glob with no `/` in it is for a name, in whatever folder; one with a `/` is for the whole path, and a last `/` for
    folders only. What is excluded is so with all that is in it; where nothing is included by name, all is.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def checked(self) -> Globs:
        """These globs; UsageError names one that is none."""
        for glob in (*self.include, *self.exclude):
            _matcher(glob.rstrip("/"))
        return self

    def excluded(self, place: str) -> bool:
        """Whether a folder is left out with all that is in it."""
        return _matches(self.exclude, place, folder=True)

    def wanted(self, place: str) -> bool:
        """Whether a file is wanted, whose folders are not left out."""
        if _matches(self.exclude, place):
            return False
        return not self.include or _matches(self.include, place)


def _matches(globs: Iterable[str], place: str, *, folder: bool = False) -> bool:
    return any((folder or not glob.endswith("/")) and _matcher(glob.rstrip("/")).matches(place) for glob in globs)


_LONGEST: Final = 4096  # characters: no path is longer (PATH_MAX)
_MOST_KNOWN: Final = 4096  # transitions that are remembered
_TOKEN: Final = pattern(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_RANGE: Final = pattern(r"(.)-(.)|(.)", re.DOTALL)


class _Set(NamedTuple):
    """Characters: those in these ranges, or all that are in none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def has(self, character: str) -> bool:
        return any(first <= character <= last for first, last in self.ranges) != self.negated


_SLASH: Final = _Set((("/", "/"),))
_IN_PART: Final = _SLASH._replace(negated=True)
_ANY: Final = _Set((), negated=True)


class _Matcher:
    """A glob as an automaton. A set of its states is a number, with a bit for each; `_known` remembers transitions."""

    def __init__(self, glob: str) -> None:
        """UsageError for what is no glob."""
        if len(glob) > _LONGEST:
            raise UsageError(f"{glob[:40]!r}... is no glob: it is longer than any path ({_LONGEST:,} characters)")
        self._moves: list[list[tuple[_Set, int]]] = [[]]  # of each state: by a character of a set to another one
        self._free: list[list[int]] = [[]]  # and without any character
        self._last = 0
        for token in (*([] if "/" in glob else ["**/"]), *_TOKEN.findall(glob.removeprefix("/"))):
            self._add(token, glob)
        self._known: BoundedCache[tuple[int, str], int] = BoundedCache(_MOST_KNOWN)
        self._closed = [self._closure(state) for state in range(len(self._moves))]

    def matches(self, place: str) -> bool:
        """Whether the glob matches the whole path."""
        known = self._known.entries
        states = self._closed[0]
        for character in place:
            following = known.get((states, character))
            states = self._following(states, character) if following is None else following
            if not states:
                return False
        return bool(states >> self._last & 1)

    def _following(self, states: int, character: str) -> int:
        """The states after one more character; it takes the same time for each, however many came before."""
        found = 0
        for state, moves in enumerate(self._moves):
            if states >> state & 1:
                for characters, target in moves:
                    if characters.has(character):
                        found |= self._closed[target]
        return self._known.put((states, character), found)

    def _add(self, token: str, glob: str) -> None:
        if token == "**/":  # noqa: S105 - a token of a glob
            start = self._last
            self._add_any(_ANY)
            self._add_one(_SLASH)
            self._free[start].append(self._last)
        elif token == "/**":  # noqa: S105
            self._add_one(_SLASH)
            self._add_any(_ANY)
        elif token in {"*", "**"}:
            self._add_any(_IN_PART if token == "*" else _ANY)  # noqa: S105
        elif token == "?":  # noqa: S105
            self._add_one(_IN_PART)
        elif len(token) > 1:
            self._add_one(_set(token, glob))
        else:
            self._add_one(_Set(((token, token),)))

    def _add_one(self, characters: _Set) -> None:
        before = self._last
        self._moves[before].append((characters, self._new()))

    def _add_any(self, characters: _Set) -> None:
        before = self._last
        self._free[before].append(self._new())
        self._moves[self._last].append((characters, self._last))

    def _new(self) -> int:
        self._moves.append([])
        self._free.append([])
        self._last = len(self._moves) - 1
        return self._last

    def _closure(self, state: int) -> int:
        """The state and those that are reached from it without any character; their numbers are higher."""
        found = 0
        waiting = [state]
        while waiting:
            one = waiting.pop()
            if not found >> one & 1:
                found |= 1 << one
                waiting += self._free[one]
        return found


def _set(token: str, glob: str) -> _Set:
    """The characters of [...] (POSIX 2.13.1, without classes), of which the slash is never one."""
    negated = token.startswith("[!")
    ranges = [(first or one, last or one) for first, last, one in _RANGE.findall(token[1 + negated : -1])]
    if not ranges:
        raise UsageError(f"{glob!r} is no glob: {token} has no characters")
    for first, last in ranges:
        if first > last:
            raise UsageError(f"{glob!r} is no glob: bad character range {first}-{last}")
    if negated:
        return _Set((*ranges, *_SLASH.ranges), negated=True)
    parts = [part for first, last in ranges for part in ((first, min(last, ".")), (max(first, "0"), last))]
    return _Set(tuple((first, last) for first, last in parts if first <= last))


@lru_cache(maxsize=256)
def _matcher(glob: str) -> _Matcher:
    return _Matcher(glob)
