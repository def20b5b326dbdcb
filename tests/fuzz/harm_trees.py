"""Trees of other parsers, as flat lists of nodes: lexbor is fast, html5lib is thorough; lxml reads XML."""

import importlib.util
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from html5lib_today import Parser
from lxml import etree

# None where lexbor is not installed: then html5lib checks every input
LEXBOR: Final[Any] = importlib.import_module("selectolax.lexbor") if importlib.util.find_spec("selectolax") else None
COMMENT: Final = "#comment"
TEXT: Final = "#text"
PI: Final = "#pi"
END: Final = "#end"
DOCTYPE: Final = "#doctype"


class Node(NamedTuple):
    """An element, its end, a text or a comment; `parent` is the element's local name, `attributes` are in order."""

    kind: str
    text: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    parent: str = ""


_END: Final = Node(END)


class UnjudgedError(Exception):
    """A parser fails on the document."""


def by_html5lib(text: str, *, scripting: bool) -> list[Node]:
    parser = Parser(scripting=scripting)
    try:
        root = parser.parse(text)
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError) as error:
        raise UnjudgedError(f"html5lib: {error!r}") from error
    document = parser.tree.document._element
    del root
    return list(_of_etree(document))


def _of_etree(root: Any) -> Iterator[Node]:
    for child in root:
        yield from _element(child, "")


def _element(element: Any, parent: str) -> Iterator[Node]:
    """Yield an element of ElementTree or lxml and its contents; its tail is yielded for its parent."""
    tag = element.tag
    if tag is etree.PI:
        yield Node(PI, f"{element.target} {element.text or ''}", (), parent)
    elif tag is etree.Entity:
        yield Node(TEXT, element.text or "", (), parent)
    elif callable(tag):  # the function Comment of either library
        yield Node(COMMENT, element.text or "", (), parent)
    elif tag == "<!DOCTYPE>":
        yield Node(DOCTYPE, element.text or "", tuple(element.items()), parent)
    else:
        attributes = tuple((_key(str(key)), value) for key, value in element.items())
        yield Node(tag, "", attributes, parent)
        name = tag.rpartition("}")[2]
        text = element.text or ""
        for child in element:
            if child.tag == "html5lib-text":
                text += child.text or ""
                continue
            if text:
                yield Node(TEXT, text, (), name)
            yield from _element(child, name)
            text = child.tail or ""
        if text:
            yield Node(TEXT, text, (), name)
        yield _END


_PREFIXES: Final = {"http://www.w3.org/1999/xlink": "xlink:", "http://www.w3.org/XML/1998/namespace": "xml:"}


def _key(key: str) -> str:
    if key.startswith("{"):
        namespace, _, name = key[1:].partition("}")
        return _PREFIXES.get(namespace, f"{{{namespace}}}") + name
    return key


# --- lexbor, which parses without scripting only ----------------------------------------------------------------------

_NOSCRIPT: Final = re.compile("noscript", re.IGNORECASE)
# With scripting noscript is raw text, as these two always are: one like noscript in a head, the other in a body.
STAND_INS: Final = ("", "noframes", "noembed")


def by_lexbor(text: str, stand_in: str) -> list[Node]:
    """Return the tree with another name for noscript."""
    if stand_in:
        text = _NOSCRIPT.sub(stand_in, text)
    root = LEXBOR.LexborHTMLParser(text).root
    while root.parent is not None and root.parent.tag != "-document":
        root = root.parent
    while root.prev is not None:
        root = root.prev
    found: list[Node] = []
    _add(found, root, "")
    return found


def _add(found: list[Node], node: Any, parent: str) -> None:
    while node is not None:
        tag = node.tag
        if tag == "-text":
            found.append(Node(TEXT, node.text_content or "", (), parent))
        elif tag == "-comment":
            found.append(Node(COMMENT, node.html[4:-3], (), parent))
        elif tag in {"-doctype", "!doctype"}:
            found.append(Node(DOCTYPE, node.html or "", (), parent))
        else:
            found.append(Node(tag, "", tuple((key, value or "") for key, value in node.attributes.items()), parent))
            if tag == "template":
                for fragment in node.template_fragments():
                    _add(found, fragment.child, tag)
            _add(found, node.child, tag)
            found.append(_END)
        node = node.next


# --- XML --------------------------------------------------------------------------------------------------------------

_DECLARATION: Final = re.compile(r"\s*<\?xml\s[^>]*?\?>")


def by_lxml(text: str) -> list[Node]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, strip_cdata=False)
    try:
        root = etree.fromstring(_DECLARATION.sub("", text.removeprefix("\ufeff"), count=1).encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise UnjudgedError(f"lxml: {error}") from error
    before: list[Node] = []
    sibling = root.getprevious()
    while sibling is not None:
        before[:0] = _element(sibling, "")
        sibling = sibling.getprevious()
    behind: list[Node] = []
    sibling = root.getnext()
    while sibling is not None:
        behind += _element(sibling, "")
        sibling = sibling.getnext()
    return [*before, *_element(root, ""), *behind]
