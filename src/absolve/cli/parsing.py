"""Argument parser of a command: argparse's, with defaults from a configuration file.

Input: arguments, and settings from `configuration`. Output: a namespace, and for each option the file that set it.
"""

from __future__ import annotations

import argparse
import os
import sys
from reprlib import repr  # noqa: A004 - for values that may be nested deep
from typing import TYPE_CHECKING, Any, NoReturn

from absolve.core import printable
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from absolve.cli.configuration import Setting

_PATHS = frozenset({"FILE", "OUT", "DIR", "OLD", "MAP"})  # metavars of options whose value is a path
LIST = ",..."  # the end of the metavar of an option that takes several words, separated by commas
HELP = "help"
# Titles of groups of options, in the order of the help of every command; the other groups come between.
_FIRST = ("commands", "arguments", "folders and lists", "facts about the inputs", "output")
_LAST = ("finding and resolving links", "limits", "run", HELP)
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


class _HelpAction(argparse.Action):
    """Print the help, whole or short, and exit."""

    def __init__(self, option_strings: Sequence[str], dest: str, *, short: bool = False, help: str = "") -> None:  # noqa: A002
        del dest  # it has no value
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)
        self.short = short

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if self.short:
            from absolve.cli.usage import short

            print(short(parser), end="")  # type: ignore[arg-type]
        else:
            parser.print_help()
        parser.exit()


def is_discovered(option: argparse.Action) -> bool:
    """Return whether a configuration file that was found, not named, may set an option: it may come with a download.

    Declare an option with `discovered=True` only if it cannot write files, run programs or use the network, change the
    targets of absolute links, lift a protection, or name a file of this machine.
    """
    return getattr(option, "discovered", False)


def is_limit(option: argparse.Action) -> bool:
    """Return whether the value of an option bounds time or memory, so that a higher one lifts a protection."""
    return any(name.startswith("--max-") or name == "--timeout" for name in option.option_strings)


def takes_words(option: argparse.Action) -> bool:
    """Return whether the value of an option is several words, separated by commas."""
    return isinstance(option.metavar, str) and option.metavar.endswith(LIST)


