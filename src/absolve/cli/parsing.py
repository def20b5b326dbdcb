"""Argument parser of a command: argparse's, with defaults from a configuration file.

Input: arguments, and settings from `configuration`. Output: a namespace, and for each option the file that set it.

    >>> parser(["links"]).parse_args(["links", "page.html", "--kind", "image,script"]).kind
    ['image,script']
"""

from __future__ import annotations

import argparse
import sys
from reprlib import repr  # noqa: A004 - for values that may be nested deep
from typing import TYPE_CHECKING, Any, Final, NoReturn

from absolve.cli import option_table, terminal, version
from absolve.cli.commands import COMMANDS
from absolve.cli.option import AT_FILE, called
from absolve.core import printable
from absolve.core.errors import UsageError
from absolve.document.settings import FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from absolve.cli.configuration import Setting
    from absolve.cli.option import Option
    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report

_COLUMN = 27  # of the texts about options


class _Help(argparse.RawDescriptionHelpFormatter):
    """Argparse's formatter: lines as short as may be, and no call of shutil for the width at every added option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_COLUMN, width=terminal.columns(sys.__stdout__) - 2)

    def add_usage(self, _usage: Any, actions: Iterable[argparse.Action], *_: Any) -> None:
        """Add a usage of one line, for example `absolve links [OPTION ...] [INPUT ...]`."""
        arguments = (action for action in actions if not action.option_strings)
        words = [self._format_args(action, str(action.metavar or action.dest)) for action in arguments]
        super().add_usage(" ".join((self._prog, "[OPTION ...]", *words)), [], [])

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Return for example `-f, --format FORMAT`, with the word for the value once, as in Python 3.13."""
        if not action.option_strings:
            return super()._format_action_invocation(action)
        value = "" if action.nargs == 0 else f" {action.metavar or 'WORD'}"
        return f"{', '.join(action.option_strings)}{value}"


