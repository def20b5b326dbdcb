"""Read the start tags of a well-formed XML document; look their names up in the link tables (Namespaces in XML 1.0).

In: the bytes of a document that expat has accepted, in UTF-8, and the offset of a tag. Out: the byte spans of tag,
attribute names and values, decoded values, and the namespaces that the tag declares (XML 1.0 3.1, 3.3.3; Namespaces in
XML 1.0 3). No bounds are checked where a well-formed document cannot exceed them. The text of each element and each
attribute has a row (a `LinkSite` or a `Choice`), or None. Expanded names have expat's form: namespace, separator, local
name; or a local name alone.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.model import LinkSite
from absolve.formats.html import names, rules
from absolve.formats.xml import link_tables
from absolve.formats.xml.codings import PREDEFINED, CharacterData
from absolve.formats.xml.link_tables import NAMESPACES, OTHER, Choice
from absolve.formats.xml.prolog import ENTITY, SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    import cython

    from absolve.encodings.charsets import Charset
    from absolve.formats.xml.prolog import Prolog


_DEEPEST = 100  # nested entities


def _codings(charset: Charset, entities: Mapping[bytes, bytes]) -> tuple[CharacterData, ...]:
    """Return the codings of text, of values in quotation marks, and of values in apostrophes."""
    return tuple([CharacterData(charset, quote, entities) for quote in (b"", b'"', b"'")])


@lru_cache(maxsize=64)
def _usual(charset: Charset) -> tuple[CharacterData, ...]:
    """Return the codings for documents that declare no entities, from a cache."""
    return _codings(charset, PREDEFINED)


def _known(namespace: str) -> str:
    """Return a namespace of the tables, or the empty one, unchanged; `OTHER` for any other namespace."""
    return namespace if not namespace or namespace in NAMESPACES else OTHER


class Tag:
    """The current start tag of a document, and an iterator over its attributes.

    `start` and `end` are its span. `is_closed`: it is an empty-element tag. `declares`: it has namespace declarations.
    `has_others`: it has other attributes. After `next`, `attribute` and `attribute_end` are the span of the attribute's
    name, `value_start` and `value_end` the span of its value without quotes. `text` is the coding of text in the
    document.
    """

    def __init__(self, data: bytes, charset: Charset, prolog: Prolog) -> None:
        self._data = data
        self._nested = prolog.nested
        codings = _codings(charset, prolog.entities) if prolog.end else _usual(charset)
        self.text, self._double, self._single = codings
        self.start = self.end = -1

    def read(self, start: cython.Py_ssize_t) -> bytes:
        """Read the tag at this offset (3.1, STag and EmptyElemTag) and return its name; then call `rewind`."""
        p: cython.p_const_uchar = self._data
        i: cython.Py_ssize_t = start + 1
        while p[i] > 62 or (p[i] > 32 and p[i] != 62 and p[i] != 47):
            i += 1
        self.start = start
        self._name_end = self._at = i
        self.declares = self.has_others = False
        while self.next():
            if self._is_declaration():
                self.declares = True
            else:
                self.has_others = True
        self.is_closed = p[self._at] == 47
        self.end = self._at + (2 if self.is_closed else 1)
        return p[start + 1 : i]

    def rewind(self) -> cython.int:
        """Restart the iteration over attributes."""
        self._at = self._name_end
        return 0

    def next(self) -> cython.bint:
        """Advance to the next attribute (3.1, Attribute); return False after the last one."""
        p: cython.p_const_uchar = self._data
        i: cython.Py_ssize_t = self._at
        while p[i] <= 32:
            i += 1
        if p[i] == 62 or p[i] == 47:
            self._at = i
            return False
        self.attribute = i
        while p[i] > 61 or (p[i] > 32 and p[i] != 61):
            i += 1
        self.attribute_end = i
        while p[i] != 34 and p[i] != 39:
            i += 1
        self.value_start = i + 1
        self.value_end = byte_scan.find(p, p[i], i + 1, len(self._data))
        self._at = self.value_end + 1
        return True

    def _is_declaration(self) -> cython.bint:
        """Return whether the attribute declares a namespace (Namespaces in XML 1.0, section 3)."""
        p: cython.p_const_uchar = self._data
        i: cython.Py_ssize_t = self.attribute
        if p[i] != 120 or p[i + 1] != 109 or p[i + 2] != 108 or p[i + 3] != 110 or p[i + 4] != 115:
            return False
        return i + 5 == self.attribute_end or p[i + 5] == 58

    def declared(self, defaults: Mapping[bytes, str], bindings: dict) -> tuple:  # type: ignore[type-arg]
        """Return the namespaces that the tag declares, as (prefix, namespace); `defaults` come from the DTD.

        A namespace outside the tables is included only where it replaces one in `bindings`: there may be thousands.
        """
        found: dict[bytes, str] = {}
        for prefix, default in defaults.items():
            namespace = _known(default)
            if namespace is not OTHER or not prefix or prefix in bindings:
                found[prefix] = namespace
        self.rewind()
        while self.next():
            if self._is_declaration():
                prefix = self._data[self.attribute + 6 : self.attribute_end]
                namespace = _known(self._word())
                if namespace is not OTHER or not prefix or prefix in bindings or prefix in found:
                    found[prefix] = namespace
        return tuple(found.items())

    def keywords(self, names: tuple) -> list:  # type: ignore[type-arg]
        """Return the normalized values of the named attributes: stripped, in lower case, "" for an absent one.

        `names` are in lower case; the match is ASCII case-insensitive.
        """
        p: cython.p_const_uchar = self._data
        found = [""] * len(names)
        index: cython.Py_ssize_t
        self.rewind()
        while self.next():
            for index in range(len(names)):
                if _is_called(p, self.attribute, self.attribute_end, names[index]):
                    found[index] = self._word().strip().lower()
        return found

    def _word(self) -> str:
        """Return the normalized value of the current attribute (3.3.3), with all entities expanded."""
        p: cython.p_const_uchar = self._data
        raw: bytes = p[self.value_start : self.value_end]
        if self._nested:
            raw = self._unfolded(raw, 0)
        return self._double.decode(raw).decode("utf-8", "surrogateescape")

    def _unfolded(self, raw: bytes, depth: cython.int) -> bytes:
        """Expand the entities in `nested` in a value, recursively; `Expansion.check` has bounded the size."""
        pieces: list[bytes] = []
        position = 0
        for found in ENTITY.finditer(raw) if depth < _DEEPEST else ():
            inner = self._nested.get(found[1])
            if inner is not None:
                pieces += (raw[position : found.start()], self._unfolded(inner, depth + 1))
                position = found.end()
        return b"".join((*pieces, raw[position:]))

    def coding(self, start: cython.Py_ssize_t) -> CharacterData:
        """Return the coding of the value at this offset, by the quote before it."""
        return self._double if self._data[start - 1] == 34 else self._single

    def decoded(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
        """Return the decoded value in this span."""
        return self.coding(start).decode(self._data[start:end])


def _is_called(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t, name: str) -> cython.bint:
    """Return whether this span equals a name in lower case, ASCII case-insensitively."""
    i: cython.Py_ssize_t
    if end - start != len(name):
        return False
    for i in range(end - start):
        if (p[start + i] | 32 if 65 <= p[start + i] <= 90 else p[start + i]) != ord(name[i]):
            return False
    return True


# --- expanded names ---------

_HTML: Final = {link_tables.XHTML: names.HTML, link_tables.SVG: names.SVG, link_tables.MATHML: names.MATHML}
_KEPT: Final = 4096  # names per cache, which outlives documents: each document can have names of its own
_LONGEST: Final = 1024  # characters of a name that is cached


class Element:
    """An element by its expanded name: the row for its text, and the rows of its attributes by expanded name.

    `is_linked`: it is a channel or item of RSS, whose link is the base of the HTML in it.
    """

    __slots__ = ("is_linked", "local", "namespace", "places", "text")

    def __init__(self, name: str, root: str) -> None:
        self.namespace, _, self.local = name.rpartition(SEPARATOR)
        rows = _rows(self.namespace, root)
        self.text = rows.get((self.local, ""))
        self.is_linked = self.local in {"channel", "item"} and ("guid", "") in rows
        self.places = _Attributes(self, rows)

    def named(self, place: LinkSite) -> LinkSite:
        """Return a row for any element (`*`) with the name of this one."""
        return _named(place, self.local)

    @property
    def is_html(self) -> bool:
        return self.namespace == link_tables.XHTML


class _Attributes(dict[str, LinkSite | Choice | None]):
    """Cache of an element's attribute rows by expanded name; None for an attribute without references.

    A row for any element (`*`) is the same object in all of them.
    """

    def __init__(self, element: Element, rows: dict[tuple[str, str], LinkSite | Choice]) -> None:
        self._element = element
        self._rows = rows

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
        """Return the row in the HTML tables, where all names are in lower case, also names of SVG and MathML."""
        if namespace != names.HTML:
            local, attribute = local.lower(), attribute.lower()
        return rules.rows().row(namespace, local, attribute)


@cache
def _rows(namespace: str, root: str) -> dict[tuple[str, str], LinkSite | Choice]:
    """Return the rows of a namespace; without a namespace, of the vocabulary that the root element's name implies."""
    rows = link_tables.VOCABULARIES.get(namespace, ()) if namespace else link_tables.ROOTS.get(root, ())
    return {(row.element, row.attribute): row for row in rows}


