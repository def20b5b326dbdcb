"""What the tables say of an element's and its attributes' names in XML; namespaces decide, not prefixes.

Names are expat's: namespace and local name with a separator between, or a name alone.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from absolve.formats import html_names as names
from absolve.formats import html_places as places
from absolve.formats import xml_tables as tables
from absolve.formats.xml_tables import Choice
from absolve.model import Place

SEPARATOR: Final = "\x01"  # no XML document can have this character
XML_BASE: Final = f"{tables.XML}{SEPARATOR}base"
_HTML: Final = {tables.XHTML: names.HTML, tables.SVG: names.SVG, tables.MATHML: names.MATHML}
_KEPT: Final = 4096  # names are the document's own, and documents are many


class Element:
    """An element's name and what its text is; its attributes' rows by their names."""

    __slots__ = ("local", "namespace", "places", "text")

    def __init__(self, name: str, root: str, *, lazy: bool) -> None:
        self.namespace, _, self.local = name.rpartition(SEPARATOR)
        rows = _rows(self.namespace, root)
        self.text = rows.get((self.local, ""))
        self.places = _Attributes(self, rows, lazy=lazy)

    @property
    def is_html(self) -> bool:
        return self.namespace == tables.XHTML


class _Attributes(dict[str, Place | Choice | None]):
    """The row of each attribute of an element by its name, looked up once; None for one that holds no reference."""

    def __init__(self, element: Element, rows: dict[tuple[str, str], Place | Choice], *, lazy: bool) -> None:
        self._element = element
        self._rows = rows
        self._lazy = lazy

    def __missing__(self, key: str) -> Place | Choice | None:
        found = self._found(key)
        if len(self) < _KEPT:
            self[key] = found
        return found

    def _found(self, key: str) -> Place | Choice | None:
        namespace, _, name = key.rpartition(SEPARATOR)
        general = tables.ATTRIBUTES.get((namespace, name))
        if namespace and general is None:
            return None
        local = self._element.local
        attribute = name if general is None else general.attribute
        if self._element.namespace in _HTML:
            in_html = self._in_html(_HTML[self._element.namespace], local, attribute)
            return in_html or self._named(general)
        return self._rows.get((local, attribute)) or self._named(self._rows.get(("*", attribute)) or general)

    def _in_html(self, namespace: int, local: str, attribute: str) -> Place | None:
        """XHTML is in lower case; the tables have the names of SVG and MathML so, too."""
        if namespace != names.HTML:
            local, attribute = local.lower(), attribute.lower()
        return places.rows(lazy=self._lazy)[namespace, local, attribute]

    def _named(self, row: Place | Choice | None) -> Place | Choice | None:
        return places.named(row, self._element.local) if isinstance(row, Place) else row


@cache
def _rows(namespace: str, root: str) -> dict[tuple[str, str], Place | Choice]:
    """The rows of a namespace; where there is none, of the vocabulary that the root element is of."""
    rows = tables.VOCABULARIES.get(namespace, ()) if namespace else tables.ROOTS.get(root, ())
    return {(row.element, row.attribute): row for row in rows}


class Elements(dict[str, Element]):
    """Elements by their names, in documents with one root element."""

    def __init__(self, root: str, *, lazy: bool) -> None:
        self._root = root
        self._lazy = lazy

    def __missing__(self, name: str) -> Element:
        found = Element(name, self._root, lazy=self._lazy)
        if len(self) < _KEPT:
            self[name] = found
        return found


def elements(root: str, *, lazy: bool) -> Elements:
    """Those of documents whose root element has this name."""
    return _elements(root if root in tables.ROOTS else "", lazy)


@cache
def _elements(root: str, lazy: bool) -> Elements:
    return Elements(root, lazy=lazy)


def chosen(row: Place | Choice | None, attributes: dict[str, str]) -> Place | None:
    """The place that a row gives in a tag with these attributes, whose names are in lower case."""
    if not isinstance(row, Choice):
        return row
    key = " ".join(attributes.get(name, "").strip().lower() for name in row.by)
    return row.places.get(key) or row.places.get(f"{key.partition('/')[0]}/") or row.default
