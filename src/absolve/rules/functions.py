r"""New URLs with functions, queries without some parameters, and rules by name (`presets.toml`).

In: the text of a rule, with the groups of its pattern (`\1`) if it has one, and the URL of a link. Out: a URL, or None
without a date. Functions are facts about the document (`{date}`), the URL of the link, percent-decoded groups; other
names in braces are text. Presets unwrap the URL inside the URL of an archive or a redirect, as often as it was wrapped
(at most `_MOST` times), and remove parameters that track readers.

    >>> PatternRule("https?://old/(.*)", r"http://{host}/\1")("http://old/a", Facts(host="new"))
    'http://new/a'
"""

from __future__ import annotations

import re
import string
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core import patterns
from absolve.core.errors import UsageError, in_short, similar
from absolve.core.patterns import PatternSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


HIDDEN: Final = "invisible-character"  # the code of a rule whose target nobody can read
IS_HIDDEN: Final = "the new URL has a character that nobody sees"
_FUNCTION: Final = re.compile(r"\{(date|host|url|target|decoded:(\w{1,40}))\}", re.ASCII)
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
# What a URL may have as it is (RFC 3986 2), and the percent sign of an escape that was escaped.
_PLAIN: Final = frozenset(f"{string.ascii_letters}{string.digits}-._~:/?#[]@!$&'()*+,;=%")


class Facts(NamedTuple):
    """Facts about a document: its URL, its host, and its date as YYYYMMDDhhmmss; "" if unknown."""

    url: str = ""
    host: str = ""
    date: str = ""


class _Call(NamedTuple):
    function: str
    group: int = 0


def has_functions(text: str) -> bool:
    """Return whether a new URL has a function."""
    return _FUNCTION.search(text) is not None


def decoded(text: str) -> str:
    """Return a text whose escapes are decoded if the character may be in a URL: for example `a/b%20` for `a%2Fb%20`."""

    def plain(found: re.Match[str]) -> str:
        character = chr(int(found[1], 16))
        return character if character in _PLAIN else found[0]

    return _ESCAPE.sub(plain, text)


class Template:
    """A new URL with functions; `pattern`: the regular expression whose groups it has."""

    def __init__(self, text: str, pattern: str | None = None) -> None:
        """Raise UsageError for a group that the pattern does not have."""
        self.text = text
        self._parts = [*_parts(text, pattern)]

    @property
    def is_whole(self) -> bool:
        """Whether it contains the whole URL of the link, so that no rest is appended."""
        return _Call("target") in self._parts

    def filled(self, url: str, facts: Facts, groups: Sequence[str | None] = ()) -> str | None:
        """Return the new URL for the URL of a link; None if a fact about the document is unknown."""
        parts = []
        for part in self._parts:
            if isinstance(part, str):
                parts.append(part)
            elif isinstance(part, int):
                parts.append(groups[part] or "")
            elif part.function == "target":
                parts.append(url)
            elif part.function == "decoded":
                parts.append(decoded(groups[part.group] or ""))
            elif fact := getattr(facts, part.function):
                parts.append(fact)
            else:
                return None
        return "".join(parts)


def _parts(text: str, pattern: str | None) -> Iterator[str | int | _Call]:
    place = 0
    for found in _FUNCTION.finditer(text):
        yield from _template_parts(text[place : found.start()], pattern)
        yield _Call("decoded", _group(found[2], pattern)) if found[2] else _Call(found[1])
        place = found.end()
    yield from _template_parts(text[place:], pattern)


def _template_parts(text: str, pattern: str | None) -> Sequence[str | int]:
    return [text] if pattern is None else patterns.template(text, pattern)


def _group(name: str, pattern: str | None) -> int:
    if pattern is None:
        raise UsageError(f"{{decoded:{name}}} needs a rule that is a regex: only it has groups")
    (number,) = patterns.template(rf"\g<{name}>", pattern)
    return int(number)


class PatternRule:
    """A regular expression for whole URLs, with the new URL. Raise UsageError if one of them cannot be used."""

    def __init__(self, pattern: str, new: str) -> None:
        self.pattern = pattern
        self.groups = patterns.whole_matcher(pattern)
        self.template = Template(new, pattern)

    def __reduce__(self) -> tuple[type[PatternRule], tuple[str, str]]:
        return PatternRule, (self.pattern, self.template.text)

    @property
    def rule(self) -> str:
        """The rule, as FROM=TO."""
        return f"{self.pattern}={self.template.text}"

    def __call__(self, url: str, facts: Facts) -> str | None:
        """Return the new URL, None if the pattern does not match the whole URL."""
        found = self.groups(url)
        return None if found is None else self.template.filled(url, facts, found)


