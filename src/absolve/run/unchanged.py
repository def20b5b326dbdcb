"""Find out whether a file is still the one that was read, before another one replaces it.

In: the path of a file, before it is read. Out: its state; ChangedError if the path later has another file, a link or
other contents. The rename after the last check is not part of it: no system call replaces a file on a condition.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple


class ChangedError(OSError):
    """A file is not the one that was read."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EBUSY, "the file changed while it was processed, and stays: try again", path)


class FileState(NamedTuple):
    """What tells a file from another one, and from a later version.

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
        return _state(real, os.lstat(real))
    except (OSError, ValueError):
        return None


def check(path: str, before: FileState) -> None:
    """Raise ChangedError unless a path, which is no link, has the file of this state."""
    try:
        now = _state(path, os.lstat(path))
    except OSError:
        now = None
    if now != before:
        raise ChangedError(path)


def _state(path: str, found: os.stat_result) -> FileState | None:
    if not stat.S_ISREG(found.st_mode):
        return None
    return FileState(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
