"""Read HTML with html5lib and XML with lxml, which share no code with absolve, as tokens in document order.

In: the text of a document. Out: `Html` or `Xml`, a `Markup` whose tokens can be compared: for example, `a` and `/a`
with their texts for `<a href=b>c</a>`.
html5lib's tree construction decides how its tokenizer reads on: raw text, CDATA, plaintext. Only the open elements of
its tree are kept: a hostile document of a few megabytes has a million elements. The tokens of XML have the `xml:base`
attributes in whose scope they are (XML Base).
"""

from __future__ import annotations

import io
import re
import sys
from array import array
from collections import Counter
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from html5lib import html5parser
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import namespaces, tokenTypes
from html5lib.treebuilders.base import TreeBuilder
from lxml import etree

from absolve.core.model import BaseClaim, Layer, LinkSite
from absolve.formats.html import names, rules
from absolve.formats.xml import link_tables
from absolve.formats.xml.prolog import SEPARATOR
from absolve.formats.xml.tags import chosen, elements
from absolve.verifying.expected import Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.settings import Settings

    _Tag = tuple[int, str, dict[str, str], str | None, LinkSite | None]  # offset, name, attributes, namespace, site


COMMENT: Final = "!--"
DOCTYPE: Final = "!DOCTYPE"
NOTHING: Final[dict[str, str]] = {}
_MOST_ALIKE: Final = 4096  # different tokens without attributes that are stored once


class Token(NamedTuple):
    """A start tag, an end tag (its name begins with a slash) or their like, with the text up to the next token.

    A comment, a document type and a processing instruction (its name begins with a question mark) are a start tag,
    before their text, and an end tag. `namespace` is None for tokens that are no elements, also by the parser's choice.
    `place` is the link site of the text, if it may have links. `scope` is the innermost `xml:base` around an element.
    """

    attributes: dict[str, str]
    name: str
    text: str = ""
    namespace: str | None = None
    place: LinkSite | None = None
    scope: BaseClaim | None = None


class Markup:
    """The tokens of a document, and the reference of its base element (None without one).

    `parser` is its name in messages, `errors` the handler by which values are encoded. With `scripting` the document
    was read as by a browser that runs scripts.
    """

    scripting = False

    def __init__(self, parser: str, errors: str) -> None:
        self.parser = parser
        self.errors = errors
        self.tokens: list[Token] = []
        self.base: str | None = None
        self.bare = lru_cache(_MOST_ALIKE)(partial(Token, NOTHING))  # makes tokens without attributes
        self._offsets = array("q")

    def add(self, token: Token, offset: int) -> None:
        """Add a token with its offset, or its line, by which `position_of` finds it."""
        self.tokens.append(token)
        self._offsets.append(offset)

    def position(self, index: int) -> Position:
        """Return the position of a token; behind the last one, the position of the last one."""
        return self.position_of(self._offsets[min(index, len(self.tokens) - 1)])

    def position_of(self, offset: int) -> Position:
        raise NotImplementedError

    def site(self, token: Token, attribute: str) -> LinkSite | None:
        """Return the link site of an attribute of a tag, None if there is none."""
        raise NotImplementedError


# --- HTML -------------------------------------------------------------------------------------------------------------

_XHTML: Final = namespaces["html"]
_SVG: Final = namespaces["svg"]
_NAMESPACES: Final = {_XHTML: names.HTML, _SVG: names.SVG, namespaces["mathml"]: names.MATHML}
_DEEPEST: Final = 1024  # open elements; browsers allow 512, and html5lib searches all of them for most tags
_HTML_BASE: Final = (_XHTML, "base")
_CHARACTERS: Final = tokenTypes["Characters"]
_TEXTS: Final = (_CHARACTERS, tokenTypes["SpaceCharacters"])
_START, _END, _COMMENT, _ERROR = (tokenTypes[name] for name in ("StartTag", "EndTag", "Comment", "ParseError"))
_SHEET: Final = LinkSite("style", "", "css")
_SCRIPTS: Final = {kind: LinkSite("script", "", kind) for kind in rules.JSON_SCRIPTS}
_BLANKS: Final = "\t\n\f\r "


