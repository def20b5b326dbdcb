"""The definition of an option, a row of `option_table`, and the types of values.

In: the text of a row. Out: facts for argparse, configuration files, completion and the documentation.

    >>> option = Option("-o --output OUT", "links", "the output")
    >>> option.names, option.dest, option.metavar, size("4K"), pair("8,2")
    (['-o', '--output'], 'output', 'OUT', 4096, (8, 2))
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from absolve.core.errors import in_short
from absolve.document.settings import CHOICES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Words: TypeAlias = str | Sequence[str] | Callable[[], Sequence[str]]

# Words for values that are paths: in a configuration file relative to its folder, and other paths.
_PATHS: Final = frozenset({"FILE", "OUT", "DIR", "OLD", "MAP"})
_OTHER_PATHS: Final = frozenset({"INPUT", "BEFORE", "AFTER", "PROGRAM"})
AT_FILE: Final = "@FILE"  # the end of the word for a value that may be a file with values, named after an @
_LIST: Final = ",..."  # the end of the word for a value of several words, separated by commas
_DIGITS: Final = 18  # of a number
_KEYWORDS: Final = frozenset({"from"})


class Option(NamedTuple):
    """An option, or an argument without a name, of some `commands`.

    `usage` has its names and the word for its value, for example `-o --output OUT`; a switch has no such word. A file
    that was found, not named, may set it only if it `is_harmless`: it can neither write files, run programs or use the
    network, nor change the targets of absolute links, lift a protection, or name a file of this machine. `repeats`: it
    may be used several times. Options with the same `rivals` exclude each other. `words` are completed. `is_setting`:
    only a configuration file has it, not the command line.
    """

    usage: str
    commands: str
    help: str | Callable[[], str]
    is_harmless: bool = False
    is_setting: bool = False
    type: Callable[[str], Any] | None = None
    default: Any = None
    choices: Words = ()
    words: Words = ()
    repeats: bool = False
    nargs: str | None = None
    rivals: str = ""
    attribute: str = ""

    @property
    def names(self) -> list[str]:
        """The names that begin with hyphens; empty for an argument."""
        return [word for word in self.usage.split() if word.startswith("-")]

    @property
    def name(self) -> str:
        """The long name without hyphens, as in a configuration file, for example `output`; or an argument's name."""
        return next((name for name in self.names if name.startswith("--")), self.usage.split()[0]).removeprefix("--")

    @property
    def dest(self) -> str:
        """The attribute of parsed options with the value, for example `from_` for `--from`."""
        name = self.name.replace("-", "_")
        return self.attribute or (f"{name}_" if name in _KEYWORDS else name)

    @property
    def metavar(self) -> str | None:
        """The word for the value; None for a switch, and for an option with `choices`."""
        *names, last = self.usage.split()
        return last if names and not last.startswith("-") else None

    @property
    def is_switch(self) -> bool:
        return bool(self.names) and self.metavar is None and not self.choices

    @property
    def absent(self) -> Any:
        """The value without this option."""
        if self.is_switch:
            return False
        return [] if self.repeats or self.nargs == "*" else CHOICES.get(self.dest, self.default)

    @property
    def is_path(self) -> bool:
        """Whether the value in a file is a path relative to its folder."""
        return self.metavar in _PATHS or (self.metavar or "").endswith(AT_FILE)

    @property
    def completes_files(self) -> bool:
        return self.is_path or self.metavar in _OTHER_PATHS

    @property
    def takes_words(self) -> bool:
        """Whether the value is several words, separated by commas."""
        return (self.metavar or "").endswith(_LIST)

    @property
    def is_limit(self) -> bool:
        """Whether the value limits time or memory, so that a higher value lifts a protection."""
        return self.name.startswith("max-") or self.name == "timeout"

    def settings(self) -> dict[str, Any]:
        """Return the keyword arguments for argparse's `add_argument`; document options have their default there."""
        found: dict[str, Any] = {"help": self.help if isinstance(self.help, str) else self.help()}
        if self.names:
            found["dest"] = self.dest
        if self.is_switch:
            return found | {"action": "store_true"}
        default = self.absent if self.names else None
        found |= {"default": default, "metavar": self.metavar, "nargs": self.nargs, "type": self.type}
        found["choices"] = called(self.choices) or None
        found |= {"action": "append"} if self.repeats else {}
        return {name: value for name, value in found.items() if value is not None}


