"""Take from Python what Windows lacks, and fail where Windows fails; each process that starts with this folder in its
PYTHONPATH imports this first. $ABSOLVE_LIKE is "windows" or "macos".

Not covered: os.sep, drives, text mode of files. Those need the system itself.
"""


import os
import signal
import sys
from collections.abc import Callable
from typing import Any

Call = Callable[..., Any]

LIKE = os.environ.get("ABSOLVE_LIKE", "")
MISSING = {
    "windows": (
        "O_NOFOLLOW O_DIRECTORY O_PATH O_NONBLOCK O_TMPFILE geteuid getuid getgid chown fchown lchown listxattr getxattr"
        " setxattr removexattr sched_getaffinity readv preadv pread mkfifo killpg fork posix_fadvise copy_file_range sendfile"
        " sync statvfs"
    ),
    "macos": "O_PATH O_TMPFILE listxattr getxattr setxattr removexattr sched_getaffinity copy_file_range posix_fadvise",
}


def without_functions() -> None:
    for name in MISSING[LIKE].split():
        if hasattr(os, name):
            delattr(os, name)


def refusing(function: Call, *, names: bool) -> Call:
    """Return a function of os that takes no dir_fd, and no name that Windows refuses."""

    def call(*arguments: Any, **options: Any) -> Any:
        for option in ("dir_fd", "src_dir_fd", "dst_dir_fd"):
            if options.pop(option, None) is not None:
                raise NotImplementedError(f"{function.__name__}: {option} unavailable on this platform")
        if names:
            for path in (one for one in arguments[:2] if isinstance(one, (str, bytes, os.PathLike))):
                last = os.fsdecode(path).rpartition("/")[2]
                if set(last) & set(':*?"<>|\\') or (last != last.rstrip(". ") and last not in {".", ".."}):
                    raise OSError(22, "Invalid argument", path)
        return function(*arguments, **options)

    call.__name__ = function.__name__
    return call


def exclusive(function: Call) -> Call:
    """Return a rename, removal or replacement that fails for a file that this process has open."""

    def call(*arguments: Any, **options: Any) -> Any:
        for path in (one for one in arguments[:2] if isinstance(one, (str, os.PathLike))):
            try:
                state = STAT(path, follow_symlinks=False)
            except OSError:
                continue
            for number in os.listdir("/proc/self/fd"):  # noqa: PTH208
                try:
                    held = os.fstat(int(number))
                except (OSError, ValueError):
                    continue
                if (held.st_dev, held.st_ino) == (state.st_dev, state.st_ino):
                    raise PermissionError(13, "The process cannot access the file: it is open", os.fspath(path))
        return function(*arguments, **options)

    call.__name__ = function.__name__
    return call


def no_replacing(function: Call) -> Call:
    """Return os.rename as Windows has it: it replaces nothing."""

    def call(source: str, target: str, **options: Any) -> Any:
        if os.path.lexists(target):
            raise FileExistsError(17, "File exists", os.fspath(target))
        return function(source, target, **options)

    call.__name__ = "rename"
    return call


STAT = os.stat

if LIKE:
    without_functions()
if LIKE == "windows":
    os.supports_dir_fd = set()
    os.supports_fd = set()
    os.supports_follow_symlinks = {os.stat}
if LIKE:  # modules that look at sys.platform when they are imported, and what they find is this system
    import multiprocessing.util  # noqa: F401
    import pathlib  # noqa: F401
    import shutil  # noqa: F401
    import subprocess  # noqa: F401
    import tempfile  # noqa: F401
if LIKE == "windows":
    for name in "open stat lstat mkdir rmdir unlink remove rename replace link symlink chmod utime access".split():
        setattr(os, name, refusing(getattr(os, name), names=name in {"open", "mkdir", "rename", "replace", "link"}))
    for name in "rename replace unlink remove".split():
        setattr(os, name, exclusive(getattr(os, name)))
    os.rename = no_replacing(os.rename)
    for name in ("SIGHUP", "SIGPIPE", "SIGKILL"):
        if hasattr(signal, name):
            delattr(signal, name)
    sys.platform = "win32"
elif LIKE == "macos":
    sys.platform = "darwin"