class Elements(dict[str, Element]):
    """Cache of elements by expanded name, for documents with the same root element."""

    def __init__(self, root: str) -> None:
        self._root = root

    def __missing__(self, name: str) -> Element:
        found = Element(name, self._root)
        if len(self) < _KEPT and len(name) <= _LONGEST:
            self[name] = found
        return found


def elements(root: str) -> Elements:
    """Return the cache for documents whose root element has this name."""
    return _elements(root if root in link_tables.ROOTS else "")


@cache
def _elements(root: str) -> Elements:
    return Elements(root)


# --- qualified names --------------------------------------------------------------------------------------------------

# Prefix -> namespace, with the empty prefix for the default namespace; an absent prefix has the namespace OTHER.
Bindings = dict[bytes, str]
_UNKNOWN: Final = LinkSite("", "")  # cache miss: distinct from None
_ALWAYS: Final[Bindings] = {b"xml": link_tables.XML}  # Namespaces in XML 1.0, section 3


def _expanded(raw: bytes, default: str, bindings: Bindings) -> str:
    """Return the expanded name, for example "urn:x", U+0001, "a" for `p:a`; `default` is the unprefixed namespace."""
    prefix, _, local = raw.rpartition(b":")
    namespace = bindings.get(prefix, link_tables.OTHER) if prefix else default
    name = local.decode("utf-8", "surrogateescape")
    return f"{namespace}{SEPARATOR}{name}" if namespace else name


