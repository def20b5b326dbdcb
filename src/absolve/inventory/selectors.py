"""CSS selectors of elements, which `querySelector` finds in a browser that has parsed the same bytes.

In: the bytes of HTML or XML, and the byte offsets of tags. Out: a selector for each tag that made an element. HTML is
parsed by html5lib as a browser with scripts parses it: the tags are marked with an attribute of their own, which the
tree has, too. Elements in a template or a noscript element have none: `querySelector` does not look there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from absolve.encodings.codings import to_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.encodings.charsets import Charset

Element = Any  # of xml.etree, whose comments have a function as their tag
_MARK: Final = "data-absolve-tag"
_TAG_NAME: Final = re.compile(rb"<[A-Za-z][^\t\n\f\r />]*+")
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*+\Z")
_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*+\Z")
_LONGEST: Final = 4096  # characters of a selector: in deep documents all of them together are quadratic
_DEEPEST: Final = 512  # open elements, as in browsers; html5lib searches all of them for most tags
_ALONE: Final = frozenset({"html", "head", "body"})


class _TooLargeError(Exception):
    """A tree that takes html5lib more than linear time."""


# --- HTML -------------------------------------------------------------------------------------------------------------


def of_html(data: bytes, charset: Charset, tags: Sequence[int]) -> dict[int, str]:
    """Return the selectors by the offsets of the tags, which are sorted; none for a tree that is too deep."""
    if not tags:
        return {}
    try:
        root = _parsed(to_utf8(charset, _marked(data, tags)).decode("utf-8", "replace"), 4 * data.count(b"<") + 1000)
    except _TooLargeError:
        return {}
    return _selectors(root)


def _marked(data: bytes, tags: Sequence[int]) -> bytes:
    """Return a document whose tags at these offsets have their offset as the first attribute."""
    pieces: list[bytes] = []
    end = 0
    for tag in tags:
        name = _TAG_NAME.match(data, tag)
        if name is not None and name.end() >= end:
            pieces += (data[end : name.end()], b' %b="%d"' % (_MARK.encode(), tag))
            end = name.end()
    return b"".join((*pieces, data[end:]))


def _parsed(text: str, most: int) -> Element:
    """Return the root of a tree. Raise _TooLargeError for more elements than `most`, or too many in each other."""
    from html5lib import HTMLParser, treebuilders  # few runs need it
    from html5lib.treebuilders.base import ActiveFormattingElements

    class Formatting(ActiveFormattingElements):
        def nodesEqual(self, one: Any, other: Any) -> bool:  # noqa: N802 - a name of html5lib
            """Compare elements without the mark, which would keep more than three equal ones (13.2.4.3)."""
            first, second = ({name: node.attributes[name] for name in node.attributes} for node in (one, other))
            first.pop(_MARK, None)
            second.pop(_MARK, None)
            return one.nameTuple == other.nameTuple and first == second

    class Bounded(treebuilders.getTreeBuilder("etree")):  # type: ignore[misc]  # a class that is made
        def reset(self) -> None:
            super().reset()
            self.activeFormattingElements = Formatting()
            self.made = 0

        def insertElementNormal(self, token: Any) -> Any:  # noqa: N802 - a name of html5lib
            self.made += 1
            if self.made > most or len(self.openElements) > _DEEPEST:
                raise _TooLargeError
            return super().insertElementNormal(token)

    parser = HTMLParser(tree=Bounded, namespaceHTMLElements=False)
    parser.parse(text, scripting=True)
    document: Element = parser.tree.document._element  # noqa: SLF001 - html5lib has no other name for it
    return next(document.iter("html"))


def _selectors(root: Element) -> dict[int, str]:
    ids: dict[str, int] = {}
    for element in root.iter():
        if isinstance(element.tag, str) and (name := element.get("id")):
            ids[name.lower()] = ids.get(name.lower(), 0) + 1  # quirks mode: in any case
    found: dict[int, str] = {}
    waiting: list[tuple[Element, str]] = [(root, _step(root, 1, ids, ""))]
    while waiting:  # in tree order: the first of several elements that one tag has made counts
        element, path = waiting.pop()
        mark = element.get(_MARK)
        if mark is not None and len(path) <= _LONGEST:
            found.setdefault(int(mark), path)
        if element.tag in {"template", "noscript"}:
            continue
        children = [child for child in element if isinstance(child.tag, str)]
        steps = [(child, _step(child, number, ids, path)) for number, child in enumerate(children, 1)]
        waiting += [step for step in reversed(steps) if len(step[1]) <= _LONGEST]
    return found


def _step(element: Element, number: int, ids: dict[str, int], above: str) -> str:
    """Return the selector of an element, the child with this number of one whose selector is `above`."""
    own = element.get("id", "")
    if _ID.match(own) and ids[own.lower()] == 1:
        return f"#{own}"
    return _child(element.tag.rpartition("}")[2], number, above)


def _child(name: str, number: int, above: str) -> str:
    """Return the selector of the child with a name and a number; a name that needs escapes is left out."""
    name = name if _PLAIN.match(name) else ""
    step = name if name in _ALONE else f"{name}:nth-child({number})"
    return f"{above} > {step}" if above else name or ":root"


# --- XML --------------------------------------------------------------------------------------------------------------


def of_xml(data: bytes, _charset: Charset, tags: Sequence[int]) -> dict[int, str]:
    """Return the selectors by the offsets of the tags; of XML that is not well-formed, up to the error."""
    from xml.parsers import expat

    wanted = set(tags)
    found: dict[int, str] = {}
    above: list[str] = [""]  # the selectors of the open elements; "" for one that is too long
    numbers = [0]  # of their children so far
    parser = expat.ParserCreate("utf-8")
    parser.UseForeignDTD(True)  # entities of a document type elsewhere are unknown, no error

    def start(name: str, _: dict[str, str]) -> None:
        numbers[-1] += 1
        is_known = bool(above[-1]) or len(above) == 1
        path = _child(name.rpartition(":")[2], numbers[-1], above[-1]) if is_known else ""
        if path and parser.CurrentByteIndex in wanted:
            found.setdefault(parser.CurrentByteIndex, path)
        above.append(path if len(path) <= _LONGEST else "")
        numbers.append(0)

    def end(_: str) -> None:
        above.pop()
        numbers.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    with suppress(expat.ExpatError):
        parser.Parse(data, True)
    return found
