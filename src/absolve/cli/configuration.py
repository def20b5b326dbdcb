r"""Configuration files: find and parse the TOML file that sets options by their long names; the command line overrides.

A file that the user names may set every option. A file found in the working folder or above may come from a download
or from another user: it sets only options that cannot write files, run programs or connect (`option.Option`).

    >>> found = Configuration(table=_parsed(b"[links]\nkind = ['image']"))
    >>> [(one.name, one.value) for one in found.for_command("links")]
    [('kind', ['image'])]
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.cli import option_table, terminal
from absolve.cli.commands import COMMANDS
from absolve.core import printable
from absolve.core.errors import DocumentError, UsageError, similar
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.cli.option_table import Options
    from absolve.cli.parsing import Parser
    from absolve.cli.reporting import Report

NAME: Final = "absolve.toml"
PYPROJECT: Final = "pyproject.toml"
VARIABLE: Final = "ABSOLVE_CONFIG"  # a path, or empty for no file

_REPOSITORY: Final = (".git", ".hg", ".svn")  # one of these marks the root of a repository
_LARGEST: Final = 1 << 20  # bytes of a file
_HEADER: Final = pattern(r"[ \t]*\[([^\[\]]+)\][ \t]*(?:#.*)?\Z")
_PLACE: Final = pattern(r" \(at line ([0-9]+), column ([0-9]+)\)\Z")
_FOREIGN: Final = "it belongs to another user"


class Ignored(NamedTuple):
    """A file that was found and is ignored, and the reason."""

    path: Path
    reason: str


class Setting(NamedTuple):
    """The value of an option in a file: `name` without leading hyphens, with `-` for `_`; `key` as the file has it.

    `table` is the command that the setting is for, or empty for the top level.
    """

    name: str
    value: Any
    key: str
    table: str
    file: Configuration

    @property
    def path(self) -> Path:
        assert self.file.path is not None  # noqa: S101 - it has a setting
        return self.file.path

    @property
    def place(self) -> str:
        """Return FILE:line, for example `absolve.toml:3`, or FILE if the line is not found."""
        return self.file.place(self.table, self.key)


class Configuration(NamedTuple):
    """A parsed file: top-level options apply to all commands that have them, tables to one command.

    `text` is the file. `named`: the user named it. `ignored`: files found before it that are not used.
    """

    path: Path | None = None
    table: dict[str, Any] = {}  # noqa: RUF012 - never modified
    text: str = ""
    named: bool = False
    ignored: tuple[Ignored, ...] = ()

    def for_command(self, command: str) -> list[Setting]:
        """Return the options of one command; its own table overrides the top level."""
        own = self.table.get(command, {})
        common = {name: value for name, value in self.table.items() if not isinstance(value, dict)}
        return [*(self._settings(common, "") | self._settings(own if isinstance(own, dict) else {}, command)).values()]

    def _settings(self, values: dict[str, Any], table: str) -> dict[str, Setting]:
        found: dict[str, Setting] = {}
        for key, value in values.items():
            setting = Setting(key.replace("_", "-"), value, key, table, self)
            if (first := found.setdefault(setting.name, setting)) is not setting:
                raise UsageError(f"{setting.place}: {first.key} and {key} are the same option")
        return found

    def place(self, table: str, key: str | None) -> str:
        """Return FILE:line of a key in a table, or of the table if `key` is None; FILE if the line is not found."""
        assert self.path is not None  # noqa: S101 - there is a file
        ours = "tool.absolve" if self.path.name == PYPROJECT else ""
        wanted = ".".join(filter(None, (ours, table)))
        current = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := _HEADER.match(line):
                current = _unquoted(header[1])
            if current == wanted and (header if key is None else _begins(line, key)):
                return f"{self.path}:{number}"
        return str(self.path)


def _unquoted(name: str) -> str:
    """Return a dotted key without quotes and spaces: for example `tool.absolve` for `"tool" . absolve`."""
    return ".".join(part.strip(" \t\"'") for part in name.split("."))


def _begins(line: str, key: str) -> bool:
    """Return whether a line of TOML sets a key, for example `kind = "image"`."""
    name, equals, _ = line.partition("=")
    return bool(equals) and _unquoted(name) == key


def find(commands: tuple[str, ...], named: str | None = None) -> Configuration:
    """Return the named file, or the nearest `absolve.toml` or `[tool.absolve]` of a `pyproject.toml`, here or above.

    `named` is the value of --config; if it is None, $ABSOLVE_CONFIG is used. An empty name means no file. The search
    ends at the root of a repository and at the user's home folder. Raise UsageError if the file cannot be read, or has
    a table that is not named for a command.
    """
    name = os.environ.get(VARIABLE) if named is None else named
    if name is not None:
        return _read_named(Path(name), commands) if name else Configuration()
    ignored: list[Ignored] = []
    for place in _places():
        for path in (place / NAME, place / PYPROJECT):
            found = _discovered(path)
            if isinstance(found, Ignored):
                ignored.append(found)
            elif found is not None:
                table, text = found
                return _checked(Configuration(path, table, text, ignored=tuple(ignored)), commands)
    return Configuration(ignored=tuple(ignored))


def _places() -> Iterator[Path]:
    """Yield the working folder and the folders above, up to the root of a repository or the user's home folder."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - Path.home raises if there is no home
    try:
        folder = Path.cwd()
    except OSError:  # the working folder was removed
        return
    for place in (folder, *folder.parents):
        yield place
        if str(place) == home or any(os.path.lexists(place / name) for name in _REPOSITORY):
            return


