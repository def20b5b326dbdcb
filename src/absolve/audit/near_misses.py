"""Find the known URL that is nearest to a missing one.

In: the known URLs, with titles; a missing URL. Out: a likely URL with its score: the same name in another folder or
with another extension, a misspelt name (by rapidfuzz), or the only page with the same title. Only a few URLs are
compared: URLs with the same name, in the same folder, or with rare groups of three letters in common.

    >>> NearMisses([("http://h/docs/about.html", None)])(Asked("http://h/docs/abuot.html"))
    Suggestion(url='http://h/docs/about.html', score=0.8533)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.judge import each, insert, one
from absolve.audit.verdicts import PLACE
from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST: Final = 64  # URLs under one key that are looked at
_MOST_SIBLINGS: Final = 1000
_MOST_COMPARED: Final = 8
_NAME, _PATH = 0.6, 0.4  # shares of the name and of the path in a score
_SAME_TITLE: Final = 0.9
_RESPELLED: Final = 0.98  # likeness of names with the same words
_FAR: Final = 0.9  # likeness of names in different folders
_LONGEST: Final = 200  # characters of a name or path that are compared
_PER_ERROR: Final = 8  # characters of a name for each letter that may be wrong, after the first one
_FIRST_ERROR: Final = 4  # characters of a name in which one letter may be wrong
_MOST_ERRORS: Final = 3
_SHORTEST: Final = 3  # characters of a name that is a hint in another folder
_INDEXES: Final = frozenset({"index", "default", "home", ""})
_WORDS: Final = re.compile(r"[^\W_]+")
_NO_DIGITS: Final = re.compile(r"\D+")


class Asked(NamedTuple):
    """A missing URL, with the title of its old page."""

    url: str
    title: str | None = None


class Suggestion(NamedTuple):
    """A likely URL, with a score between 0 and 1."""

    url: str
    score: float


class _Named(NamedTuple):
    """A known URL with its decoded path in lower case, its folder, and its name without extension."""

    url: str
    path: str
    folder: str
    name: str


class NearMisses:
    """An index of known URLs."""

    def __init__(self, known: Iterable[tuple[str, str | None]]) -> None:
        """Index known URLs with their titles."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA
        from rapidfuzz.fuzz import ratio

        self._ratio, self._extract, self._distance = ratio, process.extract, OSA.distance
        self._names: dict[str, list[_Named]] = defaultdict(list)
        self._titles: dict[str, list[_Named]] = defaultdict(list)
        self._folders: dict[str, list[_Named]] = defaultdict(list)
        self._siblings: dict[str, list[str]] = {}  # their names, by folder
        self._letters: dict[str, list[_Named]] = defaultdict(list)
        for url, title in known:
            self._add(_named_url(url), _folded(title))

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
        """Return a likely URL, or None. A title that only one page has is a good sign."""
        named = _named_url(asked.url)
        best: tuple[float, str] | None = None
        for other in self._candidates(named):
            if other.url != asked.url:
                scored = self._score(named, other), other.url
                if scored[0] and (best is None or (-scored[0], scored[1]) < (-best[0], best[1])):
                    best = scored
        titled = self._titles.get(_folded(asked.title), ())
        if len(titled) == 1 and titled[0].url != asked.url and (best is None or best[0] < _SAME_TITLE):
            return Suggestion(titled[0].url, _SAME_TITLE)
        return Suggestion(best[1], round(best[0], 4)) if best is not None else None

    def _candidates(self, named: _Named) -> Iterator[_Named]:
        same = self._names.get(named.name, [])
        if len(same) <= _MOST and len(named.name) >= _SHORTEST:
            yield from same
        errors = _errors(named.name)
        if not errors:
            return
        siblings = self._folders.get(named.folder, [])
        if len(siblings) <= _MOST_SIBLINGS:
            if named.folder not in self._siblings:
                self._siblings[named.folder] = [other.name for other in siblings]
            names = self._siblings[named.folder]
            found = self._extract(named.name, names, scorer=self._distance, score_cutoff=errors, limit=_MOST_COMPARED)
            yield from (siblings[place] for _, _, place in found)
        hits: Counter[_Named] = Counter()
        for letters in _threes(named.name):
            others = self._letters.get(letters, ())
            if len(others) <= _MOST:
                hits.update(others)
        yield from (other for other, _ in hits.most_common(_MOST_COMPARED))

    def _score(self, one: _Named, other: _Named) -> float:
        """Return the score of two names and paths; 0 if the names differ by more than misspelling.

        A short misspelt name in another folder is mostly another page.
        """
        name = self._likeness(one.name, other.name)
        if name < _FAR and one.folder != other.folder:
            return 0.0
        path = self._ratio(one.path[:_LONGEST], other.path[:_LONGEST]) / 100
        return (_NAME * name + _PATH * path) if name else 0.0

    def _likeness(self, one: str, other: str) -> float:
        """Return the likeness of two names, without their common first and last words; 0 beyond misspelling."""
        if one == other:
            return 1.0
        words, others = _WORDS.findall(one), _WORDS.findall(other)
        if "".join(words) == "".join(others):
            return _RESPELLED
        for place in (0, -1):
            while words and others and words[place] == others[place]:
                del words[place], others[place]
        rest, its_rest = "".join(words), "".join(others)
        most = min(_errors(rest), _errors(its_rest))
        if not most or _NO_DIGITS.sub(" ", rest) != _NO_DIGITS.sub(" ", its_rest):
            return 0.0  # chapter1 is no misspelling of chapter2
        wrong = self._distance(rest, its_rest, score_cutoff=most)
        return 1 - wrong / len(rest) if wrong <= most else 0.0


