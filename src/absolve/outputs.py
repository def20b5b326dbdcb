"""Outputs: a file is there complete, or as it was before; nothing half written, nothing overwritten by mistake."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

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
    attributes; without it, a file that is replaced keeps its mode. Devices and pipes are written as they are. Raises
    OSError, for a read-only file too.
    """
    if is_device(path):
        with path.open("wb") as file:  # renaming would replace the device
            yield file
        return
    with preparing(path, like=like) as (file, made):
        yield file
    settle(made)


class Made(NamedTuple):
    """A file that is complete under a temporary name, and where it is to stand: the name of no link."""

    temporary: str
    target: str


@contextmanager
def preparing(path: Path, *, like: Path | None = None, token: str = "") -> Iterator[tuple[IO[bytes], Made]]:
    """The first part of `writing`: when the block ends the file is complete; `flush` and `put` make it stand at `path`.

    `token` is in the temporary name: `sweep` finds by it what a run has left behind.
    """
    with _temporary(path, token) as (old, made):
        model = like.stat() if like is not None else old
        rights = 0o666 if model is None else model.st_mode & 0o666  # never open to more than the result is
        with os.fdopen(os.open(made.temporary, _CREATE, rights | stat.S_IWUSR), "wb") as file:
            yield file, made
        _dress(made.temporary, old, like)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name in the folder of `path`, for a file that somebody else writes; it stands at `path` when the block ends."""
    with _temporary(path, "") as (old, made):
        yield Path(made.temporary)
        _dress(made.temporary, old, None)
    settle(made)


@contextmanager
def _temporary(path: Path, token: str) -> Iterator[tuple[os.stat_result | None, Made]]:
    """What stands at a path, and a name to write what is to replace it; nothing has it where the block fails."""
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None:
        check_writable(path)
    real = os.path.realpath(path)
    name = f".absolve-{token}{token and '-'}{os.urandom(6).hex()}.tmp"
    made = Made(os.path.join(os.path.dirname(real), name), real)  # noqa: PTH118, PTH120 - for each of very many
    if not token:
        _unfinished.add(made.temporary)
    try:
        yield old, made
    except BaseException as error:  # an interrupt, too
        discard(made)
        if isinstance(error, OSError) and error.filename in {None, made.temporary}:  # writing names no file
            error.filename = str(path)  # the name that the user knows
        raise


def flush(made: Made) -> None:
    """Let a complete file be on the disk, so that no crash leaves less of it behind; OSError where it cannot be."""
    number = os.open(made.temporary, os.O_RDWR | getattr(os, "O_BINARY", 0))
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
        os.replace(made.temporary, made.target)  # noqa: PTH105 - text from another process
        _unfinished.discard(made.temporary)
    except BaseException as error:
        discard(made)
        if isinstance(error, OSError):
            error.filename = made.target
        raise


def discard(made: Made) -> None:
    with suppress(OSError):
        os.unlink(made.temporary)  # noqa: PTH108 - likewise
    _unfinished.discard(made.temporary)


_unfinished: set[str] = set()  # temporary names of this process that no token finds: neither put nor discarded yet


def discard_unfinished() -> None:
    """Remove what a signal has left between two steps, and what databases have written beside it."""
    for temporary in tuple(_unfinished):
        folder, name = os.path.split(temporary)
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(name):  # with .wal, say
                    discard(Made(entry.path, ""))
        _unfinished.discard(temporary)


def sweep(folder: str, tokens: Collection[str]) -> None:
    """Remove what runs with these tokens have left behind in a folder."""
    beginnings = tuple(f".absolve-{token}-" for token in tokens)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(beginnings) and entry.name.endswith(".tmp"):
                discard(Made(entry.path, ""))


def is_device(path: Path) -> bool:
    """Whether something stands there that is no regular file: a device, a pipe, a folder."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def check_writable(path: Path) -> None:
    """PermissionError for a file that is marked as read-only, also where a rename, or root, could replace it."""
    if not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "this file is read-only", str(path))


_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _dress(temporary: str, old: os.stat_result | None, like: Path | None) -> None:
    """Give the new file what is kept: the owner of the file it replaces; mode, times and attributes."""
    if old is not None and hasattr(os, "chown"):
        with suppress(OSError):  # only root may give a file away
            os.chown(temporary, old.st_uid, old.st_gid)
    if like is not None:
        from shutil import copystat  # and with it all compressions: the standard output needs none

        copystat(like, temporary)
        mode = os.stat(temporary).st_mode  # noqa: PTH116 - text, as of what is made
        if not mode & stat.S_IWUSR:  # a copy of a read-only file can be written again
            os.chmod(temporary, stat.S_IMODE(mode) | stat.S_IWUSR)  # noqa: PTH101
    elif old is not None:
        os.chmod(temporary, stat.S_IMODE(old.st_mode))  # noqa: PTH101


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