def _read_named(path: Path, commands: tuple[str, ...]) -> Configuration:
    from absolve.run.sources import of_option  # few runs have such a file

    try:
        contents = of_option(str(path))
        table = _parsed(contents)
    except DocumentError as error:
        raise UsageError(f"{path}: {error.diagnostic.text}") from error
    except ValueError as error:
        raise _unusable(path, error) from error
    if path.name == PYPROJECT:
        table = _ours(table) or {}
    return _checked(Configuration(path, table, contents.decode(), named=True), commands)


def _discovered(path: Path) -> tuple[dict[str, Any], str] | Ignored | None:
    """Return the options in a file that was found, and its text, or why it is ignored.

    None if there is no file or no such table.
    """
    try:
        state = path.stat()
    except OSError:  # missing, or not accessible
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
            return None  # other programs use this file, and report the error
        raise _unusable(path, error) from error
    own = table if path.name == NAME else _ours(table)
    return None if own is None else (own, contents.decode())


def _contents(path: Path) -> tuple[bytes, str]:
    """Return the first bytes of a file, and the reason to ignore it ("" if there is none). Raise OSError.

    Owner and mode are read from the open file (fstat), since another file may have the name by then.
    """
    shared = _is_shared(path.parent)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.is_symlink():
        if shared:
            return b"", "it is a symbolic link in a folder where other users may write"
        if _is_foreign(path.lstat()):
            return b"", "it is a symbolic link that belongs to another user"
    elif shared:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        state = os.fstat(file.fileno())
        contents = file.read(_LARGEST + 1)
    if _is_foreign(state):
        return contents, _FOREIGN
    if _may_others_write(state):
        return contents, "every user may write to it"
    if shared and state.st_nlink > 1:  # another user may have made a hard link to a file of this user
        return contents, "it has more than one hard link, in a folder where other users may write"
    return contents, ""


def _is_shared(folder: Path) -> bool:
    """Return whether a user other than this one and root may create files in a folder."""
    state = folder.stat()
    return _is_foreign(state) or _may_others_write(state)


def _is_foreign(state: os.stat_result) -> bool:
    """Return whether a user other than this one and root owns a file; False on platforms without file owners."""
    return hasattr(os, "geteuid") and state.st_uid not in {os.geteuid(), 0}


