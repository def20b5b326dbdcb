"""Second check of XML: the trees of lxml are equal, except for the links, which still resolve to the same URLs.

In: the two entities. Out: differences. Values are those of the trees. References in them are located by the tables and
grammars of absolve; bases are computed from the trees' own `xml:base` attributes (XML Base) and base elements.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from absolve.formats.html import rules as places
from absolve.formats.xml import link_tables
from absolve.formats.xml.names import SEPARATOR, chosen
from absolve.verifying.differences import shown
from absolve.verifying.html_judge import Judge, modes
from absolve.verifying.html_parser import parse
from absolve.verifying.references import in_document, in_value
from absolve.verifying.xml_side import XML_BASE, Side, parsed, pseudo_attributes

if TYPE_CHECKING:
    from absolve.core.model import LinkSite
    from absolve.document.entity import Entity
    from absolve.formats.xml.names import Element
    from absolve.verifying.differences import Differences
    from absolve.verifying.meant import Meant
    from absolve.verifying.references import References

_DOCUMENTS = {"css": places.CSS, **places.JSON_SCRIPTS}  # syntax of a text -> its media type


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Add the differences between the trees, and between the base URLs of lxml and absolve."""
    sides: list[Side] = []
    for entity, when in ((before, "before"), (after, "after")):
        try:
            side = Side(parsed(entity), entity)
        except (SyntaxError, ValueError) as error:
            differences.add("unjudged", f"lxml cannot parse the document {when}: {error}", None, None)
            return
        sides.append(side)
        seen, known = side.bases.base.url, entity.bases.base.url
        if seen != known:
            words = f"the base {when} is {shown(seen)} for lxml, {shown(known)} for absolve"
            differences.add("base", words, None, None)
    _Judge(meant, differences, *sides).compare()


