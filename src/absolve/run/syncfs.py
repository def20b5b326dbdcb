"""syncfs: one call that puts all data of a file system on the disk, in place of an fsync for each of many files.

Input: the folders of a run's outputs, before it writes to them. Output: whether files are on the disk.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.run.outputs import Made

# statfs(2). Others pass the data on, to another file system or a server, and need not report its errors here: overlay,
# NFS, FUSE.
_REPORT_ERRORS: Final = {0xEF53: "ext2, ext3, ext4", 0x58465342: "XFS", 0x9123683E: "Btrfs", 0x01021994: "tmpfs"}
_SINCE: Final = (5, 8)  # syncfs(2): the Linux version since which it reports errors
_SLOW: Final = 1.0  # seconds: other programs write to the file system, and syncfs writes their data, too


class FileSystems:
    """The file systems that a run writes to, each by a descriptor that is opened before the first write.

    syncfs reports the errors since its descriptor was opened, so nothing is less safe than after fsync. On file systems
    and kernels that do not report them, and on other platforms, `sync` returns False, and the caller calls fsync.
    """

    def __init__(self) -> None:
        self._descriptors: dict[int, int] = {}  # by device
        self._folders: set[str] = set()
        self._unused: set[int] = set()  # devices for which fsync is called

    def watch(self, folder: str) -> None:
        """Open the file system of a folder, if it exists. The run must not have written there."""
        if folder in self._folders or not _IS_REPORTING:
            return
        self._folders.add(folder)
        with suppress(OSError):
            number = os.open(folder or os.curdir, os.O_RDONLY | os.O_DIRECTORY)
            device = os.fstat(number).st_dev
            if device in self._descriptors:
                os.close(number)
            else:
                self._descriptors[device] = number

    @property
    def are_used(self) -> bool:
        """Whether `sync` may return True."""
        return len(self._unused) < len(self._descriptors)

    def sync(self, files: Iterable[Made]) -> bool:
        """Return whether these files are on the disk; False if that is not known."""
        try:
            devices = {made.folder().device() for made in files}
        except OSError:
            return False
        return all(map(self._sync, devices))

    def _sync(self, device: int) -> bool:
        if device not in self._descriptors or device in self._unused:
            return False
        begun = time.monotonic()
        done = _call(self._descriptors[device])
        if not done or time.monotonic() - begun > _SLOW:
            self._unused.add(device)
        return done

    def close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])


def _is_reporting() -> bool:
    """Return whether the kernel's syncfs reports errors."""
    if sys.platform != "linux":
        return False
    major, minor, *_ = f"{os.uname().release}..".split(".")
    return major.isdecimal() and minor.isdecimal() and (int(major), int(minor)) >= _SINCE


_IS_REPORTING: Final = _is_reporting()


def _call(number: int) -> bool:
    """Call syncfs, if the file system reports errors by it; return whether it succeeded."""
    import ctypes  # few runs need it

    library = ctypes.CDLL(None, use_errno=True)
    state = (ctypes.c_long * 64)()  # struct statfs has at most 120 bytes; f_type is first
    if library.fstatfs(number, state) or state[0] & 0xFFFFFFFF not in _REPORT_ERRORS:
        return False
    return not library.syncfs(number)