class _ShortHelp(argparse.Action):
    """Print the short help, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(short(parser), end="")  # type: ignore[arg-type]
        parser.exit()


class Parser(argparse.ArgumentParser):
    """An argument parser that keeps the layout of examples, accepts no abbreviated options, and adds hints to errors.

    Groups with one title are one group, in the same order in the help of every command.
    """

    def __init__(self, *, has_help: bool = True, **settings: object) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, add_help=False, **settings)  # type: ignore[arg-type]
        self._positionals.title, self._optionals.title = option_table.ARGUMENTS, option_table.HELP
        if has_help:
            silent: Any = {"nargs": 0, "dest": argparse.SUPPRESS, "default": argparse.SUPPRESS}
            self.add_argument("-h", action=_ShortHelp, help="print the most used options, and exit", **silent)
            self.add_argument("--help", action="help", help="print this help, and exit")
        self.rows: dict[argparse.Action, Option] = {}
        self.set_by: dict[str, Path] = {}  # dest of an option -> file that sets it
        self.settings: dict[str, Setting] = {}  # likewise -> its setting in the file
        self.raised: dict[str, Any] = {}  # name -> value in the file, of limits that the file may not raise
        self.used: tuple[str, ...] = _USED
        self.ignored: dict[str, Any] = {}  # name -> value in the file, of options that the file may not set

    def add_options(self, command: str) -> None:
        """Add the options of a command, and its defaults."""
        rivals: dict[str, argparse._ActionsContainer] = {}
        groups = {group.title: group for group in self._action_groups}
        for title, option in option_table.for_command(command):
            if option.is_setting:
                self.rows[self._setting(option)] = option
                continue
            place: argparse._ActionsContainer = groups.get(title) or self.add_argument_group(title)
            groups.setdefault(title, place)  # type: ignore[arg-type]  # it is a group
            if option.rivals:
                place = rivals.get(option.rivals) or place.add_mutually_exclusive_group()
                rivals[option.rivals] = place
            action = place.add_argument(*(option.names or [option.dest]), **option.settings())
            self.rows[action] = option
        self.set_defaults(**option_table.DEFAULTS.get(command, {}))

    def _setting(self, option: Option) -> argparse.Action:
        """Return the action for an option of configuration files alone: its name has no hyphens, unlike arguments."""
        one = argparse.ArgumentParser(add_help=False, formatter_class=_Help)  # argparse's own imports shutil
        action = one.add_argument(f"--{option.name}", **option.settings())
        action.option_strings = [option.name]
        self.set_defaults(**{option.dest: action.default})
        return action

    def error(self, message: str, hint: str = "") -> NoReturn:
        from absolve.cli import hints
        from absolve.cli.reporting import TRY, USAGE, hint_line, usage_line

        hint = hint or hints.for_usage_error(message)
        text, hint = map(printable.message, (hints.reworded(message), hint))
        advice = TRY.format(self.prog.removesuffix(" help"))
        for line in (usage_line(text), *([hint_line(hint)] if hint else ()), advice):
            terminal.say(line)
        self.exit(USAGE)

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

    def groups(self) -> list[argparse._ArgumentGroup]:
        """Return the groups of options in the order of the help."""
        self._action_groups.sort(key=lambda group: group is self._optionals)
        return self._action_groups

    def format_help(self) -> str:
        self.groups()  # it puts them into order
        return super().format_help()

    def positionals(self) -> list[argparse.Action]:
        """Return the arguments without a name."""
        return self._get_positional_actions()

    def options(self) -> dict[str, tuple[Option, argparse.Action]]:
        """Return the options that a file may name, by their names there."""
        return {row.name: (row, action) for action, row in self.rows.items() if row.names and row.dest != "config"}

    def all_options(self) -> list[argparse.Action]:
        """Return all options, also the ones that print and exit."""
        return [action for action in self._actions if action.option_strings]

    def default_to(self, settings: Sequence[Setting], arguments: Sequence[str], *, named: bool = True) -> list[Setting]:
        """Use the values of a file as defaults for options not in the arguments; return settings of unknown options.

        Values are checked as argparse checks arguments; UsageError names the place of a wrong one. A file that is not
        `named` sets only harmless options; the others are added to `ignored`. It may lower limits, but not raise them:
        higher values are added to `raised`.
        """
        present = {action.dest for action in self._present(arguments)}
        for group in self._mutually_exclusive_groups:
            dests = {action.dest for action in group._group_actions}  # noqa: SLF001 - argparse has no other way
            if dests & present:
                present |= dests
        options = self.options()
        for setting in settings:
            if setting.name not in options:
                continue
            row, action = options[setting.name]
            if not (named or (row.is_harmless and setting.value != FILE)):  # paths are private
                if action.dest not in present:
                    self.ignored[setting.name] = setting.value
                continue
            try:
                converted = self._converted(row, action, setting.value, setting.path)
            except argparse.ArgumentError as error:
                from absolve.cli.hints import reworded

                raise UsageError(f"{setting.place}: {reworded(str(error))}") from error
            except UsageError as error:
                raise UsageError(f"{setting.place}: {error.message}", error.hint) from error
            if not named and row.is_limit and converted > action.default:
                if action.dest not in present:
                    self.raised[setting.name] = setting.value
            elif action.dest not in present:
                self.set_defaults(**{action.dest: converted})
                self.settings[action.dest] = setting
                self.set_by[action.dest] = setting.path
        return [setting for setting in settings if setting.name not in options]

    def setting_place(self, message: str) -> str:
        """Return FILE:line of the setting whose value a message quotes, or "" if no file sets it."""
        for setting in self.settings.values():
            values = setting.value if isinstance(setting.value, list) else str(setting.value).split(",")
            if any(ascii(str(value)) in message for value in values):
                return setting.place
        return ""

    def _present(self, arguments: Iterable[str]) -> Iterator[argparse.Action]:
        """Yield the options in the arguments."""
        for argument in arguments:
            if argument == "--":
                return
            for name in (argument.partition("=")[0], argument[:2]):
                if name in self._option_string_actions:
                    yield self._option_string_actions[name]
                    break

    def _converted(self, row: Option, action: argparse.Action, value: Any, path: Path) -> Any:
        """Convert a value of a file to the option's type. Raise argparse.ArgumentError."""
        if row.is_switch:
            if not isinstance(value, bool):
                raise argparse.ArgumentError(action, f"must be true or false, not {repr(value)}")
            return value
        folder = path.parent if row.is_path else None
        values = value if isinstance(value, list) else [value]
        if row.repeats:
            return [self._one(action, one, folder) for one in values]
        if isinstance(value, list):
            if not row.takes_words:
                raise argparse.ArgumentError(action, f"takes one value, not the list {repr(value)}")
            return self._one(action, ",".join(str(self._one(action, one, folder)) for one in values), folder)
        return self._one(action, value, folder)

    def _one(self, action: argparse.Action, value: Any, folder: Path | None) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise argparse.ArgumentError(action, f"must be a string or a number, not {repr(value)}")
        try:
            text = str(value)
        except ValueError as error:  # a number of more than 4,300 digits
            raise argparse.ArgumentError(action, "the number is too large") from error
        at = "@" if str(action.metavar).endswith(AT_FILE) else ""
        if folder is not None and value != "-" and text.startswith(at):
            text = f"{at}{folder / text.removeprefix(at)}"
        converted = self._get_value(action, text)
        self._check_value(action, converted)
        return converted


