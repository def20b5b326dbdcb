"""The configuration file: options under the names that they have on the command line, which wins over it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, NamedTuple

from absolve.errors import UsageError

NAME: Final = "absolve.toml"
PYPROJECT: Final = "pyproject.toml"
VARIABLE: Final = "ABSOLVE_CONFIG"  # a file, or nothing for no file


class Configuration(NamedTuple):
    """What a file says: options of all commands that have them, and tables with those of one command."""

    path: Path | None = None
    table: dict[str, Any] = {}  # noqa: RUF012 - a default that nobody changes

    def of(self, command: str) -> dict[str, Any]:
        """The options of one command, by their names without the hyphens before them; its own table counts first."""
        common = {name: value for name, value in self.table.items() if not isinstance(value, dict)}
        own = self.table.get(command, {})
        return common | (own if isinstance(own, dict) else {})


def find(folder: Path, commands: tuple[str, ...]) -> Configuration:
    """What holds in a folder: `absolve.toml`, or `[tool.absolve]` in `pyproject.toml`, there or next above.

    UsageError where the file is none, or has a table of what is no command.
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        return _read(Path(given), commands) if given else Configuration()
    for place in (folder, *folder.parents):
        for path in (place / NAME, place / PYPROJECT):
            if path.is_file() and (found := _read(path, commands)).path is not None:
                return found
    return Configuration()


def _read(path: Path, commands: tuple[str, ...]) -> Configuration:
    import tomllib  # most folders have no such file

    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except (OSError, ValueError) as error:
        if path.name == PYPROJECT and not os.environ.get(VARIABLE):
            return Configuration()  # another program's to complain about
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if path.name == PYPROJECT:
        table = table.get("tool", {}).get("absolve")
        if table is None:
            return Configuration()
    for name, value in table.items():
        if isinstance(value, dict) and name not in commands:
            raise UsageError(f"{path}: there is no command {name!r}, and so no table of its options")
    return Configuration(path, table)
