"""Second check of text in lines: robots.txt and sitemaps as text.

In: the two entities. Out: differences. As many lines are there as before, and a line that differs does so only in the
references in it. Python's urllib.robotparser reads robots.txt: the rules in it are equal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.robotparser import RobotFileParser

from absolve.formats import registry
from absolve.verifying.differences import Fault, shown
from absolve.verifying.meant import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant


def faults(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between the lines, and between the rules of robots.txt."""
    old, new = (decoded(entity).splitlines() for entity in (before, after))
    if len(old) != len(new):
        yield Fault("tree", f"{len(old):,} lines before, {len(new):,} after")
        return
    wanted = meant.by_reference()
    for number, (one, other) in enumerate(zip(old, new, strict=True), 1):
        if one != other and not _is_meant(one, other, wanted):
            yield Fault("target", f"line {number}: {shown(one)} became {shown(other)}")
    if before.media_type == registry.ROBOTS and _rules(old) != _rules(new):
        yield Fault("tree", "urllib.robotparser: the rules differ")


def _is_meant(old: str, new: str, wanted: dict[str, set[str]]) -> bool:
    """Return whether a line differs only in references, which have the values that they may have."""
    at = 0
    for piece in _pieces(old, wanted):
        values = {piece, *wanted.get(piece, ())}
        found = max((value for value in values if new.startswith(value, at)), key=len, default=None)
        if found is None:
            return False
        at += len(found)
    return at == len(new)


def _pieces(line: str, wanted: dict[str, set[str]]) -> list[str]:
    """Split a line into references and what is between them: it is one itself, or a word of it is."""
    whole = line.strip()
    if whole and whole in wanted:
        start = line.index(whole)
        return [line[:start], whole, line[start + len(whole) :]]
    return _BETWEEN.split(line)


_BETWEEN: Final = re.compile(r"(^\W*[\w-]*\s*:(?!//)\s*|\s+)")  # the name of a field, and white space


def _rules(lines: list[str]) -> str:
    parser = RobotFileParser()
    parser.parse(lines)
    return str(parser)
