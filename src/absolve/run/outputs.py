"""Write files safely: temporary file in the same folder, fsync, rename; each file is complete or unchanged.

Input: paths and bytes. Output: files with the mode, times and attributes of a model file, or the standard output.
"""

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

from absolve.core.lazy_regex import pattern
from absolve.run import buckets, leftovers
from absolve.run.output_folder import Below, LinkError, OpenFolder, check_links

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator
    from contextlib import AbstractContextManager

STDOUT: Final = "-"  # as the name of an output
_DESCRIPTORS: Final = pattern(r"/(?:dev|proc/([0-9]+)(?:/task/[0-9]+)?)/fd/([0-9]+)")  # open files of a process
_MOST_LINKS: Final = 40  # as Linux follows
_NUMBER_OF_STDOUT: Final = 1


@contextmanager
def stdout() -> Iterator[IO[bytes]]:
    """Yield the standard output as a binary file, and flush it at the end of the block."""
    if sys.stdout is None:  # closed, or a program without console
        raise OSError(errno.EBADF, "there is no standard output")
    buffer: IO[bytes] = sys.stdout.buffer
    if not isinstance(buffer, io.RawIOBase):
        yield buffer
        buffer.flush()
        return
    whole = io.BufferedWriter(buffer)  # python -u: its write() may write only a part
    try:
        yield whole
        whole.flush()
    finally:
        with suppress(OSError):
            whole.detach()


def opened(name: str) -> AbstractContextManager[IO[bytes]]:
    """Return a context manager for an output by its name: the standard output for `-`, else as `named` does."""
    return stdout() if name == STDOUT else named(name)


def named(name: str) -> AbstractContextManager[IO[bytes]]:
    """Return a context manager for a file: as `writing` does, or uploaded when the block ends."""
    return _sent(name) if buckets.is_bucket(name) else writing(Path(name))


