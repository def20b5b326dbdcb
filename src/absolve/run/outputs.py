"""Outputs: a file is there complete, or as it was before; nothing half written, nothing overwritten by mistake."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from absolve.run.output_folder import Below, LinkError, OpenFolder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

STDOUT = "-"


@contextmanager
def stdout() -> Iterator[IO[bytes]]:
    """The standard output, for bytes; what was written is out when the block ends."""
    if sys.stdout is None:  # closed, or a program without a console
        raise OSError(errno.EBADF, "there is no standard output")
    buffer: IO[bytes] = sys.stdout.buffer
    if not isinstance(buffer, io.RawIOBase):
        yield buffer
        buffer.flush()
        return
    whole = io.BufferedWriter(buffer)  # python -u, whose write() may write less than all
    try:
        yield whole
        whole.flush()
    finally:
        with suppress(OSError):
            whole.detach()


@contextmanager
def writing(path: Path, *, like: Path | None = None) -> Iterator[IO[bytes]]:
    """A file whose bytes stand at `path` when the block ends; where it fails, what stood there stays.

    They are written to a temporary name in the same folder, flushed to the disk, then renamed. Where `path` is a link,
    what it leads to is replaced. `like` is the file that gives mode (but its owner may write), times and extended
    attributes, but no privileges; without it, a file that is replaced keeps its mode. Devices and pipes are written as
    they are. Raises OSError, for a read-only file too.
    """
    if is_device(path):
        with path.open("wb") as file:  # renaming would replace the device
            yield file
        return
    with preparing(path, like=like) as (file, made):
        yield file
    settle(made)


class Made(NamedTuple):
    """A file that is complete under a temporary name, and where it is to stand: the name of no link.

    `below` is its place where it is below an output folder: then both paths are for messages only. `is_new`: it goes
    where nothing is, if need be with a number behind its name.
    """

    temporary: str
    target: str
    below: Below | None = None
    is_new: bool = False

    def folder(self) -> OpenFolder:
        """Return the folder that it is in; OSError where that cannot be opened, or a link leads there."""
        return self.below.folder() if self.below is not None else OpenFolder(os.path.dirname(self.target))  # noqa: PTH120

    @property
    def names(self) -> tuple[str, str]:
        """Its temporary name and its last one, in its folder."""
        return os.path.basename(self.temporary), os.path.basename(self.target)  # noqa: PTH119


@contextmanager
def preparing(
    path: Path, *, like: Path | None = None, token: str = "", below: Below | None = None, is_new: bool = False
) -> Iterator[tuple[IO[bytes], Made]]:
    """The first part of `writing`: when the block ends the file is complete; `flush` and `put` make it stand at `path`.

    `token` is in the temporary name: `sweep` finds by it what a run has left behind. With `below` the folder is created
    where there is none, and neither it nor the file is reached by a link; LinkError where there is one. `is_new` as of
    `Made`.
    """
    with _temporary(path, token, below, is_new=is_new) as (old, made, folder):
        model = like.stat() if like is not None else old
        rights = 0o666 if model is None else model.st_mode & 0o666  # never open to more than the result is
        temporary = folder.at(made.names[0])
        number = os.open(temporary, _CREATE, rights | stat.S_IWUSR, dir_fd=folder.descriptor)
        with os.fdopen(number, "wb") as file:
            yield file, made
            if _DRESSES_DESCRIPTORS:
                file.flush()
                _dress(number, old, like, model)
        if not _DRESSES_DESCRIPTORS:
            _dress(temporary, old, like, model)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name in the folder of `path`, for a file that somebody else writes; it stands at `path` when the block ends."""
    with _temporary(path, "") as (old, made, _):
        yield Path(made.temporary)
        _dress(made.temporary, old, None, old)
    settle(made)


