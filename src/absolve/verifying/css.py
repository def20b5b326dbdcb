"""Second check of style sheets: the tokens of tinycss2 are equal, except for the links.

In: the two entities. Out: differences. Without tinycss2 this check is skipped.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from absolve.core.model import Link
from absolve.document.resolved import link_context, text, value_of
from absolve.formats.css import IMAGE_SET, IMPORT, URL
from absolve.formats.grammars import WHITE_SPACE
from absolve.verifying.expected import CODING, Fault, Position, decoded, lost, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.document.resolved import LinkContext
    from absolve.verifying.expected import Expected

_BLANKS = WHITE_SPACE.decode()
_PLACES = (URL, IMPORT, IMAGE_SET)


def faults(before: Entity, after: Entity, expected: Expected) -> Iterator[Fault]:
    """Yield the differences between the tokens of two style sheets; none if tinycss2 is not installed."""
    try:
        from tinycss2 import parse_component_value_list
    except ImportError:
        return
    sides = [_tokens(parse_component_value_list(decoded(entity))) for entity in (before, after)]
    rules = [_rule(entity) for entity in (before, after)]
    here = there = Position(1, 1)
    for old, new in zip_longest(*sides):
        here, there = _position(old, here), _position(new, there)
        fault = _fault(old, new, expected, rules)
        if fault is not None:
            yield Fault(*fault, here, there)
            if fault[0] == "tree":
                return


def _position(token: Any, last: Position) -> Position:
    """Return the position of a token; for the end of a block, the position of the last token before it."""
    return last if token is None else Position(token.source_line, token.source_column)


def _tokens(nodes: list[Any]) -> Iterator[Any]:
    """Yield every token in order, a block before its content, and None at the end of each block."""
    stack = [iter(nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            yield None
            continue
        yield node
        inner = getattr(node, "content", None) if node.type.endswith("block") else getattr(node, "arguments", None)
        if inner is not None:
            stack.append(iter(inner))


def _fault(old: Any, new: Any, expected: Expected, rules: list[LinkContext]) -> tuple[str, str] | None:
    if old is None or new is None:
        return None if old is new else ("tree", "tinycss2: a block or function ends in one of the documents only")
    if not expected.alike(_kind(old), _kind(new)):
        return "tree", f"tinycss2: {shown(_kind(old))} before, {shown(_kind(new))} after"
    if old.type not in {"url", "string"} or old.value == new.value:
        return None
    here, there = old.value.strip(_BLANKS), new.value.strip(_BLANKS)
    if text(value_of(here)) != here:  # invalid bytes, which form a character without the escape between them
        here, there = lost(here), lost(there)
    faults = [expected.fault_of_value(place, here, there, *rules) for place in _PLACES]
    return None if None in faults or expected.alike(here, there) else ("target", f"tinycss2: css: {faults[0]}")


def _kind(node: Any) -> str:
    """Return the part of a token that must be equal: everything but a block's content and a reference's value."""
    if node.type in {"url", "string"}:
        return str(node.type)
    if node.type == "function":
        return f"{node.name}("
    return str(node.type) if node.type.endswith("block") else str(node.serialize())


def _rule(entity: Entity) -> LinkContext:
    """Return the context of the links of a style sheet: their base is its own URL."""
    return link_context(entity, Link(URL, 0, 0, CODING))