# --- short help -------------------------------------------------------------------------------------------------------

MOST: Final = 12  # options
EXAMPLES: Final = 4

# The most used options, the most important first; a command shows its first twelve.
_USED: Final = (
    *("--url", "--output", "--in-place", "--format", "--kind", "--problem", "--columns", "--sql", "--remap", "--form"),
    *("--dry-run", "--diff", "--backup", "--verify", "--log", "--profile", "--include", "--exclude", "--from"),
    *("--media-type", "--charset", "--quiet", "--config", "--version"),
)


def most_used(parser: Parser) -> list[argparse.Action]:
    """Return the most used options of a command, at most twelve."""
    known = {name: action for action in parser.all_options() for name in action.option_strings}
    return [known[name] for name in parser.used if name in known][:MOST]


def short(parser: Parser) -> str:
    """Return the short help: description, usage, some examples, and at most twelve options."""
    formatter = parser._get_formatter()  # noqa: SLF001 - argparse has no other way
    formatter.add_text(parser.description)
    formatter.add_usage(None, parser.positionals(), [])
    formatter.add_text(_examples(parser.epilog or ""))
    subcommands = [action for action in parser.positionals() if action.nargs == "A..."]
    for title, actions in (("commands", subcommands), ("options used most", most_used(parser))):
        formatter.start_section(title)
        formatter.add_arguments(actions)
        formatter.end_section()
    number = len(parser.all_options())
    if number > MOST:
        formatter.add_text(f"{parser.prog} --help describes all {number} options, and more.")
    return formatter.format_help()


def _examples(epilog: str) -> str:
    """Return the first examples of a command."""
    _, found, text = epilog.partition("examples:\n")
    lines = text.partition("\n\n")[0].splitlines()
    kept: list[str] = []
    for line in lines:
        if len(kept) >= EXAMPLES and not kept[-1].endswith("\\"):
            break
        kept.append(line)
    return "examples:\n" + "\n".join(kept) if found else ""


# --- the whole command line -------------------------------------------------------------------------------------------

_DESCRIPTION = """\
Fix, list and check the links in saved pages, web archives and whole sites,
without touching another byte. For every link it shows which base URL applies,
and why (RFC 1808)."""

_FIRST = """\
  absolve rewrite page.html -o absolute.html       # make the links of a saved page absolute
  absolve check site/                              # check a folder, or https://site.example/
  absolve mirror https://site.example/ -o copy/    # make an offline copy
"""
FIRST_STEPS = f"{_DESCRIPTION}\n\nthree first steps:\n{_FIRST}\nabsolve -h lists all commands."

_EPILOG = f"""\
examples:
{_FIRST}  absolve links page.html -o links.csv
  absolve rewrite --in-place --backup .orig saved/*.html
  absolve base page.html

absolve COMMAND -h lists the options of a command that are used most, --help all.
exit status: 0 all well; 1 findings; 2 usage error; 3 an input failed"""


class Whole(Parser):
    """The parser of the whole command line; `commands` has the parser of each command."""

    commands: dict[str, Parser]


def parser(wanted: Collection[str] = tuple(COMMANDS)) -> Whole:
    """Return the parser of the whole command line; only `wanted` commands have their options.

    If a command is wanted, the others get no parser: each would take as long as rewriting 1 KB of a page.
    """
    alone = {*wanted} & {*COMMANDS}
    whole = Whole(prog="absolve", description=_DESCRIPTION, epilog=_EPILOG)
    whole.add_argument("-V", "--version", action="version", version=version(), help="print the version, and exit")
    commands = whole.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True, parser_class=Parser, prog=whole.prog
    )
    whole.commands = commands.choices
    for name, row in COMMANDS.items():
        if alone and name not in alone:
            continue
        is_wanted = name in wanted
        described = f"{row.summary[0].upper()}{row.summary[1:]}."
        epilog = row.epilog() if is_wanted else None
        command = commands.add_parser(name, help=row.summary, description=described, epilog=epilog, has_help=is_wanted)
        if is_wanted:
            command.add_options(name)
            command.used = row.used or _USED
    return whole


def help_(options: Options, _: Report) -> None:
    """Print the help of the whole command line, or of one command."""
    whole = parser(() if options.about is None else (options.about,))
    print((whole if options.about is None else whole.commands[options.about]).format_help(), end="")


def completion(options: Options, _: Report) -> None:
    """Print the script that completes words for a shell."""
    import shtab

    whole = parser()
    for command in whole.commands.values():
        for action, row in command.rows.items():
            if row.completes_files:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            action.choices = action.choices or called(row.words) or None
    print(shtab.complete(whole, options.shell))