@contextmanager
def _temporary(
    path: Path, token: str, below: Below | None = None, *, is_new: bool = False
) -> Iterator[tuple[os.stat_result | None, Made, OpenFolder]]:
    """What stands at a path, and a name to write what is to replace it; nothing has it where the block fails."""
    if below is not None:
        name, target = below.name, str(path)
        folder = below.folder(create=True)
        old = _replaceable(folder, name, target)
    else:
        old = None if is_new else _state(path)
        if old is not None:
            check_writable(path)
        target = str(path) if is_new else os.path.realpath(path)
        folder = OpenFolder(os.path.dirname(target))  # noqa: PTH120 - for each of very many
    temporary = f".absolve-{token}{token and '-'}{os.urandom(6).hex()}.tmp"
    made = Made(os.path.join(os.path.dirname(target), temporary), target, below, is_new)  # noqa: PTH118, PTH120
    try:
        if not token:
            _unfinished.add(made.temporary)
        yield old, made, folder
    except BaseException as error:  # an interrupt, too
        discard(made)
        if isinstance(error, OSError) and error.filename in {None, temporary, made.temporary}:  # writing names no file
            error.filename = str(path)  # the name that the user knows
        raise


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _replaceable(folder: OpenFolder, name: str, path: str) -> os.stat_result | None:
    """Return the state of a file in an output folder, None for none; OSError where it is none that is replaced."""
    old = folder.stat(name)
    if old is None:
        return None
    if stat.S_ISLNK(old.st_mode):
        raise LinkError(path)
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "this is no regular file", path)
    if not (old.st_mode & 0o222 and os.access(folder.at(name), os.W_OK, dir_fd=folder.descriptor)):
        raise _read_only(path)
    return old


def flush(made: Made) -> None:
    """Let a complete file be on the disk, so that no crash leaves less of it behind; OSError where it cannot be."""
    folder = made.folder()
    number = os.open(folder.at(made.names[0]), _FLUSH, dir_fd=folder.descriptor)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def settle(made: Made) -> None:
    """Flush a complete file and put it; OSError where that cannot be, and then it is gone."""
    try:
        flush(made)
    except BaseException as error:
        discard(made)
        if isinstance(error, OSError):
            error.filename = made.target
        raise
    put(made)


def put(made: Made) -> None:
    """Let a complete file stand where it is to stand; OSError where it cannot, and then it is gone."""
    try:
        folder = made.folder()
        temporary, name = made.names
        if made.is_new:
            _put_beside(folder, temporary, name)
        else:
            _rename(folder, temporary, name)
        _unfinished.discard(made.temporary)
    except BaseException as error:
        discard(made)
        if isinstance(error, OSError):
            error.filename = made.target
        raise


def _rename(folder: OpenFolder, name: str, other: str) -> None:
    number = folder.descriptor
    os.replace(folder.at(name), folder.at(other), src_dir_fd=number, dst_dir_fd=number)


def _put_beside(folder: OpenFolder, temporary: str, name: str) -> None:
    """Rename a file to a name that nothing has, not even a link: this one, or the next one with a number."""
    for other in numbered(name):
        try:
            _rename_new(folder, temporary, other)
        except FileExistsError:
            continue
        return


def _rename_new(folder: OpenFolder, name: str, other: str) -> None:
    """Rename a file to a name that nothing has; FileExistsError where something does."""
    number = folder.descriptor
    if sys.platform == "win32":  # where renaming replaces nothing
        os.rename(folder.at(name), folder.at(other))  # noqa: PTH104
        return
    try:
        follow = os.link not in os.supports_follow_symlinks
        os.link(folder.at(name), folder.at(other), src_dir_fd=number, dst_dir_fd=number, follow_symlinks=follow)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        os.close(os.open(folder.at(other), _CREATE, 0o600, dir_fd=number))  # the name is ours from here on
        _rename(folder, name, other)
    else:
        os.unlink(folder.at(name), dir_fd=number)


def numbered(name: str) -> Iterator[str]:
    """Yield a name, and then the name with a number behind it, from 1 on."""
    yield name
    for number in count(1):
        yield f"{name}.{number}"


def has(path: str, data: IO[bytes]) -> bool:
    """Return whether a path is that of a regular file, and of no link, with exactly the bytes that a stream has."""
    try:
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode) or state.st_size != data.seek(0, os.SEEK_END):
            return False
        number = os.open(path, os.O_RDONLY | _NO_LINK)
    except OSError:
        return False
    data.seek(0)
    with os.fdopen(number, "rb") as file:
        while piece := file.read(_PIECE):
            if piece != data.read(_PIECE):
                return False
    return True


def discard(made: Made) -> None:
    with suppress(OSError):
        folder = made.folder()
        os.unlink(folder.at(made.names[0]), dir_fd=folder.descriptor)
    _unfinished.discard(made.temporary)