@contextmanager
def _sent(url: str) -> Iterator[IO[bytes]]:
    with buckets.writing(url) as path, path.open("wb") as file:  # the file is closed first
        yield file


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a binary file that replaces `path` when the block ends; if the block fails, `path` is unchanged.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and then renamed. If `path` is a
    symbolic link, its target is replaced. A replaced file keeps its mode. Devices, pipes and open files (/dev/stdout)
    are written directly. Temporary files of runs that were killed are removed.
    Raise OSError, for a read-only file too.
    """
    if is_device(path):
        with directly(path) as file:  # renaming would replace the device
            yield file
        return
    with preparing(path) as (file, written):
        yield file
    settle(written)


class FileState(NamedTuple):
    """The facts that distinguish a file from others, and from later versions.

    Its path without links, device, inode, size, and the time of its last change (ns).
    """

    path: str
    device: int
    inode: int
    size: int
    modified: int


def state_of(path: str) -> FileState | None:
    """Return the state of a regular file, through links; None if there is none."""
    try:
        real = os.path.realpath(path)
        found = os.lstat(real)
    except (OSError, ValueError):
        return None
    is_file = stat.S_ISREG(found.st_mode)
    return FileState(real, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if is_file else None


class WrittenFile(NamedTuple):
    """A complete file under a temporary name, and its target path, which is not a symbolic link.

    `below`: the file in an output folder; both paths are then for messages only. `is_new`: the target must not exist;
    otherwise a number is added to its name. `replaces`: the target must still have this state. `is_sent`: the target is
    a URL of a store, to which the file is uploaded instead of being put on the disk.
    """

    temporary: str
    target: str
    below: Below | None = None
    is_new: bool = False
    replaces: FileState | None = None
    is_sent: bool = False

    def check(self) -> None:
        """Raise OSError if the target, which is no link, is not the file to be replaced.

        A later rename may still replace another one: no system call replaces a file on a condition.
        """
        if self.replaces is not None and state_of(self.target) != self.replaces:
            raise OSError(errno.EBUSY, "the file changed while it was processed, and stays: try again", self.target)

    def folder(self) -> OpenFolder:
        """Return the folder of the file. Raise OSError if it cannot be opened, LinkError for a link to it."""
        return self.below.folder() if self.below is not None else OpenFolder(os.path.dirname(self.target))  # noqa: PTH120

    @property
    def names(self) -> tuple[str, str]:
        """Temporary name and target name, in the folder."""
        return os.path.basename(self.temporary), os.path.basename(self.target)  # noqa: PTH119


@contextmanager
def preparing(
    path: Path | str,
    *,
    like: Path | str | None = None,
    token: str = "",
    below: Below | None = None,
    is_new: bool = False,
    modified: int | None = None,
) -> Iterator[tuple[IO[bytes], WrittenFile]]:
    """Do the first part of `writing`: when the block ends the file is complete; `flush` and `put` move it to `path`.

    `token` belongs to a run with several processes, which sweeps its folders itself (`leftovers`). With `below` the
    folder is created if necessary, and no symbolic link is followed: LinkError. `is_new`: see `WrittenFile`. `like` is
    the file whose mode (made writable for its owner), times and extended attributes are copied, without privileges;
    it is ignored if it is missing or no regular file. `modified`: the time of its last change, in seconds since 1970.
    """
    with _temporary(path, token, below, is_new=is_new) as (old, written, folder):
        model = _state(like) if like is not None else None
        if model is None or not stat.S_ISREG(model.st_mode):
            like, model = None, old
        rights = 0o666 if model is None else model.st_mode & 0o666  # never more permissions than the result has
        temporary = folder.at(written.names[0])
        number = os.open(temporary, _CREATE, rights | stat.S_IWUSR, dir_fd=folder.descriptor)
        with os.fdopen(number, "wb") as file:
            yield file, written
            if _DRESSES_DESCRIPTORS:
                file.flush()
                _dress(number, old, like, model, modified)
        if not _DRESSES_DESCRIPTORS:
            _dress(temporary, old, like, model, modified)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path in the folder of `path` for a file that a library writes; it replaces `path` when the block ends.

    Raise OSError for a device, a pipe or a folder, which the renamed file would replace.
    """
    if is_device(path):
        raise OSError(errno.EINVAL, "this is not a regular file", str(path))
    with _temporary(path, "") as (old, written, _):
        yield Path(written.temporary)
        _dress(written.temporary, old, None, old)
    settle(written)


@contextmanager
def _temporary(
    path: Path | str, token: str, below: Below | None = None, *, is_new: bool = False
) -> Iterator[tuple[os.stat_result | None, WrittenFile, OpenFolder]]:
    """Yield the state of the file at a path, and a temporary name for its replacement, which is removed on failure."""
    if below is not None:
        name, target = below.name, str(path)
        folder = below.folder(create=True)
        old = _replaceable(folder, name, target)
    else:
        check_links(path)
        old = None if is_new else _state(path)
        if old is not None:
            check_writable(Path(path))
        target = str(path) if is_new else os.path.realpath(path)
        folder = OpenFolder(os.path.dirname(target))  # noqa: PTH120 - faster, for very many
    temporary = leftovers.name_of(token or leftovers.token())
    written = WrittenFile(os.path.join(os.path.dirname(target), temporary), target, below, is_new)  # noqa: PTH118, PTH120
    try:
        if not token:
            leftovers.sweep(folder)
            _unfinished.add(written.temporary)
        yield old, written, folder
    except BaseException as error:  # including an interrupt
        discard(written)
        if (full := _hidden(error)) is not None:
            raise OSError(full.errno, full.strerror, str(path)) from error
        if isinstance(error, OSError) and error.filename in {None, temporary, written.temporary}:  # write() gives None
            error.filename = str(path)  # the path that the user gave
        raise


def _hidden(error: BaseException) -> OSError | None:
    """Return the error of a full disk that a library hides behind an error of its own."""
    number = getattr(errno, str(error).removeprefix("IO_"), None)
    if type(error).__name__ == "SerialisationError" and number is not None:  # of libxml2, for its own file
        return OSError(number, os.strerror(number))
    found = error.__context__ if isinstance(error, Exception) and not isinstance(error, OSError) else None
    while found is not None and not (isinstance(found, OSError) and found.errno in _FULL):
        found = found.__context__
    return found