class Dropped:
    """A rule that drops query parameters, by a pattern for names, or names and values.

    For example, `utm_.*` makes `/a?utm_x=1` `/a`, and `sid=[0-9a-f]{32}` leaves `/a?sid=7` alone.
    """

    def __init__(self, pattern: str) -> None:
        self.rule = self._pattern = pattern
        self._matcher = patterns.whole_matcher(pattern)

    def __reduce__(self) -> tuple[type[Dropped], tuple[str]]:
        return Dropped, (self._pattern,)

    def __call__(self, url: str, facts: Facts) -> str | None:
        """Return the URL without these parameters, None if it has none of them."""
        del facts
        before, crosshatch, fragment = url.partition("#")
        path, _, query = before.partition("?")
        parameters = query.split("&")
        kept = [one for one in parameters if not self._drops(one.partition("=")[0]) and not self._drops(one)]
        if len(kept) == len(parameters):
            return None
        return f"{path}{'?' if kept else ''}{'&'.join(kept)}{crosshatch}{fragment}"

    def _drops(self, parameter: str) -> bool:
        return self._matcher(decoded(parameter)) is not None


# --- rules by name ----------------------------------------------------------------------------------------------------

_MOST: Final = 8  # wrappings inside each other, for example by the link scanners of several mail servers


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("presets.toml").read_text("utf-8"))


def _rules(name: str) -> list[list[str]]:
    """Return the rows of a preset, and of the presets that it is used with."""
    row = _table()[name]
    return [rule for one in (row, *map(_table().__getitem__, row.get("with", ()))) for rule in one["rules"]]


def names() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(_table())


def wraps(name: str) -> str | None:
    """Return the new URL of a preset for URLs that the user names; None for a preset with patterns for its URLs.

    Raise UsageError for an unknown name.
    """
    if name not in _table():
        raise UsageError(f"unknown preset {in_short(name)!r}: choose from {', '.join(names())}", similar(name, names()))
    found: str | None = _table()[name].get("to")
    return found


class Preset:
    """The rules of one preset; a call returns the URL inside a URL, or None if no rule matches."""

    def __init__(self, name: str) -> None:
        row = _table()[name]
        self.name = name
        self.once = row.get("once", False)
        self.root = row.get("root", "")
        self._rules: Sequence[PatternRule | Dropped] = [
            Dropped(old) if how == "query" else PatternRule(old, new) for old, new, how in _rules(name)
        ]

    def __reduce__(self) -> tuple[type[Preset], tuple[str]]:
        return Preset, (self.name,)

    def __call__(self, url: str, facts: Facts) -> str | None:
        """Return the URL after the first rule that matches."""
        return next((unwrapped_url for rule in self._rules if (unwrapped_url := rule(url, facts)) is not None), None)


@cache
def _possible(names: tuple[str, ...]) -> PatternSet:
    """Return all patterns of presets as one set, since most URLs match none of them."""
    rows = [rule for name in names for rule in _rules(name)]
    return PatternSet((r"[?]" if how == "query" else f"^(?:{old})$", False) for old, _, how in rows)


def may_unwrap(rules: Sequence[tuple[int, Preset | Dropped]], url: str) -> bool:
    """Return whether a rule may match a URL: False only if none does."""
    names = tuple(rule.name for _, rule in rules if isinstance(rule, Preset))
    return (len(names) < len(rules) and "?" in url) or bool(names and _possible(names).candidates(url))


def unwrapped(rules: Sequence[tuple[int, Preset | Dropped]], url: str, facts: Facts) -> tuple[str, list[int]]:
    """Return the URL inside, and the numbers of the rules that were used."""
    used: list[int] = []
    for _ in range(_MOST * len(rules)):
        for number, rule in rules:
            if number in used and getattr(rule, "once", False):
                continue
            inner = rule(url, facts)
            if inner is not None and inner != url:
                used.append(number)
                url = inner
                break
        else:
            break
    return url, used
