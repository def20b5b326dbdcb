"""Find out what the columns of a table mean: by the words of its header, and by its cells.

In: the first rows, the roles that a caller needs, perhaps the hosts of two sites. Out: the place of each role, the
header row, and the choice in words, for example `old: "Quelle" (column 1), new: "Ziel" (column 2)`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.urls.identity import named
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from absolve.rules.cells import Row

_STATUS: Final = re.compile(r"(?:[^\W\d][\w ]{0,40}\(?)?\b([1-5][0-9][0-9])(!?)(?:$|[\W_][\w\s().,;:-]{0,60})")
_PHRASES: Final = {
    **dict.fromkeys(("moved permanently", "permanent", "permanently", "permanent redirect", "perm"), 301),
    **dict.fromkeys(("found", "temporary", "temporarily", "temporary redirect", "moved temporarily", "temp"), 302),
    "see other": 303,
    "gone": 410,
    "deleted": 410,
    "not found": 404,
}
# Cells without a value, by people and spreadsheets: `n/a`, `TBD`, `-`, `#N/A`.
_OPEN: Final = re.compile(r"#.*|[?-]+|(?i:n/?a|n\.a\.|tbd|tbc|todo|none|null|nil|nan|undefined)", re.DOTALL)
_DATA: Final = re.compile(r"[|?]|\w\.\w|^[1-5][0-9][0-9]$")  # in no header: parts of a path, and a status
_COUNT: Final = re.compile(r"(?:[0-9]{1,3}(?:[,. '\u00a0\u202f][0-9]{3})+|[0-9]+)(?:[.,][0-9]{1,2})?")
# host/path: a name with a dot whose last label is no suffix of a file, before a slash or the end.
_HOST_AND_PATH: Final = re.compile(
    r"(?>(?:[^\W_](?:[\w-]{0,62}+(?<!-))?\.)+)([^\W\d_]{2,63}|xn--[\w-]{1,60})\.?(?::\d+)?(?:[/?#].*)?", re.DOTALL
)
_FILES: Final = frozenset(
    "html htm xhtml shtml php php3 asp aspx jsp jspx cfm cgi pl txt pdf xml json css js md doc jpg png gif zip".split()
)
_SEPARATORS: Final = re.compile(r"[\W_]+")
# A word of a header: no white space separates words in Chinese and Japanese, nor a name such as URL from them.
_WORD: Final = re.compile(r"[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\W_\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


class Role(NamedTuple):
    """A role that a column may have, by the words of its header and by its cells.

    A header has the role if it is one of `names`, which are preferred, or has one of `words` and none of `others`.
    Prepositions (`weak`) count where no word does. Without any of them, a column has the role if all its cells are
    `sure`, and its header has none of `others`.
    """

    words: frozenset[str]
    fits: Callable[[str], bool]
    names: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    sure: Callable[[str], bool] | None = None
    weak: frozenset[str] = frozenset()


class Columns(NamedTuple):
    """The place of each role; the row that is the header, None without one; the choice in words.

    `by_words` are the roles that were found by words of the header.
    """

    places: Mapping[str, int]
    header: Row | None
    words: str
    by_words: frozenset[str]


def is_url(cell: str) -> bool:
    """Return whether a cell is a URL, `host/path` or a path that begins with a slash."""
    return cell.startswith("/") or "://" in cell[:12] or host_and_path(cell)


def host_and_path(cell: str) -> bool:
    """Return whether a cell is a URL without its scheme, such as `www.example.com/page`, and not a file name."""
    found = _HOST_AND_PATH.fullmatch(cell) if "." in cell and len(cell) < 1 << 12 else None
    return found is not None and found[1].lower() not in _FILES


def is_left_open(cell: str) -> bool:
    """Return whether a cell has no value: an error of a spreadsheet, or a word such as `TBD`."""
    return _OPEN.fullmatch(cell) is not None


def with_slashes(cell: str) -> str:
    """Return a cell, with two slashes before `host/path`: for example `//www.example.com/a` for `www.example.com/a`."""
    return f"//{cell}" if not cell.startswith("/") and not has_scheme(cell) and host_and_path(cell) else cell


def status(cell: str) -> tuple[int, bool] | None:
    """Return the status of a cell, and whether it is forced: for example `301!`, `302 - Found`, `Permanent`."""
    found = _STATUS.fullmatch(cell)
    if found is not None:
        return int(found[1]), bool(found[2])
    number = _PHRASES.get(" ".join(_SEPARATORS.split(cell.lower())).strip().removesuffix(" redirect").strip())
    return None if number is None else (number, False)


def count(cell: str) -> int | None:
    """Return the number in a cell, for example 1234 for `1,234` and `1.234`, 12 for `12.0`; None for other cells."""
    if _COUNT.fullmatch(cell) is None:
        return None
    whole = re.sub(r"(?<=\d)[.,][0-9]{1,2}$", "", cell)
    return int(re.sub(r"\D", "", whole)[:18])


@lru_cache(1024)
def split_words(cell: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(unicodedata.normalize("NFC", cell).casefold()))


def _means(role: Role, cell: str) -> int:
    """Return 3 if a header is a name of the role, 2 if it has a word for it, 1 for a preposition, 0 otherwise."""
    words = split_words(cell)
    if " ".join(words) in role.names:
        return 3
    if not role.others.isdisjoint(words):
        return 0
    return 2 if not role.words.isdisjoint(words) else int(not role.weak.isdisjoint(words))


def choose_columns(
    head: Sequence[Row], roles: Mapping[str, Role], needed: Sequence[str], hosts: Sequence[str] = ()
) -> Columns:
    """Find the column of each role. `needed`: roles that cells decide where no word does, in this order.

    `hosts`: the hosts of the sites to which the cells of `needed` belong, as far as known.
    """
    lines = [row for row in head if not row.is_comment and row.problem is None and row.cells]
    header = _header(lines, roles, needed)
    sample = [row for row in lines if header is None or row.first > header.first]
    places: dict[str, int] = {}
    if header is not None:
        for least in (2, 1):
            for name, role in roles.items():
                _by_words(name, role, header, sample, places, least)
    by_words = frozenset(places)
    _by_cells(sample, roles, needed, places, hosts, header)
    return Columns(places, header, _in_words(places, header), by_words)


def _header(lines: Sequence[Row], roles: Mapping[str, Role], needed: Sequence[str]) -> Row | None:
    """Return the header: a row whose words mean every needed role, or the last row before the first URL."""
    above: list[Row] = []
    for row in lines:
        if all(any(_means(roles[name], cell) == 3 for cell in row.cells) for name in needed):
            return row  # also if one looks like a host: result.redirectURL
        if any(map(is_url, row.cells)):
            break
        above.append(row)
    for row in above:
        if all(any(_means(roles[name], cell) for cell in row.cells) for name in needed):
            return row
    if any(_DATA.search(cell) for row in above for cell in row.cells):
        return None
    return next((row for row in above[-1:] if len(above) < len(lines) or len(lines) == 1), None)


def _by_words(name: str, role: Role, header: Row, sample: Sequence[Row], places: dict[str, int], least: int) -> None:
    """Add the place of a role: among the columns that its words name, the one in which most cells fit."""
    taken = set(places.values())
    every = ((place, _means(role, cell)) for place, cell in enumerate(header.cells) if place not in taken)
    found = {place: means for place, means in every if means >= least}
    if found and name not in places:
        fits = {place: _fitting(role.fits, place, sample) for place in found}
        best = max(found, key=lambda place: (fits[place] >= 0.5, found[place], fits[place], -place))
        if fits[best] > 0 or not any(row.cell(best) for row in sample):
            places[name] = best


def _fitting(fits: Callable[[str], bool], place: int, sample: Sequence[Row]) -> float:
    """Return the share of non-empty cells that fit."""
    cells = [cell for row in sample if (cell := row.cell(place))]
    return sum(map(fits, cells)) / len(cells) if cells else 0.0


def _by_cells(
    sample: Sequence[Row],
    roles: Mapping[str, Role],
    needed: Sequence[str],
    places: dict[str, int],
    hosts: Sequence[str],
    header: Row | None,
) -> None:
    """Add the places of roles that no word names: the first columns of URLs, and columns whose cells are all sure.

    Two columns of URLs are swapped if they are on each other's host.
    """
    width = max((len(row.cells) for row in sample), default=0)
    missing = [name for name in needed if name not in places]
    titles = header.cells if header is not None else []
    others = {word for name in missing for word in roles[name].others}
    allowed = (place for place in range(width) if others.isdisjoint(split_words("".join(titles[place : place + 1]))))
    urls = [place for place in allowed if place not in places.values() and _fitting(is_url, place, sample) >= 0.5]
    if len(urls) >= len(missing):
        places.update(zip(missing, urls, strict=False))
    if len(missing) == len(hosts) == 2 and len(urls) > 1:
        first, second = missing
        if _on(hosts[1], places[first], sample) and _on(hosts[0], places[second], sample):
            places[first], places[second] = places[second], places[first]
    for name, role in roles.items():
        if header is not None and name not in places and role.sure is not None:
            free = (place for place in range(width) if place not in places.values())
            free = (place for place in free if role.others.isdisjoint(split_words(header.cell(place))))
            places.update((name, place) for place in islice(_sure_places(role.sure, free, sample), 1))


def _sure_places(sure: Callable[[str], bool], places: Iterable[int], sample: Sequence[Row]) -> Iterator[int]:
    return (place for place in places if _fitting(sure, place, sample) == 1)


def _on(host: str, place: int, sample: Sequence[Row]) -> bool:
    """Return whether most URLs of a column are on a host."""
    cells = [cell for row in sample if (cell := with_slashes(row.cell(place)))]
    found = [named(f"http:{cell}" if cell.startswith("//") else cell).removeprefix("www.") for cell in cells]
    return bool(host) and found.count(host.removeprefix("www.")) * 2 > len(found)


def _in_words(places: Mapping[str, int], header: Row | None) -> str:
    """Return the choice in words."""
    parts = []
    for name, place in places.items():
        title = header.cell(place) if header is not None else ""
        parts.append(f'{name}: "{title}" (column {place + 1})' if title else f"{name}: column {place + 1}")
    return ", ".join(parts)
