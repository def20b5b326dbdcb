"""Second check of HTTP Archives (HAR 1.2): json reads equal values, except for links and bodies.

In: the two entities. Out: differences. A changed body is compared by the second check of its own media type. The bytes
of header fields are compared by the first check.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from absolve.document.walk import inners
from absolve.formats.headers import OF_HTTP
from absolve.verifying import judge
from absolve.verifying.differences import Differences, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Add the differences between the values that json reads."""
    try:
        old, new = (_entries(json.loads(entity.data, object_pairs_hook=list)) for entity in (before, after))
    except (ValueError, RecursionError) as error:
        differences.add("unjudged", f"json cannot read this: {error}", None, None)
        return
    (around, entries), (its_around, its_entries) = old, new
    if around != its_around or len(entries) != len(its_entries):
        differences.add("tree", "json: values outside the entries, or the number of entries, differ", None, None)
        return
    walked = zip(inners(before), inners(after), strict=False)
    objects = [(one, its) for one, its in zip(entries, its_entries, strict=True) if _is_object(one)]
    for number, ((one, its), (inner, other)) in enumerate(zip(objects, walked, strict=False)):
        for code, words in _Entry(meant, inner.entity, other.entity).faults(one, its):
            differences.add(code, f"json: {words} (entry {number + 1})", None, None)


def _is_object(value: Any) -> bool:
    """Return whether a value is an object: here a list of pairs, because a name may be repeated."""
    return isinstance(value, list) and all(isinstance(pair, tuple) for pair in value)


def _entries(archive: Any) -> tuple[Any, list[Any]]:
    """Return the archive without its entries, and the entries."""
    entries: list[Any] = []
    around = []
    for name, value in archive:
        if name == "log" and _is_object(value):
            around.append((name, [(key, None if key == "entries" else inner) for key, inner in value]))
            entries += [entry for key, inner in value if key == "entries" for entry in inner]
        else:
            around.append((name, value))
    return around, entries


class _Entry:
    def __init__(self, meant: Meant, before: Entity, after: Entity) -> None:
        self._meant = meant
        self._before = before
        self._after = after

    def faults(self, old: Any, new: Any) -> Iterator[tuple[str, str]]:
        """Yield the code and text of each unintended difference."""
        for path, one, other in _differing(old, new, ()):
            if path[:1] != ("response",) or not isinstance(one, (str, int)) or type(one) is not type(other):
                yield "tree", f"{'.'.join(path) or 'it'} changed to {shown(str(other))}"
            elif path[1:] == ("content", "text"):
                yield from self._body(one, other)
            elif path[1:] == ("content", "size"):
                if other != len(self._inside(self._after).data):
                    yield "attribute", "the size of the content is wrong"
            elif path[1:] != ("redirectURL",) and path[1:2] != ("headers",):
                yield "tree", f"{'.'.join(path)} changed to {shown(str(other))}"
            elif path[1:2] == ("headers",) and path[2:] not in {(name, "value") for name in OF_HTTP}:
                yield "attribute", f"the field {'.'.join(path[2:3])} changed to {shown(str(other))}"

    def _inside(self, entry: Entity) -> Entity:
        return next((inner.entity for inner in inners(entry)), entry)

    def _body(self, old: Any, new: Any) -> Iterator[tuple[str, str]]:
        inside, its_inside = self._inside(self._before), self._inside(self._after)
        if not (_is(old, inside.data) and _is(new, its_inside.data)):
            yield "unjudged", "json decodes this body differently from absolve"
            return
        found = Differences(inside, its_inside)
        judge(inside, its_inside, self._meant, found)
        for diagnostic in found.diagnostics:
            yield diagnostic.code, f"at {diagnostic.line}:{diagnostic.column} of this body: {diagnostic.text}"


def _is(text: str, data: bytes) -> bool:
    """Return whether a text is these bytes, in UTF-8 or in base64."""
    if text.encode("utf-8", "surrogatepass") == data:
        return True
    try:
        return base64.b64decode(text) == data
    except (binascii.Error, ValueError):
        return False


def _differing(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Yield the path and the two values of each difference; the step of a header field is its name in lower case."""
    if old == new:
        return
    if not (isinstance(old, list) and isinstance(new, list) and len(old) == len(new)):
        yield path, old, new
    elif _is_object(old) and _is_object(new) and [name for name, _ in old] == [name for name, _ in new]:
        for (name, one), (_, other) in zip(old, new, strict=True):
            yield from _differing(one, other, (*path, name))
    elif _is_object(old) or _is_object(new):
        yield path, old, new
    else:
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            name = next((value for key, value in one if key == "name"), "") if _is_object(one) else index
            yield from _differing(one, other, (*path, str(name).lower()))
