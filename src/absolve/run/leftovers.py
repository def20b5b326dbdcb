"""Names of temporary files, by which the files of ended runs are found and removed, and files of other runs never.

Input: folders. Output: a token for each run, which is in the names of its temporary files: the machine, the process and
its start. A run on another machine, or in another container, may be alive: its files stay for a day.
"""

from __future__ import annotations

import os
import sys
import time
from binascii import crc32
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.run import interrupts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.run.output_folder import OpenFolder

# Place, process and start, or the random names of older versions. Databases add a suffix to files that they write.
_NAME: Final = pattern(r"\.absolve-(?:([0-9a-f]{8})-([0-9a-f]+)-([0-9a-f]+)-)?(?:[0-9a-f]+-)?[0-9a-f]+\.tmp")
_DAY: Final = 24 * 60 * 60  # seconds
folders: Final[set[str]] = set()  # temporary ones of this process
_ENDED: Final = frozenset("ZX")  # states of proc_pid_stat(5): a process that only waits for its parent


def token() -> str:
    """Return a unique token that shows whether this process is alive, for example `8d1d471a-a66-13397b-7b8fc18e`."""
    pid = os.getpid()
    return f"{_place()}-{pid:x}-{_start(pid) or '0'}-{os.urandom(4).hex()}"


def name_of(token_: str) -> str:
    """Return a new name for a temporary file of a run, for example `.absolve-TOKEN-06663a1b6840.tmp`."""
    return f".absolve-{token_}-{os.urandom(6).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Return whether a file name belongs to a temporary file of any run."""
    return _NAME.fullmatch(name) is not None


def sweep(folder: OpenFolder, token_: str | None = None) -> None:
    """Remove from a folder the temporary files of ended runs, and of the run with this token."""
    with suppress(OSError):
        for name in folder.names():
            if name.startswith(".absolve-") and (name.startswith(f".absolve-{token_}-") or _is_left(folder, name)):
                with suppress(OSError):
                    os.unlink(folder.at(name), dir_fd=folder.descriptor)


def _is_left(folder: OpenFolder, name: str) -> bool:
    found = _NAME.match(name)
    if found is None:
        return False
    if found[1] == _place():
        return not _runs(int(found[2], 16), found[3])
    state = folder.stat(name)
    return state is not None and time.time() - state.st_mtime > _DAY


@cache
def _place() -> str:
    """Return eight digits for the processes that this one can see: one boot of a machine, one container."""
    try:
        seen = Path("/proc/sys/kernel/random/boot_id").read_text("ascii"), os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    except OSError:
        import platform  # there is no /proc

        seen = platform.node(), 0
    return f"{crc32(repr(seen).encode()):08x}"


def _runs(pid: int, start: str) -> bool:
    if sys.platform == "win32":  # os.kill would end it
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        pass
    return _start(pid) in {None, start}


def _start(pid: int) -> str | None:
    """Return when a process started, by the clock of the system; "" if it has ended, None if that is not known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return "" if fields[0] in _ENDED else f"{int(fields[19]):x}"
    except (OSError, LookupError, ValueError):
        return None


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Yield a new folder for temporary files, and remove it, and the folders of killed runs."""
    import tempfile
    from shutil import rmtree

    above = tempfile.gettempdir()
    for name in os.listdir(above):  # noqa: PTH208 - names are all that is needed
        found = _NAME.match(name)
        if found is not None and found[1] == _place() and not _runs(int(found[2], 16), found[3]):
            rmtree(os.path.join(above, name), ignore_errors=True)  # noqa: PTH118
    folder = os.path.join(above, name_of(token()))  # noqa: PTH118
    try:
        folders.add(folder)
        os.mkdir(folder, 0o700)  # noqa: PTH102
        yield folder
    finally:
        with interrupts.deferred():
            rmtree(folder, ignore_errors=True)
            folders.discard(folder)
