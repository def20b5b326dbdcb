"""Argument parser of a command: argparse's, with defaults from a configuration file.

Input: arguments, and a table from `configuration`. Output: a namespace, and for each option the file that set it.
"""

from __future__ import annotations

import argparse
import os
import sys
from reprlib import repr  # noqa: A004 - for values that may be nested deep
from typing import TYPE_CHECKING, Any, NoReturn

from absolve.core import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_PATHS = frozenset({"FILE", "OUT"})  # metavars of options whose value is a path
_WIDTH = 80  # columns if the terminal's width is unknown


class _Help(argparse.RawDescriptionHelpFormatter):
    """Argparse's formatter, without its call of shutil for the terminal's width at every added option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width() - 2)


def _width() -> int:
    """Return the columns of the terminal as `shutil.get_terminal_size` does; shutil imports all compression modules."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _WIDTH  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # no standard output, or not a terminal
        return _WIDTH


def _marked(kind: type[argparse.Action]) -> type[argparse.Action]:
    """Return a subclass of an argparse action with the attribute `discovered` (see `is_discovered`)."""

    class Marked(kind):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, discovered: bool = False, **settings: Any) -> None:
            super().__init__(*arguments, **settings)
            self.discovered = discovered

    return Marked


_KINDS = {
    None: _marked(argparse._StoreAction),  # noqa: SLF001 - as argparse registers them
    "store_true": _marked(argparse._StoreTrueAction),  # noqa: SLF001
    "append": _marked(argparse._AppendAction),  # noqa: SLF001
}


def is_discovered(option: argparse.Action) -> bool:
    """Return whether a configuration file that was found, not named, may set an option: it may come with a download.

    Declare an option with `discovered=True` only if it cannot write files, run programs or use the network, change the
    targets of absolute links, lift a protection, or name a file of this machine.
    """
    return getattr(option, "discovered", False)


class Parser(argparse.ArgumentParser):
    """An argument parser that keeps the layout of examples, accepts no abbreviated options, and has two-line errors."""

    def __init__(self, **settings: object) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, **settings)  # type: ignore[arg-type]
        for name, kind in _KINDS.items():
            self.register("action", name, kind)
        self.set_by: dict[str, Path] = {}  # dest of an option -> file that sets it
        self.credentials = False  # whether errors show user information of URLs
        self.ignored: dict[str, Any] = {}  # name -> value in the file, of options that the file may not set

    def error(self, message: str) -> NoReturn:
        message = printable.message(message, credentials=self.credentials)
        self.exit(2, f"{self.prog}: error: {message}\ntry: {self.prog} --help\n")

    def options(self) -> Iterator[tuple[str, argparse.Action]]:
        """Yield the options by their names in a file, without those that print and exit."""
        for action in self._actions:
            if action.option_strings and action.dest not in {argparse.SUPPRESS, "help", "version", "config"}:
                yield next(name for name in action.option_strings if name.startswith("--")).removeprefix("--"), action

    def default_to(
        self, given: dict[str, Any], path: Path, arguments: Sequence[str], *, named: bool = True
    ) -> list[str]:
        """Use the values of a file as defaults for options not in the arguments; return the unknown names.

        Values are checked as argparse checks arguments; `error` ends the process. A file that is not `named` sets only
        options that `is_discovered` accepts; the others are added to `ignored`.
        """
        present = {action.dest for action in self._present(arguments)}
        for group in self._mutually_exclusive_groups:
            dests = {action.dest for action in group._group_actions}  # noqa: SLF001 - argparse has no other way
            if dests & present:
                present |= dests
        options = dict(self.options())
        for name, value in given.items():
            action = options.get(name)
            if action is None:
                continue
            if not (named or is_discovered(action)):
                if action.dest not in present:
                    self.ignored[name] = value
                continue
            try:
                converted = self._converted(action, value, path)
            except argparse.ArgumentError as error:
                self.error(f"{path}: {error}")
            if action.dest not in present:
                self.set_defaults(**{action.dest: converted})
                self.set_by[action.dest] = path
        return [name for name in given if name not in options]

    def _present(self, arguments: Iterable[str]) -> Iterator[argparse.Action]:
        """Yield the options that are among the arguments."""
        for argument in arguments:
            if argument == "--":
                return
            for name in (argument.partition("=")[0], argument[:2]):
                if name in self._option_string_actions:
                    yield self._option_string_actions[name]
                    break

    def _converted(self, action: argparse.Action, value: Any, path: Path) -> Any:
        """Convert a value of a file to the option's type. Raise argparse.ArgumentError."""
        if action.nargs == 0:  # a switch
            if not isinstance(value, bool):
                raise argparse.ArgumentError(action, f"must be true or false, not {repr(value)}")
            return value
        several = isinstance(action.default, list)
        if isinstance(value, list) and several:
            return [self._one(action, one, path) for one in value]
        one = self._one(action, value, path)
        return [one] if several else one

    def _one(self, action: argparse.Action, value: Any, path: Path) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise argparse.ArgumentError(action, f"must be a string or a number, not {repr(value)}")
        try:
            text = str(value)
        except ValueError as error:  # a number of more than 4,300 digits
            raise argparse.ArgumentError(action, "the number is too large") from error
        if action.metavar in _PATHS and value != "-":
            text = str(path.parent / text)
        converted = self._get_value(action, text)
        self._check_value(action, converted)
        return converted