_unfinished: set[str] = set()  # temporary names of this process that no token finds: neither put nor discarded yet


def discard_unfinished() -> None:
    """Remove what a signal has left between two steps, and what databases have written beside it."""
    for temporary in tuple(_unfinished):
        folder, name = os.path.split(temporary)
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(name):  # with .wal, say
                    with suppress(OSError):
                        os.unlink(entry.path)  # noqa: PTH108 - text of a directory entry
        _unfinished.discard(temporary)


def made_state(made: Made) -> os.stat_result | None:
    """Return the state of a file that is complete, under its temporary name; None where it cannot be found."""
    try:
        return made.folder().stat(made.names[0])
    except OSError:
        return None


def sweep(folder: OpenFolder, tokens: Collection[str]) -> None:
    """Remove what runs with these tokens have left behind in a folder."""
    beginnings = tuple(f".absolve-{token}-" for token in tokens)
    with suppress(OSError):
        for name in folder.names():
            if name.startswith(beginnings) and name.endswith(".tmp"):
                with suppress(OSError):
                    os.unlink(folder.at(name), dir_fd=folder.descriptor)


def is_device(path: Path) -> bool:
    """Whether something stands there that is no regular file: a device, a pipe, a folder."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def check_writable(path: Path) -> None:
    """PermissionError for a file that is marked as read-only, also where a rename, or root, could replace it."""
    if not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise _read_only(str(path))


def _read_only(path: str) -> PermissionError:
    return PermissionError(errno.EACCES, "this file is read-only", path)


_BINARY: Final = getattr(os, "O_BINARY", 0)
_NO_LINK: Final = _BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # nor does a pipe hold it up
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
_FLUSH: Final = os.O_RDWR | _NO_LINK
_PIECE: Final = 1 << 20  # bytes that are compared at once
_NO_HARD_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


_DRESSES_DESCRIPTORS: Final = {os.chmod, os.utime} <= os.supports_fd and hasattr(os, "fchown")
_PERMISSIONS: Final = 0o777  # without setuid, setgid and sticky: they were given to another file, or to other bytes
_TRUSTED: Final = ("security.", "trusted.")  # so were capabilities and labels (xattr(7))
_NOT_HERE: Final = {  # errors of attributes that a file system does not have, or that this user may not set
    getattr(errno, name, 0) for name in ("EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENODATA", "EINVAL")
}


def _dress(file: int | str, old: os.stat_result | None, like: Path | None, model: os.stat_result | None) -> None:
    """Give the new file the owner of the one that it replaces; of `like`, mode, times and attributes."""
    if old is not None and hasattr(os, "chown"):
        with suppress(OSError):  # only root may give a file away
            os.chown(file, old.st_uid, old.st_gid)
    if model is None:
        return
    mode = model.st_mode & _PERMISSIONS
    if like is not None:
        os.utime(file, ns=(model.st_atime_ns, model.st_mtime_ns))
        _copy_attributes(like, file)
        mode |= stat.S_IWUSR  # a copy of a read-only file can be written again
    os.chmod(file, mode)  # noqa: PTH101 - text, or a number


def _copy_attributes(source: Path, file: int | str) -> None:
    """Copy the extended attributes that are the user's own, and access control lists, where there are such."""
    if not hasattr(os, "listxattr"):
        return
    with _suppressed(_NOT_HERE):
        for name in os.listxattr(source):
            if not name.startswith(_TRUSTED):
                with _suppressed(_NOT_HERE):
                    os.setxattr(file, name, os.getxattr(source, name))


@contextmanager
def _suppressed(numbers: Collection[int]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            raise


def write(path: Path, data: bytes, *, like: Path | None = None) -> None:
    """Put these bytes at a path, as `writing` does."""
    with writing(path, like=like) as file:
        file.write(data)


def clash(targets: Iterable[Path], inputs: Iterable[str]) -> tuple[Path, str] | None:
    """The first target that is the same file as an input, by whatever name or link, and that input; None for none."""
    names = {identity: name for name in inputs if (identity := _identity(name))}
    return next(((path, names[identity]) for path in targets if (identity := _identity(path)) in names), None)


def _identity(path: str | Path) -> tuple[int, int] | None:
    """What two names of one regular file have in common; None for anything else."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
