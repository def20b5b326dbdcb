"""Find the companion files of a document: files saved with it, the file that a link names, and recorded URLs.

In: an input of a run, or the files of a folder, and references in their documents. Out: the `Surroundings` of a
Document (core/protocols.py), and the relative paths for copies that are opened from a disk. A browser that saves a page
moves its parts into a folder beside it (`Soup_files`) and makes its links lead there: no server ever had these URLs.
HTTrack and wget make links lead from file to file.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import DocumentError
from absolve.core.lazy_regex import pattern
from absolve.core.model import RETRIEVAL, Document
from absolve.document.base_layers import GIVEN_FOR_ALL, HOST_FOLDER
from absolve.document.companions import (
    BEFORE,
    PARTS,
    HostFolders,
    fold,
    index_rank,
    named_by,
    only_alike,
    page_of,
    pages_around,
)
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.formats import registry, sniffing
from absolve.run import sources
from absolve.run.output_folder import place_in
from absolve.urls.identity import normal, percent_decoded
from absolve.urls.predicates import has_scheme
from absolve.urls.relative_path import reference_to

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.model import BaseURL, ClaimOutcome
    from absolve.core.protocols import CompanionFiles
    from absolve.run.inputs import Input

_HEAD: Final = 1 << 16  # bytes of a file in which its URL is searched
_LONGEST: Final = 4096  # characters of a reference that may be a path
_MOST: Final = 10_000  # references in a cache
_LONGEST_NAME: Final = 255  # characters of the name of a file
_MOST_ALIKE: Final = 64  # names in a folder that differ only by case
_MOST_FOLDERS: Final = 256  # cached folders
_AGE: Final = 10**10  # nanoseconds for which cached names are valid: each rewrite in place changes the folder's time
_WEB: Final = ("http://", "https://", "ftp://")
_READING: Final = Settings()


class Companions:
    """The companion files of one document, below the folder that the user named, or its own folder."""

    def __init__(self, input_: Input) -> None:
        self._input = input_
        self._place: Place | None = None
        self._is_recorded = self._is_mirror = False
        self._known: dict[tuple[str, str, bool], str | None] = {}
        self._names: dict[str, dict[str, list[str]]] = {}

    def saved_files(self, own: BaseURL) -> CompanionFiles | None:
        """Return the files that were saved with the document; None for a page of a site with a given URL (--url).

        Nobody saved such a page, unless the page records otherwise.
        """
        if not self._is_recorded:
            self._is_recorded = any(map(_is_record, own.chain))
        self._is_mirror = any(fate.base.source == HOST_FOLDER and fate.verdict == "won" for fate in own.chain)
        if self._is_recorded or self._is_mirror:
            return self
        has_parts = (self._input.around is None or self._input.around.parts) and self._at().folders
        if (has_parts or (self._may_be_part() and self._at().page)) and not is_of_site(self._input):
            return self
        return self if self.is_of_saved() else None

    def is_of_saved(self) -> bool:
        """Return whether the document is a part of a page that records its URL."""
        if not self._may_be_part():
            return False
        at = self._at()
        return bool(at.page) and bool(recorded(at.root, at.page))

    def _may_be_part(self) -> bool:
        place = self._input.place
        return not self._input.root or not place.isascii() or _MAY_BE_PARTS.search(place) is not None

    def _at(self) -> Place:
        if self._place is None:
            self._place = placed(self._input)
        return self._place

    def __call__(self, reference: str, folder: str = ".", *, is_frame: bool = False) -> str | None:
        """Return the URL or path by which the file that a reference names is known, as `CompanionFiles` describes."""
        if len(reference) > _LONGEST:
            return None
        key = (reference, folder, is_frame)
        if key not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = self._find_file(*key)
        return self._known[key]

    def _find_file(self, reference: str, folder: str, is_frame: bool) -> str | None:
        at = self._at()
        above, name = posixpath.split(at.path)
        path = named_by(reference, posixpath.join(above, folder, name), self._has, (), self._near)
        if path is None:
            is_saved = self._is_recorded or self._is_mirror
            return of_other_host(hosts_in(at.root), at.path, reference, folder) if is_saved else None
        if path.startswith(at.folders) or path == at.page:
            return ""
        if not (self._is_recorded or self._is_mirror):
            return None
        if is_frame and not self._is_mirror:
            return ""
        url = recorded(at.root, path) or (self._is_mirror and hosts_in(at.root).url_of(path))
        if url:
            return "".join((url.partition("#")[0], *reference.partition("#")[1:]))
        return "" if self._is_recorded else None

    def _has(self, path: str) -> bool:
        is_other = os.sep == "\\" and not {"\\", ":"}.isdisjoint(path)  # a name in a path of Windows
        return not is_other and os.path.isfile(os.path.join(self._at().root, path))  # noqa: PTH113, PTH118

    def _near(self, path: str) -> str | None:
        found = _near(self._at().root, path, self._names)
        return found if found is not None and self._has(found) else None


def of_other_host(hosts: HostFolders, document: str, reference: str, folder: str = ".") -> str | None:
    """Return the URL of a file of another host that was not saved, by its path in the folder of that host."""
    name, *fragment = reference.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(document), folder, percent_decoded(name)))
    is_outside = name.startswith("../") and path.partition("/")[0] != document.partition("/")[0]
    url = hosts.url_of(path) if is_outside and hosts.url_of(document) is not None else None
    return "".join((url, *fragment)) if url is not None else None


def is_of_site(input_: Input) -> bool:
    """Return whether an input is one of several documents for which the user gives one URL."""
    source = input_.url_source if input_.claim is None else input_.claim.source
    return input_.shares and (input_.url or input_.claim) is not None and source in GIVEN_FOR_ALL


def _is_record(fate: ClaimOutcome) -> bool:
    """Return whether a claim is a record by the saver of the page: in it, or in a file beside it."""
    base = fate.base
    return base.layer is RETRIEVAL and (base.position is not None or base.source.endswith(sources.BESIDE))


class Place(NamedTuple):
    """Where a document is: the root folder, its path below it, and the page to which it belongs, if there is one.

    `folders` have the parts of that page, or of the document; each ends with a slash: for example, `Soup_files/`.
    """

    root: str
    path: str
    page: str = ""
    folders: tuple[str, ...] = ()


def placed(input_: Input) -> Place:
    """Return the place of an input's document."""
    if input_.root:
        root, path = input_.root, place_in(input_.root, input_.name)
    else:
        root, path = os.path.splitdrive(os.path.abspath(input_.name))  # noqa: PTH100 - without following links
        root, path = root + os.sep, path.lstrip(os.sep)
    if os.sep != "/":
        path = path.replace(os.sep, "/")
    above = posixpath.dirname(path)
    page, folder = _page_around(root, path)
    if not input_.root:  # below the folder of the page, or its own
        above = posixpath.dirname(page) if page else above
        root = os.path.join(root, above)  # noqa: PTH118
        path, page, folder = (one[len(above) :].lstrip("/") for one in (path, page, folder))
        above = ""
    if page:
        return Place(root, path, page, (f"{folder}/",))
    parts = (input_.around or sources.around_file(input_.name)).parts
    name = posixpath.basename(path)
    names = {name, posixpath.splitext(name)[0]}
    alike = [folder for form in set(map(fold, names)) for folder in parts.get(form, ())]
    found = [folder for folder in alike if page_of(folder) in names] or alike
    return Place(root, path, "", tuple(posixpath.join(above, one, "") for one in found))


