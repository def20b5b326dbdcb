"""One of the two trees of an XML document in lxml, with the bases of its own attributes and elements (XML Base).

In: an entity. Out: its nodes in document order, the text and position of each, and the context of its links.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from absolve.core.model import BaseClaim, Layer, Link
from absolve.document.entity import Entity
from absolve.document.resolved import LinkContext
from absolve.formats.base_claims import base_claim, codebase_claim
from absolve.formats.xml import link_tables
from absolve.formats.xml.names import elements
from absolve.urls.base import Bases, establish, inherited
from absolve.verifying import html_side
from absolve.verifying.differences import Position

if TYPE_CHECKING:
    from absolve.core.model import LinkSite
    from absolve.verifying.html_nodes import Tree

XML_BASE: Final = f"{{{link_tables.XML}}}base"
_BASE, _TEMPLATE = (f"{{{link_tables.XHTML}}}{name}" for name in ("base", "template"))
_PREDEFINED: Final = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}
_REFERENCE: Final = re.compile(r"&(?:(lt|gt|amp|apos|quot)|#x([0-9A-Fa-f]++)|#([0-9]++));")
_LONGEST: Final = 8  # digits of a character reference, without leading zeros: any longer number is no character
_PAGES: Final = (f"{{{link_tables.XHTML}}}", f"{{{link_tables.SVG}}}")


def parsed(entity: Entity) -> Any:
    """Parse a document with lxml and return the root element; no external entity, DTD or network resource is loaded.

    Raise SyntaxError or ValueError where it is not well-formed.
    """
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, strip_cdata=False
    )
    return etree.fromstring(html_side.decoded(entity).encode(), parser)


def pseudo_attributes(instruction: Any) -> dict[str, str]:
    """Return the pseudo-attributes of a processing instruction (xml-stylesheet 1.0, 3), their references decoded.

    lxml parses the pseudo-attributes, but leaves the references in them unchanged.
    """
    return {name: _REFERENCE.sub(_character, value) for name, value in instruction.attrib.items()}


def _character(reference: re.Match[str]) -> str:
    name, hexadecimal, decimal = reference.groups()
    if name:
        return _PREDEFINED[name]
    digits = (hexadecimal or decimal).lstrip("0")[:_LONGEST] or "0"
    code = int(digits, 16 if hexadecimal else 10)
    return chr(code) if code <= sys.maxunicode else "\N{REPLACEMENT CHARACTER}"


class Side:
    """A tree, its nodes in document order, and the contexts of their links."""

    def __init__(self, root: Any, like: Entity) -> None:
        self.root = root
        self.settings = like.settings
        self.doctype = root.getroottree().docinfo.doctype
        declared = root.getroottree().docinfo.internalDTD
        self._entities = {entity.name: entity.content for entity in declared.iterentities()} if declared else {}
        before, after = list(root.itersiblings(preceding=True))[::-1], list(root.itersiblings())
        self.nodes = [*before, *root.iter(), *after]
        self.elements = elements(str(root.tag), lazy=like.settings.lazy)
        self._before = set(before)
        self._entity = Entity(b"", like.charset, like.media_type, like.name, "", like.settings)
        self._entity.text_left = like.text_left
        own = like.bases.own
        claim = self._claim()
        base = own
        if claim is not None:
            base = establish(own, [claim], like.settings.profile, None, like.settings.max_url)
        self.bases = Bases(own, base)
        self._entity.bases = self.bases
        self._scopes = self._found_scopes()
        self._rules: dict[tuple[LinkSite, int], LinkContext] = {}

    def _claim(self) -> BaseClaim | None:
        """Return the claim of the first base element with an href, outside templates; XHTML and SVG only."""
        if not str(self.root.tag).startswith(_PAGES):
            return None
        for node in self.root.iter(_BASE):
            if node.get("href") is not None and next(node.iterancestors(_TEMPLATE), None) is None:
                return base_claim(node.get("href").encode(), 0)
        return None

    def _found_scopes(self) -> dict[Any, BaseClaim]:
        """Return the innermost xml:base claim of each element in the scope of one."""
        scopes: dict[Any, BaseClaim] = {}
        for node in self.root.iter(etree.Element):
            outer = scopes.get(node.getparent())
            reference = node.get(XML_BASE)
            if reference is not None:
                scopes[node] = BaseClaim(Layer.EMBEDDED, reference, "xml:base attribute", None, outer)
            elif outer is not None:
                scopes[node] = outer
        return scopes

    def outside(self, node: Any) -> bool:
        """Return whether a node precedes the root element."""
        return node in self._before

    def text(self, node: Any) -> str:
        """Return the text of an element without child elements, with entities that are plain text expanded."""
        pieces = [node.text or ""]
        for child in node:
            content = self._entities.get(child.name) if child.tag is etree.Entity else ""
            plain = content is not None and not any(mark in content for mark in "<&")
            pieces += [content if plain else child.text, child.tail or ""]
        return "".join(pieces)

    def base_url(self, node: Any) -> str:
        """Return the base URL of an element, by the xml:base attributes in scope."""
        return self._entity.base_context(self._scope(node)).base.url

    def _scope(self, node: Any) -> BaseClaim | None:
        return self._scopes.get(node)

    def rule(self, place: LinkSite, node: Any, *, claims: bool = False) -> LinkContext:
        """Return the context of the references of a site on this element; a base claim itself has the outer context."""
        scope = self._scope(node.getparent() if place.attribute == "xml:base" else node)
        if claims and place.element == "base":
            scope = None
        codebase = node.get("codebase") if place.against == "codebase" else None
        if codebase is not None and (claim := codebase_claim(codebase.encode(), 0)):
            scope = claim._replace(scope=scope)
            return LinkContext(self._entity, Link(place, 0, 0, html_side.CODING, scope))
        key = (place, id(scope))
        if key not in self._rules:
            self._rules[key] = LinkContext(
                self._entity, Link(place, 0, 0, html_side.CODING, None if place.against == "own" else scope)
            )
        return self._rules[key]

    def inside(self, tree: Tree, step: str, node: Any) -> html_side.Side:
        """Return the side for the tree of escaped HTML in this node."""
        own = inherited(self._entity.base_context(self._scope(node)).base, step)
        return html_side.Side(tree, self._entity, Bases(own, own), self.position(node), 1)

    def position(self, node: Any) -> Position:
        return Position(node.sourceline or 1, 1)