class TooDeepError(Exception):
    """More elements are open than html5lib can search in reasonable time."""


class Html(Markup):
    """The tokens of an HTML document. Raise TooDeepError, or any exception of html5lib where it fails.

    `clones` counts the attributes (element, attribute, value) of cloned elements, which have no tag of their own: they
    result from formatting elements that stay open across others (HTML Standard 13.2.4.3, 13.2.6.4.7).
    """

    def __init__(self, text: str, errors: str, settings: Settings, *, scripting: bool = False) -> None:
        scripting = scripting or settings.scripting
        super().__init__("html5lib, scripting on" if scripting else "html5lib", errors)
        self.scripting = scripting
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.clones: Counter[tuple[str, str, str]] = Counter()
        self._rows = rules.rows()
        _Parser(self).parse("", scripting=scripting)

    def position_of(self, offset: int) -> Position:
        return Position(self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset))

    def site(self, token: Token, attribute: str) -> LinkSite | None:
        # A tag that html5lib drops may be an element of any namespace in browsers of today, as in a select.
        spaces = [_NAMESPACES[token.namespace]] if token.namespace else _NAMESPACES.values()
        found = (self._rows.place(space, token.name, attribute) for space in spaces)
        place = next(filter(None, found), None)
        if place not in rules.PLACEHOLDERS:
            return place
        return rules.by_keywords(place, lambda key: _keyword(token.attributes, key))


def _text_site(name: str, attributes: dict[str, str], namespace: str | None) -> LinkSite | None:
    """Return the link site of the text of an element that is a style sheet or JSON with links."""
    if name == "style" and (namespace == _SVG or rules.is_sheet(_keyword(attributes, "type"))):
        return _SHEET
    return _SCRIPTS.get(_keyword(attributes, "type")) if name == "script" else None


def _keyword(attributes: dict[str, str], key: str) -> str:
    return attributes.get(key, "").strip(_BLANKS).lower()


# --- html5lib, whose names these are ----------------------------------------------------------------------------------


