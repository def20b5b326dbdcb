"""Read XML as tokens with lxml, which shares no code with absolve.

In: the text of a document. Out: `Xml`, its tokens, with the `xml:base` attributes in whose scope they are (XML Base).
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lxml import etree

from absolve.core.model import BaseClaim, Layer
from absolve.formats.html import rules
from absolve.formats.xml import link_tables
from absolve.formats.xml.link_tables import Choice
from absolve.formats.xml.names import SEPARATOR, chosen, elements
from absolve.verifying.differences import Position
from absolve.verifying.tokens import COMMENT, DOCTYPE, Markup, Token

if TYPE_CHECKING:
    from absolve.core.model import LinkSite

_OFF: Final[dict[str, Any]] = dict.fromkeys(("resolve_entities", "load_dtd", "strip_cdata"), False)
_XML_BASE: Final = f"{{{link_tables.XML}}}base"
_BASE, _TEMPLATE = (f"{{{link_tables.XHTML}}}{name}" for name in ("base", "template"))
_PAGES: Final = (f"{{{link_tables.XHTML}}}", f"{{{link_tables.SVG}}}")
_PREDEFINED: Final = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}
_REFERENCE: Final = re.compile(r"&(?:(lt|gt|amp|apos|quot)|#x([0-9A-Fa-f]++)|#([0-9]++));")
_NO_CHARACTER: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Sections and comments; what begins neither markup nor a reference to a character
_ALONE: Final = re.compile(
    r"(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))|<(?![A-Za-z_:\x80-\U0010ffff/!?])"
    r"|&(?!(?:lt|gt|amp|apos|quot|#(?!5[5-7]\d{3};)\d+|#x(?![Dd][89A-Fa-f]..;)[0-9A-Fa-f]+);)",
    re.DOTALL,
)
_LONGEST: Final = 8  # digits of a character reference, without leading zeros: any longer number is no character


class _Level(NamedTuple):
    """What applies to the children of an element; `is_whole`: their text is part of that of the element."""

    scope: BaseClaim | None
    bindings: dict[str | None, str]
    is_whole: bool


class Xml(Markup):
    """The tokens of an XML document. Raise SyntaxError or ValueError where it is not well-formed.

    `recover`: what makes it not well-formed is skipped, or text. No external entity, DTD or network resource is loaded.
    """

    def __init__(self, text: str, *, recover: bool = False) -> None:
        super().__init__("lxml", "surrogatepass")
        parser = etree.XMLParser(encoding="utf-8", no_network=True, huge_tree=True, recover=recover, **_OFF)
        root = etree.fromstring((_mended(text) if recover else text).lstrip("\t\n\r ").encode(), parser)
        document: Any = root.getroottree().docinfo
        declared = document.internalDTD
        self._entities = {entity.name: entity.content for entity in declared.iterentities()} if declared else {}
        self._elements = elements(str(root.tag))
        self.add(self.bare(DOCTYPE, document.doctype), 0)
        for node in list(root.itersiblings(preceding=True))[::-1]:
            self._other(node, "", is_before=True)
        self._add_elements(root)
        for node in root.itersiblings():
            self._other(node, "")
        self.base = _base(root)

    def position_of(self, offset: int) -> Position:
        return Position(offset or 1, 1)

    def site(self, token: Token, attribute: str) -> LinkSite | None:
        if token.name.startswith("?"):
            site = link_tables.INSTRUCTIONS[token.name[1:]]
            return site if site.attribute == attribute else None
        element = self._elements[f"{token.namespace}{SEPARATOR}{token.name}" if token.namespace else token.name]
        place = _chosen(element.places[_expat(attribute)], token.attributes)
        if place in rules.PLACEHOLDERS:
            words = _words(token.attributes)
            return rules.by_keywords(place, lambda name: words.get(name, "").strip().lower())
        return element.named(place) if place is not None else None

    def _add_elements(self, root: Any) -> None:
        """Add the tokens of the root element, and of all in it."""
        levels = [self._start(root, None, {})]
        while levels:
            node, children, level = levels[-1]
            for child in children:
                if isinstance(child.tag, str):
                    levels.append(self._start(child, level.scope, level.bindings))
                    break
                if child.tag is not etree.Entity:  # entities are part of the text before them
                    self._other(child, "" if level.is_whole else _text_from(child.tail, child.getnext()))
            else:
                levels.pop()
                tail = _text_from(node.tail, node.getnext()) if levels else ""
                self.add(self.bare(f"/{node.tag.rpartition('}')[2]}", tail), node.sourceline or 1)

    def _start(self, node: Any, scope: BaseClaim | None, bindings: dict[str | None, str]) -> tuple[Any, Any, _Level]:
        """Add the start tag of an element; return the element, its children, and what applies to them."""
        attributes = dict(node.attrib)
        place = _chosen(self._elements[_expat(node.tag)].text, attributes)
        if place is not None and any(isinstance(child.tag, str) for child in node):
            place = None
        text = self._whole_text(node) if place is not None else _text_from(node.text, next(iter(node), None))
        if _XML_BASE in attributes:
            scope = BaseClaim(Layer.EMBEDDED, attributes[_XML_BASE], "xml:base attribute", None, scope)
        level = _Level(scope, node.nsmap, place is not None)
        if level.bindings != bindings:
            new = level.bindings.items() - bindings.items()
            attributes |= sorted((f"xmlns:{prefix or ''}", namespace) for prefix, namespace in new)
        namespace, _, name = node.tag.rpartition("}")
        self.add(Token(attributes, name, text, namespace[1:], place, scope), node.sourceline or 1)
        return node, iter(node), level

    def _other(self, node: Any, tail: str, *, is_before: bool = False) -> None:
        """Add the tokens of a comment or a processing instruction; `is_before`: it precedes the root element."""
        line = node.sourceline or 1
        if is_before and getattr(node, "target", "") in link_tables.INSTRUCTIONS:
            self.add(Token(_pseudo_attributes(node), f"?{node.target}", tail, ""), line)
        else:
            name = COMMENT if node.tag is etree.Comment else f"?{node.target}"
            self.add(self.bare(name, node.text or ""), line)
            self.add(self.bare(f"/{name}", tail), line)

    def _whole_text(self, node: Any) -> str:
        """Return the text of an element without child elements, with entities that are plain text expanded."""
        pieces = [node.text or ""]
        for child in node:
            content = self._entities.get(child.name) if child.tag is etree.Entity else ""
            plain = content is not None and not any(mark in content for mark in "<&")
            pieces += [content if plain else child.text, child.tail or ""]
        return "".join(pieces)


def _mended(text: str) -> str:
    """Return a text without what is no character (2.2), and with references for `<` and `&` that begin nothing.

    lxml would leave out the name behind such a `&`: `a&b=c` becomes `a&amp;b=c`.
    """
    return _ALONE.sub(lambda found: found[1] or ("&lt;" if found[0] == "<" else "&amp;"), _NO_CHARACTER.sub("", text))


def _text_from(text: str | None, node: Any) -> str:
    """Return a text with the entity references that follow it; `node` is the next one after the text."""
    pieces = [text or ""]
    while node is not None and node.tag is etree.Entity:
        pieces += [node.text, node.tail or ""]
        node = node.getnext()
    return "".join(pieces)


def _base(root: Any) -> str | None:
    """Return the reference of the first base element with an href, outside templates; XHTML and SVG only."""
    if str(root.tag).startswith(_PAGES):
        for node in root.iter(_BASE):
            if node.get("href") is not None and next(node.iterancestors(_TEMPLATE), None) is None:
                return str(node.get("href"))
    return None


def _chosen(row: LinkSite | Choice | None, attributes: dict[str, str]) -> LinkSite | None:
    return chosen(row, _words(attributes)) if isinstance(row, Choice) else row


def _words(attributes: dict[str, str]) -> dict[str, str]:
    return {key.lower(): word for key, word in attributes.items()}


def _expat(name: str) -> str:
    """Return a name in the form of expat."""
    namespace, brace, local = name.rpartition("}")
    return f"{namespace[1:]}{SEPARATOR}{local}" if brace else name


def _pseudo_attributes(instruction: Any) -> dict[str, str]:
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
