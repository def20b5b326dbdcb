"""The parser of a command: argparse's, with what a configuration file says in the place of defaults."""

from __future__ import annotations

import argparse
import os
import sys
from reprlib import repr  # noqa: A004 - of values that may be nested deep
from typing import TYPE_CHECKING, Any, NoReturn

from absolve.core import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_PATHS = frozenset({"FILE", "OUT"})  # what options call a path
_WIDTH = 80  # columns where nobody says how many


class _Help(argparse.RawDescriptionHelpFormatter):
    """Argparse's, which asks shutil how wide the terminal is each time that an option is added."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width() - 2)


def _width() -> int:
    """The columns of the terminal, as `shutil.get_terminal_size` finds them; it comes with all compressions."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _WIDTH  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # there is none, or it is no terminal
        return _WIDTH


def _marked(kind: type[argparse.Action]) -> type[argparse.Action]:
    """The same kind of option, which knows whether a configuration file may set it that was merely found."""

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
    """Whether a configuration file may set an option that was merely found, and that a download may have brought.

    An option is declared with `discovered=True` where it can neither write, run nor connect; nor change where absolute
    links lead, lift a protection, or name a file of this machine.
    """
    return getattr(option, "discovered", False)


class Parser(argparse.ArgumentParser):
    """Ours: examples stay as they are laid out, options are not abbreviated, and an error is said in two lines."""

    def __init__(self, **settings: object) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, **settings)  # type: ignore[arg-type]
        for name, kind in _KINDS.items():
            self.register("action", name, kind)
        self.whence: dict[str, Path] = {}  # by the option's place in the namespace
        self.credentials = False  # whether errors show them
        self.ignored: dict[str, Any] = {}  # options that the file may not set, by their names, and its values

    def error(self, message: str) -> NoReturn:
        message = printable.message(message, credentials=self.credentials)
        self.exit(2, f"{self.prog}: error: {message}\ntry: {self.prog} --help\n")

    def options(self) -> Iterator[tuple[str, argparse.Action]]:
        """The options by the names that a file has for them; what prints something and ends is none."""
        for action in self._actions:
            if action.option_strings and action.dest not in {argparse.SUPPRESS, "help", "version", "config"}:
                yield next(name for name in action.option_strings if name.startswith("--")).removeprefix("--"), action

    def default_to(
        self, given: dict[str, Any], path: Path, arguments: Sequence[str], *, named: bool = True
    ) -> list[str]:
        """Let what a file gives hold where the arguments say nothing else; the names that are no options of this one.

        Of what is right or wrong for an option argparse decides, and `error` says it. A file that is not `named` sets
        what `is_discovered`; the others are `ignored`.
        """
        said = {action.dest for action in self._said(arguments)}
        for group in self._mutually_exclusive_groups:
            dests = {action.dest for action in group._group_actions}  # noqa: SLF001 - argparse has no other way
            if dests & said:
                said |= dests
        options = dict(self.options())
        for name, value in given.items():
            action = options.get(name)
            if action is None:
                continue
            if not (named or is_discovered(action)):
                if action.dest not in said:
                    self.ignored[name] = value
                continue
            try:
                converted = self._converted(action, value, path)
            except argparse.ArgumentError as error:
                self.error(f"{path}: {error}")
            if action.dest not in said:
                self.set_defaults(**{action.dest: converted})
                self.whence[action.dest] = path
        return [name for name in given if name not in options]

    def _said(self, arguments: Iterable[str]) -> Iterator[argparse.Action]:
        """The options that stand among the arguments."""
        for argument in arguments:
            if argument == "--":
                return
            for name in (argument.partition("=")[0], argument[:2]):
                if name in self._option_string_actions:
                    yield self._option_string_actions[name]
                    break

    def _converted(self, action: argparse.Action, value: Any, path: Path) -> Any:
        """A value of a file as the option has it; ArgumentError where that cannot be."""
        if action.nargs == 0:  # a switch
            if not isinstance(value, bool):
                raise argparse.ArgumentError(action, f"is on or off: true or false, not {repr(value)}")
            return value
        several = isinstance(action.default, list)
        if isinstance(value, list) and several:
            return [self._one(action, one, path) for one in value]
        one = self._one(action, value, path)
        return [one] if several else one

    def _one(self, action: argparse.Action, value: Any, path: Path) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise argparse.ArgumentError(action, f"takes text or a number, not {repr(value)}")
        try:
            text = str(value)
        except ValueError as error:  # a number of more than 4,300 digits
            raise argparse.ArgumentError(action, "this number is too large") from error
        if action.metavar in _PATHS and value != "-":
            text = str(path.parent / text)
        converted = self._get_value(action, text)
        self._check_value(action, converted)
        return converted