class _Judge:
    """Compare two trees of one document, node by node."""

    def __init__(self, meant: Meant, differences: Differences, before: Side, after: Side) -> None:
        self._meant = meant
        self._differences = differences
        self._before = before
        self._after = after
        self._old: Any = None  # the current pair of nodes
        self._new: Any = None
        self._looks = True  # compare equal values, too: they may resolve to different URLs
        self._joined: set[Any] = set()  # nodes (such as comments) whose tail is part of a text that was compared

    def compare(self) -> None:
        """Add all differences, up to the first node that differs in kind or name."""
        if self._before.doctype != self._after.doctype:
            self._differences.add("tree", "lxml: the document type differs", None, None)
        for old, new in zip_longest(self._before.nodes, self._after.nodes):
            if old is None or new is None or not _alike(old, new):
                self._old, self._new = (one if one is not None else self._before.root for one in (old, new))
                names = [_name(node) if node is not None else "nothing more" for node in (old, new)]
                self._say("tree", f"{names[0]} before, {names[1]} after")
                return
            self._old, self._new = old, new
            if isinstance(old.tag, str):
                self._element(old, new)
            elif not self._instruction(old, new) and old.text != new.text:
                self._differ("tree", f"the text of {_name(old)}", old.text, new.text)
            if old not in self._joined and old.tail != new.tail:
                self._differ("tree", f"the text following {_name(old)}", old.tail, new.tail)

    def _element(self, old: Any, new: Any) -> None:
        self._looks = self._meant.by_policy or self._before.base_url(old) != self._after.base_url(new)
        if old.attrib.keys() != new.attrib.keys() or old.nsmap != new.nsmap:
            self._say("attribute", f"the attribute names or namespaces of {_name(old)} differ")
            return
        element = self._before.elements[_expat(old.tag)]
        words = {key.lower(): word for key, word in old.attrib.items()}
        for key, value in old.attrib.items():
            if self._looks or value != new.get(key):
                self._value(element, words, key, value, new.get(key))
        self._text(old, new, chosen(element.text, words))

    def _value(self, element: Element, words: dict[str, str], key: str, value: str, changed: str) -> None:
        """Compare the values of an attribute: its references, if the tables have a row for it, else the text."""
        place = chosen(element.places[_expat(key)], words)
        if place is places.META_CONTENT:
            names = ("http-equiv", "property", "name", "itemprop")
            place = places.meta_place(*(words.get(name, "").strip().lower() for name in names))
        elif place is not None:
            place = element.named(place)
        if place is not None and place.syntax == "srcdoc":
            self._document(value, changed, "srcdoc")
            return
        one = other = None
        if place is not None:
            one, other = (self._read(place, text) for text in (value, changed))
        if place is None or one is None or other is None or not one.alike(other):
            if value != changed:
                self._differ("attribute", f"the attribute {key} of {_name(self._old)}", value, changed)
            return
        claims = key == XML_BASE or place.attribute == "codebase" or (element.is_html and element.local == "base")
        self._references(one, other, claims=claims)

    def _text(self, old: Any, new: Any, place: LinkSite | None) -> None:
        """Compare the text of an element, which may be a reference or a document."""
        if place is None or any(isinstance(child.tag, str) for child in old):
            if old.text != new.text:
                self._differ("tree", f"the text in {_name(old)}", old.text, new.text)
            return
        self._joined.update(old)
        value, changed = self._before.text(old), self._after.text(new)
        if value == changed and not self._looks:
            return
        if place.syntax == "html":
            self._document(value, changed, place.element)
            return
        one, other = (self._read(place, text) for text in (value, changed))
        if one.alike(other):
            self._references(one, other)
        elif value != changed:
            self._differ("tree", f"the text in {_name(old)}", value, changed)

    def _instruction(self, old: Any, new: Any) -> bool:
        """Return whether this is a processing instruction with a reference; compare it if so."""
        place = link_tables.INSTRUCTIONS.get(getattr(old, "target", ""))
        if place is None or self._before.outside(old) is False:
            return False
        values, changed = pseudo_attributes(old), pseudo_attributes(new)
        one, other = (side.pop(place.attribute, "") for side in (values, changed))
        if values != changed:
            self._differ("tree", f"the text of {_name(old)}", old.text, new.text)
        elif one or other:
            self._looks = True
            old_value, new_value = (value.encode("utf-8", "surrogatepass") for value in (one, other))
            self._references(in_value(place, old_value), in_value(place, new_value))
        return True

    def _read(self, place: LinkSite, value: str) -> References:
        if place.syntax == "css" and place.attribute:
            return in_document(places.CSS_DECLARATIONS, value.encode())
        if place.syntax in _DOCUMENTS:
            return in_document(_DOCUMENTS[place.syntax], value.encode())
        return in_value(place, value.encode())

    def _references(self, old: References, new: References, *, claims: bool = False) -> None:
        """Check pairs of references: each has its intended value and still resolves to the same URL."""
        for (place, one), (_, other) in zip(old.links, new.links, strict=True):
            rules = (
                side.rule(place, node, claims=claims)
                for side, node in ((self._before, self._old), (self._after, self._new))
            )
            fault = self._meant.fault_of_value(place, one, other, *rules, claims=claims and bool(one))
            if fault is not None:
                self._say("target", f"{place.element} {place.attribute}: {fault}")

    def _document(self, old: str, new: str, step: str) -> None:
        """Compare escaped HTML by the trees of html5lib; beyond the maximum depth, as text."""
        if old == new and not self._looks:
            return
        if self._before.settings.max_depth < 1:
            if old != new:
                self._differ("tree", f"the text in {_name(self._old)}", old, new)
            return
        for scripting in modes(old, new):
            try:
                one, other = (
                    side.inside(parse(text, scripting=scripting), step, node)
                    for side, text, node in ((self._before, old, self._old), (self._after, new, self._new))
                )
            except Exception as error:  # noqa: BLE001 - html5lib 1.1 raises various exceptions for some pages
                self._say("unjudged", f"this HTML cannot be parsed: {str(error) or type(error).__name__}")
                return
            Judge(self._meant, self._differences, one, other, scripting=scripting).compare()

    def _differ(self, code: str, what: str, old: str | None, new: str | None) -> None:
        self._say(code, f"{what} changed from {shown(old)} to {shown(new)}")

    def _say(self, code: str, words: str) -> None:
        self._differences.add(code, f"lxml: {words}", self._before.position(self._old), self._after.position(self._new))


def _alike(old: Any, new: Any) -> bool:
    """Return whether two nodes have the same kind, name and number of children."""
    return bool(
        old.tag == new.tag and getattr(old, "target", "") == getattr(new, "target", "") and len(old) == len(new)
    )


def _expat(name: str) -> str:
    """Return a name in the form of expat."""
    namespace, brace, local = name.rpartition("}")
    return f"{namespace[1:]}{SEPARATOR}{local}" if brace else name


def _name(node: Any) -> str:
    if not isinstance(node.tag, str):
        return f"a {node.tag.__name__.lower()}"
    return f"<{node.tag.rpartition('}')[2]}>"
