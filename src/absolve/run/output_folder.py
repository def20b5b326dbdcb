"""Create and open files below a folder by directory descriptors, without following symbolic links out of it.

Input: relative paths. Output: open folders. A link created there during the run cannot redirect a write, nor a read
(O_NOFOLLOW).
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import RLock  # threading has it, too, but its import takes 1 % of a run over one page
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakValueDictionary

from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader

# Windows has no directory descriptors: paths are checked, as safely unless another process changes a folder meanwhile.
_HAS_DESCRIPTORS: Final = hasattr(os, "O_NOFOLLOW") and {os.open, os.mkdir, os.rename, os.stat} <= os.supports_dir_fd
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", 0)  # O_PATH opens unreadable folders, too
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_CACHED: Final = 64  # descriptors kept open in each process, of the folders used last


class LinkError(OSError):
    """A path below an output folder leads through a symbolic link."""

    def __init__(self, path: str, text: str = "symbolic links in the output folder are not followed") -> None:
        super().__init__(errno.ELOOP, text, path)


class OpenFolder:
    """A folder, by its descriptor (closed when this object is freed) or, without one, by its path."""

    __slots__ = ("descriptor", "path")

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        self.path = path
        self.descriptor = descriptor

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if self.descriptor is not None:
            close(self.descriptor)

    def at(self, name: str) -> str:
        """Return the path argument of a system call for a file in this folder, with `descriptor` as its dir_fd."""
        return name if self.descriptor is not None else os.path.join(self.path, name)  # noqa: PTH118 - faster

    def stat(self, name: str) -> os.stat_result | None:
        """Return the state of a file or a link in this folder; None if there is none."""
        try:
            return os.stat(self.at(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Return the names of the entries of this folder."""
        if self.descriptor is None:
            return os.listdir(self.path)  # noqa: PTH208 - likewise
        number = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.descriptor)
        try:
            return os.listdir(number)  # noqa: PTH208
        finally:
            os.close(number)


