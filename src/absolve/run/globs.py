"""Globs for paths below a folder: `*` and `?` match within one path segment, `**` matches any number of segments.

Input: globs and relative paths. Output: whether a path is included. Matching takes time linear in the length of the
path, for any glob: the automaton follows all alternatives at once (K. Thompson, 1968), without backtracking.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.bounded_cache import BoundedCache
from absolve.core.errors import UsageError
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Globs(NamedTuple):
    """Files of a folder to include and exclude, by relative path with `/` as separator.

    A glob without `/` matches a name in any folder; with `/` it matches the whole path; a `/` at its end restricts it
    to folders. An excluded folder is excluded with all its content. Without `include` all files are included. `hidden`:
    also what is none of the site, such as hidden folders (`holdings.keeper_of`).
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden: bool = False

    def checked(self) -> Globs:
        """Return these globs. Raise UsageError for a malformed one."""
        for glob in (*self.include, *self.exclude):
            _matcher(glob.rstrip("/"))
        return self

    def excluded(self, place: str) -> bool:
        """Return whether a folder is excluded with all its content."""
        return _matches(self.exclude, place, folder=True)

    def wanted(self, place: str) -> bool:
        """Return whether a file is included, given that no folder above it is excluded."""
        if _matches(self.exclude, place):
            return False
        return not self.include or _matches(self.include, place)

    def unmet(self, place: str, left: set[str]) -> set[str]:
        """Return those of these globs to exclude that do not match a path."""
        return {glob for glob in left if not _matcher(glob.rstrip("/")).matches(place)}

    def reaches(self, place: str) -> bool:
        """Return whether a file is included and no folder above it is excluded."""
        above = place.split("/")[:-1]
        folders = ("/".join(above[:number]) for number in range(1, len(above) + 1))
        return self.wanted(place) and not (self.exclude and any(map(self.excluded, folders)))

    def chosen(self, places: Iterable[str]) -> bool:
        """Return whether a document with any of these names is included: by one of them, or by a folder above it."""
        names = list(places)
        if _lead(self.exclude, names):
            return False
        return not self.include or _lead(self.include, names)


def _lead(globs: Iterable[str], places: Sequence[str]) -> bool:
    found = ((_matcher(glob.rstrip("/")), glob.endswith("/")) for glob in globs)
    return any(matcher.leads(place, folder=folder) for matcher, folder in found for place in places)


def _matches(globs: Iterable[str], place: str, *, folder: bool = False) -> bool:
    return any((folder or not glob.endswith("/")) and _matcher(glob.rstrip("/")).matches(place) for glob in globs)


_LONGEST: Final = 4096  # characters: no path is longer (PATH_MAX)
_MOST_KNOWN: Final = 4096  # transitions in the cache
_TOKEN: Final = pattern(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_RANGE: Final = pattern(r"(.)-(.)|(.)", re.DOTALL)


class _Set(NamedTuple):
    """A set of characters: those in these ranges, or, if negated, all others."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def has(self, character: str) -> bool:
        return any(first <= character <= last for first, last in self.ranges) != self.negated


_SLASH: Final = _Set((("/", "/"),))
_IN_PART: Final = _SLASH._replace(negated=True)
_ANY: Final = _Set((), negated=True)


class _Matcher:
    """A glob as a nondeterministic automaton. A set of states is an integer with a bit for each.

    `_known` caches transitions.
    """

    def __init__(self, glob: str) -> None:
        """Compile a glob. Raise UsageError if it is malformed."""
        if len(glob) > _LONGEST:
            raise UsageError(f"{glob[:40]!r}... is not a valid glob: it is longer than {_LONGEST:,} characters")
        self._moves: list[list[tuple[_Set, int]]] = [[]]  # for each state: (set of characters, next state)
        self._free: list[list[int]] = [[]]  # for each state: next states without a character
        self._last = 0
        for token in (*([] if "/" in glob else ["**/"]), *_TOKEN.findall(glob.removeprefix("/"))):
            self._add(token, glob)
        self._known: BoundedCache[tuple[int, str], int] = BoundedCache(_MOST_KNOWN)
        self._closed = [self._closure(state) for state in range(len(self._moves))]

    def matches(self, place: str) -> bool:
        """Return whether the glob matches the whole path."""
        known = self._known.entries
        states = self._closed[0]
        for character in place:
            following = known.get((states, character))
            states = self._following(states, character) if following is None else following
            if not states:
                return False
        return bool(states >> self._last & 1)

    def leads(self, place: str, *, folder: bool) -> bool:
        """Return whether the glob matches a folder above a path or, unless it is for a `folder`, the path itself."""
        states = self._closed[0]
        for character in place:
            if character == "/" and states >> self._last & 1:
                return True
            following = self._known.entries.get((states, character))
            states = self._following(states, character) if following is None else following
            if not states:
                return False
        return not folder and bool(states >> self._last & 1)

    def _following(self, states: int, character: str) -> int:
        """Return the states after one more character, in time independent of the characters before."""
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
        """Return the state and those reachable from it without a character; their numbers are higher."""
        found = 0
        waiting = [state]
        while waiting:
            one = waiting.pop()
            if not found >> one & 1:
                found |= 1 << one
                waiting += self._free[one]
        return found


def _set(token: str, glob: str) -> _Set:
    """Return the characters of [...] (POSIX 2.13.1, without classes), never including the slash."""
    negated = token.startswith("[!")
    ranges = [(first or one, last or one) for first, last, one in _RANGE.findall(token[1 + negated : -1])]
    if not ranges:
        raise UsageError(f"{glob!r} is not a valid glob: {token} has no characters")
    for first, last in ranges:
        if first > last:
            raise UsageError(f"{glob!r} is not a valid glob: bad character range {first}-{last}")
    if negated:
        return _Set((*ranges, *_SLASH.ranges), negated=True)
    parts = [part for first, last in ranges for part in ((first, min(last, ".")), (max(first, "0"), last))]
    return _Set(tuple((first, last) for first, last in parts if first <= last))


@lru_cache(maxsize=256)
def _matcher(glob: str) -> _Matcher:
    return _Matcher(glob)
