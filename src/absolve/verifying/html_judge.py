"""Compare two trees of html5lib, node by node: of pages, and of HTML inside other documents.

In: two sides (tree and bases). Out: differences. Values are those of the trees. References in them are located by the
tables and grammars of absolve; the base is computed from the tree's own base elements (HTML Standard 4.2.3).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from absolve.formats.html import names
from absolve.formats.html import rules as places
from absolve.verifying.differences import shown
from absolve.verifying.html_nodes import COMMENT, DOCTYPE, NOTHING
from absolve.verifying.html_parser import parse
from absolve.verifying.html_side import errors
from absolve.verifying.references import in_document, in_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import LinkSite
    from absolve.verifying.differences import Differences
    from absolve.verifying.html_nodes import Content, Tree
    from absolve.verifying.html_side import Side
    from absolve.verifying.meant import Meant
    from absolve.verifying.references import References

    Attributes = dict[str, str]

_PREFIXES: Final = {"{http://www.w3.org/1999/xlink}": "xlink:", "{http://www.w3.org/XML/1998/namespace}": "xml:"}
_NOSCRIPT_TAG: Final = "{http://www.w3.org/1999/xhtml}noscript"
_NAMESPACES: Final = {
    "{http://www.w3.org/1999/xhtml}": names.HTML,
    "{http://www.w3.org/2000/svg}": names.SVG,
    "{http://www.w3.org/1998/Math/MathML}": names.MATHML,
}


def modes(*texts: str) -> tuple[bool, ...]:
    """Return the scripting flags to parse these documents with: off, and also on if there is a noscript element."""
    return (False, True) if any(_NOSCRIPT.search(text) for text in texts) else (False,)


_NOSCRIPT: Final = re.compile("<noscript", re.IGNORECASE | re.ASCII)


class Judge:
    """Compare two trees of one document; a document inside it gets a `Judge` of its own.

    `scripting`: the trees are those of a browser that runs scripts. Then only the values of links are compared, not
    their targets: with scripting on, a base inside a noscript element has no effect.
    """

    def __init__(
        self,
        meant: Meant,
        differences: Differences,
        before: Side,
        after: Side,
        *,
        scripting: bool = False,
    ) -> None:
        self._scripting = scripting
        self._meant = meant
        self._differences = differences
        self._before = before
        self._after = after
        # With equal bases and no policy only values that differ can be wrong: equal values are skipped.
        same = [(side.bases.own.url, side.bases.base.url) for side in (before, after)]
        self._looks = not scripting and (meant.by_policy or same[0] != same[1])
        self._index = 0

    def compare(self) -> None:
        """Add all differences; the last one is the first node that differs in tag or number of children."""
        old, new = self._before.tree, self._after.tree
        alike = _alike(old, new)
        nodes = islice(zip(old.tags(), old.contents(), new.contents(), strict=False), alike)
        for self._index, (tag, one, other) in enumerate(nodes):
            if (one or other) and (self._looks or one != other):
                self._node(tag, one or NOTHING, other or NOTHING)
        if alike < max(len(old), len(new)):
            self._index = alike
            here, there = (_name(next(islice(tree.tags(), alike, None), "")) for tree in (old, new))
            words = f"{here} before, {there} after" if here != there else f"{here} has another number of children"
            self._say("tree", words)

    def _node(self, tag: str, old: Content, new: Content) -> None:
        if tag == COMMENT:
            self._comment(old[1], new[1])
        else:
            if (old[0] or new[0]) and (self._looks or old[0] != new[0]):
                self._attributes(tag, old[0], new[0])
            if self._looks or old[1] != new[1]:
                self._text(tag, old, new)
        if old[2] != new[2]:
            self._differ("tree", f"the text following {_name(tag)}", old[2], new[2])

    def _attributes(self, tag: str, old: Attributes, new: Attributes) -> None:
        for key in {**old, **new}:
            value, changed = old.get(key), new.get(key)
            if value is None or changed is None:
                self._differ("attribute", f"the attribute {_attribute(key)} of {_name(tag)}", value, changed)
            elif self._looks or value != changed:
                self._value(tag, old, new, key)

    def _value(self, tag: str, old: Attributes, new: Attributes, key: str) -> None:
        """Compare the values of an attribute: its references, if the tables have a row for it, else the text."""
        value, changed = old[key], new[key]
        place = self._place(tag, old, _attribute(key))
        if place is not None and place.syntax == "srcdoc":
            self._document(value, changed, "srcdoc")
            return
        one = other = None
        if place is not None and place.syntax == "css":
            one, other = (in_document(places.CSS_DECLARATIONS, self._bytes(text)) for text in (value, changed))
        elif place is not None:
            one, other = (in_value(place, self._bytes(text)) for text in (value, changed))
        if one is None or other is None or not one.alike(other):
            if value != changed:
                self._differ("attribute", f"the attribute {_attribute(key)} of {_name(tag)}", value, changed)
            return
        self._references(one, other, old.get("codebase", ""), new.get("codebase", ""))

    def _text(self, tag: str, old: Content, new: Content) -> None:
        """Compare the text of an element, which may be a style sheet, JSON with links, or the markup of a noscript."""
        if self._scripting and tag == _NOSCRIPT_TAG:
            return  # compared as elements in the trees with scripting off
        media_type = self._media_type(tag, old[0])
        if media_type:
            one, other = (in_document(media_type, self._bytes(content[1])) for content in (old, new))
            if one.alike(other):
                self._references(one, other)
                return
        if old[1] != new[1]:
            self._differ("tree", f"the text in {_name(tag)}", old[1], new[1])

    def _comment(self, old: str, new: str) -> None:
        """Compare the text of a comment; with `conditional_comments`, a conditional one is parsed as HTML."""
        if self._before.settings.conditional_comments and (self._looks or old != new):
            raw, changed = self._bytes(old), self._bytes(new)
            span, other = places.conditional(raw, 0, len(raw)), places.conditional(changed, 0, len(changed))
            if span and other and (raw[: span[0]], raw[span[1] :]) == (changed[: other[0]], changed[other[1] :]):
                self._document(self._str(raw[slice(*span)]), self._str(changed[slice(*other)]), "")
                return
        if old != new:
            self._differ("tree", "a comment", old, new)

    def _document(self, old: str, new: str, step: str) -> None:
        """Compare HTML in an attribute or a comment; beyond the maximum depth, as text."""
        if old == new and not (self._looks and not (step and self._before.leaves)):
            return
        if step and self._before.depth >= self._before.settings.max_depth:
            if old != new:
                self._differ("attribute", f"the attribute {step}", old, new)
            return
        for scripting in (True,) if self._scripting else modes(old, new):
            try:
                one, other = (
                    side.inside(parse(text, scripting=scripting), step, side.position(self._index))
                    for side, text in ((self._before, old), (self._after, new))
                )
            except Exception as error:  # noqa: BLE001 - as in `html.compare`
                self._say("unjudged", f"this HTML cannot be parsed: {str(error) or type(error).__name__}")
                return
            Judge(self._meant, self._differences, one, other, scripting=scripting).compare()

    def _references(self, old: References, new: References, codebase: str = "", changed: str = "") -> None:
        """Check pairs of references: each has its intended value and still resolves to the same URL."""
        for (place, one), (_, other) in zip(old.links, new.links, strict=True):
            if self._scripting:
                if one != other and (fault := self._meant.fault_of_text(place, one, other)) is not None:
                    self._say("target", f"{place.element} {place.attribute}: {fault}")
                continue
            rules = (
                side.rule(place, self._bytes(text) if place.against == "codebase" else b"")
                for side, text in ((self._before, codebase), (self._after, changed))
            )
            claims = place.attribute == "codebase" or (place.element, place.attribute) == ("base", "href")
            fault = self._meant.fault_of_value(place, one, other, *rules, claims=claims and bool(one))
            if fault is not None:
                self._say("target", f"{place.element} {place.attribute}: {fault}")

    def _place(self, tag: str, attributes: Attributes, attribute: str) -> LinkSite | None:
        namespace, element = _split(tag)
        place = places.rows(lazy=self._before.settings.lazy).place(namespace, element, attribute)
        if place is not places.META_CONTENT:
            return place
        keys = ("http-equiv", "property", "name", "itemprop")
        return places.meta_place(*(self._keyword(attributes, key) for key in keys))

    def _media_type(self, tag: str, attributes: Attributes) -> str | None:
        namespace, element = _split(tag)
        if element == "style":
            is_sheet = places.is_sheet(self._keyword(attributes, "type"))
            sheet = namespace == names.SVG or (namespace == names.HTML and is_sheet)
            return places.CSS if sheet else None
        if (namespace, element) == (names.HTML, "script"):
            return places.JSON_SCRIPTS.get(self._keyword(attributes, "type"))
        return None

    def _keyword(self, attributes: Attributes, key: str) -> str:
        return self._bytes(attributes.get(key, "")).strip(b"\t\n\f\r ").lower().decode("latin-1")

    def _bytes(self, text: str) -> bytes:
        """Encode a text in UTF-8, in the form in which codings decode values."""
        if text.isascii():
            return text.encode("ascii")
        return text.encode("utf-8", errors(self._before.charset))

    def _str(self, value: bytes) -> str:
        return value.decode("utf-8", errors(self._before.charset))

    def _differ(self, code: str, what: str, old: str | None, new: str | None) -> None:
        """Add a difference of two texts, quoted from shortly before their first difference; None for a missing text."""
        if old and new:
            same = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
            cut = max(0, min(same, len(old), len(new)) - 20)
            old, new = old[cut:], new[cut:]
        self._say(code, f"{what} changed from {shown(old)} to {shown(new)}")

    def _say(self, code: str, words: str) -> None:
        who = "html5lib, scripting on" if self._scripting else "html5lib"
        self._differences.add(
            code, f"{who}: {words}", self._before.position(self._index), self._after.position(self._index)
        )


def _alike(old: Tree, new: Tree) -> int:
    """Return the number of nodes up to the first that differs in tag or number of children, or of all nodes."""
    size = min(len(old), len(new))
    tags = _first_other(old.tags(), new.tags(), size)
    return tags if tags < size or len(old) != len(new) else _first_other(old.sizes(), new.sizes(), size)


def _first_other(old: Iterator[object], new: Iterator[object], size: int) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (one, other) in pairs if one != other), size)


def _split(tag: str) -> tuple[int, str]:
    namespace, brace, name = tag.rpartition("}")
    return _NAMESPACES.get(namespace + brace, -1), name.lower()


def _name(tag: str) -> str:
    if tag == COMMENT:
        return "a comment"
    if not tag:
        return "nothing more"
    return "the document type" if tag == DOCTYPE else f"<{tag.rpartition('}')[2]}>"


def _attribute(key: str) -> str:
    namespace, brace, name = key.rpartition("}")
    return (_PREFIXES.get(namespace + brace, "") if brace and key[0] == "{" else namespace + brace) + name.lower()
