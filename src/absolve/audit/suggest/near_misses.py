"""Find the known URL that is nearest to one that is not there.

In: the known URLs, with titles; the URL that is asked for. Out: the nearest with its score by rapidfuzz. Only a few
URLs are compared: those with the same name or title, those in the same folder, and those with rare groups of three
letters of the name in common.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.request import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST: Final = 64  # URLs under one key that are looked at
_MOST_SIBLINGS: Final = 2000
_LEAST: Final = 0.75
_NAME, _PATH = 0.6, 0.4  # shares of the name and of the path in a score
_SAME_TITLE: Final = 0.9
_LONGEST: Final = 500  # characters of a path that are compared
_INDEXES: Final = frozenset({"index", "default", "home", ""})


class Asked(NamedTuple):
    """A URL that is not there, with the title of the page that it once was."""

    url: str
    title: str | None = None


class Suggestion(NamedTuple):
    """The nearest known URL, with a score between 0 and 1."""

    url: str
    score: float


class _Named(NamedTuple):
    """A known URL with its decoded path in lower case, the folder of that path, and its name without extension."""

    url: str
    path: str
    folder: str
    name: str


class NearMisses:
    """An index of known URLs."""

    def __init__(self, known: Iterable[tuple[str, str | None]]) -> None:
        """Index known URLs with their titles."""
        from rapidfuzz.fuzz import ratio

        self._ratio = ratio
        self._names: dict[str, list[_Named]] = defaultdict(list)
        self._titles: dict[str, list[_Named]] = defaultdict(list)
        self._folders: dict[str, list[_Named]] = defaultdict(list)
        self._letters: dict[str, list[_Named]] = defaultdict(list)
        for url, title in known:
            self._add(_named(url), _folded(title))

    def _add(self, named: _Named, title: str) -> None:
        for index, key, most in (
            (self._names, named.name, _MOST),
            (self._titles, title, _MOST),
            (self._folders, named.folder, _MOST_SIBLINGS),
        ):
            if key and len(index[key]) <= most:
                index[key].append(named)
        for letters in _threes(named.name):
            if len(self._letters[letters]) <= _MOST:
                self._letters[letters].append(named)

    def __call__(self, asked: Asked) -> Suggestion | None:
        """Return the nearest known URL, None if none is near. A title that only one page has is a good sign."""
        named = _named(asked.url)
        best: tuple[float, str] | None = None
        for other in self._candidates(named):
            if other.url != asked.url:
                scored = self._score(named, other), other.url
                if scored[0] >= _LEAST and (best is None or (-scored[0], scored[1]) < (-best[0], best[1])):
                    best = scored
        titled = self._titles.get(_folded(asked.title), ())
        if len(titled) == 1 and titled[0].url != asked.url and (best is None or best[0] < _SAME_TITLE):
            return Suggestion(titled[0].url, _SAME_TITLE)
        return Suggestion(best[1], round(best[0], 4)) if best is not None else None

    def _candidates(self, named: _Named) -> Iterator[_Named]:
        seen: set[str] = set()
        keyed = [(self._folders.get(named.folder, []), _MOST_SIBLINGS)]
        if named.name not in _INDEXES:
            keyed.append((self._names.get(named.name, []), _MOST))
        keyed += [(self._letters.get(letters, []), _MOST) for letters in _threes(named.name)]
        for found, most in keyed:
            if len(found) > most:
                continue  # as many have it as not: no hint
            for other in found:
                if other.url not in seen:
                    seen.add(other.url)
                    yield other

    def _score(self, one: _Named, other: _Named) -> float:
        name = self._ratio(one.name, other.name) / 100
        path = self._ratio(one.path[:_LONGEST], other.path[:_LONGEST]) / 100
        return _NAME * name + _PATH * path


def _named(url: str) -> _Named:
    bare = url.partition("#")[0].partition("?")[0]
    path = decoded(bare.partition("://")[2].partition("/")[2]).lower()
    folder, _, last = path.rstrip("/").rpartition("/")
    stem = last.rpartition(".")[0] or last
    if stem in _INDEXES and folder:  # the page of a folder has the folder's name
        folder, _, stem = folder.rpartition("/")
    return _Named(url, path, folder or "/", stem)


def _threes(name: str) -> set[str]:
    text = f"^{name[:_LONGEST]}$"
    return {text[place : place + 3] for place in range(len(text) - 2)}


def _folded(title: str | None) -> str:
    return " ".join((title or "").split()).lower()
