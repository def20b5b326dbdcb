"""Short help of a command (`-h`): the options that are used most, from the parser.

Input: a parser. Output: text for a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse

    from absolve.cli.parsing import Parser

MOST: Final = 10  # options
EXAMPLES: Final = 4

# The options that are used most, most important first; a command shows the first ten that it has.
_USED: Final = (
    *("--url", "--output", "--in-place", "--zip", "--check", "--old", "--map", "--compare", "--fix", "--old-url"),
    *("--serve", "--format", "--dry-run", "--diff", "--kind", "--problem", "--columns", "--where", "--remap", "--all"),
    *("--backup", "--profile", "--include", "--sql", "--browser", "--timeout", "--resume", "--charset", "--media-type"),
    *("--jobs", "--quiet", "--config", "--version"),
)


def short(parser: Parser) -> str:
    """Return the short help: description, usage, some examples, and at most ten options."""
    known = {name: action for action in parser.all_options() for name in action.option_strings}
    used: list[argparse.Action] = []
    for name in _USED:
        if name in known and known[name] not in used:
            used.append(known[name])
    formatter = parser._get_formatter()  # noqa: SLF001 - argparse has no other way
    formatter.add_text(parser.description)
    parser.add_usage_to(formatter)
    examples = _examples(parser.epilog or "")
    formatter.add_text(examples)
    subcommands = [action for action in parser.positionals() if action.nargs == "A..."]
    for title, actions in (("commands", subcommands), ("options used most", used[:MOST])):
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
