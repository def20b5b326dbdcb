"""syncfs: put all data of a file system on the disk by one call, in place of an fsync for each of many files.

In: complete files. Out: whether they are on the disk; False where only fsync reports errors.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.run.outputs import Made

# statfs(2). Others pass the data on, to another file system or a server, and need not report its errors here: overlay,
# NFS, FUSE.
_REPORT_ERRORS: Final = {0xEF53: "ext2, ext3, ext4", 0x58465342: "XFS", 0x9123683E: "Btrfs", 0x01021994: "tmpfs"}
_SINCE: Final = (5, 8)  # syncfs(2): the Linux version since which it reports errors
_SLOW: Final = 1.0  # seconds: other programs write to the file system, and syncfs writes their data, too


class FileSystems:
    """The file systems that a run writes to, each by a descriptor, which gets the errors that nobody has seen yet."""

    def __init__(self) -> None:
        self._descriptors: dict[int, int | None] = {}  # by device; None: fsync is called for its files

    def sync(self, files: Iterable[Made]) -> bool:
        """Return whether these files are on the disk; False if that is not known."""
        try:
            folders = {folder.device(): folder.path for folder in (made.folder() for made in files)}
        except OSError:
            return False
        return all(self._is_synced(device, path) for device, path in folders.items())

    def _is_synced(self, device: int, path: str) -> bool:
        if device not in self._descriptors:
            self._descriptors[device] = _opened(path or os.curdir, device)
        number = self._descriptors[device]
        if number is None:
            return False
        begun = time.monotonic()
        done = not _library().syncfs(number)
        if not done or time.monotonic() - begun > _SLOW:
            os.close(number)
            self._descriptors[device] = None
        return done

    def close(self) -> None:
        while self._descriptors:
            if (number := self._descriptors.popitem()[1]) is not None:
                os.close(number)


def _opened(path: str, device: int) -> int | None:
    """Return a descriptor of a folder on a device, if syncfs reports the errors of its file system; else None."""
    with suppress(OSError):
        number = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        if os.fstat(number).st_dev == device and _is_reporting(number):
            return number
        os.close(number)
    return None


def _is_reporting(number: int) -> bool:
    """Return whether syncfs reports errors: of this kernel, and of the file system of a descriptor."""
    if sys.platform != "linux":
        return False
    major, minor, *_ = f"{os.uname().release}..".split(".")
    if not (major.isdecimal() and minor.isdecimal() and (int(major), int(minor)) >= _SINCE):
        return False
    import ctypes  # few runs need it

    state = (ctypes.c_long * 64)()  # struct statfs has at most 120 bytes; f_type is first
    return not _library().fstatfs(number, state) and state[0] & 0xFFFFFFFF in _REPORT_ERRORS


def _library() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
