"""Start tags of a document in html5lib's tree, corrected to the current standard; a reference for the scanner.

`test_html5lib.py` runs html5lib's suite on this parser too. Attribute values carry the number of their token, so that an
element that the tree builder clones is counted once.
"""

from typing import Any, Final, NamedTuple

import html5lib_today
from html5lib import _tokenizer
from html5lib.constants import asciiUpper2Lower, namespaces, tokenTypes
from html5lib_today import HTML

NAMESPACES: Final = {namespaces["html"]: "html", namespaces["svg"]: "svg", namespaces["mathml"]: "math"}
_PREFIXES: Final = {namespaces["xlink"]: "xlink:", namespaces["xml"]: "xml:", namespaces["xmlns"]: "xmlns:"}


class Element(NamedTuple):
    """A start tag that reached the tree: namespace, local name and attributes in lower case, in document order."""

    namespace: str
    name: str
    attributes: dict[str, str]
    text: str = ""


class _Value(str):
    """The value of an attribute, with the number of its token."""

    __slots__ = ("order",)
    order: int


class _Tokenizer(_tokenizer.HTMLTokenizer):
    """A tokenizer that numbers the start tags."""

    def emitCurrentToken(self) -> None:  # noqa: N802 - html5lib's name
        token: Any = self.currentToken
        super().emitCurrentToken()
        if token["type"] == tokenTypes["StartTag"]:
            self.parser.count += 1
            token["order"] = self.parser.count
            for name, text in token["data"].items():
                value = token["data"][name] = _Value(text)
                value.order = self.parser.count


class _Tree(html5lib_today.TreeBuilder):
    """A tree builder that records the start tag of each element; clones have none."""

    def reset(self) -> None:
        super().reset()
        self.made: list[tuple[Any, int]] = []

    def createElement(self, token: Any) -> Any:  # noqa: N802
        element = super().createElement(token)
        self.made.append((element._element, token.get("order", 0)))
        return element

    def insertElementNormal(self, token: Any) -> Any:  # noqa: N802
        element = super().insertElementNormal(token)
        self.made.append((element._element, token.get("order", 0)))
        return element


class Parser(html5lib_today.Parser):
    """A parser that counts start tags."""

    def __init__(self) -> None:
        super().__init__(_Tree, _Tokenizer)
        self.count = 0


def elements(text: str) -> list[Element]:
    """Return the elements of a document's tree without scripting: each tag once, in document order.

    Attributes that a second html or body tag adds to the first are returned as a separate element; html, head and body
    tags without attributes are omitted, because the tree always has these elements.
    """
    parser = Parser()
    root = parser.parse(text, scripting=False)
    orders = {id(element): order for element, order in parser.tree.made}
    found: dict[int, Element] = {}
    for node in root.iter():
        if not isinstance(node.tag, str) or not node.tag.startswith("{"):
            continue
        namespace, _, name = node.tag[1:].partition("}")
        made_for = orders.get(id(node), 0)
        if made_for:
            inner = "".join(node.itertext()) if name in {"script", "style"} else ""
            found[made_for] = Element(NAMESPACES[namespace], lower(name), {}, inner)
        for key, value in node.attrib.items():
            order = getattr(value, "order", 0)
            element = found.setdefault(order, Element(NAMESPACES[namespace], lower(name), {}))
            element.attributes.setdefault(_attribute_name(key), str(value))
    there = {(NAMESPACES[HTML], name) for name in ("html", "head", "body")}
    kept = [order for order, element in found.items() if element.attributes or element[:2] not in there]
    return [found[order] for order in sorted(kept)]


def lower(name: str) -> str:
    """Convert ASCII letters to lower case, as the tokenizer does."""
    return name.translate(asciiUpper2Lower)


def _attribute_name(key: str) -> str:
    namespace, _, name = key[1:].partition("}")
    prefix = _PREFIXES.get(namespace) if key.startswith("{") else None
    if prefix is None:
        return lower(key)
    return "xmlns" if (prefix, name) == ("xmlns:", "xmlns") else prefix + lower(name)


def facts(text: str) -> tuple[str | None, str, set[str]]:
    """Return title, language and anchors of a document: those of the table of documents."""
    root = html5lib_today.Parser(html5lib_today.TreeBuilder).parse(text)
    title: str | None = None
    anchors: set[str] = set()
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if not isinstance(element.tag, str):  # a comment
            continue
        name = element.tag.removeprefix(f"{{{HTML}}}")
        anchors.update(filter(None, (element.get("id"), element.get("name") if name == "a" else None)))
        if name == "title" and title is None:
            title = " ".join("".join(element.itertext()).split())[:200]
        if name != "template":
            waiting += reversed(element)
    return title, " ".join((root.get("lang") or "").split())[:200], anchors
