"""Convert a tree to an entity, edits of the entity to changes of the tree, and its links to rows of the inventory.

In: a tree with its adapter. Out: a TreeEntity, whose bytes are the concatenated values (attributes and texts) with
links. So bases (RFC 1808 section 3), resolvers, policies, rows and the grammars inside a value (srcset, CSS, srcdoc,
JSON) work as for any document, and an edit of these bytes is a new value for the slot that contains it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import WalkError
from absolve.core.model import DEFAULT, BaseClaim, Edit, Layer, Link, Part
from absolve.document.diagnostics import failure, rows_too_large
from absolve.document.entity import Entity
from absolve.document.resolved import Resolved
from absolve.document.walk import fold, inner_at
from absolve.encodings.charsets import UTF_8, by_label, inside
from absolve.encodings.codings import Raw
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import rules
from absolve.formats.html.claims import base_claim, codebase_claim, retrieval_url, saved_claim
from absolve.formats.html.link_tables import INERT_REFRESH, REFRESH
from absolve.formats.html.names import ELEMENT_ID, ELEMENT_TRAITS, HTML, MATHML, SVG, Trait
from absolve.formats.html.row_text import LONGEST
from absolve.formats.registry import JAVASCRIPT
from absolve.formats.sniffing import NAMES_MAP
from absolve.inventory import link_rows
from absolve.inventory.columns import Where
from absolve.rewriting import rewriter
from absolve.rewriting.edits import splice
from absolve.rewriting.policy import absolute
from absolve.urls.base import Bases, establish

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.core.model import Event, LinkSite
    from absolve.document.walk import Settings
    from absolve.inventory.columns import Row
    from absolve.rewriting.policy import Policy
    from absolve.trees.adapters import Adapter

# --- nodes in tree order, with names and namespaces as in the HTML Standard (13.2.6) ---------------------------------

class Seen(NamedTuple):
    """A node with its context: `name` is in lower case, `namespace` a constant of formats.html.names or OTHER.

    `inside`: the node is part of the tree given, not only of the document that contains it.
    """

    node: Any
    namespace: int
    name: str
    in_template: bool
    in_noscript: bool
    inside: bool


COMMENT: Final = "#comment"
OTHER: Final = -1  # any namespace but HTML, SVG and MathML
_NAMESPACES: Final = {
    "http://www.w3.org/1999/xhtml": HTML,
    "http://www.w3.org/2000/svg": SVG,
    "http://www.w3.org/1998/Math/MathML": MATHML,
}
_PREFIXES: Final = {
    "http://www.w3.org/1999/xlink": "xlink:",
    "http://www.w3.org/XML/1998/namespace": "xml:",
    "http://www.w3.org/2000/xmlns/": "xmlns:",
}


def _names(traits: int) -> frozenset[str]:
    return frozenset(name.decode() for name, number in ELEMENT_ID.items() if ELEMENT_TRAITS[number] & traits)


_TEXT: Final = _names(Trait.RCDATA | Trait.RAWTEXT) | {"plaintext", "script"}  # their child elements are ignored
_BREAKOUT: Final = _names(Trait.BREAKOUT)
_POINTS: Final = {SVG: _names(Trait.SVG_POINT), MATHML: _names(Trait.MATHML_POINT)}


def nodes(adapter: Adapter, tree: Any) -> Iterator[Seen]:
    """Yield every element and comment of the document that contains a tree, in tree order.

    Children of elements whose content is text in HTML are omitted.
    """
    tops, whole = adapter.tops(tree)
    stack = [(node, HTML, False, False, whole) for node in reversed(tops)]
    while stack:
        node, around, in_template, in_noscript, inside = stack.pop()
        inside = inside or node is tree
        named = adapter.name(node)
        if named is None:
            yield Seen(node, around, COMMENT, in_template, in_noscript, inside)
            continue
        name = element_name(named[1])
        namespace = _NAMESPACES.get(named[0], OTHER) if named[0] is not None else _namespace(name, around)
        yield Seen(node, namespace, name, in_template, in_noscript, inside)
        if namespace == HTML and name in _TEXT:
            continue
        if namespace == HTML:
            in_template = in_template or name == "template"
            in_noscript = in_noscript or name == "noscript"
        around = _namespace_inside(adapter, node, namespace, name)
        children = [child for child in adapter.content(node) if type(child) is not str]
        stack += [(child, around, in_template, in_noscript, inside) for child in reversed(children)]


def _namespace(name: str, around: int) -> int:
    """Return the namespace of an element in a tree without namespaces, by its context (13.2.6.5)."""
    if name in {"svg", "math"}:
        return SVG if name == "svg" else MATHML
    return HTML if name in _BREAKOUT else around


def _namespace_inside(adapter: Adapter, node: Any, namespace: int, name: str) -> int:
    """Return the namespace in which children of an element are read: its own, or HTML in an integration point.

    For example, the children of SVG's `foreignObject` are HTML (13.2.6).
    """
    if name in _POINTS.get(namespace, ()):
        return HTML
    if namespace == MATHML and name == "annotation-xml":
        encoding = keyword([(key, value) for _, key, value in adapter.attributes(node)], "encoding")
        return HTML if encoding in {"text/html", "application/xhtml+xml"} else namespace
    return namespace


def keyword(attributes: Iterable[tuple[str, str]], name: str) -> str:
    """Return the value of an attribute, stripped and in lower case, for example "next" for ` Next `; "" if absent."""
    return lower(next((value for key, value in attributes if key == name), "").strip("\t\n\f\r "))


_UPPER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def lower(name: str) -> str:
    """Return a name with its ASCII letters in lower case, as in HTML."""
    return name.lower() if name.isascii() else name.translate(_UPPER)


_ESCAPE: Final = re.compile(r"U([0-9A-F]{5})")


@lru_cache(1024)
def element_name(name: str) -> str:
    """Return an element name in lower case, with the escapes of html5lib's lxml trees decoded.

    For example, `vU0003Aimagedata` is `v:imagedata`: html5lib escapes characters that XML does not allow in names.
    """
    return lower(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), name) if "U000" in name else name)


@lru_cache(1024)
def attribute_name(key: str) -> str:
    """Return an attribute name as in rows: for example, `xlink:href`, also for `{http://www.w3.org/1999/xlink}href`."""
    if key.startswith("{"):
        uri, _, key = key[1:].partition("}")
        key = _PREFIXES.get(uri, f"{{{uri}}}") + key
    return element_name(key)


_CODING: Final = Raw(UTF_8)
_NAMES_MAP: Final = NAMES_MAP.decode()
_QUOTE: Final = b'"'  # put around each value, as in a tag

Attributes = list[tuple[Any, str, str]]  # key, name, value


class Slot(NamedTuple):
    """A value with links: its span in the entity's bytes, its node and key (None: the node's text), its error handler.

    `errors` is the error handler of the UTF-8 codec, for lone surrogates.
    """

    start: int
    end: int
    node: Any
    key: Any
    errors: str


class TreeOptions(NamedTuple):
    """The caller's facts about a tree: its retrieval claim, name and charset; `bases`: whether base elements count."""

    claim: BaseClaim | None
    name: str = "<tree>"
    charset: str | None = None
    bases: bool = True


