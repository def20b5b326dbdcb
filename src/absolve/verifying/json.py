"""Second check of JSON: Python's json reads equal values, except for the strings that are links.

In: the two entities. Out: differences.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from absolve.verifying.differences import shown
from absolve.verifying.references import decoded

if TYPE_CHECKING:
    from absolve.document.entity import Entity
    from absolve.verifying.differences import Differences
    from absolve.verifying.meant import Meant


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Add the differences between the values."""
    try:
        sides = [
            json.loads(decoded(entity).removeprefix("\ufeff"), object_pairs_hook=_members) for entity in (before, after)
        ]
    except (ValueError, RecursionError) as error:
        differences.add("unjudged", f"json cannot read this: {error}", None, None)
        return
    wanted = meant.by_reference()
    stack = [(*sides, "")]
    while stack:
        old, new, path = stack.pop()
        if isinstance(old, (list, tuple)) and type(old) is type(new) and len(old) == len(new):
            pairs = enumerate(zip(old, new, strict=True))
            stack += [(one, other, f"{path}/{_step(old, at)}") for at, (one, other) in pairs]
        elif isinstance(old, str) and isinstance(new, str):
            if new != old and new not in _meant(old, wanted):
                differences.add("target", f"json: {shown(old)} became {shown(new)} at {path or '/'}", None, None)
        elif repr(old) != repr(new):  # by repr 1 differs from 1.0, and NaN equals NaN
            differences.add("tree", f"json: the value at {path or '/'} differs", None, None)


def _meant(old: str, wanted: dict[str, set[str]]) -> set[str]:
    """Return the values that a string may become: those of its reference, with the same white space around it."""
    reference = old.strip()
    before, _, after = old.partition(reference) if reference else (old, "", "")
    return {f"{before}{new}{after}" for new in wanted.get(reference, ())}


def _members(pairs: list[tuple[str, Any]]) -> tuple[list[Any], ...]:
    """Return an object as a tuple of lists [name, value], with all members of a repeated name."""
    return tuple([name, value] for name, value in pairs)


def _step(values: Any, at: int) -> str:
    """Return a step of the path to a value: the name of a member, or an index."""
    return str(values[at][0]) if isinstance(values, tuple) else str(at)
