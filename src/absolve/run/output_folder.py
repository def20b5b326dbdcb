"""An output folder: what is below it is created and opened by directory descriptors, and no link there is followed."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Windows has none of this: there paths are checked, which is as good where nobody else changes the folder meanwhile.
_HAS_DESCRIPTORS: Final = hasattr(os, "O_NOFOLLOW") and {os.open, os.mkdir, os.rename, os.stat} <= os.supports_dir_fd
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", 0)  # one that is not readable can be opened, too
_CACHED: Final = 64  # descriptors that each process keeps, of the folders used last


class LinkError(OSError):
    """A name below an output folder is that of a symbolic link."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ELOOP, "a link in the output folder is not followed", path)


class OpenFolder:
    """A folder in which files are named: by its descriptor, which is closed when nobody holds this, or by its path."""

    __slots__ = ("descriptor", "path")

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        self.path = path
        self.descriptor = descriptor

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if self.descriptor is not None:
            close(self.descriptor)

    def at(self, name: str) -> str:
        """Return what a system call wants beside `descriptor` for a file in this folder."""
        return name if self.descriptor is not None else os.path.join(self.path, name)  # noqa: PTH118 - for very many

    def stat(self, name: str) -> os.stat_result | None:
        """Return the state of a file or a link in this folder; None where there is nothing."""
        try:
            return os.stat(self.at(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Return what is in this folder."""
        if self.descriptor is None:
            return os.listdir(self.path)  # noqa: PTH208 - likewise
        number = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.descriptor)
        try:
            return os.listdir(number)  # noqa: PTH208
        finally:
            os.close(number)


class OutputFolder:
    """A folder that a run writes into, known by its path and, with `identity`, by its device and inode.

    It can go to another process, which then refuses a path that leads to another folder meanwhile. A process has one
    object for each, and its threads may share it.
    """

    def __init__(self, path: str, identity: tuple[int, int] | None = None) -> None:
        self.path = path
        self.identity = identity
        self._lock = RLock()
        self._root: OpenFolder | None = None
        self._open: dict[str, OpenFolder] = {}  # by their places, the one used last at the end

    @staticmethod
    def of(path: str, identity: tuple[int, int] | None = None) -> OutputFolder:
        """Return the output folder at a path; nothing is opened yet."""
        key = (os.path.abspath(path), identity)  # noqa: PTH100 - the user's own links are followed
        with _KNOWN_LOCK:
            found = _KNOWN.get(key)
            if found is None:
                found = _KNOWN[key] = OutputFolder(*key)
            return found

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return OutputFolder.of, (self.path, self.identity)

    def folder(self, place: str, *, create: bool = False) -> OpenFolder:
        """Return the folder at a place below this one, with `/` between its parts and empty for this one itself.

        LinkError where a part is a symbolic link, another OSError where it is no folder, or there is none and it is not
        to be created.
        """
        if not _HAS_DESCRIPTORS:
            return self._checked(place, create=create)
        with self._lock:
            found = self._open.pop(place, None)
            if found is None:
                found = self._descend(place, create=create)
            self._keep(place, found)
            return found

    def _keep(self, place: str, folder: OpenFolder) -> None:
        self._open[place] = folder
        if len(self._open) > _CACHED:
            del self._open[next(iter(self._open))]

    def _descend(self, place: str, *, create: bool) -> OpenFolder:
        """Open the folders down to a place, from the last one of them that is open."""
        above, found = place, None
        while above and found is None:
            above = above.rpartition("/")[0]
            found = self._open.get(above)
        if found is None:
            found = self._opened(create=create)
        for name in _parts(place[len(above) :].removeprefix("/"), self.path):
            above = f"{above}/{name}" if above else name
            found = _inside(found, name, f"{self.path}{os.sep}{above}", create=create)
            self._keep(above, found)
        return found

    def _opened(self, *, create: bool) -> OpenFolder:
        """Open this folder itself; links that lead to it are the user's."""
        if self._root is None:
            if create and self.identity is None:
                os.makedirs(self.path, exist_ok=True)  # noqa: PTH103
            number = os.open(self.path, os.O_RDONLY | _FOLDER)
            root = OpenFolder(self.path, number)
            self._check_identity(os.fstat(number))
            self._root = root
        return self._root

    def _check_identity(self, state: os.stat_result) -> None:
        if self.identity is not None and self.identity != (state.st_dev, state.st_ino):
            raise OSError(errno.ESTALE, "this is another folder than it was when the run began", self.path)

    def _checked(self, place: str, *, create: bool) -> OpenFolder:
        """Look at each part of a path on its own, where there are no descriptors."""
        path = self.path
        if create and self.identity is None:
            os.makedirs(path, exist_ok=True)  # noqa: PTH103
        self._check_identity(os.stat(path))  # noqa: PTH116
        real = os.path.realpath(path)
        for name in _parts(place, path):
            path = os.path.join(path, name)  # noqa: PTH118
            if os.path.islink(path):  # noqa: PTH114
                raise LinkError(path)
            if create:
                with suppress(FileExistsError):
                    os.mkdir(path)  # noqa: PTH102
            if not os.path.realpath(path).startswith(real.rstrip(os.sep) + os.sep):  # a junction, say
                raise LinkError(path)
        return OpenFolder(path)


class Below(NamedTuple):
    """A file below an output folder, by its place there, with `/` between its parts."""

    root: OutputFolder
    place: str

    def folder(self, *, create: bool = False) -> OpenFolder:
        """Return the folder that the file is in; OSError as of `OutputFolder.folder`."""
        return self.root.folder(self.place.rpartition("/")[0], create=create)

    @property
    def name(self) -> str:
        """Its name in that folder; OSError where the place is none that a file below the output folder may have."""
        names = _parts(self.place, self.root.path)
        if not names:
            raise _misplaced("", self.root.path)
        return names[-1]


@contextmanager
def created(path: str) -> Iterator[OutputFolder]:
    """Create an output folder where it is not there; OSError where it cannot be.

    What was created, and has nothing in it when the block ends, is removed.
    """
    top = os.path.abspath(path)  # noqa: PTH100 - the user's own links are followed
    new = []
    while not os.path.lexists(top):
        new.append(top)
        top = os.path.dirname(top)  # noqa: PTH120
    os.makedirs(path, exist_ok=True)  # noqa: PTH103
    try:
        state = os.stat(path)  # noqa: PTH116
        yield OutputFolder.of(path, (state.st_dev, state.st_ino))
    finally:
        with suppress(OSError):
            for folder in new:
                os.rmdir(folder)  # noqa: PTH106


_KNOWN: Final[WeakValueDictionary[tuple[str, tuple[int, int] | None], OutputFolder]] = WeakValueDictionary()
_KNOWN_LOCK: Final = RLock()


def _parts(place: str, root: str) -> list[str]:
    """Return the names in a place; OSError for one that would lead elsewhere than one folder down."""
    if not place:
        return []
    names = place.split("/")
    for name in names:
        if name in {"", os.curdir, os.pardir} or os.path.basename(name) != name or os.path.splitdrive(name)[0]:  # noqa: PTH119
            raise _misplaced(name, os.path.join(root, place))  # noqa: PTH118
    return names


def _misplaced(name: str, path: str) -> OSError:
    return OSError(errno.EINVAL, f"{name!r} is no name of what is in a folder", path)


def _inside(above: OpenFolder, name: str, path: str, *, create: bool) -> OpenFolder:
    """Open, or create, a folder in one that is open; LinkError for a symbolic link."""
    flags = os.O_RDONLY | _FOLDER | os.O_NOFOLLOW
    try:
        try:
            number = os.open(name, flags, dir_fd=above.descriptor)
        except FileNotFoundError:
            if not create:
                raise
            with suppress(FileExistsError):  # another process was first
                os.mkdir(name, dir_fd=above.descriptor)
            number = os.open(name, flags, dir_fd=above.descriptor)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:  # systems differ in which of them a link is
            state = above.stat(name)
            if state is None or stat.S_ISLNK(state.st_mode) or stat.S_ISDIR(state.st_mode):  # it may have changed since
                raise LinkError(path) from error
        error.filename = path
        raise
    return OpenFolder(path, number)
