"""Outputs that are no regular file of a folder: the standard output, devices, pipes, open files.

In: the name of an output. Out: whether it is one of these, and the file to write it: a rename would replace it.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

STDOUT: Final = "-"  # as the name of an output
_DESCRIPTORS: Final = pattern(r"/(?:dev|proc/([0-9]+)(?:/task/[0-9]+)?)/fd/([0-9]+)")  # what is open in a process
_MOST_LINKS: Final = 40  # as Linux follows
_NUMBER_OF_STDOUT: Final = 1


def is_device(path: Path) -> bool:
    """Return whether a path exists and is no regular file of a folder: a device, a pipe, an open file, a folder."""
    try:
        return not stat.S_ISREG(path.stat().st_mode) or _descriptor(path) is not None
    except FileNotFoundError:
        return False


def is_stdout(name: str) -> bool:
    """Return whether an output is the standard output, under any name."""
    return name == STDOUT or descriptor(Path(name)) == _NUMBER_OF_STDOUT


def descriptor(path: Path) -> int | None:
    """Return the descriptor of this process to which a path such as /dev/stdout leads; None for any other path."""
    found = _descriptor(path)
    return int(found[2]) if found is not None and found[1] in {None, str(os.getpid())} else None


def _descriptor(path: Path) -> re.Match[str] | None:
    """Return the process, if it is known, and the number of the open file to which a path leads."""
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
    """Yield a device, a pipe or an open file to be written; the errors of writing have its name."""
    try:
        number = descriptor(path)
        with path.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as file:
            yield file
    except OSError as error:
        if error.filename is None:  # write() gives None
            error.filename = str(path)
        raise