def _state(path: Path | str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None


def _replaceable(folder: OpenFolder, name: str, path: str) -> os.stat_result | None:
    """Return the state of a file in an output folder, None if there is none. Raise OSError if it cannot be replaced."""
    old = folder.stat(name)
    if old is None:
        return None
    if stat.S_ISLNK(old.st_mode):
        raise LinkError(path)
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "this is not a regular file", path)
    if not (old.st_mode & 0o222 and os.access(folder.at(name), os.W_OK, dir_fd=folder.descriptor)):
        raise _read_only(path)
    return old


def flush(written: WrittenFile) -> None:
    """Call fsync for a complete file, so that a crash cannot truncate it, or upload it. Raise OSError."""
    folder = written.folder()
    if written.is_sent:
        buckets.send(os.path.join(folder.path, written.names[0]), written.target)  # noqa: PTH118
        return
    number = os.open(folder.at(written.names[0]), _FLUSH, dir_fd=folder.descriptor)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def settle(written: WrittenFile) -> None:
    """Flush a complete file and rename it to its target. On failure remove it and raise OSError."""
    try:
        flush(written)
    except BaseException as error:
        discard(written)
        if isinstance(error, OSError):
            error.filename = written.target
        raise
    put(written)


def put(written: WrittenFile) -> None:
    """Rename a complete file to its target; remove one that is uploaded. On failure remove it and raise OSError."""
    if written.is_sent:
        discard(written)
        return
    try:
        written.check()
        folder = written.folder()
        temporary, name = written.names
        if written.is_new:
            _put_beside(folder, temporary, name)
        else:
            _rename(folder, temporary, name)
        _unfinished.discard(written.temporary)
    except BaseException as error:
        discard(written)
        if isinstance(error, OSError):
            error.filename = written.target
        raise


def _rename(folder: OpenFolder, name: str, other: str) -> None:
    number = folder.descriptor
    os.replace(folder.at(name), folder.at(other), src_dir_fd=number, dst_dir_fd=number)


def _put_beside(folder: OpenFolder, temporary: str, name: str) -> None:
    """Rename a file to an unused name (not even a link has it): this one, or the next one with a number."""
    for other in numbered(name):
        try:
            _rename_new(folder, temporary, other)
        except FileExistsError:
            continue
        return


def _rename_new(folder: OpenFolder, name: str, other: str) -> None:
    """Rename a file to an unused name. Raise FileExistsError if the name is in use."""
    number = folder.descriptor
    if sys.platform == "win32":  # where a rename replaces nothing
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
        os.close(os.open(folder.at(other), _CREATE, 0o600, dir_fd=number))  # reserves the name
        _rename(folder, name, other)
    else:
        os.unlink(folder.at(name), dir_fd=number)


def numbered(name: str) -> Iterator[str]:
    """Yield a name, then the same with numbers: for example, `a.bak`, `a.bak.1`, `a.bak.2`."""
    yield name
    for number in count(1):
        yield f"{name}.{number}"


def discard(written: WrittenFile) -> None:
    with suppress(OSError):
        folder = written.folder()
        os.unlink(folder.at(written.names[0]), dir_fd=folder.descriptor)
    _unfinished.discard(written.temporary)


_unfinished: set[str] = set()  # temporary files of this process without a token, not yet renamed or removed


def discard_unfinished() -> None:
    """Remove temporary files left after a signal, and the files that databases have written beside them."""
    for temporary in tuple(_unfinished):
        folder, name = os.path.split(temporary)
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(name):  # .wal and the like
                    with suppress(OSError):
                        os.unlink(entry.path)  # noqa: PTH108 - a text
        _unfinished.discard(temporary)


def written_state(written: WrittenFile) -> os.stat_result | None:
    """Return the state of a complete file under its temporary name; None if it is missing."""
    try:
        return written.folder().stat(written.names[0])
    except OSError:
        return None


def check_writable(path: Path) -> None:
    """Raise PermissionError for a read-only file, even if a rename, or root, could replace it."""
    if not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise _read_only(str(path))


