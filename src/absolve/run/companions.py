"""Find the files that were saved with a document, its companions, and the URLs that files record of themselves.

In: an input of a run, and relative references of its document. Out: the `Surroundings` of a Document
(core/protocols.py). A browser that saves a page moves its parts into a folder beside it (`Soup_files`) and makes its
links lead there: no server ever had these URLs. HTTrack and wget make links lead from file to file.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import DocumentError
from absolve.core.lazy_regex import pattern
from absolve.core.model import RETRIEVAL, Document
from absolve.document.base_layers import GIVEN_FOR_ALL, HOST_FOLDER
from absolve.document.holdings import BEFORE, PAGES, PARTS, fold, named_by, only_alike, page_of
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.formats import registry
from absolve.run import host_folders, sources
from absolve.run.globs import Globs
from absolve.run.inputs import Input
from absolve.run.inputs import folder as files_in
from absolve.run.output_folder import place_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.core.errors import Diagnostic
    from absolve.core.model import BaseURL, ClaimOutcome
    from absolve.core.protocols import FilesBeside

_HEAD: Final = 1 << 16  # bytes of a file in which its URL is looked for
_LONGEST: Final = 4096  # characters of a reference that may be a path
_MOST: Final = 10_000  # references in a cache
_LONGEST_NAME: Final = 255  # characters of the name of a file
_MOST_ALIKE: Final = 64  # names in a folder that differ only by case
_MOST_NAMES: Final = 1_000_000  # in the folders that are kept
_AGE: Final = 10**10  # nanoseconds for which the names in a folder hold: rewriting in place changes its time each time
_WEB: Final = ("http://", "https://", "ftp://")
_READING: Final = Settings()


class Companions:
    """The files around one document, below the folder that the user named, or its own folder."""

    def __init__(self, input_: Input) -> None:
        self._input = input_
        self._place: _Place | None = None
        self._is_recorded = self._is_mirror = False
        self._known: dict[tuple[str, str, bool], str | None] = {}
        self._names: dict[str, dict[str, list[str]]] = {}

    def of(self, own: BaseURL) -> FilesBeside | None:
        """Return the files that were saved with the document; None for a page of a site whose URL is given (--url).

        Nobody saved that one, unless the page records otherwise.
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

    def _at(self) -> _Place:
        if self._place is None:
            self._place = _placed(self._input)
        return self._place

    def __call__(self, reference: str, folder: str = ".", *, is_frame: bool = False) -> str | None:
        """Return what the file that a reference names is known by, as `FilesBeside` describes."""
        if len(reference) > _LONGEST:
            return None
        key = (reference, folder, is_frame)
        if key not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = self._found(*key)
        return self._known[key]

    def _found(self, reference: str, folder: str, is_frame: bool) -> str | None:
        at = self._at()
        above, name = posixpath.split(at.path)
        path = named_by(reference, posixpath.join(above, folder, name), self._has, (), self._near)
        if path is None:
            return None
        if path.startswith(at.folders) or path == at.page:
            return ""
        if not (self._is_recorded or self._is_mirror):
            return None
        if is_frame and not self._is_mirror:
            return ""
        url = recorded(at.root, path) or (self._is_mirror and host_folders.on_disk(at.root).url_of(path))
        if url:
            return "".join((url.partition("#")[0], *reference.partition("#")[1:]))
        return "" if self._is_recorded else None

    def _has(self, path: str) -> bool:
        is_other = os.sep == "\\" and not {"\\", ":"}.isdisjoint(path)  # a name in a path of Windows
        return not is_other and os.path.isfile(os.path.join(self._at().root, path))  # noqa: PTH113, PTH118

    def _near(self, path: str) -> str | None:
        found = _near(self._at().root, path, self._names)
        return found if found is not None and self._has(found) else None


def parts_of(page: Input, notify: Callable[[Diagnostic], None]) -> Iterator[Input]:
    """Yield the files in the folders of parts beside a page that was given by its name."""
    folder, name = os.path.split(page.name)
    if page.found or not os.path.isfile(page.name) or posixpath.splitext(name)[1].lower() not in PAGES:  # noqa: PTH113
        return
    at = _placed(page)
    for one in at.folders if not at.page else ():
        below, parts = posixpath.join(posixpath.dirname(page.place), one), os.path.join(folder, one.rstrip("/"))  # noqa: PTH118
        for path, place, around, _ in files_in(parts, Globs(), notify, within=folder or os.curdir):
            yield Input(path, below + place, found=True, around=around, root=folder or os.curdir)


def led_out(page: Input) -> list[Diagnostic]:
    """Return the notes about links that lead out of the folder of a page given by its name: nothing there is read."""
    notes: list[Diagnostic] = []
    deque(parts_of(page, notes.append), maxlen=0)
    return [note for note in notes if note.code == "outside"]


