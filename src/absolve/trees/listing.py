"""The rows of a tree's links: the inventory's columns, as far as a tree can know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.core.model import Link, Part
from absolve.document.diagnostics import rows_too_large
from absolve.document.resolved import Resolved
from absolve.document.walk import inner_at
from absolve.formats.html.row_text import LONGEST
from absolve.inventory import columns
from absolve.inventory.columns import Where
from absolve.trees.nodes import attribute_name, element_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.inventory.columns import Row
    from absolve.trees.nodes import Adapter
    from absolve.trees.reading import TreeEntity

_LOOKED_AT: Final = 4096  # characters of an anchor's content that are read for its text
_HIDDEN: Final = frozenset({"noscript", "script", "style", "template"})


def rows(entity: TreeEntity) -> Iterator[Row]:
    """One row a link, in tree order; those in a srcdoc have their places in its text, all others only a line.

    DocumentError where the rows come to take more bytes than the settings allow.
    """
    room = entity.settings.max_rows_bytes
    for row in _rows(entity):
        room -= len(row.reference) + len(row.target or "") + len(row.base) + len(row.text)
        if room < 0:
            raise rows_too_large(entity)
        yield row


def _rows(entity: TreeEntity) -> Iterator[Row]:
    slot, where = None, Where(0, 0, -1, -1, "", "")
    for index, event in enumerate(entity.events):
        if type(event) is Link:
            if (found := entity.slot(event.start)) is not slot:
                slot = found
                line = entity.adapter.line(slot.node)
                where = Where(line, 0, -1, -1, *_described(entity.adapter, slot.node))
            yield columns.row(Resolved(entity, event), entity.name, where)
        elif type(event) is Part and (inner := inner_at(entity, index)) is not None:
            for row in columns.rows(inner.entity, entity.name):
                known = row.entity != entity.path
                yield row if known else row._replace(line=entity.line(event.start), column=0, start=-1, end=-1)


def _described(adapter: Adapter, node: Any) -> tuple[str, str]:
    """The rel and the text of an element: what an anchor holds, or the alternative text of an image."""
    found = {attribute_name(name): value for _, name, value in adapter.attributes(node)}
    named = adapter.name(node)
    is_anchor = named is not None and element_name(named[1]) == "a"
    return _folded(found.get("rel", "")), _anchor_text(adapter, node) if is_anchor else _folded(found.get("alt", ""))


def _anchor_text(adapter: Adapter, anchor: Any) -> str:
    """The text in an anchor, up to the next one, or the alternative texts in it."""
    pieces: list[str] = []
    alternatives: list[str] = []
    size = 0
    stack = [iter(adapter.content(anchor))]
    while stack and size < _LOOKED_AT:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif type(child) is str:
            pieces.append(child)
            size += len(child)
        elif (named := adapter.name(child)) is not None and (name := element_name(named[1])) not in _HIDDEN:
            if name == "a":
                break
            if name == "img":
                alternatives += [value for _, key, value in adapter.attributes(child) if key == "alt"]
            stack.append(iter(adapter.content(child)))
    return _folded(" ".join(pieces)) or _folded(" ".join(alternatives))


def _folded(text: str) -> str:
    return " ".join(text.split())[:LONGEST]
