"""Rules by name, of `presets.toml`: the URL inside that of an archive or a redirect, URLs without what tracks readers.

In: names, and the URL of a link. Out: the URL inside, unwrapped as often as it was wrapped (at most `_MOST` times).
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import UsageError, in_short, similar
from absolve.core.patterns import PatternSet
from absolve.rewriting.functions import Dropped, Facts, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST: Final = 8  # rewriters of links that wrap what another one has wrapped


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("presets.toml").read_text("utf-8"))


def names() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(_table())


def wraps(name: str) -> str | None:
    """Return the new URL of a preset for URLs that the user names; None for a preset that knows its URLs.

    Raise UsageError for an unknown name.
    """
    if name not in _table():
        raise UsageError(f"unknown preset {in_short(name)!r}: choose from {', '.join(names())}", similar(name, names()))
    found: str | None = _table()[name].get("to")
    return found


class Preset:
    """The rules of one name; callable from a URL to the one inside, None if no rule matches."""

    def __init__(self, name: str) -> None:
        row = _table()[name]
        self.name = name
        self.once = row.get("once", False)
        self.root = row.get("root", "")
        self._rules: Sequence[Rule | Dropped] = [
            Dropped(old) if how == "query" else Rule(old, new) for old, new, how in row["rules"]
        ]

    def __reduce__(self) -> tuple[type[Preset], tuple[str]]:
        return Preset, (self.name,)

    def __call__(self, url: str, facts: Facts) -> str | None:
        """Return the URL after the first rule that matches."""
        return next((made for rule in self._rules if (made := rule(url, facts)) is not None), None)


@cache
def _possible(names: tuple[str, ...]) -> PatternSet:
    """Return all patterns of presets, for one pass over a URL: most URLs match none."""
    rows = [rule for name in names for rule in _table()[name]["rules"]]
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
            made = rule(url, facts)
            if made is not None and made != url:
                used.append(number)
                url = made
                break
        else:
            break
    return url, used
