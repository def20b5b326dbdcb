"""Find the folders that are named as hosts, as wget, HTTrack and others save sites: `www.example.org/d/a.html`.

In: the names in folders on a disk, in a package or in a store. Out: the URL that a file has by its place.
"""

from __future__ import annotations

import os
from collections import deque
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import quote_from_bytes

from absolve.core.errors import Diagnostic
from absolve.core.lazy_regex import pattern
from absolve.document.holdings import INDEXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Names = Callable[[str], Mapping[str, bool]]  # names in a folder, "" or with a slash at its end; whether it is one

PATH_CHARACTERS: Final = "!$&'()*+,;=:@/~"  # RFC 3986 3.3: pchar, and the slash between segments
_DEEPEST: Final = 3  # the folder of a host is one of the first in a path
_NAMED: Final = 10  # hosts in a message
_MOST: Final = 10_000  # names that are looked at for a page
_AGE: Final = 10**10  # nanoseconds for which what was found holds
_SCHEMES: Final = frozenset({"http", "https", "ftp"})  # wget --protocol-directories
_OF_SAVERS: Final = frozenset({"hts-cache", "hts-log.txt", "backblue.gif", "mirror.sqlite"})  # with an index of theirs
_PAGE: Final = pattern(r"index\b|.+\.(?:[xs]?html?|php|aspx?|jsp|cgi)\b")
# Lower-case labels; a port follows `:`, where a name may not have that `+` (wget on Windows, absolve) or `_` (HTTrack).
_HOST: Final = pattern(r"((?:[a-z0-9][a-z0-9_-]*\.)+[a-z0-9-]+|localhost)(?:[:+_]([0-9]{1,5}))?")
# Domains that names of folders end with; those of countries have two letters, as suffixes of files and languages have.
_TOP: Final = frozenset(
    "com org net edu gov mil int info biz name pro aero coop museum jobs mobi travel asia cat arpa app dev blog site"
    " online shop store tech xyz club live news media agency world today space website wiki art design cloud digital"
    " network academy school berlin wien london paris swiss scot example test localhost local onion".split()
)
_NO_TOP: Final = frozenset("cs db en gz hs ja js ko kt md pm py rb ts ui vb xz zh".split())
_REVERSED: Final = frozenset("com org net edu gov io".split())  # first in names of programs, as com.example.app
_LEAST: Final = 10  # first number of an address: a smaller one is that of a version


class HostFolders:
    """The folders below a root that are named as hosts, and have the pages of sites."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[str, bool] = {}

    def url_of(self, place: str) -> str | None:
        """Return the URL of a file by its path below the root; None if it is in no folder of a host.

        A `?` in a name begins the query, as wget writes it. The scheme is http, if no folder around has its name.
        """
        folder, scheme = "", "http"
        *above, _ = place.split("/", _DEEPEST)
        for name in above:
            if (authority := _authority(name)) and self._has_sites(folder):
                path, mark, query = place[len(folder) + len(name) + 1 :].partition("?")
                return f"{scheme}://{authority}/{escaped(path)}" + (mark and f"?{_query(query)}")
            folder, scheme = f"{folder}{name}/", name if name in _SCHEMES else "http"
        return None

    def _has_sites(self, folder: str) -> bool:
        """Return whether a folder named as a host in this one has a page, and this and those around it are no sites.

        One of several is enough: wget saves pictures of other hosts into folders beside it.
        """
        if folder not in self._known:
            parts = folder.split("/")[:-1]
            around = ["".join(f"{part}/" for part in parts[:end]) for end in range(len(parts) + 1)]
            names = [name for name, is_folder in self._names(folder).items() if is_folder and _authority(name)]
            pages = (self._has_page(f"{folder}{name}/") for name in names)
            self._known[folder] = not any(map(self._is_site, around)) and any(pages)
        return self._known[folder]

    def _is_site(self, folder: str) -> bool:
        """Return whether a folder has an index page that no program wrote for the sites that it saved."""
        names = self._names(folder)
        return any(name in names for name in INDEXES) and _OF_SAVERS.isdisjoint(names)

    def _has_page(self, folder: str) -> bool:
        left, seen = deque([folder]), 0
        while left and seen < _MOST:
            names = self._names(inside := left.popleft())
            if any(_PAGE.match(name) and not is_folder for name, is_folder in names.items()):
                return True
            seen += len(names)
            left.extend(f"{inside}{name}/" for name, is_folder in names.items() if is_folder)
        return False


def _authority(name: str) -> str:
    """Return the host of which a folder has the name, with its port; "" for any other name."""
    found = _HOST.fullmatch(name)
    if found is None or not _may_be_host(found[1].split(".")):
        return ""
    return f"{found[1]}:{found[2]}" if found[2] else found[1]


def _may_be_host(labels: list[str]) -> bool:
    first, top = labels[0], labels[-1]
    if top.isdigit():
        is_address = len(labels) == 4 and all(label.isdigit() and int(label) < 256 for label in labels)
        return is_address and int(first) >= _LEAST
    is_country = len(top) == 2 and top.isalpha() and top not in _NO_TOP
    return first not in _REVERSED and (is_country or top in _TOP or top.startswith("xn--"))


def on_disk(root: str) -> HostFolders:
    """Return the folders of hosts below a folder."""
    try:
        return _on_disk(root, os.stat(root or os.curdir).st_mtime_ns // _AGE)  # noqa: PTH116
    except (OSError, ValueError):
        return among(())


@lru_cache(maxsize=64)
def _on_disk(root: str, _time: int) -> HostFolders:
    def names(folder: str) -> dict[str, bool]:
        try:
            with os.scandir(os.path.join(root, folder) or os.curdir) as entries:  # noqa: PTH118
                return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except (OSError, ValueError):
            return {}

    return HostFolders(names)


def among(places: Iterable[str]) -> HostFolders:
    """Return the folders of hosts among the paths of files."""
    tree: dict[str, dict[str, bool]] = {}
    for place in places:
        folder = ""
        *above, last = place.split("/")
        for name in above:
            tree.setdefault(folder, {})[name] = True
            folder += f"{name}/"
        tree.setdefault(folder, {}).setdefault(last, False)
    return HostFolders(lambda folder: tree.get(folder, {}))


def diagnostic(urls: Iterable[str], name: str) -> Diagnostic:
    """Return the note about the hosts by whose folders files in the input `name` have these URLs."""
    hosts = dict.fromkeys(url.split("/", 3)[2] for url in urls)
    more = f" and {len(hosts) - _NAMED:,} more" if len(hosts) > _NAMED else ""
    text = "folders named as hosts give the URL of files that record none (--url gives another)"
    return Diagnostic("host-folders", f"{text}: {', '.join(islice(hosts, _NAMED))}{more}", name)


def escaped(place: str) -> str:
    """Return a relative path as the path of a URL: bytes that RFC 3986 (3.3) does not allow are percent-encoded."""
    return quote_from_bytes(os.fsencode(place), PATH_CHARACTERS)


def _query(text: str) -> str:
    return quote_from_bytes(os.fsencode(text), f"{PATH_CHARACTERS}?%")
