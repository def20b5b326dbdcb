"""List the links of a tree as rows of the inventory.

In: a TreeEntity. Out: `inventory.columns.Row` values in tree order, without byte offsets and columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.core.model import Link, Part
from absolve.document.diagnostics import rows_too_large
from absolve.document.resolved import Resolved
from absolve.document.walk import inner_at
from absolve.formats.html.row_text import LONGEST
from absolve.inventory import link_rows
from absolve.inventory.columns import Where
from absolve.trees.nodes import attribute_name, element_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.inventory.columns import Row
    from absolve.trees.nodes import Adapter
    from absolve.trees.reading import TreeEntity

_LOOKED_AT: Final = 4096  # most characters of an anchor's content to read for its text
_HIDDEN: Final = frozenset({"noscript", "script", "style", "template"})


def rows(entity: TreeEntity) -> Iterator[Row]:
    """Yield one row per link, in tree order; the places of links in a srcdoc refer to its text, others are lines only.

    Raise DocumentError when the rows exceed `max_rows_bytes` of the settings.
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
            yield link_rows.row(Resolved(entity, event), entity.name, where)
        elif type(event) is Part and (inner := inner_at(entity, index)) is not None:
            for row in link_rows.rows(inner.entity, entity.name):
                known = row.entity != entity.path
                yield row if known else row._replace(line=entity.line(event.start), column=0, start=-1, end=-1)


def _described(adapter: Adapter, node: Any) -> tuple[str, str]:
    """Return the rel and the text of an element: the content of an anchor, or the alt attribute of any other."""
    found = {attribute_name(name): value for _, name, value in adapter.attributes(node)}
    named = adapter.name(node)
    is_anchor = named is not None and element_name(named[1]) == "a"
    return _folded(found.get("rel", "")), _anchor_text(adapter, node) if is_anchor else _folded(found.get("alt", ""))


def _anchor_text(adapter: Adapter, anchor: Any) -> str:
    """Return the text in an anchor, up to the next anchor; without text, the alt attributes of its images."""
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
