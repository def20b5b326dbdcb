"""Read the start tags of a well-formed XML document: the byte spans of tag, attribute names and values.

In: the bytes of a document that expat has accepted, in UTF-8, and the offset of a tag. Out: spans, decoded values, and
the namespaces that the tag declares (XML 1.0 3.1, 3.3.3; Namespaces in XML 1.0 3). No bounds are checked where a
well-formed document cannot exceed them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.formats.xml.codings import PREDEFINED, CharacterData
from absolve.formats.xml.limits import ENTITY
from absolve.formats.xml.link_tables import NAMESPACES, OTHER

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
    """Return the same for documents that declare no entities, from a cache."""
    return _codings(charset, PREDEFINED)


def _known(namespace: str) -> str:
    """Return a namespace of the tables, or the empty one, unchanged; `OTHER` for any other one."""
    return namespace if not namespace or namespace in NAMESPACES else OTHER


class Tag:
    """The current start tag of a document, and an iterator over its attributes.

    `start` and `end` are its span. `is_closed`: it is an empty-element tag. `declares`: it has namespace declarations.
    `has_others`: it has other attributes. After `next`, `attribute` and `attribute_end` are the span of the attribute's
    name, `value_start` and `value_end` that of the value between its quotes. `text` is the coding of text in the
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


def _is_called(
    p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t, name: str
) -> cython.bint:
    """Return whether this span equals a name in lower case, ASCII case-insensitively."""
    i: cython.Py_ssize_t
    if end - start != len(name):
        return False
    for i in range(end - start):
        if (p[start + i] | 32 if 65 <= p[start + i] <= 90 else p[start + i]) != ord(name[i]):
            return False
    return True