def _read_only(path: str) -> PermissionError:
    return PermissionError(errno.EACCES, "the file is read-only", path)


_BINARY: Final = getattr(os, "O_BINARY", 0)
NO_LINK: Final = _BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block it
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
_FLUSH: Final = os.O_RDWR | NO_LINK
_FULL: Final = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NO_HARD_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


_DRESSES_DESCRIPTORS: Final = {os.chmod, os.utime} <= os.supports_fd and hasattr(os, "fchown")
_PERMISSIONS: Final = 0o777  # without setuid, setgid and sticky bits, which were granted for other contents
_TRUSTED: Final = ("security.", "trusted.")  # capabilities and labels (xattr(7)), granted for other contents, too
_NOT_HERE: Final = {  # errors for attributes that the file system does not support, or this user may not set
    getattr(errno, name, 0) for name in ("EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENODATA", "EINVAL")
}


def _dress(
    file: int | str,
    old: os.stat_result | None,
    like: Path | str | None,
    model: os.stat_result | None,
    modified: int | None = None,
) -> None:
    """Give the new file the owner of the replaced one, the mode, times and attributes of `like`, and a time."""
    if modified is not None:
        with suppress(OSError, OverflowError):  # a time that this file system cannot keep
            os.utime(file, (modified, modified))
    if old is not None and hasattr(os, "chown"):
        with suppress(OSError):  # only root may change the owner
            os.chown(file, old.st_uid, old.st_gid)
    if model is None:
        return
    mode = model.st_mode & _PERMISSIONS
    if like is not None:
        os.utime(file, ns=(model.st_atime_ns, model.st_mtime_ns))
        _copy_attributes(like, file)
        mode |= stat.S_IWUSR  # so that a copy of a read-only file can be rewritten
    os.chmod(file, mode)  # noqa: PTH101 - a text or a descriptor


def _copy_attributes(source: Path | str, file: int | str) -> None:
    """Copy the user's extended attributes and access control lists, where they are supported."""
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


def write(path: Path, data: bytes) -> None:
    """Write these bytes to a path, as `writing` does."""
    with writing(path) as file:
        file.write(data)


# --- the standard output, devices, pipes, open files: a rename would replace them -------------------------------------


def is_device(path: Path) -> bool:
    """Return whether a path exists and is no regular file of a folder: a device, a pipe, an open file, a folder."""
    try:
        return not stat.S_ISREG(path.stat().st_mode) or _descriptor(path) is not None
    except FileNotFoundError:
        return False


def is_stdout(name: str) -> bool:
    """Return whether an output is the standard output, under any name: for example, `-` or `/dev/stdout`."""
    return name == STDOUT or descriptor(Path(name)) == _NUMBER_OF_STDOUT


def descriptor(path: Path) -> int | None:
    """Return the descriptor of this process to which a path such as /dev/stdout leads; None for any other path."""
    found = _descriptor(path)
    return int(found[2]) if found is not None and found[1] in {None, str(os.getpid())} else None


def _descriptor(path: Path) -> re.Match[str] | None:
    """Return the open file that a path leads to: its process, if known, and its number, 1 in `/dev/fd/1`; or None."""
    name = os.fspath(path)
    for _ in range(_MOST_LINKS):
        folder, last = os.path.split(name)
        name = os.path.join(os.path.realpath(folder), last)  # noqa: PTH118 - links before the last name are followed
        if (found := _DESCRIPTORS.fullmatch(name)) is not None:
            return found
        if not os.path.islink(name):  # noqa: PTH114
            return None
        name = os.path.join(os.path.dirname(name), os.readlink(name))  # noqa: PTH115, PTH118, PTH120
    return None


@contextmanager
def directly(path: Path) -> Iterator[IO[bytes]]:
    """Yield a device, a pipe or an open file for writing; errors in writing have its name."""
    check_links(path)
    try:
        number = descriptor(path)
        with path.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as file:
            yield file
    except OSError as error:
        if error.filename is None:  # write() gives None
            error.filename = str(path)
        raise