class _Node:
    """An element that knows its parent, but not its children."""

    __slots__ = ("attributes", "clones", "name", "nameTuple", "namespace", "parent")

    def __init__(self, name: str, namespace: str, clones: Counter[tuple[str, str, str]]) -> None:
        self.name = name
        self.namespace = namespace
        self.nameTuple = (namespace, name)
        self.attributes: dict[str, str] = {}
        self.parent: _Node | None = None
        self.clones = clones

    def around(self) -> Iterator[_Node]:
        """Yield the parent, its parent and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def appendChild(self, node: _Node) -> None:  # noqa: N802
        node.parent = self

    def insertBefore(self, node: _Node, _: _Node) -> None:  # noqa: N802
        node.parent = self

    def removeChild(self, node: _Node) -> None:  # noqa: N802
        node.parent = None

    def reparentChildren(self, _: _Node) -> None:  # noqa: N802
        """Leave the children here: their new parent is below this element, too."""

    def insertText(self, *_: object) -> None:  # noqa: N802
        """Ignore the text: the tokens have it."""

    def hasContent(self) -> bool:  # noqa: N802
        return False

    def cloneNode(self) -> _Node:  # noqa: N802
        self.clones.update((self.name, *attribute) for attribute in self.attributes.items())
        clone = _Node(self.name, self.namespace, self.clones)
        clone.attributes = dict(self.attributes)
        return clone


class _Builder(TreeBuilder):
    """A tree builder that keeps the open elements, and `last`, the element that was made last."""

    def __init__(self, clones: Counter[tuple[str, str, str]], namespaces: bool) -> None:
        self._clones = clones
        super().__init__(namespaces)

    def reset(self) -> None:
        super().reset()
        self.last: _Node = self.document

    def documentClass(self) -> _Node:  # noqa: N802
        return _Node("", "", self._clones)

    def elementClass(self, name: str, namespace: str) -> _Node:  # noqa: N802
        self.last = _Node(name, namespace, self._clones)
        return self.last

    def insertComment(self, *_: object) -> None:  # noqa: N802
        """Ignore a comment, as text."""

    def insertDoctype(self, *_: object) -> None:  # noqa: N802
        """Ignore a document type, likewise."""


class _Tokenizer(HTMLTokenizer):
    """A tokenizer that adds each tag to the markup, once the parser has processed it, with the text after it."""

    def __init__(self, markup: Html, parser: _Parser) -> None:
        super().__init__(io.StringIO(), parser=parser)
        stream: Any = self.stream
        stream.chunk, stream.chunkSize = markup.text, len(markup.text)  # in one chunk, offsets are offsets in the text
        self._markup = markup
        self._tree: _Builder = parser.tree
        self._opened = 0  # the offset of the last tag or comment
        self._base: _Node | None = None

    def __iter__(self) -> Iterator[Any]:
        add = self._add
        last: _Tag = (0, "", NOTHING, None, None)
        texts: list[str] = []
        is_settled = False  # the parser has met text that is no white space: more of it changes nothing
        tokens: Iterator[Any] = super().__iter__()
        for token in tokens:
            kind, data, name = token["type"], token.get("data"), token.get("name", "")
            if kind in _TEXTS:
                texts.append(data)
                if not is_settled:
                    yield token
                    is_settled = kind == _CHARACTERS and data != "\0"
                continue
            if kind == _ERROR:
                continue
            if kind == _COMMENT and last[4] is not None and last[3] == _SVG:  # the text around it is one
                yield token
                add((self._opened, COMMENT, NOTHING, "", None), data)
                continue
            attributes = data.copy() if kind == _START and data else NOTHING
            yield token
            add(last, "".join(texts))
            texts.clear()
            is_settled = False
            start = self._opened
            tag: _Tag | None = None
            if kind == _START:
                namespace = self._inserted(token)
                tag = (start, name, attributes, namespace, _text_site(name, attributes, namespace))
                if token["selfClosing"] and namespace not in {None, _XHTML}:
                    add(tag, "")
                    tag = None
            elif kind == _END:
                start = max(start, self._markup.text.rfind("</", start, self.stream.chunkOffset))
            elif kind == _COMMENT:
                name = COMMENT
                add((start, name, NOTHING, "", None), data)
            else:
                text = " ".join(str(token[key]) for key in ("name", "publicId", "systemId", "correct"))
                name = DOCTYPE
                add((start, name, NOTHING, "", None), text)
            last = tag or (start, f"/{name}", NOTHING, None, None)
        add(last, "".join(texts))
        if self._base is not None and self._tree.document in self._base.around():
            self._markup.base = self._base.attributes["href"]

    def _add(self, tag: _Tag, text: str) -> None:
        start, name, attributes, namespace, place = tag
        make = partial(Token, attributes) if attributes else self._markup.bare
        self._markup.add(make(name, text, namespace, place), start)

    def _inserted(self, token: Any) -> str | None:
        """Return the namespace of the element that the parser made of a start tag, None if it made none."""
        last = self._tree.last
        if last.attributes is not token["data"]:
            return None
        if len(self._tree.openElements) > _DEEPEST:
            raise TooDeepError(f"elements are nested more than {_DEEPEST} deep")
        if last.nameTuple == _HTML_BASE and "href" in last.attributes and self._base is None:
            self._base = None if any(node.name == "template" for node in last.around()) else last
        return last.namespace

    def tagOpenState(self) -> Any:  # noqa: N802
        self._opened = self.stream.chunkOffset - 1
        return super().tagOpenState()


class _Parser(html5parser.HTMLParser):
    """A parser with this tokenizer and builder, which stores no errors: real pages have thousands."""

    def __init__(self, markup: Html) -> None:
        super().__init__(partial(_Builder, markup.clones))  # type: ignore[arg-type]  # called like the class
        self._markup = markup

    def _parse(self, *_: object, scripting: bool = False, **_options: object) -> None:
        self.innerHTMLMode = False
        self.scripting = scripting
        self.tokenizer = _Tokenizer(self._markup, self)
        self.reset()
        self.mainLoop()

    def parseError(self, *_: object) -> None:  # noqa: N802
        """Ignore a parse error: both documents have the same ones."""


# --- XML --------------------------------------------------------------------------------------------------------------

_OFF: Final[dict[str, Any]] = dict.fromkeys(("resolve_entities", "load_dtd", "strip_cdata"), False)
_XML_BASE: Final = f"{{{link_tables.XML}}}base"
_BASE, _TEMPLATE = (f"{{{link_tables.XHTML}}}{name}" for name in ("base", "template"))
_PAGES: Final = (f"{{{link_tables.XHTML}}}", f"{{{link_tables.SVG}}}")
_PREDEFINED: Final = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}
_REFERENCE: Final = re.compile(r"&(?:(lt|gt|amp|apos|quot)|#x([0-9A-Fa-f]++)|#([0-9]++));")
# Bytes that the charset does not decode are lone surrogates, which lxml does not take: characters that nobody uses.
_STAND_INS: Final = {code: code + 0x10_2000 for code in range(0xD800, 0xE000)} | {0xFFFE: 0x10_F7FE, 0xFFFF: 0x10_F7FF}
_STOOD_IN: Final = {stand_in: code for code, stand_in in _STAND_INS.items()}
_NO_CHARACTER: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Sections and comments; a `<` that begins no markup; an `&`, with the reference that it may begin
_ALONE: Final = re.compile(
    r"(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))|<(?![A-Za-z_:\x80-\U0010ffff/!?])|&(?:([^\s&;<>]++);)?",
    re.DOTALL,
)
_HYPHENS: Final = re.compile(r"-(?=-|\Z)")  # in a comment: libxml2 leaves out references behind it
_ENTITY: Final = re.compile(r"<!ENTITY[\t\n\r ]++([^\t\n\r %]++)")
_LONGEST: Final = 8  # digits of a character reference, without leading zeros: any longer number is no character


class _Level(NamedTuple):
    """What applies to the children of an element; `is_whole`: their text is part of the element's."""

    scope: BaseClaim | None
    bindings: dict[str | None, str]
    is_whole: bool