def _errors(name: str) -> int:
    """Return how many letters of a name may be wrong."""
    return min(1 + len(name) // _PER_ERROR, _MOST_ERRORS) if len(name) >= _FIRST_ERROR else 0


def _named_url(url: str) -> _Named:
    bare = url.partition("#")[0].partition("?")[0]
    path = decoded(bare.partition("://")[2].partition("/")[2]).lower()
    folder, _, last = path.rstrip("/").rpartition("/")
    stem = last.rpartition(".")[0] or last
    if stem in _INDEXES and folder:  # the page of a folder has the folder's name
        folder, _, stem = folder.rpartition("/")
    return _Named(url, path, folder or "/", stem[:_LONGEST])


def _threes(name: str) -> set[str]:
    text = f"^{name}$"
    return {text[place : place + 3] for place in range(len(text) - 2)}


def _folded(title: str | None) -> str:
    return " ".join((title or "").split()).lower()


_KNOWN: Final = """
SELECT n.url, r.title FROM resources r JOIN named n ON n.resource = r.resource
WHERE r.side = 'new' ORDER BY r.resource
"""
# For a large site: only pages with the name of a missing URL.
_NAMED_ALIKE: Final = """
WITH asked_names AS (
    SELECT DISTINCT lower(regexp_extract(path_of(url), '([^/.]*)[^/]*$', 1)) AS name FROM (
        SELECT url FROM findings WHERE verdict = 'broken' AND final IS NULL
        UNION ALL SELECT new_url FROM judged_urls WHERE verdict = 'lost')
)
SELECT n.url, r.title FROM resources r JOIN named n ON n.resource = r.resource
SEMI JOIN asked_names a ON a.name = lower(regexp_extract(r.path, '([^/.]*)[^/]*$', 1))
WHERE r.side = 'new' ORDER BY r.resource LIMIT ?
"""
_LARGE: Final = 100_000  # URLs of a site whose names are all compared
_BROKEN: Final = """
SELECT url FROM findings WHERE verdict = 'broken' AND final IS NULL AND suggestion IS NULL
GROUP BY url ORDER BY count(*) DESC, url LIMIT ?
"""
_LOST: Final = """
SELECT j.url, j.new_url, r.title FROM judged_urls j JOIN resources r ON r.resource = j.resource
WHERE j.verdict = 'lost' AND j.elsewhere IS NULL ORDER BY j.url LIMIT ?
"""
# A file beside folders of hosts has a URL only because an audit gives each file one: people know its path.
_AS_FILES: Final = """
UPDATE {} AS t SET suggestion = r.document FROM named n JOIN resources r ON r.resource = n.resource
WHERE r.side = 'new' AND n.url = t.suggestion AND is_assumed(t.suggestion) AND NOT is_assumed(new_base())
"""
MOST: Final = 5000  # URLs for which a suggestion is looked for: the URLs with most links


def suggest(connection: Any) -> None:
    """Fill the tables of suggestions."""
    broken = [url for (url,) in each(connection, _BROKEN, [MOST])]
    lost = list(each(connection, _LOST, [MOST]))
    if not broken and not lost:
        return
    is_large = one(connection, "SELECT count(*) FROM resources WHERE side = 'new'")[0] > _LARGE
    near = NearMisses(each(connection, _NAMED_ALIKE, [_LARGE]) if is_large else each(connection, _KNOWN))
    links = ((url, near(Asked(url))) for url in broken)
    olds = ((url, near(Asked(new_url, title))) for url, new_url, title in lost)
    for table, hits in (("near_links", links), ("near_urls", olds)):
        found = [(url, hit.url) for url, hit in hits if hit is not None]
        insert(connection, table, found)
        if any(url.startswith(PLACE) for _, url in found):
            connection.execute(_AS_FILES.format(table))