class OutputFolder:
    """A folder that a run writes into, by path and, with `identity`, by device and inode.

    It can be pickled; another process then refuses a path that has become another folder. A process has one object for
    each folder, which threads may share.
    """

    def __init__(self, path: str, identity: tuple[int, int] | None = None) -> None:
        self.path = path
        self.identity = identity
        self._lock = RLock()
        self._root: OpenFolder | None = None
        self._open: dict[str, OpenFolder] = {}  # relative path -> open folder, least recently used first

    @staticmethod
    def at_path(path: str, identity: tuple[int, int] | None = None) -> OutputFolder:
        """Return the output folder at a path; nothing is opened yet."""
        key = (os.path.abspath(path), identity)  # noqa: PTH100 - the user's own links are followed
        with _KNOWN_LOCK:
            found = _KNOWN.get(key)
            if found is None:
                found = _KNOWN[key] = OutputFolder(*key)
            return found

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return OutputFolder.at_path, (self.path, self.identity)

    def folder(self, place: str, *, create: bool = False) -> OpenFolder:
        """Return the folder at a relative path, with `/` as separator; "" is this folder itself.

        Raise LinkError if a part of the path is a symbolic link, another OSError if it is not a folder, or does not
        exist and `create` is false.
        """
        if not _HAS_DESCRIPTORS:
            return self._checked(place, create=create)
        with self._lock:
            found = self._open.pop(place, None)
            if found is None:
                found = self._descend(place, create=create)
            self._keep(place, found)
            return found

    def opened(self, path: str) -> BufferedReader | None:
        """Return a regular file at a relative path, open for reading; None for links and others. Raise OSError."""
        if self.state(path) is None:
            return None
        return os.fdopen(self.descriptor(path), "rb")

    def descriptor(self, path: str, flags: int = os.O_RDONLY) -> int:
        """Open the file or folder at a relative path; return its descriptor. Raise LinkError for a link, or OSError."""
        above, _, name = path.rpartition("/")
        folder = self.folder(above)
        if not _HAS_DESCRIPTORS and os.path.islink(folder.at(name)):  # noqa: PTH114
            raise LinkError(path)
        try:
            return os.open(folder.at(name), flags | _READ, dir_fd=folder.descriptor)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise LinkError(path) from error
            raise

    def state(self, path: str) -> os.stat_result | None:
        """Return the state of a regular file at a relative path; None for a link or another kind. Raise OSError."""
        above, _, name = path.rpartition("/")
        try:
            found = self.folder(above).stat(name)
        except FileNotFoundError:
            return None
        return found if found is not None and stat.S_ISREG(found.st_mode) else None

    def touch(self, path: str, modified: int | None) -> None:
        """Set the time of a file's last change, unless it has that time; links and others stay as they are."""
        above, _, name = path.rpartition("/")
        with suppress(OSError, OverflowError):
            state = self.state(path)
            if modified is None or state is None or int(state.st_mtime) == modified:
                return
            folder = self.folder(above)
            follow = os.utime not in os.supports_follow_symlinks
            os.utime(folder.at(name), (modified, modified), dir_fd=folder.descriptor, follow_symlinks=follow)

    def _keep(self, place: str, folder: OpenFolder) -> None:
        self._open[place] = folder
        if len(self._open) > _CACHED:
            del self._open[next(iter(self._open))]

    def _descend(self, place: str, *, create: bool) -> OpenFolder:
        """Open the folders of a path, starting with the deepest one that is already open."""
        above, found = place, None
        while above and found is None:
            above = above.rpartition("/")[0]
            found = self._open.get(above)
        if found is None:
            found = self._opened(create=create)
        for name in _parts(place[len(above) :].removeprefix("/"), self.path):
            above = f"{above}/{name}" if above else name
            found = _open_inside(found, name, f"{self.path}{os.sep}{above}", create=create)
            self._keep(above, found)
        return found

    def _opened(self, *, create: bool) -> OpenFolder:
        """Open this folder itself; links in its own path are the user's and are followed."""
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
            raise OSError(errno.ESTALE, "the folder was replaced by another one during the run", self.path)

    def _checked(self, place: str, *, create: bool) -> OpenFolder:
        """Check each part of a path, on platforms without directory descriptors."""
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
            if not os.path.realpath(path).startswith(real.rstrip(os.sep) + os.sep):  # a junction
                raise LinkError(path)
        return OpenFolder(path)


class Below(NamedTuple):
    """A file below an output folder, by its relative path with `/` as separator."""

    root: OutputFolder
    place: str

    def folder(self, *, create: bool = False) -> OpenFolder:
        """Return the folder of the file. Raise OSError as `OutputFolder.folder` does."""
        return self.root.folder(self.place.rpartition("/")[0], create=create)

    @property
    def name(self) -> str:
        """Name in that folder. Raise OSError for a path that would leave the output folder."""
        names = _parts(self.place, self.root.path)
        if not names:
            raise _misplaced("", self.root.path)
        return names[-1]


def opened_below(root: str, name: str, flags: int) -> int:
    """Open a file in a folder that the user named, and return its descriptor: for example, `site/a.html` in `site`.

    A link that stays in the folder is followed; opening a pipe does not wait for its writer. Raise LinkError for a link
    out of the folder, OSError.
    """
    flags |= getattr(os, "O_NONBLOCK", 0)
    try:
        return OutputFolder(root).descriptor(place_in(root, name), flags)
    except LinkError:
        top, led = os.path.realpath(root), os.path.realpath(name)
        if led != top and place_in(top, led) != led:
            return OutputFolder(top).descriptor(place_in(top, led), flags)
        raise LinkError(name, LED_OUT) from None


def place_in(root: str, name: str) -> str:
    return name.removeprefix(os.path.join(root, "")).replace(os.sep, "/")  # noqa: PTH118


LED_OUT: Final = "skipped: a symbolic link to a target outside the folder"


