"""What the tables say of an element's and its attributes' names in XML; namespaces decide, not prefixes.

Names are expat's: namespace and local name with a separator between, or a name alone.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from absolve.core.model import LinkSite
from absolve.formats.html import names, rules
from absolve.formats.xml import link_tables
from absolve.formats.xml.link_tables import Choice

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

SEPARATOR: Final = "\x01"  # no XML document can have this character
_HTML: Final = {link_tables.XHTML: names.HTML, link_tables.SVG: names.SVG, link_tables.MATHML: names.MATHML}
_KEPT: Final = 4096  # names are the document's own, and documents are many
_LONGEST: Final = 1024  # characters of what is kept with one of them


class Element:
    """An element's name and what its text is; its attributes' rows by their names."""

    __slots__ = ("local", "namespace", "places", "text")

    def __init__(self, name: str, root: str, *, lazy: bool) -> None:
        self.namespace, _, self.local = name.rpartition(SEPARATOR)
        rows = _rows(self.namespace, root)
        self.text = rows.get((self.local, ""))
        self.places = _Attributes(self, rows, lazy=lazy)

    def named(self, place: LinkSite) -> LinkSite:
        """A row for any element as that of this one."""
        return _named(place, self.local)

    @property
    def is_html(self) -> bool:
        return self.namespace == link_tables.XHTML


class _Attributes(dict[str, LinkSite | Choice | None]):
    """The row of each attribute of an element by its name, looked up once; None for one that holds no reference.

    A row for any element is the same for all of them.
    """

    def __init__(self, element: Element, rows: dict[tuple[str, str], LinkSite | Choice], *, lazy: bool) -> None:
        self._element = element
        self._rows = rows
        self._lazy = lazy

    def __missing__(self, key: str) -> LinkSite | Choice | None:
        found = self._found(key)
        if len(self) < _KEPT and len(key) <= _LONGEST:
            self[key] = found
        return found

    def _found(self, key: str) -> LinkSite | Choice | None:
        namespace, _, name = key.rpartition(SEPARATOR)
        general = link_tables.ATTRIBUTES.get((namespace, name))
        if namespace and general is None:
            return None
        local = self._element.local
        attribute = name if general is None else general.attribute
        if self._element.namespace in _HTML:
            return self._in_html(_HTML[self._element.namespace], local, attribute) or general
        return self._rows.get((local, attribute)) or self._rows.get(("*", attribute)) or general

    def _in_html(self, namespace: int, local: str, attribute: str) -> LinkSite | None:
        """XHTML is in lower case; the tables have the names of SVG and MathML so, too."""
        if namespace != names.HTML:
            local, attribute = local.lower(), attribute.lower()
        return rules.rows(lazy=self._lazy).row(namespace, local, attribute)


@cache
def _rows(namespace: str, root: str) -> dict[tuple[str, str], LinkSite | Choice]:
    """The rows of a namespace; where there is none, of the vocabulary that the root element is of."""
    rows = link_tables.VOCABULARIES.get(namespace, ()) if namespace else link_tables.ROOTS.get(root, ())
    return {(row.element, row.attribute): row for row in rows}


class Elements(dict[str, Element]):
    """Elements by their names, in documents with one root element."""

    def __init__(self, root: str, *, lazy: bool) -> None:
        self._root = root
        self._lazy = lazy

    def __missing__(self, name: str) -> Element:
        found = Element(name, self._root, lazy=self._lazy)
        if len(self) < _KEPT and len(name) <= _LONGEST:
            self[name] = found
        return found


def elements(root: str, *, lazy: bool) -> Elements:
    """Those of documents whose root element has this name."""
    return _elements(root if root in link_tables.ROOTS else "", lazy)


@cache
def _elements(root: str, lazy: bool) -> Elements:
    return Elements(root, lazy=lazy)


# --- names as they are written -------------------------------------------------------------------------------------

# Prefixes, the empty one for names without one, and their namespaces; a prefix that is not there is one of another.
Bindings = dict[bytes, str]
_UNKNOWN: Final = LinkSite("", "")  # in the place of a row that was not looked up yet
_ALWAYS: Final[Bindings] = {b"xml": link_tables.XML}  # Namespaces in XML 1.0, section 3


def _expanded(raw: bytes, default: str, bindings: Bindings) -> str:
    """A name with its namespace, as expat writes it; `default` is that of a name without a prefix."""
    prefix, _, local = raw.rpartition(b":")
    namespace = bindings.get(prefix, link_tables.OTHER) if prefix else default
    name = local.decode("utf-8", "surrogateescape")
    return f"{namespace}{SEPARATOR}{name}" if namespace else name


@cython.final
@cython.cclass
class Written:
    """An element by its name as it is written: what its text is, and the rows of its attributes as they are written."""

    def __init__(self, element: Element, names: Names) -> None:
        self.element = element
        self.text = element.text
        self.rows: dict[bytes, LinkSite | Choice | None] = {}
        self.is_html = element.is_html
        self.is_template = element.is_html and element.local == "template"
        self._names = names

    def row(self, raw: bytes, bindings: Bindings) -> LinkSite | Choice | None:
        """The row of an attribute; None for one that holds no reference."""
        found = None
        if raw != b"xmlns" and not raw.startswith(b"xmlns:"):
            found = self.element.places[_expanded(raw, "", bindings)]
        if self._names.has_room(len(raw)):
            self.rows[raw] = found
        return found


class Names:
    """Elements by their names as they are written, at places where the same namespaces were declared in the same order.

    What those are the caller knows, `bindings`: a copy for each place would take as many steps as are in scope.
    """

    def __init__(self, root: str, *, lazy: bool, of: Names | None = None) -> None:
        self.known: dict[bytes, Written] = {}
        self._elements = elements(root, lazy=lazy)
        self._root = root
        self._lazy = lazy
        self._inside: dict[tuple[tuple[bytes, str], ...], Names] = {}
        self._first = of or self
        self.room = _KEPT  # for names in all those that begin with these

    def has_room(self, size: int) -> bool:
        """Whether one more name may be kept, with so many characters; if so it is taken for kept."""
        if size > _LONGEST:
            return False
        self._first.room -= 1
        return self._first.room >= 0

    def is_full(self) -> bool:
        """Whether nothing more is kept: names are the document's own, and documents are many."""
        return self._first.room <= 0

    def element(self, raw: bytes, bindings: Bindings) -> Written:
        """The element of a name that is not known yet."""
        found = Written(self._elements[_expanded(raw, bindings.get(b"", ""), bindings)], self)
        if self.has_room(len(raw)):
            self.known[raw] = found
        return found

    def inside(self, declared: tuple[tuple[bytes, str], ...]) -> Names:
        """Those inside an element that declares these namespaces."""
        found = self._inside.get(declared)
        if found is None:
            found = Names(self._root, lazy=self._lazy, of=self._first)
            if self.has_room(sum(len(prefix) + len(namespace) + 1 for prefix, namespace in declared)):
                self._inside[declared] = found
        return found


