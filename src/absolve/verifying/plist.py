"""Second check of web archives: plistlib reads equal property lists, except for the data of documents with links.

In: the two entities. Out: differences. A changed resource is compared by the second check of its own media type.
"""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING, Any, Final

from absolve.document.walk import inners
from absolve.verifying import faults_inside
from absolve.verifying.differences import Fault, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant

_CONTENT: Final = "WebResourceData"
UNREADABLE: Final = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)


def faults(before: Entity, after: Entity, meant: Meant) -> Iterator[Fault]:
    """Yield the differences between the objects of the property lists."""
    try:
        old, new = (plistlib.loads(entity.data) for entity in (before, after))
    except UNREADABLE as error:
        yield Fault("unjudged", f"plistlib cannot read this: {str(error) or type(error).__name__}")
        return
    walked = {
        (inner.entity.data, its.entity.data): (inner.entity, its.entity)
        for inner, its in zip(inners(before), inners(after), strict=False)
    }
    for path, one, other in _differing(old, new):
        pair = walked.get((one, other)) if isinstance(one, bytes) and path[-1:] == (_CONTENT,) else None
        if pair is None:
            yield Fault("tree", f"plistlib: the value at /{'/'.join(map(str, path))} became {shown(str(other))}")
            continue
        for fault in faults_inside(*pair, meant, "resource"):
            yield fault._replace(text=f"plistlib: {fault.text}")


def _differing(old: Any, new: Any) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Yield the path of each difference and its two values. Each pair of containers is compared once."""
    seen: set[tuple[int, int]] = set()
    stack: list[tuple[tuple[str | int, ...], Any, Any]] = [((), old, new)]
    while stack:
        path, one, other = stack.pop()
        if type(one) is type(other) and isinstance(one, (dict, list)) and _steps(one) == _steps(other):
            if (id(one), id(other)) not in seen:
                seen.add((id(one), id(other)))
                stack += (((*path, step), one[step], other[step]) for step in _steps(one))
        elif type(one) is not type(other) or (one != other and repr(one) != repr(other)):  # NaN equals NaN
            yield path, one, other


def _steps(value: Any) -> list[Any]:
    return list(value) if isinstance(value, dict) else list(range(len(value)))
