"""The configuration file: options under the names that they have on the command line, which wins over it.

A file that the user names may set every option. A file that is found in the working folder or above it may come from a
download or from another user: it sets only options that can neither write, run nor connect (`parsing.is_discovered`).
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME: Final = "absolve.toml"
PYPROJECT: Final = "pyproject.toml"
VARIABLE: Final = "ABSOLVE_CONFIG"  # a file, or nothing for no file

_REPOSITORY: Final = (".git", ".hg", ".svn")  # what is in the root of one
_LARGEST: Final = 1 << 20  # bytes of a file
_MOST: Final = 32  # parts of a dotted key; tomllib takes quadratic time and memory for them
_KEY: Final = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_FOREIGN: Final = "it belongs to another user"
_DEEP: Final = pattern(rf"(?<![\w-]){_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{_MOST}}}", re.ASCII)


class Ignored(NamedTuple):
    """A file that was found and does not count, and why."""

    path: Path
    reason: str


class Configuration(NamedTuple):
    """What a file says: options of all commands that have them, and tables with those of one command.

    `named`: the user named the file. `ignored` are files that were found before it.
    """

    path: Path | None = None
    table: dict[str, Any] = {}  # noqa: RUF012 - a default that nobody changes
    named: bool = False
    ignored: tuple[Ignored, ...] = ()

    def of(self, command: str) -> dict[str, Any]:
        """The options of one command, by their names without the hyphens before them; its own table counts first."""
        common = {name: value for name, value in self.table.items() if not isinstance(value, dict)}
        own = self.table.get(command, {})
        return common | (own if isinstance(own, dict) else {})


def find(commands: tuple[str, ...], named: str | None = None) -> Configuration:
    """The file that the user named, or `absolve.toml` or `[tool.absolve]` in `pyproject.toml` here or next above.

    `named` is that of --config, which $ABSOLVE_CONFIG is asked for otherwise; empty, it stands for no file. The search
    ends at the root of a repository and at the user's home. Raise UsageError where the file cannot be read or has a
    table of what is no command.
    """
    given = os.environ.get(VARIABLE) if named is None else named
    if given is not None:
        return _named(Path(given), commands) if given else Configuration()
    ignored: list[Ignored] = []
    for place in _places():
        for path in (place / NAME, place / PYPROJECT):
            found = _discovered(path)
            if isinstance(found, Ignored):
                ignored.append(found)
            elif found is not None:
                return Configuration(path, _checked(path, found, commands), ignored=tuple(ignored))
    return Configuration(ignored=tuple(ignored))


def _places() -> Iterator[Path]:
    """The working folder and those above it, up to the root of a repository or the user's home."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - where there is none it stays as it is
    try:
        folder = Path.cwd()
    except OSError:  # it was removed
        return
    for place in (folder, *folder.parents):
        yield place
        if str(place) == home or any(os.path.lexists(place / name) for name in _REPOSITORY):
            return


def _named(path: Path, commands: tuple[str, ...]) -> Configuration:
    try:
        table = _parsed(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _unusable(path, error) from error
    if path.name == PYPROJECT:
        table = _ours(table) or {}
    return Configuration(path, _checked(path, table, commands), named=True)


def _discovered(path: Path) -> dict[str, Any] | Ignored | None:
    """The options in a file that was found, or why it does not count; None where it says nothing of ours."""
    try:
        state = path.stat()
    except OSError:  # there is none, or no way to it
        return None
    if not stat.S_ISREG(state.st_mode):
        return None
    try:
        contents, reason = _contents(path)
    except OSError as error:
        if path.name == PYPROJECT:
            return None
        if _is_foreign(state):
            return Ignored(path, _FOREIGN)
        raise _unusable(path, error) from error
    if reason:
        is_ours = path.name == NAME or b"tool.absolve" in contents
        return Ignored(path, reason) if is_ours else None
    try:
        table = _parsed(contents)
    except ValueError as error:
        if path.name == PYPROJECT:
            return None  # another program's to complain about
        raise _unusable(path, error) from error
    return table if path.name == NAME else _ours(table)


def _contents(path: Path) -> tuple[bytes, str]:
    """The first bytes of a file, and why it does not count if it does not; OSError where it cannot be read.

    Whose file it is, is asked of the file that was opened: another one may have its name by now.
    """
    shared = _is_shared(path.parent)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.is_symlink():
        if shared:
            return b"", "it is a link in a folder where other users may write"
        if _is_foreign(path.lstat()):
            return b"", "it is a link of another user"
    elif shared:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        state = os.fstat(file.fileno())
        contents = file.read(_LARGEST + 1)
    if _is_foreign(state):
        return contents, _FOREIGN
    if _may_others_write(state):
        return contents, "every user may write it"
    if shared and state.st_nlink > 1:  # a file of ours under a name that somebody else gave it
        return contents, "it has another name, and is in a folder where other users may write"
    return contents, ""


def _is_shared(folder: Path) -> bool:
    """Whether another user but root may put files into a folder."""
    state = folder.stat()
    return _is_foreign(state) or _may_others_write(state)


def _is_foreign(state: os.stat_result) -> bool:
    """Whether another user but root owns a file; no, where files have no such owners."""
    return hasattr(os, "geteuid") and state.st_uid not in {os.geteuid(), 0}


def _may_others_write(state: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and bool(state.st_mode & stat.S_IWOTH)


def _parsed(contents: bytes) -> dict[str, Any]:
    """TOML as a dictionary; ValueError where it is none, or nested too deep."""
    import tomllib  # most folders have no such file

    if len(contents) > _LARGEST:
        raise ValueError(f"this is larger than {_LARGEST >> 20} MiB")
    text = contents.decode()
    if _DEEP.search(text):
        raise ValueError(f"a key has more than {_MOST} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("this is nested too deep") from error


def _ours(table: dict[str, Any]) -> dict[str, Any] | None:
    """`[tool.absolve]` of a project's file."""
    tool = table.get("tool")
    own = tool.get("absolve") if isinstance(tool, dict) else None
    return own if isinstance(own, dict) else None


def _checked(path: Path, table: dict[str, Any], commands: tuple[str, ...]) -> dict[str, Any]:
    for name, value in table.items():
        if isinstance(value, dict) and name not in commands:
            raise UsageError(f"{path}: there is no command {name!r}, and so no table of its options")
    return table


def _unusable(path: Path, error: OSError | ValueError) -> UsageError:
    return UsageError(f"{path}: {getattr(error, 'strerror', None) or error}")
