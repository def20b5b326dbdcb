"""Links in a tree counted with its own library: evidence that a difference is caused by the parser, not by absolve.

It uses no link tables, grammars or bases: only the values of attributes, split where links could begin and end.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Held = tuple[str, dict[str, str], str]  # an element's local name, its attributes, its direct text

_SPACE: Final = "\t\n\f\r "
_CUT: Final = {
    "srcset": r"[^\s,]\S*",
    "imagesrcset": r"[^\s,]\S*",
    "ping": r"\S+",
    "style": r"url\(\s*[\"']?(.*?)[\"']?\s*\)",
}


def held(kind: str, tree: Any) -> Counter[tuple[str, str, str]]:
    """Count each (element, attribute, value) in a tree; links of style sheets are counted as (css, url)."""
    library = kind.split(maxsplit=1)[0]
    found: Counter[tuple[str, str, str]] = Counter()
    for element, attributes, text in _ELEMENTS[library](tree):
        for attribute, value in attributes.items():
            for piece in re.findall(_CUT.get(attribute, r"(?s).+|\A\Z"), value.strip(_SPACE)):
                place = ("css", "url") if attribute == "style" else (element, attribute)
                found[*place, piece.strip(_SPACE)] += 1
        if element == "style":
            found.update(("css", "url", piece) for piece in re.findall(_CUT["style"], text))
    return found


def comments(tree: Any) -> Iterator[str]:
    """Return the comments in a tree of the ElementTree kind."""
    return (node.text or "" for node in tree.iter() if not isinstance(node.tag, str))


_NO_ELEMENTS: Final = ("iframe", "noembed", "noframes", "xmp")  # html.parser creates elements in these, where HTML has text


def _of_etree(tree: Any) -> Iterator[Held]:
    for node in tree.iter():
        if isinstance(node.tag, str):
            yield _local(node.tag), {_local(key): value for key, value in node.attrib.items()}, node.text or ""


def _of_dom(tree: Any) -> Iterator[Held]:
    for node in tree.getElementsByTagName("*"):
        texts = [child.data for child in node.childNodes if child.nodeType == child.TEXT_NODE]
        yield _local(node.tagName), {_local(key): value for key, value in node.attributes.items()}, "".join(texts)


def _of_soup(tree: Any) -> Iterator[Held]:
    for node in tree.find_all(True):
        if node.find_parent(_NO_ELEMENTS) is None:
            joined = {key: " ".join(value) if isinstance(value, list) else value for key, value in node.attrs.items()}
            yield _local(node.name), {_local(key): value for key, value in joined.items()}, node.string or ""


def _of_html5lib(tree: Any) -> Iterator[Held]:
    return _of_dom(tree) if hasattr(tree, "getElementsByTagName") else _of_etree(tree)


def _local(name: str) -> str:
    return re.sub(r".*[}:]", "", name).lower()


_ELEMENTS: Final[dict[str, Callable[[Any], Iterator[Held]]]] = {
    "lxml.html": _of_etree,
    "html5lib": _of_html5lib,
    "bs4": _of_soup,
}