def _may_others_write(state: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and bool(state.st_mode & stat.S_IWOTH)


def _parsed(contents: bytes) -> dict[str, Any]:
    """Return TOML as a dictionary. Raise ValueError if it is malformed, too large or nested too deep."""
    if len(contents) > _LARGEST:
        raise ValueError(f"the file is larger than {_LARGEST >> 20} MiB")
    from absolve.rules.cells import toml  # most runs have no such file

    return toml(contents.decode())


def _ours(table: dict[str, Any]) -> dict[str, Any] | None:
    """Return the table `[tool.absolve]` of a pyproject.toml, or None."""
    tool = table.get("tool")
    own = tool.get("absolve") if isinstance(tool, dict) else None
    return own if isinstance(own, dict) else None


def _checked(found: Configuration, commands: tuple[str, ...]) -> Configuration:
    for name, value in found.table.items():
        if isinstance(value, dict) and name not in commands:
            text = f"{found.place(name, None)}: the table [{name}] is not named for a command"
            raise UsageError(text, similar(name, commands) or f"commands: {', '.join(commands)}")
    return found


def _unusable(path: Path, error: OSError | ValueError) -> UsageError:
    """Return the error for a file that cannot be read or parsed, for example `absolve.toml:2:5: Invalid value`."""
    text = getattr(error, "strerror", None) or str(error)
    if found := _PLACE.search(text):
        return UsageError(f"{path}:{found[1]}:{found[2]}: {text[: found.start()]}")
    return UsageError(f"{path}: {text}")


def configure(command: Parser, name: str, arguments: Sequence[str], found: Configuration) -> None:
    """Use a configuration file for the defaults of a command. Raise UsageError for an unknown option in it."""
    if found.path is None:
        return
    known = option_table.names()
    for option in command.default_to(found.for_command(name), arguments, named=found.named):
        from absolve.cli import hints

        hint = hints.removed(f"--{option.name}") or similar(option.name, command.options() if option.table else known)
        if option.table:
            raise UsageError(f"{option.place}: {name} has no option {option.key!r}", hint)
        if option.name not in known:
            raise UsageError(f"{option.place}: unknown option {option.key!r}", hint)


def found_for(arguments: Sequence[str]) -> Configuration:
    """Return the configuration file named by --config or $ABSOLVE_CONFIG, or found in the working folder or above."""
    named = None
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        option, equals, value = argument.partition("=")
        if option == "--config":
            named = value if equals else next(iter(arguments[place + 1 :]), None)  # if missing, argparse reports it
    return find(tuple(COMMANDS), named)


def config(options: Options, report: Report) -> None:
    """Print the options in effect, each with the file that sets it: as TOML, or as JSON."""
    import json

    from absolve.cli.parsing import parser  # no other command needs the parsers of all commands

    del report  # no input, so no diagnostics
    found = found_for(["--config", options.config] if options.config is not None else [])
    names = options.commands or list(COMMANDS)
    for name in names:
        if name not in COMMANDS:
            raise UsageError(f"unknown command {name!r}: choose from {', '.join(COMMANDS)}")
    whole = parser(names)
    settings: dict[str, dict[str, Any]] = {}
    blocks = ["".join(f"# {path} is ignored: {reason}\n" for path, reason in found.ignored)] if found.ignored else []
    for name in names:
        command = whole.commands[name]
        configure(command, name, (), found)
        settings[name] = {
            option: {"value": value, "set_by": str(command.set_by.get(action.dest, "default"))}
            for option, (_, action) in sorted(command.options().items())
            if (value := command.get_default(action.dest)) not in (None, [])
        }
        lines = []
        for option, one in settings[name].items():
            setting = f"{option} = {json.dumps(one['value'])}"
            lines.append(f"{setting:40}  # {one['set_by']}")
        for option, value in sorted({**command.ignored, **command.raised}.items()):
            setting = f"# {option} = {json.dumps(value, default=str)}"
            lines.append(f"{setting:40}  # ignored: {found.path} was found, not named by --config")
        if lines:
            blocks.append("".join(f"{line}\n" for line in (f"[{name}]", *map(printable.message, lines))))
    if options.format == "json":
        print(terminal.json_text(settings))
    else:
        print("\n".join(blocks), end="")
