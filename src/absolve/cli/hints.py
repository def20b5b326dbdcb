"""Hints: what a user can do about a message, for mistakes that are common.

Input: a diagnostic, or a word that is none of the known ones. Output: a sentence for a line `hint: ...`, or None.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from absolve.cli import COMMANDS
from absolve.core.errors import in_short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from absolve.cli.parsing import Parser
    from absolve.core.errors import Diagnostic

# By the code of a warning that many inputs share: the options that help all of them.
SHARED: Final[dict[str, str]] = {
    "no-base": "--url URL, --url-map FILE or --mirror-layout gives the inputs a base URL",
    "ambiguous": "--verify compares each result with what an independent parser reads",
    "signed": "--break-signatures changes signed parts, too",
    "unknown-charset": "--charset LABEL names the encoding of the inputs",
    "empty-file": "--exclude GLOB leaves out files in folders",
}
_GLOB: Final = frozenset("*?[")


def of(diagnostic: Diagnostic) -> str | None:
    """Return the hint for a failure, or None."""
    hint = _HINTS.get(diagnostic.code)
    return hint(diagnostic) if hint is not None else None


def _not_found(diagnostic: Diagnostic) -> str | None:
    name = diagnostic.name
    if is_url(name):
        return piped(name)
    if _GLOB & set(name):
        return "no file matches this pattern, so the shell passed it on as it is"
    return None


_HINTS: Final[dict[str, Callable[[Diagnostic], str | None]]] = {"not-found": _not_found}


def is_url(name: str) -> bool:
    """Return whether the name of an input is rather the URL of a page."""
    return name[:8].lower().startswith(("http://", "https://", "ftp://"))


def piped(url: str) -> str:
    """Return how a page of the web reaches absolve, which reads files only."""
    from shlex import quote

    return f"absolve reads files: curl -sL {quote(url)} | absolve links - --url {quote(url)}"


def similar(word: str, known: Iterable[str]) -> str | None:
    """Return `did you mean WORD?` for the known word that is most like a given one, or None."""
    from difflib import get_close_matches  # for errors only

    found = get_close_matches(word.lower(), list(known), 1, 0.6)
    return f"did you mean {found[0]}?" if found else None


# --- the command line -------------------------------------------------------------------------------------------------


def reworded(message: str) -> str:
    """Return a message of argparse in the words of ours."""
    for theirs, ours in _ARGPARSE:
        if found := theirs.fullmatch(message):
            return found.expand(ours)
    return message


_ARGPARSE: Final = (
    (re.compile(r"argument (\S+): expected one argument"), r"\1 needs a value"),
    (re.compile(r"argument (\S+): expected at least one argument"), r"\1 needs a value"),
    (re.compile(r"argument (\S+): ignored explicit argument (.+)"), r"\1 takes no value, and has \2"),
    (re.compile(r"argument (\S+): not allowed with argument (\S+)"), r"\1 and \2 exclude each other"),
    (re.compile(r"the following arguments are required: (.+)"), r"missing: \1"),
    (re.compile(r"argument (\S+): (.+)", re.DOTALL), r"\1: \2"),
)


def of_usage(message: str) -> str:
    """Return the hint for an error of argparse, or an empty text."""
    if found := _NO_VALUE.fullmatch(message):
        option = next((name for name in found[1].split("/") if name.startswith("--")), found[1])
        return f"a value that begins with - is written {option}=VALUE"
    if message.endswith("required: COMMAND"):
        return f"commands: {', '.join(COMMANDS)}"
    return ""


_NO_VALUE: Final = re.compile(r"argument (\S+): expected (?:one|at least one) argument")


def no_choice(names: str, value: object, choices: Iterable[object]) -> str:
    """Return the message for a word that is none of the choices of an option, or no command."""
    if names == _COMMAND:
        return f"unknown command {value!r}"
    return f"{names} takes {' or '.join(map(str, choices))}, not {in_short(str(value))!r}"


def choice(names: str, value: object, choices: Iterable[object]) -> str:
    """Return the hint for a word that is none of the choices."""
    word = str(value)
    if names == _COMMAND:
        return _no_command(word)
    if names == "--base":
        return f"--base is about base elements in the result; the URL of an input is given by --url {word}"
    return similar(word, map(str, choices)) or ""


def _no_command(word: str) -> str:
    from shlex import quote

    if is_url(word):
        return piped(word)
    if os.path.lexists(word):
        return f"the command comes first: absolve rewrite {quote(word)} or absolve links {quote(word)}"
    return similar(word, COMMANDS) or f"commands: {', '.join(COMMANDS)}"


_COMMAND: Final = "COMMAND"
# Options of other programs, or of earlier versions, by what they are here.
_MEANT: Final = {
    "--inplace": "--in-place",
    "-i": "--in-place",
    "--json": "--format jsonl",
    "--csv": "--format csv",
    "--parallel": "--jobs",
    "--threads": "--jobs",
    "--workers": "--jobs",
    "--encoding": "--charset",
    "--base-url": "--url",
    "--out": "--output",
    "--output-format": "--format",
    "--files-from": "--from",
    "--input": "INPUT, without an option",
    "-r": "nothing: a folder is read with its subfolders",
    "--recursive": "nothing: a folder is read with its subfolders",
    "--suffix": "--backup",
    "--silent": "--quiet",
    "--type": "--media-type",
}


def option(name: str, parser: Parser) -> str:
    """Return the hint for an unknown option: a similar one, or the commands that have it."""
    own = [known for action in parser.options() for known in action[1].option_strings]
    meant = _MEANT.get(name)
    if meant is not None and (not meant.startswith("-") or meant.split()[0] in own):
        return f"did you mean {meant}?"
    if found := _having(name):
        return f"{name} is an option of {' and '.join(found)}"
    return similar(name, own) or ""


def _having(name: str) -> list[str]:
    """Return the commands that have an option."""
    from absolve.cli.running import parser

    found = parser().commands.items()
    return [command for command, one in found if any(name in action.option_strings for _, action in one.options())]


def surplus(argument: str, parser: Parser) -> str:
    """Return the hint for an argument that a command does not take."""
    taken = " ".join(str(action.metavar or action.dest) for action in parser.positionals())
    return f"{parser.prog} takes {taken}" if taken else f"{parser.prog} takes options only"
