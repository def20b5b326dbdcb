"""Hints for messages: advice about common mistakes.

Input: a diagnostic, or an unknown word. Output: a sentence for a line `hint: ...`, or None. `hints.toml` has the words
of other programs and of earlier versions.

    >>> reworded("argument -o/--output: expected one argument")
    '-o/--output needs a value'
"""

from __future__ import annotations

import os
import re
from functools import cache, reduce
from itertools import combinations, islice
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from absolve.cli import option_table
from absolve.cli.commands import COMMANDS
from absolve.cli.configuration import NAME
from absolve.core.errors import UsageError, closest, in_short, similar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from absolve.cli.parsing import Parser
    from absolve.core.errors import Diagnostic

# By the code of a warning that inputs share: the options that help all inputs. The hint is printed once.
SHARED: Final[dict[str, str]] = {
    "no-base": "--url file: takes the paths of files; --url URL or --url-map FILE gives URLs of the web",
    "unknown-charset": "--charset LABEL names the encoding of the inputs",
    "divergent": "--profile whatwg resolves as browsers do; absolve links --problem divergent lists them",
    "above-root": "--profile whatwg (or rfc3986) leaves such .. out; absolve links --problem above-root lists them",
    "empty-file": "--exclude GLOB leaves out files in folders",
}
_MOST: Final = 10_000  # names in a folder that are compared with one that does not exist
_GLOB: Final = frozenset("*?[")
_HOST: Final = re.compile(
    r"(?:https?:/*)?((?:www\.|localhost[:/]|(?:[\w-]+\.)+(?:com|org|net|io|dev|example)(?=[:/]|\Z)).*)", re.ASCII
)


def for_diagnostic(diagnostic: Diagnostic) -> str | None:
    """Return the hint for a diagnostic, or None."""
    hint = _HINTS.get(diagnostic.code)
    return hint(diagnostic) if hint is not None else None


def _not_found(diagnostic: Diagnostic) -> str | None:
    name = diagnostic.name
    if is_url(name):
        return fetched(name)
    if _GLOB & set(name):
        return "no file matches this pattern, so the shell passed it on as it is"
    host = _HOST.match(name)
    if host is not None:
        return f"a URL begins with its scheme: https://{in_short(host[1])}"
    folder, last = os.path.split(name)
    try:
        with os.scandir(folder or os.curdir) as entries:
            names = [entry.name for entry in islice(entries, _MOST)]
    except (OSError, ValueError):
        return None
    stem, suffix = os.path.splitext(last)  # noqa: PTH122 - a text; the same suffix makes no name similar
    others = [other for other in names if other.lower().endswith(suffix.lower()) and other != last]
    stems = {os.path.splitext(other)[0]: other for other in others}  # noqa: PTH122
    found = closest(stem, stems)
    return f"did you mean {os.path.join(folder, stems[found])}?" if found is not None else None  # noqa: PTH118


_HINTS: Final[dict[str, Callable[[Diagnostic], str | None]]] = {
    "not-found": _not_found,
    "directory": lambda _: "absolve documents FOLDER lists the base URL of each document in it",
    **{code: lambda diagnostic: SHARED[diagnostic.code] for code in ("divergent", "above-root")},
}


def use_canonical(number: int, roots: Sequence[str]) -> str:
    """Return the hint for pages without a URL, of which some have a canonical link; or ""."""
    command = f"absolve documents {' '.join(map(quote, roots))} --columns document,canonical -o urls.csv"
    has = "1 of them has" if number == 1 else f"{number:,} of them have"
    return f"{has} a canonical link, which --url-map takes: {command}, then --url-map urls.csv" if number else ""


def is_url(name: str) -> bool:
    """Return whether the name of an input is a URL, for example `https://example.com/`."""
    return name[:8].lower().startswith(("http://", "https://", "ftp://"))


def check_no_url(name: str, command: str) -> None:
    """Raise UsageError if the name of an input is a URL, and not a file, that a command does not request."""
    if not is_url(name) or os.path.lexists(name):
        return
    if name[:4].lower() == "ftp:":
        raise UsageError(f"{in_short(name)}: only URLs of http and https are asked for", fetched(name, command))
    if command not in option_table.ON_LINE.split():
        raise UsageError(f"{in_short(name)} is a URL, and absolve {command} reads files only", fetched(name, command))


def folder_of_page(url: str) -> str:
    """Return the folder of a URL that ends like a page: for example, `http://h/a/` for `http://h/a/b.html`; or ""."""
    found = _PAGE.fullmatch(url)
    return found[1] if found is not None else ""


_PAGE: Final = re.compile(r"(https?://[^/]+/(?:.*/)?)[^/]+\.(?:[xs]?html?|xht|php\d?|aspx?|jspx?|cgi)", re.IGNORECASE)


def check_quoted(names: Sequence[str]) -> None:
    """Raise UsageError for a name with blanks that was not quoted: `Saved` and `Pages`, where `Saved Pages` exists."""
    for start, end in combinations(range(min(len(names), _WORDS) + 1), 2):
        words = names[start:end]
        if len(words) > 1 and os.path.lexists(name := " ".join(words)) and not any(map(os.path.lexists, words)):
            raise UsageError(f"{' and '.join(words)} do not exist, but {name!r} does", f"quote the name: {quote(name)}")


_WORDS: Final = 12  # inputs that may be parts of one name