def check_links(path: str | os.PathLike[str]) -> None:
    """Raise PermissionError for a path through a symbolic link that another user made where all users may write.

    Linux has this rule as protected_symlinks, and not everywhere switched on: the link could lead to any file of this
    user, such as one of the shell. For example, /tmp/link/out.html is refused if /tmp/link is of another user.
    """
    if not hasattr(os, "geteuid"):
        return
    folder, links = "/", 0
    whole = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH117, PTH118
    names = os.fspath(whole).split("/")[::-1]
    while names and links <= _MOST_LINKS:
        name = names.pop()
        if name == os.pardir:
            folder = os.path.dirname(folder)  # noqa: PTH120
        if name in {"", os.curdir, os.pardir}:
            continue
        full = os.path.join(folder, name)  # noqa: PTH118
        try:
            state = os.lstat(full)
        except OSError:  # it does not exist
            return
        if not stat.S_ISLNK(state.st_mode):
            folder = full
            continue
        above = os.stat(folder)  # noqa: PTH116
        if above.st_mode & stat.S_IWOTH and state.st_uid not in {os.geteuid(), above.st_uid}:
            text = "a symbolic link of another user in a folder where all may write is not followed"
            raise PermissionError(errno.EACCES, text, os.fspath(path))
        links += 1
        target = os.readlink(full)  # noqa: PTH115
        folder = "/" if target.startswith("/") else folder
        names += target.split("/")[::-1]


_MOST_LINKS: Final = 40  # as Linux follows


@contextmanager
def created(path: str) -> Iterator[OutputFolder]:
    """Create an output folder if it does not exist, and yield it. Raise OSError.

    Folders created here are removed at the end of the block if they are empty.
    """
    check_links(path)
    top = os.path.abspath(path)  # noqa: PTH100 - the user's own links are followed
    new = []
    while not os.path.lexists(top):
        new.append(top)
        top = os.path.dirname(top)  # noqa: PTH120
    os.makedirs(path, exist_ok=True)  # noqa: PTH103
    try:
        state = os.stat(path)  # noqa: PTH116
        yield OutputFolder.at_path(path, (state.st_dev, state.st_ino))
    finally:
        with suppress(OSError):
            for folder in new:
                os.rmdir(folder)  # noqa: PTH106


@contextmanager
def alone(path: str) -> Iterator[None]:
    """Keep other runs out of an output folder until the block ends. Raise UsageError if one is at work there.

    The lock ends with its process. Systems and disks without such locks keep nobody out.
    """
    with ExitStack() as held:
        with suppress(ImportError, OSError):
            from fcntl import LOCK_EX, LOCK_NB, flock

            number = os.open(path, os.O_RDONLY)
            held.callback(os.close, number)
            try:
                flock(number, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another run writes into {path}: wait until it ends") from None
        yield


_KNOWN: Final[WeakValueDictionary[tuple[str, tuple[int, int] | None], OutputFolder]] = WeakValueDictionary()
_KNOWN_LOCK: Final = RLock()


def _parts(place: str, root: str) -> list[str]:
    """Split a relative path into names: for example, "a" and "b" of `a/b`. Raise OSError for "", `..`, a drive."""
    if not place:
        return []
    names = place.split("/")
    for name in names:
        if name in {"", os.curdir, os.pardir} or os.path.basename(name) != name or os.path.splitdrive(name)[0]:  # noqa: PTH119
            raise _misplaced(name, os.path.join(root, place))  # noqa: PTH118
    return names


def _misplaced(name: str, path: str) -> OSError:
    return OSError(errno.EINVAL, f"{name!r} cannot be the name of a file in a folder", path)


def _open_inside(above: OpenFolder, name: str, path: str, *, create: bool) -> OpenFolder:
    """Open, or create, a folder inside an open one. Raise LinkError for a symbolic link."""
    flags = os.O_RDONLY | _FOLDER | os.O_NOFOLLOW
    try:
        try:
            number = os.open(name, flags, dir_fd=above.descriptor)
        except FileNotFoundError:
            if not create:
                raise
            with suppress(FileExistsError):  # created by another process meanwhile
                os.mkdir(name, dir_fd=above.descriptor)
            number = os.open(name, flags, dir_fd=above.descriptor)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:  # which one a link causes depends on the system
            state = above.stat(name)
            # It may have changed since.
            if state is None or stat.S_ISLNK(state.st_mode) or stat.S_ISDIR(state.st_mode):
                raise LinkError(path) from error
        error.filename = path
        raise
    return OpenFolder(path, number)
