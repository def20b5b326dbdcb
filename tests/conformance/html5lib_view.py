"""What html5lib's tree says of a document: the judge of the scanner, as `verify` has it, brought up to today's standard.

`test_html5lib.py` runs html5lib's suite on this judge as well. Attribute values carry the number of their token, so that
an element which the tree builder clones is still one element.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from html5lib import _tokenizer
from html5lib.constants import asciiUpper2Lower, namespaces, tokenTypes

from absolve.verifying import html5lib_today
from absolve.verifying.html5lib_today import HTML

NAMESPACES: Final = {namespaces["html"]: "html", namespaces["svg"]: "svg", namespaces["mathml"]: "math"}
_PREFIXES: Final = {namespaces["xlink"]: "xlink:", namespaces["xml"]: "xml:", namespaces["xmlns"]: "xmlns:"}


class Element(NamedTuple):
    """A start tag that reached the tree: its namespace, local name and attributes in lower case, as they stood."""

    namespace: str
    name: str
    attributes: dict[str, str]
    text: str = ""


class _Value(str):
    """An attribute's value that knows its token's number."""

    __slots__ = ("order",)
    order: int


class _Tokenizer(_tokenizer.HTMLTokenizer):
    """Gives each start tag a number."""

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
    """The tree builder, which knows which tag an element was made for; clones were made for none."""

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
    """The parser, which counts start tags."""

    def __init__(self) -> None:
        super().__init__(_Tree, _Tokenizer)
        self.count = 0


def elements(text: str) -> list[Element]:
    """The elements that the tree of a document has, scripting off: each tag once, in the order of the tags.

    Attributes that a second html or body tag adds to the first are an element of their own here; html, head and body
    tags without attributes are left out, because the tree has these elements anyway.
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
    """ASCII letters only, as the tokenizer does."""
    return name.translate(asciiUpper2Lower)


def _attribute_name(key: str) -> str:
    namespace, _, name = key[1:].partition("}")
    prefix = _PREFIXES.get(namespace) if key.startswith("{") else None
    if prefix is None:
        return lower(key)
    return "xmlns" if (prefix, name) == ("xmlns:", "xmlns") else prefix + lower(name)