class TreeEntity(Entity):
    """The entity of a tree's values. Lines are the lines of the nodes; all columns are 0."""

    __slots__ = ("adapter", "slots")

    def __init__(self, reading: _Reading, options: TreeOptions) -> None:
        charset = inside(by_label(options.charset)) if options.charset is not None else UTF_8
        super().__init__(bytes(reading.data), charset, rules.MEDIA_TYPE, options.name, "", reading.settings)
        self.adapter = reading.adapter
        self.slots = reading.slots

    def slot(self, position: int) -> Slot:
        return self.slots[bisect_right(self.slots, position, key=lambda slot: slot.start) - 1]

    def line(self, position: int) -> int:
        return self.adapter.line(self.slot(position).node)

    def line_column(self, position: int) -> tuple[int, int]:
        return self.line(position), 0


def read(adapter: Adapter, tree: Any, settings: Settings, options: TreeOptions) -> TreeEntity:
    """Return the entity of a tree; raise DocumentError if it exceeds a limit."""
    reading = _Reading(adapter, settings, options.bases)
    for seen in nodes(adapter, tree):
        reading.node(seen)
    entity = TreeEntity(reading, options)
    own = establish(
        DEFAULT, [options.claim] if options.claim is not None else [], settings.profile, None, settings.max_url
    )
    try:
        fold(entity, reading.events, Bases(own, own))
    except WalkError as error:
        raise failure(entity, error) from error
    return entity