class Xml(Markup):
    """The tokens of an XML document. Raise SyntaxError or ValueError where it is not well-formed.

    `recover`: faults are skipped, or read as text. No external entity, DTD or network resource is loaded.
    """

    def __init__(self, text: str, errors: str = "surrogatepass", *, recover: bool = False) -> None:
        super().__init__("lxml", errors)
        parser = etree.XMLParser(encoding="utf-8", no_network=True, huge_tree=True, recover=recover, **_OFF)
        self._has_stand_ins = recover and not text.isascii()
        root = etree.fromstring((_mended(text) if recover else text).lstrip("\t\n\r ").encode(), parser)
        document: Any = root.getroottree().docinfo
        declared = document.internalDTD
        self._entities = {entity.name: entity.content for entity in declared.iterentities()} if declared else {}
        self._elements = elements(str(root.tag))
        self.add(self.bare(DOCTYPE, document.doctype), 0)
        for node in list(root.itersiblings(preceding=True))[::-1]:
            self._add_other(node, "", is_before=True)
        self._add_elements(root)
        for node in root.itersiblings():
            self._add_other(node, "")
        self.base = self._restored(_base(root))

    def add(self, token: Token, offset: int) -> None:
        if self._has_stand_ins:
            attributes = {name: self._restored(value) for name, value in token.attributes.items()}
            token = token._replace(attributes=attributes, text=self._restored(token.text))
        super().add(token, offset)

    def _restored(self, text: str | None) -> Any:
        return text.translate(_STOOD_IN) if text and self._has_stand_ins else text

    def position_of(self, offset: int) -> Position:
        return Position(offset or 1, 1)

    def site(self, token: Token, attribute: str) -> LinkSite | None:
        if token.name.startswith("?"):
            site = link_tables.INSTRUCTIONS[token.name[1:]]
            return site if site.attribute == attribute else None
        element = self._elements[f"{token.namespace}{SEPARATOR}{token.name}" if token.namespace else token.name]
        place = chosen(element.places[_expat(attribute)], _words(token.attributes))
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
                    self._add_other(child, "" if level.is_whole else _text_from(child.tail, child.getnext()))
            else:
                levels.pop()
                tail = _text_from(node.tail, node.getnext()) if levels else ""
                self.add(self.bare(f"/{node.tag.rpartition('}')[2]}", tail), node.sourceline or 1)

    def _start(self, node: Any, scope: BaseClaim | None, bindings: dict[str | None, str]) -> tuple[Any, Any, _Level]:
        """Add the start tag of an element; return the element, its children, and what applies to them."""
        attributes = dict(node.attrib)
        place = chosen(self._elements[_expat(node.tag)].text, _words(attributes))
        if place is not None and any(isinstance(child.tag, str) for child in node):
            place = None
        text = self._whole_text(node) if place is not None else _text_from(node.text, next(iter(node), None))
        if _XML_BASE in attributes:
            scope = BaseClaim(Layer.EMBEDDED, self._restored(attributes[_XML_BASE]), "xml:base attribute", None, scope)
        level = _Level(scope, node.nsmap, place is not None)
        if level.bindings != bindings:
            new = level.bindings.items() - bindings.items()
            attributes |= sorted((f"xmlns:{prefix or ''}", namespace) for prefix, namespace in new)
        namespace, _, name = node.tag.rpartition("}")
        self.add(Token(attributes, name, text, namespace[1:], place, scope), node.sourceline or 1)
        return node, iter(node), level

    def _add_other(self, node: Any, tail: str, *, is_before: bool = False) -> None:
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
    """Return a text without invalid characters (2.2), and with references for `<` and `&` that begin no markup.

    For example, `a&b=c` becomes `a&amp;b=c`: lxml would leave out the name behind such a `&`.
    """
    characters = _NO_CHARACTER.sub("", text.translate(_STAND_INS))
    declared = set(_ENTITY.findall(characters))

    def mended(found: re.Match[str]) -> str:
        whole, section, name = found.group(0, 1, 2)
        if section and section.startswith("<!--") and section.endswith("-->"):
            return f"<!--{_HYPHENS.sub('- ', section[4:-3])}-->"
        if section or whole == "<":
            return section or "&lt;"
        is_known = name in declared or (name and _REFERENCE.sub(_character, whole) != whole)
        return whole if is_known else f"&amp;{whole[1:]}"

    return _ALONE.sub(mended, characters)


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


def _words(attributes: dict[str, str]) -> dict[str, str]:
    return {key.lower(): word for key, word in attributes.items()}


def _expat(name: str) -> str:
    """Return a name in expat's form: for example, "urn:x", U+0001, "a" for `{urn:x}a`."""
    namespace, brace, local = name.rpartition("}")
    return f"{namespace[1:]}{SEPARATOR}{local}" if brace else name


def _pseudo_attributes(instruction: Any) -> dict[str, str]:
    """Return the pseudo-attributes of a processing instruction (xml-stylesheet 1.0, 3), their references decoded.

    For example, {"href": "a&b"} for `href="a&amp;b"`. lxml parses them, but leaves references unchanged.
    """
    return {name: _REFERENCE.sub(_character, value) for name, value in instruction.attrib.items()}


def _character(reference: re.Match[str]) -> str:
    name, hexadecimal, decimal = reference.groups()
    if name:
        return _PREDEFINED[name]
    digits = (hexadecimal or decimal).lstrip("0")[:_LONGEST] or "0"
    code = int(digits, 16 if hexadecimal else 10)
    return reference[0] if code > sys.maxunicode or _NO_CHARACTER.match(chr(code)) else chr(code)