def called(words: Words) -> tuple[str, ...]:
    """Return the words of an option: as they are, from `MODULE:NAME`, or from a function."""
    if isinstance(words, str):
        module, _, name = words.partition(":")
        words = getattr(import_module(module), name)
    return tuple(words() if callable(words) else words)


# --- values -----------------------------------------------------------------------------------------------------------


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return a type for whole numbers in a range: for example, `whole(1, 9)("5")` is 5."""

    def value(text: str) -> int:
        if not text.isdecimal() or len(text) > _DIGITS or not least <= int(text) <= most:
            raise ArgumentTypeError(f"must be a number from {least} to {most}, not {in_short(text)!r}")
        return int(text)

    return value


def number(text: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS:
        raise ArgumentTypeError(f"must be a number, not {in_short(text)!r}")
    return int(text)


_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text: str) -> int:
    unit = text[-1:].upper()
    digits = text[:-1] if unit in _UNITS else text
    if not digits.isdecimal():
        raise ArgumentTypeError(f"must be a number, optionally followed by K, M or G, not {text!r}")
    return int(digits) * _UNITS.get(unit, 1)


_SPANS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LIMIT: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(pages?|[kmg]i?b|[smhd])")


def limit(text: str) -> tuple[str, float]:
    """Return a bound: for example ("pages", 500.0) for `500pages`, ("seconds", 3600.0) for `1h`."""
    found = _LIMIT.fullmatch(text.strip().lower())
    if found is None:
        raise ArgumentTypeError(f"must be like 500pages, 2GB or 1h, not {in_short(text)!r}")
    number, unit = float(found[1]), found[2]
    if unit.startswith("page"):
        return "pages", number
    return ("seconds", number * _SPANS[unit]) if unit in _SPANS else ("size", number * _UNITS[unit[0].upper()])


def real(most: float, what: str, *, zero: bool) -> Callable[[str], float]:
    def value(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = -1.0
        if not 0 <= found <= most or (not zero and not found):
            raise ArgumentTypeError(f"must be {what}, not {text!r}")
        return found

    return value


share: Final = real(1, "a number from 0 to 1", zero=True)
pause: Final = real(3600, "a number of seconds from 0 to 3600", zero=True)
seconds: Final = real(86_400, "a number of seconds from 0 to 86400", zero=False)


def age(text: str) -> float:
    """Return a time span in seconds: for example 5400.0 for `90m`, 30.0 for `30`."""
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _SPANS else (text, "s")
    return real(10**9, "a number, perhaps followed by s, m, h or d", zero=True)(number) * _SPANS[unit]


def field(text: str) -> tuple[str, str]:
    """Return a header field as name and value: for example ("Accept", "text/html") for `Accept: text/html`."""
    name, _, value = text.partition(":")
    return name, value.strip(" ")


def pair(text: str) -> tuple[int, int]:
    """Return two numbers of concurrent requests: for example (8, 2) for `8,2`, (4, 4) for `4`."""
    one, _, other = text.partition(",")
    value = whole(1, 256)
    return value(one), value(other or one)


_ORIGIN: Final = re.compile(r"https?://(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?", re.IGNORECASE)


def resolved(text: str) -> tuple[str, str]:
    """Return a host and its origin: for example ("old.example", "http://127.0.0.1:8080")."""
    host, _, place = text.partition("=")
    origin = (place if "://" in place else f"http://{place}").rstrip("/")
    if not re.fullmatch(r"[\w.-]+", host) or not _ORIGIN.fullmatch(origin):
        raise ArgumentTypeError(f"must be HOST=URL, as in old.example=http://127.0.0.1:8080, not {in_short(text)!r}")
    return host.lower(), origin
