"""Globs for paths below a folder: `*` and `?` match within one path segment, `**` matches any number of segments.

Input: globs and relative paths. Output: whether a path is included. Matching takes time linear in the length of the
path, for any glob: no `*` is tried twice. `src/*.[ch]` matches `src/a.c`, `src/**` all below `src`.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    _Part = Callable[[str], object]

_LONGEST: Final = 4096  # characters: no path is longer (PATH_MAX)


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
        """Return these globs. Raise UsageError for one that is too long."""
        for glob in (*self.include, *self.exclude):
            if len(glob) > _LONGEST:
                raise UsageError(f"{glob[:40]!r}... is not a valid glob: it is longer than {_LONGEST:,} characters")
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
        return {glob for glob in left if not _matched(glob, place)[-1]}

    def reaches(self, place: str) -> bool:
        """Return whether a file is included and no folder above it is excluded."""
        above = place.split("/")[:-1]
        folders = ("/".join(above[:number]) for number in range(1, len(above) + 1))
        return self.wanted(place) and not (self.exclude and any(map(self.excluded, folders)))

    def chosen(self, places: Iterable[str]) -> bool:
        """Return whether a document with any of these names is included: by one of them, or by a folder above it."""
        names = list(places)
        if any(_leads(glob, name) for glob in self.exclude for name in names):
            return False
        return not self.include or any(_leads(glob, name) for glob in self.include for name in names)


def _leads(glob: str, place: str) -> bool:
    """Return whether a glob matches a folder above a path or, unless it is for folders, the path itself."""
    *above, whole = _matched(glob, place)
    return any(above) or (whole and not glob.endswith("/"))


def _matches(globs: Iterable[str], place: str, *, folder: bool = False) -> bool:
    return any((folder or not glob.endswith("/")) and _matched(glob, place)[-1] for glob in globs)


def _matched(glob: str, place: str) -> list[bool]:
    """Return for each folder above a path, from the outermost one, and for the path whether the glob matches it."""
    return list(_each(_parts(glob), place.split("/")))


def _each(parts: tuple[_Part | None, ...], names: Iterable[str]) -> Iterator[bool]:
    states = _reached(parts, {0})  # the parts that may come next: all alternatives at once (K. Thompson, 1968)
    for name in names:
        open_ = [(state, parts[state]) for state in states if state < len(parts)]
        states = _reached(parts, {state + (part is not None) for state, part in open_ if part is None or part(name)})
        yield len(parts) in states


def _reached(parts: tuple[_Part | None, ...], states: set[int]) -> set[int]:
    """Return these states, and those behind a `**`, which need no name."""
    return states | {state + 1 for state in states if state < len(parts) and parts[state] is None}


@lru_cache(maxsize=256)
def _parts(glob: str) -> tuple[_Part | None, ...]:
    """Return what matches each segment of a glob; None for `**`, which comes once in a row, and never last."""
    glob = glob.rstrip("/")
    names = glob.removeprefix("/").split("/") if "/" in glob else ["**", glob]
    if names[-1] == "**":
        names.append("*")
    kept = (name for above, name in zip(["", *names], names, strict=False) if not above == name == "**")
    return tuple(None if name == "**" else re.compile(translate(name)).match for name in kept)