def is_of_site(input_: Input) -> bool:
    """Return whether the user gives one URL for several documents, of which this is one."""
    source = input_.url_source if input_.claim is None else input_.claim.source
    return input_.shares and (input_.url or input_.claim) is not None and source in GIVEN_FOR_ALL


def _is_record(fate: ClaimOutcome) -> bool:
    """Return whether a claim is the record of who saved the page: in it, in a shortcut, or in ScrapBook's file."""
    is_beside = fate.base.source == sources.SCRAPBOOK or fate.base.source.endswith(sources.BESIDE)
    return fate.base.layer is RETRIEVAL and (fate.base.position is not None or is_beside)


class _Place(NamedTuple):
    """Where a document is: the root folder, and its path below it, with the page that it is a part of, if there is one.

    `folders` are those of the parts of that page, or of the document, each with a slash at its end.
    """

    root: str
    path: str
    page: str = ""
    folders: tuple[str, ...] = ()


def _placed(input_: Input) -> _Place:
    if input_.root:
        root, path = input_.root, place_in(input_.root, input_.name)
    else:
        root, path = os.path.splitdrive(os.path.abspath(input_.name))  # noqa: PTH100 - without following links
        root, path = root + os.sep, path.lstrip(os.sep)
    if os.sep != "/":
        path = path.replace(os.sep, "/")
    above = posixpath.dirname(path)
    page, folder = _page_around(root, above)
    if not input_.root:  # below the folder of the page, or its own
        above = posixpath.dirname(page) if page else above
        root = os.path.join(root, above)  # noqa: PTH118
        path, page, folder = (one[len(above) :].lstrip("/") for one in (path, page, folder))
        above = ""
    if page:
        return _Place(root, path, page, (f"{folder}/",))
    parts = (input_.around or sources.around_file(input_.name)).parts
    name = posixpath.basename(path)
    names = {name, posixpath.splitext(name)[0]}
    alike = [folder for form in set(map(fold, names)) for folder in parts.get(form, ())]
    found = [folder for folder in alike if page_of(folder) in names] or alike
    return _Place(root, path, "", tuple(posixpath.join(above, one, "") for one in found))


def _page_around(root: str, above: str) -> tuple[str, str]:
    """Return the page of which the files in a folder are parts, and the outermost folder of its parts; "" for none."""
    parts = above.split("/")
    for index, name in enumerate(parts):
        if stem := page_of(name):
            outer = "/".join(parts[:index])
            names = [posixpath.join(outer, stem + extension) for extension in PAGES]
            for page in filter(None, (*names, *(_near(root, name, {}) for name in names))):
                if os.path.isfile(os.path.join(root, page)):  # noqa: PTH113, PTH118
                    return page, posixpath.join(outer, name)
    return "", ""


def _near(root: str, path: str, known: dict[str, dict[str, list[str]]]) -> str | None:
    """Return the path below a folder that a path is where normalization and case do not count (`named_by`).

    `known` are the names in folders, by their form, for one document: so it lists each folder once.
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


class _Listings:
    """The names in folders by their form, kept while the time of the folder holds; about `_MOST_NAMES` at most."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, dict[str, list[str]]]] = {}
        self._count = 0

    def __call__(self, folder: str) -> dict[str, list[str]]:
        """Return the names in a folder; none if it cannot be read."""
        try:
            time = os.stat(folder).st_mtime_ns // _AGE  # noqa: PTH116
            found = self._known.get(folder)
            if found is None or found[0] != time:
                found = time, _listed(folder)
        except (OSError, ValueError):
            return {}
        if self._known.get(folder) is not found:
            self._count += len(found[1])
            if self._count > _MOST_NAMES:
                self._known.clear()
                self._count = len(found[1])
            self._known[folder] = found
        return found[1]


_names_in: Final = _Listings()


def _listed(folder: str) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    with os.scandir(folder) as entries:
        for name in sorted(entry.name for entry in entries if not entry.is_symlink()):  # one may lead elsewhere
            alike = names.setdefault(fold(name), [])
            if len(alike) < _MOST_ALIKE:
                alike.append(name)
    return names


_MAY_BE_PARTS: Final = pattern("(?:{})/|{}".format("|".join(map(re.escape, PARTS)), BEFORE))


def recorded(root: str, place: str) -> str:
    """Return the URL that a file in a folder records of itself; "" if it records none or leads out of it."""
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
        is_page = registry.recognised(head, path) in {registry.HTML, registry.XML}
        document = Document(head, name=path, media_type=registry.HTML if is_page else registry.OTHER)
        document.claims = tuple(sources.claims(path))
        own = walk(document, _READING).bases.own.url
    except DocumentError:
        return ""
    return own if own.startswith(_WEB) else ""