_NAMES: dict[tuple[str, bool], Names] = {}


def names_of(root: str = "", *, lazy: bool) -> Names:
    """The names in documents with this root element before anything is declared."""
    found = _NAMES.get((root, lazy))
    if found is None or found.is_full():
        found = _NAMES[root, lazy] = Names(root, lazy=lazy)
    return found


@cython.final
@cython.cclass
class Namespaces:
    """The namespaces in scope where a walk has come to, and the names of elements there.

    `bindings` has the prefixes of those that the tables speak of.
    """

    def __init__(self, *, lazy: bool) -> None:
        self._lazy = lazy
        self.bindings: Bindings = dict(_ALWAYS)
        self._names = names_of(lazy=lazy)
        self._known = self._names.known
        # the depth of each element that declares some, the names around it, and what it was that they were before
        self._outer: list[tuple[int, Names, list[tuple[bytes, str | None]]]] = []

    @cython.cfunc
    def element(self, raw: bytes) -> Written:
        """The element of a name."""
        found = self._known.get(raw)
        return self._names.element(raw, self.bindings) if found is None else found

    @cython.cfunc
    def row(self, element: Written, raw: bytes) -> LinkSite | Choice | None:
        """The row of one of its attributes; None for one that holds no reference."""
        found = element.rows.get(raw, _UNKNOWN)
        return element.row(raw, self.bindings) if found is _UNKNOWN else found

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def declare(self, declared: tuple, depth: cython.int) -> cython.int:  # type: ignore[type-arg]
        """Bring namespaces into scope, until the element at this depth ends."""
        if not declared:
            return 0
        before = [(prefix, self.bindings.get(prefix)) for prefix, _ in declared]
        self._outer.append((depth, self._names, before))
        self.bindings.update(declared)
        return self._go_on(self._names.inside(declared))

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def begin(self, root: str) -> cython.int:
        """Go on as in documents whose root element has this name, where names have no namespace."""
        return self._go_on(names_of(root, lazy=self._lazy).inside(tuple(self.bindings.items())))

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def end(self, depth: cython.int) -> cython.int:
        """The element at this depth ends."""
        if self._outer and self._outer[-1][0] == depth:
            _, names, before = self._outer.pop()
            for prefix, namespace in before:
                if namespace is None:
                    del self.bindings[prefix]
                else:
                    self.bindings[prefix] = namespace
            self._go_on(names)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _go_on(self, names: Names) -> cython.int:
        self._names = names
        self._known = names.known
        return 0


def of_tag(data: bytes, place: LinkSite, start: int) -> LinkSite:
    """A row for any element as that of the tag which starts here."""
    name = _TAG_NAME.match(data, start)
    return _named(place, name[1].rpartition(b":")[2].decode("utf-8", "surrogateescape")) if name else place


def _named(place: LinkSite, local: str) -> LinkSite:
    return rules.named(place, local.lower() if place in _IN_LOWER_CASE else local) if place.element == "*" else place


_TAG_NAME: Final = re.compile(rb"<([^\t\n\r />]*+)")
_IN_LOWER_CASE: Final = frozenset(place for (_, element, _), place in rules.FOREIGN.items() if element == "*")


def chosen(row: LinkSite | Choice | None, attributes: dict[str, str]) -> LinkSite | None:
    """The place that a row gives in a tag with these attributes, whose names are in lower case; a `Choice` asks."""
    if not isinstance(row, Choice):
        return row
    return of_words(row, [attributes.get(name, "").strip().lower() for name in row.by])


def of_words(row: Choice, words: list[str]) -> LinkSite | None:
    """The place that a row gives where the values of the attributes it asks for are these."""
    key = " ".join(words)
    return row.places.get(key) or row.places.get(f"{key.partition('/')[0]}/") or row.default
