"""`--errors FILE`: write failures as JSON lines to a file that no input or output uses, completely or not at all.

Input: the options, the items of the run, its report. Output: `report.errors`, open while the run goes on.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from absolve.cli import options as shared
from absolve.core.errors import DocumentError, UsageError
from absolve.run import inputs, outputs, special_files
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from absolve.cli.reporting import Report

    Item = TypeVar("Item")


def check(options: argparse.Namespace, option: str = "errors") -> None:
    """Raise UsageError if FILE is a file that the run reads or writes, under any name, or is in an input folder."""
    file = getattr(options, option)
    if file is None:
        return
    named = [*options.inputs, *_listed(options.from_)]
    try:
        path = Path(os.path.realpath(file))
        if any(is_same(path, name) for name in (*named, *shared.tables(options)) if name not in {"", STDIN}):
            raise UsageError(f"--{option} {file} is also an input: choose another file")
        if (name := inputs.folder_around(path, named) or inputs.led_out_of(Path(file), named)) is not None:
            raise UsageError(f"--{option} {file} is inside the input {name}: choose another folder")
        if options.output not in {None, special_files.STDOUT} and is_same(path, options.output):
            raise UsageError(f"--{option} {file} is also the output: choose another file")
    except ValueError as error:  # NUL in a name
        raise UsageError(f"--{option} {file!r}: {error}") from error


def _listed(name: str | None) -> Iterator[str]:
    """Yield the names in a list if it can be read twice; `watched` checks those from a pipe."""
    if name is not None and name != STDIN and Path(name).is_file():
        try:
            yield from inputs.read_list(name)
        except DocumentError:
            return  # reported when the run reads the list


def is_same(path: Path, name: str) -> bool:
    """Return whether a name resolves to `path`, which has no symbolic links, or is another name of the same file."""
    return os.path.normcase(os.path.realpath(name)) == os.path.normcase(path) or (
        outputs.clash([path], [name]) is not None
    )


def watched(
    items: Iterable[Item],
    files_of: Callable[[Item], Iterable[str]],
    options: argparse.Namespace,
    option: str = "errors",
) -> Iterator[Item]:
    """Yield the items; raise UsageError before one that reads or writes FILE.

    `check` cannot see names that come from a pipe or from the plan of the outputs.
    """
    given = getattr(options, option)
    if given is None:
        yield from items
        return
    key = inputs.key(os.path.realpath(given))
    for item in items:
        for name in files_of(item):
            if key in {inputs.key(name), inputs.key(os.path.realpath(name))}:
                raise UsageError(f"--{option} {given} is also a file of the run ({name}): choose another file")
        yield item


@contextmanager
def written(options: argparse.Namespace, report: Report) -> Iterator[None]:
    """Open FILE as `report.errors`; FILE is unchanged if the block raises or a failure cannot be written."""
    if options.errors is None:
        yield
        return
    try:
        with ExitStack() as stack:
            report.errors = stack.enter_context(outputs.named(options.errors))
            yield
            stays_absolute = report.errors is not None
            file = stack.pop_all()
    finally:
        report.errors = None
    try:
        if stays_absolute:
            file.close()
        else:
            file.__exit__(OSError, OSError(), None)  # discard; the error is already reported
    except OSError as error:
        if stays_absolute:
            report.unlisted(error)


@contextmanager
def unwritable(name: str) -> Iterator[None]:
    """Raise OSError, with this name, where a database of SQLite cannot be written: a full disk."""
    import sqlite3  # 1 MB of memory that a run over one file does not need

    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _OF_THE_DISK:
            raise
        is_full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
        code, text = (errno.ENOSPC, os.strerror(errno.ENOSPC)) if is_full else (errno.EIO, str(error))
        raise OSError(code, text, name) from error


# SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN: primary result codes of SQLite
_OF_THE_DISK: Final = frozenset({8, 10, 13, 14})