def fetched(url: str, command: str = "links") -> str:
    """Return a shell command for a page on the web, for example `curl -sL URL | absolve links - --url URL`."""
    if command in {"mirror", "check", "audit"}:
        name = "crawl" if command == "mirror" else "new"
        return f"wget --recursive --page-requisites --warc-file={name} {quote(url)}, then name {name}.warc.gz"
    if command not in {"links", "rewrite", "base", "documents"}:
        command = "links"
    return f"curl -sL {quote(url)} | absolve {command} - --url {quote(url)}"


# --- the command line -------------------------------------------------------------------------------------------------


def reworded(message: str) -> str:
    """Return a message of argparse in our words."""
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


def for_usage_error(message: str) -> str:
    """Return the hint for an error of argparse, for example about values that begin with `-`; or ""."""
    if found := _NO_VALUE.fullmatch(message):
        option = next((name for name in found[1].split("/") if name.startswith("--")), found[1])
        return f"a value that begins with - is written {option}=VALUE"
    if message.endswith("required: COMMAND"):
        return f"commands: {', '.join(COMMANDS)}"
    return ""


_NO_VALUE: Final = re.compile(r"argument (\S+): expected (?:one|at least one) argument")


def no_choice(names: str, value: object, choices: Iterable[object]) -> str:
    """Return the message for an unknown word, for example `--form takes absolute or keep, not 'x'`."""
    if names == _COMMAND:
        return f"unknown command {value!r}"
    *most, last = map(str, choices)
    words = f"{', '.join(most)} or {last}" if most else last
    return f"{names} takes {words}, not {in_short(str(value))!r}"


def choice(names: str, value: object, choices: Iterable[object]) -> str:
    """Return the hint for a word outside the choices, for example `did you mean links?`."""
    word = str(value)
    if names == _COMMAND:
        return _no_command(word)
    if names == "--base" and is_url(word):
        return f"--base is about base elements in the result; the URL of an input is given by --url {word}"
    return similar(word, map(str, choices))


def _no_command(word: str) -> str:
    if is_url(word):
        return fetched(word)
    if os.path.lexists(word):
        return f"the command comes first: absolve rewrite {quote(word)} or absolve links {quote(word)}"
    found = _words("commands").get(_without_dashes(word)) or similar(word, COMMANDS, _TYPING_ERROR)
    return found or f"commands: {', '.join(COMMANDS)}"


_TYPING_ERROR: Final = 0.82  # how similar two words are at least
_PROGRAM: Final = "absolve"
_COMMAND: Final = "COMMAND"
# Hints never suggest these, since they replace files.
_WRITES: Final = frozenset({"--in-place", "--fix", "--backup", "--prune", "--output"})


def option(name: str, parser: Parser) -> str:
    """Return the hint for an unknown option: a similar one, or the commands that have it."""
    if instead := removed(name):
        return instead
    own = [known for row, _ in parser.options().values() if not row.is_setting for known in row.names]
    if (known := parser.options().get(name.removeprefix("--"))) and known[0].is_setting:
        return f"only a configuration file has it: {known[0].name} = VALUE in {NAME}"
    if found := _foreign_option(name, parser.prog.removeprefix(f"{_PROGRAM} "), alone=True):
        return found
    if having := option_table.having(name):
        if parser.prog == _PROGRAM:
            return f"options follow the command: absolve COMMAND {name}"
        *most, last = having
        return f"{name} is an option of {', '.join(most)} and {last}" if most else f"{name} is an option of {last}"
    command = parser.prog.removeprefix(f"{_PROGRAM} ")
    return _foreign_option(name, command) or _typed(name, [known for known in own if known not in _WRITES])


def _typed(word: str, known: Sequence[str]) -> str:
    """Return `did you mean WORD?` for the beginning of a known word, or a typing error; "" if no word is near."""
    begun = [one for one in known if one.startswith(word) and len(word.lstrip("-")) > 2]
    return f"did you mean {begun[0]}?" if len(begun) == 1 else similar(word, known, _TYPING_ERROR)


def output_meant(inputs: Sequence[str]) -> str:
    """Return the hint `-o FILE names the output` if the last input is a missing file, as in `cp a b`."""
    is_new = len(inputs) > 1 and not is_url(inputs[-1]) and not os.path.lexists(inputs[-1])
    return f"-o {quote(inputs[-1])} names the output" if is_new else ""


def surplus(parser: Parser) -> str:
    """Return the hint for an argument that a command does not take."""
    taken = " ".join(str(action.metavar or action.dest) for action in parser.positionals())
    return f"{parser.prog} takes {taken}" if taken else f"{parser.prog} takes options only"


# --- options and commands of other programs, and plain words ----------------------------------------------------------


def _foreign_option(name: str, command: str = "", *, alone: bool = False) -> str:
    """Return the hint for an option of another program, "" for an unknown word; `alone`: for this command alone."""
    own = _words("options-of", "audit" if command == "check" else command).get(_without_dashes(name), "")
    return own if own or alone else _words("options").get(_without_dashes(name), "")


def removed(name: str) -> str:
    """Return the hint for an option of an earlier version, "" for another word."""
    found: str = _tables()["removed"].get(name, "")
    return found


@cache
def _words(*path: str) -> dict[str, str]:
    """Return the hints of a table by their words; an empty dictionary without the table."""
    rows = reduce(lambda table, name: table.get(name, {}), path, _tables())
    return {_without_dashes(word): hint for words, hint in rows.items() for word in words.split()}


@cache
def _tables() -> dict[str, Any]:
    import tomllib  # mistakes are rare
    from importlib.resources import files

    return tomllib.loads(files(__package__).joinpath("hints.toml").read_text("utf-8"))


def _without_dashes(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
