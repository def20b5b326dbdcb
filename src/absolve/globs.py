"""Globs over paths below a folder: `*` and `?` stay within a part of the path, `**` goes through any number of them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from absolve.errors import UsageError
from absolve.patterns import pattern

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
            _regex(glob.rstrip("/"))
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
    return any((folder or not glob.endswith("/")) and _regex(glob.rstrip("/")).fullmatch(place) for glob in globs)


_TOKEN = pattern(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_MEANS = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@lru_cache(maxsize=256)
def _regex(glob: str) -> re.Pattern[str]:
    anywhere = "" if "/" in glob else "(?:.*/)?"
    try:
        return re.compile(anywhere + "".join(map(_meaning, _TOKEN.findall(glob.removeprefix("/")))), re.DOTALL)
    except re.error as error:  # a range that runs backwards
        raise UsageError(f"{glob!r} is no glob: {error}") from error


def _meaning(token: str) -> str:
    if token in _MEANS:
        return _MEANS[token]
    if len(token) > 1:  # [...] of POSIX 2.13.1, without classes
        negated = token.startswith("[!")
        inside = token[1 + negated : -1].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
        return f"(?!/)[{'^' if negated else ''}{inside}]"
    return re.escape(token)