def _page_around(root: str, place: str) -> tuple[str, str]:
    """Return the page to which a file belongs, and the outermost folder of its parts, such as `Soup_files`; or ""."""
    for folder, names in pages_around(place):
        for page in filter(None, (*names, *(_near(root, name, {}) for name in names))):
            if os.path.isfile(os.path.join(root, page)):  # noqa: PTH113, PTH118
                return page, folder
    return "", ""


def _near(root: str, path: str, known: dict[str, dict[str, list[str]]]) -> str | None:
    """Return the path below a folder that equals `path` apart from normalization and case (`named_by`).

    `known` caches the names in folders for one document, so that each folder is listed once.
    """
    found = ""
    for name in path.split("/"):
        folder = os.path.join(root, found)  # noqa: PTH118
        if folder not in known:
            known[folder] = _names_in(folder)
        names = known[folder].get(fold(name)) if len(name) <= _LONGEST_NAME else None
        alike = only_alike(name, names) if names else None
        if alike is None:
            return None
        found = posixpath.join(found, alike)
    return found


def _names_in(folder: str) -> dict[str, list[str]]:
    """Return the names in a folder by their form, without links, which may lead elsewhere; none if unreadable."""
    try:
        return _listed(folder, os.stat(folder).st_mtime_ns // _AGE)  # noqa: PTH116
    except (OSError, ValueError):
        return {}


@lru_cache(maxsize=_MOST_FOLDERS)
def _listed(folder: str, _time: int) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    with os.scandir(folder) as entries:
        for name in sorted(entry.name for entry in entries if not entry.is_symlink()):
            alike = names.setdefault(fold(name), [])
            if len(alike) < _MOST_ALIKE:
                alike.append(name)
    return names


def hosts_in(root: str) -> HostFolders:
    """Return the folders of hosts below a folder."""
    try:
        return _hosts_in(root, os.stat(root or os.curdir).st_mtime_ns // _AGE)  # noqa: PTH116
    except (OSError, ValueError):
        return HostFolders(lambda _: {})


@lru_cache(maxsize=64)
def _hosts_in(root: str, _time: int) -> HostFolders:
    def names(folder: str) -> dict[str, bool]:
        try:
            with os.scandir(os.path.join(root, folder) or os.curdir) as entries:  # noqa: PTH118
                return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except (OSError, ValueError):
            return {}

    return HostFolders(names)  # which keeps no names: a folder may have very many


_MAY_BE_PARTS: Final = pattern("(?:{})/|{}".format("|".join(map(re.escape, PARTS)), BEFORE))


def recorded(root: str, place: str) -> str:
    """Return the URL that a file in a folder records for itself; "" if it records none or leads out of the folder."""
    path = os.path.join(root, place)  # noqa: PTH118
    try:
        state = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return ""
    return _recorded(root, path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4096)
def _recorded(root: str, path: str, _time: int, _size: int) -> str:
    try:
        head = sources.head(path, root=root, size=_HEAD)
        is_page = sniffing.recognised(head, path) in {registry.HTML, registry.XML}
        document = Document(head, name=path, media_type=registry.HTML if is_page else registry.OTHER)
        document.claims = tuple(sources.claims(path))
        own = walk(document, _READING).bases.own.url
    except DocumentError:
        return ""
    return own if own.startswith(_WEB) else ""


# --- links from file to file ------------------------------------------------------------------------------------------


class FolderFiles:
    """The files of a folder by their paths, and by their URLs.

    `url` is the URL of the folder; without it a file has its URL by a table, by its own record, or by a
    folder with the name of a host. The newest of several files with one URL has it.
    """

    def __init__(self, found: Iterable[Input], root: str, url: str | None) -> None:
        self._root = root
        self._site = normal(f"{url.rstrip('/')}/") if url else None
        self._alike: defaultdict[str, list[str]] = defaultdict(list)
        self._by_url: dict[str, str] = {}
        inputs = list(found)
        for input_ in inputs:
            self._alike[fold(input_.place)].append(input_.place)
        for input_ in sorted(inputs, key=lambda one: sources.modified(one.name), reverse=True):
            self._add(input_, input_.url or ("" if url else self._known(input_)))

    def _known(self, input_: Input) -> str:
        claim = input_.claim.reference if input_.claim is not None else ""
        return recorded(self._root, input_.place) or claim

    def _add(self, input_: Input, url: str) -> None:
        key = normal(url)
        if key is None:
            return
        self._by_url.setdefault(key, input_.place)
        folder, _, name = key.rpartition("/")
        if index_rank(name) is not None:
            self._by_url.setdefault(f"{folder}/", input_.place)

    def __call__(self, document: str, reference: str, url: str | None, charset: str) -> str | None:
        """Return the relative path from a document, the file of this name, to the file that a link leads to, or None.

        A `reference` counts as a path before the `url` does, unless it is "". It stays unchanged if it leads to the
        file from a disk.
        """
        place = place_in(self._root, document)
        found = self._find_named(reference, place, charset)
        if found is None and url is not None:
            found = self._find_url(url, charset)
        if found is None:
            return None
        path, rest = found
        return reference if _leads(reference, place, path) else reference_to(posixpath.dirname(place), path) + rest

    def _find_url(self, url: str, charset: str) -> tuple[str, str] | None:
        """Return the path of the file with a URL, and the query and fragment to add to it."""
        key, rest = normal(url) or "", "".join(url.partition("#")[1:])
        # A folder of a host has no scheme.
        twin = re.sub(r"\Ahttp(s?):", lambda found: "http:" if found[1] else "https:", key)
        for one in (key, f"{key}.html", twin, f"{twin}.html"):  # wget -E
            if (path := self._by_url.get(one)) is not None:
                return path, rest
        is_below = self._site is not None and key.startswith(self._site)
        return self._find_named(f"./{key[len(self._site or '') :]}{rest}", "", charset) if is_below else None

    def _find_named(self, reference: str, place: str, charset: str) -> tuple[str, str] | None:
        """Return path and suffix, as `_of_url`, for a reference that names a file from the document at a place."""
        if not reference or len(reference) > _LONGEST:
            return None
        find = partial(named_by, document=place, has=self._has, near=self._near, charset=charset)
        path = find(reference)
        if path is None:
            return None
        bare, question, query = reference.partition("#")[0].partition("?")
        rest = question + query if find(bare) == path else ""  # otherwise it is a part of the name
        return path, rest + "".join(reference.partition("#")[1:])

    def _has(self, path: str) -> bool:
        return path in self._alike.get(fold(path), ())

    def _near(self, path: str) -> str | None:
        return only_alike(path, self._alike.get(fold(path), ()))


def _leads(reference: str, place: str, path: str) -> bool:
    """Return whether a reference leads to a file without a server: for example, `c.html` from `a/b.html`."""
    bare = reference.partition("#")[0].partition("?")[0]
    if not bare or bare[0] in "/\\" or bare[-1] == "/" or has_scheme(bare):
        return False
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), percent_decoded(bare))) == path