class Written:
    """An element by its qualified name: the row for its text, and the rows of attributes by qualified name."""

    def __init__(self, element: Element, names: Names) -> None:
        self.element = element
        self.text = element.text
        self.rows: dict[bytes, LinkSite | Choice | None] = {}
        self.is_html = element.is_html
        self.is_template = element.is_html and element.local == "template"
        self.is_linked = element.is_linked
        self._names = names

    def row(self, raw: bytes, bindings: Bindings) -> LinkSite | Choice | None:
        """Return the row of an attribute, and cache it; None for an attribute without references."""
        found = None
        if raw != b"xmlns" and not raw.startswith(b"xmlns:"):
            found = self.element.places[_expanded(raw, "", bindings)]
        if self._names.has_room(len(raw)):
            self.rows[raw] = found
        return found


class Names:
    """Cache of elements by qualified name, for positions where the same namespaces were declared in the same order.

    The caller passes the `bindings` there, because a copy for each position would take time linear in their number.
    """

    def __init__(self, root: str, *, of: Names | None = None) -> None:
        self.known: dict[bytes, Written] = {}
        self._elements = elements(root)
        self._root = root
        self._inside: dict[tuple[tuple[bytes, str], ...], Names] = {}
        self._first = of or self
        self.room = _KEPT  # remaining names, counted in the first cache for all that are nested in it

    def has_room(self, size: int) -> bool:
        """Reserve room for one more name of this length; return whether it may be cached."""
        if size > _LONGEST:
            return False
        self._first.room -= 1
        return self._first.room >= 0

    def is_full(self) -> bool:
        """Return whether the cache accepts no more names: names of many documents have filled it."""
        return self._first.room <= 0

    def element(self, raw: bytes, bindings: Bindings) -> Written:
        """Create the element of a name that is not in `known`, and cache it."""
        found = Written(self._elements[_expanded(raw, bindings.get(b"", ""), bindings)], self)
        if self.has_room(len(raw)):
            self.known[raw] = found
        return found

    def inside(self, declared: tuple[tuple[bytes, str], ...]) -> Names:
        """Return the cache for the content of an element that declares these namespaces."""
        found = self._inside.get(declared)
        if found is None:
            found = Names(self._root, of=self._first)
            if self.has_room(sum(len(prefix) + len(namespace) + 1 for prefix, namespace in declared)):
                self._inside[declared] = found
        return found