class Parser(argparse.ArgumentParser):
    """An argument parser that keeps the layout of examples, accepts no abbreviated options, and gives hints in errors.

    Groups of one title are one group, and have the same order in the help of every command.
    """

    def __init__(self, *, has_help: bool = True, **settings: object) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, add_help=False, **settings)  # type: ignore[arg-type]
        for name, kind in _KINDS.items():
            self.register("action", name, kind)
        self._positionals.title, self._optionals.title = "arguments", HELP
        if has_help:
            self.add_argument("-h", action=_HelpAction, short=True, help="print the most used options, and exit")
            self.add_argument("--help", action=_HelpAction, help="print this help, and exit")
        self.set_by: dict[str, Path] = {}  # dest of an option -> file that sets it
        self.settings: dict[str, Setting] = {}  # likewise -> its setting in the file
        self.raised: dict[str, Any] = {}  # name -> value in the file, of limits that the file may not raise
        self.credentials = False  # whether errors show user information of URLs
        self.ignored: dict[str, Any] = {}  # name -> value in the file, of options that the file may not set

    def add_argument_group(self, title: str | None = None, *rest: Any, **settings: Any) -> argparse._ArgumentGroup:
        """Return the group of a title; it is added if there is none."""
        known = (group for group in self._action_groups if group.title == title)
        return next(known, None) or super().add_argument_group(title, *rest, **settings)

    def error(self, message: str, hint: str = "") -> NoReturn:
        from absolve.cli import hints
        from absolve.cli.reporting import TRY, hint_line, usage_line
        from absolve.cli.terminal import say

        hint = hint or hints.of_usage(message)
        text, hint = (
            printable.message(one, credentials=self.credentials) for one in (hints.reworded(message), hint)
        )
        for line in (usage_line(text), *([hint_line(hint)] if hint else ()), TRY.format(self.prog)):
            say(line)
        self.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a help text. Raise OSError: argparse passes over a full disk."""
        if (file := file or sys.stderr) is not None:
            file.write(message)

    def check_all_known(self, rest: Sequence[str]) -> None:
        """Raise UsageError if arguments are left over."""
        from absolve.cli import hints

        option = next((argument for argument in rest if argument.startswith("-")), None)
        if option is not None:
            name = option.partition("=")[0]
            raise UsageError(f"unknown option {name}", hints.option(name, self))
        if rest:
            raise UsageError(f"one argument too many: {rest[0]!r}", hints.surplus(self))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        from absolve.cli import hints

        names = "/".join(action.option_strings) or str(action.metavar or action.dest)
        raise UsageError(hints.no_choice(names, value, action.choices), hints.choice(names, value, action.choices))

    def format_usage(self) -> str:
        formatter = self._get_formatter()
        self.add_usage_to(formatter)
        return formatter.format_help()

    def format_help(self) -> str:
        formatter = self._get_formatter()
        self.add_usage_to(formatter)
        formatter.add_text(self.description)
        for group in self.groups():
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(group._group_actions)  # noqa: SLF001 - argparse has no other way
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def groups(self) -> list[argparse._ArgumentGroup]:
        """Return the groups of options in the order of the help."""

        def place(group: argparse._ArgumentGroup) -> int:
            title = (group.title or "").partition(" (")[0]
            return _FIRST.index(title) - 9 if title in _FIRST else 1 + _LAST.index(title) if title in _LAST else 0

        return sorted(self._action_groups, key=place)

    def positionals(self) -> list[argparse.Action]:
        """Return the arguments without a name."""
        return self._get_positional_actions()

    def add_usage_to(self, formatter: argparse.HelpFormatter) -> None:
        """Add a usage of one line: the options are listed below it."""
        words = [formatter._format_args(action, action.metavar or action.dest) for action in self.positionals()]  # type: ignore[arg-type] # noqa: SLF001
        formatter.add_usage(" ".join((self.prog, "[OPTION ...]", *words)), [], [])

    def options(self) -> Iterator[tuple[str, argparse.Action]]:
        """Yield the options by their names in a file, without those that print and exit."""
        for action in self._actions:
            if action.option_strings and action.dest not in {argparse.SUPPRESS, "help", "version", "config"}:
                yield next(name for name in action.option_strings if name.startswith("--")).removeprefix("--"), action

    def all_options(self) -> list[argparse.Action]:
        """Return all options, those that print and exit too."""
        return [action for action in self._actions if action.option_strings]

    def default_to(self, given: Sequence[Setting], arguments: Sequence[str], *, named: bool = True) -> list[Setting]:
        """Use the values of a file as defaults for options not in the arguments; return those of unknown options.

        Values are checked as argparse checks arguments; UsageError names the place of a wrong one. A file that is not
        `named` sets only options that `is_discovered` accepts; the others are added to `ignored`. It may lower limits;
        those that it would raise are added to `raised`.
        """
        present = {action.dest for action in self._present(arguments)}
        for group in self._mutually_exclusive_groups:
            dests = {action.dest for action in group._group_actions}  # noqa: SLF001 - argparse has no other way
            if dests & present:
                present |= dests
        options = dict(self.options())
        for setting in given:
            action = options.get(setting.name)
            if action is None:
                continue
            if not (named or is_discovered(action)):
                if action.dest not in present:
                    self.ignored[setting.name] = setting.value
                continue
            try:
                converted = self._converted(action, setting.value, setting.path)
            except argparse.ArgumentError as error:
                from absolve.cli.hints import reworded

                raise UsageError(f"{setting.place}: {reworded(str(error))}") from error
            except UsageError as error:
                raise UsageError(f"{setting.place}: {error.message}", error.hint) from error
            if not named and is_limit(action) and converted > action.default:
                if action.dest not in present:
                    self.raised[setting.name] = setting.value
            elif action.dest not in present:
                self.set_defaults(**{action.dest: converted})
                self.settings[action.dest] = setting
                self.set_by[action.dest] = setting.path
        return [setting for setting in given if setting.name not in options]

    def place_of(self, message: str) -> str:
        """Return FILE:line of the setting whose value a message quotes, if a file sets it; else an empty text."""
        for setting in self.settings.values():
            values = setting.value if isinstance(setting.value, list) else str(setting.value).split(",")
            if any(ascii(str(value)) in message for value in values):
                return setting.place
        return ""

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
        values = value if isinstance(value, list) else [value]
        if isinstance(action.default, list):  # it may be repeated
            found = [self._one(action, one, path) for one in values]
            return [[one] for one in found] if action.nargs == argparse.ONE_OR_MORE else found
        if isinstance(value, list):
            if not takes_words(action):
                raise argparse.ArgumentError(action, f"takes one value, not the list {repr(value)}")
            return self._one(action, ",".join(str(self._one(action, one, path)) for one in values), path)
        return self._one(action, value, path)

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