def write(entity: TreeEntity, policy: Policy | None) -> None:
    """Set every value of the tree that contains a link changed by the policy (None: make links absolute)."""
    edits = rewriter.edits(entity, policy or absolute)
    for slot, inner in groupby(edits, key=lambda edit: entity.slot(edit.start)):
        by = slot.start
        own = [Edit(edit.start - by, edit.end - by, edit.new) for edit in inner]
        value = splice(entity.data[slot.start : slot.end], own).decode("utf-8", slot.errors)
        if slot.key is None:
            entity.adapter.set_text(slot.node, value)
        else:
            entity.adapter.set_attribute(slot.node, slot.key, value)


class _Reading:
    """The state of one walk over a tree: its slots and events."""

    def __init__(self, adapter: Adapter, settings: Settings, bases: bool) -> None:
        self.adapter = adapter
        self.bases = bases
        self.settings = settings
        self.rows = rules.rows()
        self.data = bytearray()
        self.slots: list[Slot] = []
        self.events: list[Event] = []
        self.has_base = False
        self.has_retrieval = False

    def node(self, seen: Seen) -> None:
        if seen.name == COMMENT:
            self.comment(seen)
            return
        attributes = self.adapter.attributes(seen.node)
        found: Attributes = [(key, attribute_name(name), value) for key, name, value in attributes]
        scope: BaseClaim | None = None
        for key, name, value in found:
            place = self.place(seen, name, found)
            if place is None:
                continue
            if place.attribute == "codebase" or place.against == "codebase":
                scope = scope or self.codebase(found)
            self.attribute(seen, key, value, place, scope)
        if seen.inside:
            self.text(seen, found)

    def place(self, seen: Seen, name: str, found: Attributes) -> LinkSite | None:
        place = self.rows.place(seen.namespace, seen.name, name)
        if self.settings.scripting and seen.in_noscript:
            return None
        if place is None or not (self.bases if place.element == "base" else seen.inside):
            return None
        if place in rules.PLACEHOLDERS:
            place = rules.by_keywords(place, lambda name: _keywords(found, name)[0])
            return INERT_REFRESH if place is REFRESH and (seen.in_template or seen.in_noscript) else place
        if place.element == "link" and name == "href":
            return rules.link_place(*_keywords(found, "rel", "as", "type"))
        return place

    def attribute(self, seen: Seen, key: Any, value: str, place: LinkSite, scope: BaseClaim | None) -> None:
        """Add the references, or the inner document, in an attribute's value."""
        syntax = place.syntax
        if syntax == "css":
            if "(" in value or "\\" in value:
                self.part(rules.CSS_DECLARATIONS, seen.node, key, value)
        elif syntax == "srcdoc":
            self.part(rules.MEDIA_TYPE, seen.node, key, value, "srcdoc")
        else:
            start, end = self.put(seen.node, key, value)
            if not self.has_retrieval and (saved := saved_claim(place, bytes(self.data[start:end]), start)) is not None:
                self.has_retrieval = True
                self.events.append(saved)
            claim = scope if place.attribute == "codebase" else None
            if place.element == "base" and place.attribute == "href":
                claim = self.base(seen, start, end)
            base_context = scope if place.against == "codebase" else None
            for one, other in GRAMMARS[syntax](bytes(self.data[start:end])) if seen.inside else ():
                self.events.append(Link(place, start + one, start + other, _CODING, base_context, start, end, claim))

    def base(self, seen: Seen, start: int, end: int) -> BaseClaim:
        """Return the claim of a base element; add it as an event if it is the first with an href outside templates."""
        claim = base_claim(bytes(self.data[start:end]), start)
        if not self.has_base and not seen.in_template:
            self.has_base = True
            self.events.append(claim)
        return claim

    def codebase(self, found: Attributes) -> BaseClaim | None:
        value = next((value for _, name, value in found if name == "codebase"), "")
        return codebase_claim(_encoded(value)[0], len(self.data) + 1)

    def text(self, seen: Seen, found: Attributes) -> None:
        """Add the text of a style or script element as a part, if it is a style sheet, JSON, or names a source map."""
        media_type: str | None = None
        if seen.name == "style" and seen.namespace in {HTML, SVG}:
            if seen.namespace == SVG or rules.is_sheet(*_keywords(found, "type")):
                media_type = rules.CSS
        elif seen.name == "script" and seen.namespace == HTML:
            media_type = rules.script_document(*_keywords(found, "type"))
        own = self.own_text(seen) if media_type is not None else ""
        if media_type == rules.CSS and any(type(child) is not str for child in self.adapter.content(seen.node)):
            return  # its text is in pieces, with comments or elements between them
        if media_type == JAVASCRIPT and _NAMES_MAP not in own:
            media_type = None
        if media_type is not None:
            self.part(media_type, seen.node, None, own)

    def own_text(self, seen: Seen) -> str:
        return "".join(takewhile(lambda child: type(child) is str, self.adapter.content(seen.node)))

    def comment(self, seen: Seen) -> None:
        """Add a claim for a "saved from" comment."""
        text = self.own_text(seen)
        value, _ = _encoded(text)
        retrieval = None if self.has_retrieval else retrieval_url(value, 0, len(value), UTF_8)
        if retrieval is not None:
            start, _ = self.put(seen.node, None, text)
            self.has_retrieval = True
            self.events.append(BaseClaim(Layer.RETRIEVAL, *retrieval, start))

    def part(self, media_type: str, node: Any, key: Any, value: str, name: str = "") -> None:
        self.events.append(Part(media_type, *self.put(node, key, value), _CODING, name))

    def put(self, node: Any, key: Any, value: str) -> tuple[int, int]:
        """Append a value as a new slot; return its span."""
        raw, errors = _encoded(value)
        start = len(self.data) + len(_QUOTE)
        self.data += b"%b%b%b" % (_QUOTE, raw, _QUOTE)
        self.slots.append(Slot(start, start + len(raw), node, key, errors))
        return start, start + len(raw)


def _encoded(value: str) -> tuple[bytes, str]:
    """Return a value in UTF-8, and the error handler for its surrogates: if possible "surrogateescape" (PEP 383)."""
    try:
        return value.encode("utf-8", "surrogateescape"), "surrogateescape"
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass"), "surrogatepass"


def _keywords(found: Attributes, *wanted: str) -> list[str]:
    pairs = [(name, value) for _, name, value in found]
    return [keyword(pairs, name) for name in wanted]


# --- rows of the inventory, without byte offsets and columns ----------------------------------------------------------

_LOOKED_AT: Final = 4096  # most characters of an anchor's content to read for its text
_HIDDEN: Final = frozenset({"noscript", "script", "style", "template"})


def rows(entity: TreeEntity) -> Iterator[Row]:
    """Yield one row per link, in tree order; places of links in a srcdoc refer to its text, others are lines only.

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