_NAMES: dict[str, Names] = {}


def names_of(root: str = "") -> Names:
    """Return the cache for documents with this root element, before any declaration; a new one if it is full."""
    found = _NAMES.get(root)
    if found is None or found.is_full():
        found = _NAMES[root] = Names(root)
    return found


class Namespaces:
    """The namespaces in scope at the current position of a walk, and the cache of names there.

    `bindings` maps prefixes to namespaces of the tables, or to OTHER for a prefix that hides such a namespace.
    """

    def __init__(self) -> None:
        self.bindings: Bindings = dict(_ALWAYS)
        self._names = names_of()
        self._known = self._names.known
        # stack of elements with declarations: depth, the outer cache, the previous bindings of their prefixes
        self._outer: list[tuple[int, Names, list[tuple[bytes, str | None]]]] = []

    def element(self, raw: bytes) -> Written:
        """Return the element of a qualified name."""
        found = self._known.get(raw)
        return self._names.element(raw, self.bindings) if found is None else found

    def row(self, element: Written, raw: bytes) -> LinkSite | Choice | None:
        """Return the row of an attribute by its qualified name; None for an attribute without references."""
        found = element.rows.get(raw, _UNKNOWN)
        return element.row(raw, self.bindings) if found is _UNKNOWN else found

    def declare(self, declared: tuple, depth: cython.int) -> cython.int:  # type: ignore[type-arg]
        """Bring namespaces into scope, until the element at this depth ends."""
        if not declared:
            return 0
        before = [(prefix, self.bindings.get(prefix)) for prefix, _ in declared]
        self._outer.append((depth, self._names, before))
        self.bindings.update(declared)
        return self._go_on(self._names.inside(declared))

    def begin(self, root: str) -> cython.int:
        """Switch to the vocabulary that the root element's name implies, for names without a namespace."""
        return self._go_on(names_of(root).inside(tuple(self.bindings.items())))

    def end(self, depth: cython.int) -> cython.int:
        """End the element at this depth: restore the bindings around it."""
        if self._outer and self._outer[-1][0] == depth:
            _, names, before = self._outer.pop()
            for prefix, namespace in before:
                if namespace is None:
                    del self.bindings[prefix]
                else:
                    self.bindings[prefix] = namespace
            self._go_on(names)
        return 0

    def _go_on(self, names: Names) -> cython.int:
        self._names = names
        self._known = names.known
        return 0


def named_by_tag(data: bytes, place: LinkSite, start: int) -> LinkSite:
    """Return a row for any element (`*`) with the name of the tag at this byte offset."""
    name = _TAG_NAME.match(data, start)
    return _named(place, name[1].rpartition(b":")[2].decode("utf-8", "surrogateescape")) if name else place


def _named(place: LinkSite, local: str) -> LinkSite:
    return rules.named(place, local.lower() if place in _IN_LOWER_CASE else local) if place.element == "*" else place


_TAG_NAME: Final = re.compile(rb"<([^\t\n\r />]*+)")
_IN_LOWER_CASE: Final = frozenset(place for (_, element, _), place in rules.FOREIGN.items() if element == "*")


def chosen(row: LinkSite | Choice | None, attributes: dict[str, str]) -> LinkSite | None:
    """Return the link site of a row in a tag with these attributes (names in lower case); a `Choice` reads them."""
    if not isinstance(row, Choice):
        return row
    return site_for(row, [attributes.get(name, "").strip().lower() for name in row.by])


def site_for(row: Choice, words: list[str]) -> LinkSite | None:
    """Return the link site of a `Choice` for these values of the attributes in `by`, or None."""
    key = words[0] if len(words) == 1 else " ".join(words)
    found: LinkSite | None = row.places.get(key)
    if found is None:
        found = row.places.get(f"{key.partition('/')[0]}/", row.default)
    return found
