"""Limits of XML documents: nesting, attributes, names, declarations, and the size of expanded entities.

In: the bytes of a document. Out: nothing, or a WalkError with one of the codes below. Expat allocates memory for each
of these, or searches all of them repeatedly. Section numbers are those of XML 1.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core import byte_scan
from absolve.core.byte_scan import tag_end
from absolve.core.errors import WalkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import cython


DEEPEST: Final = 5000  # nested elements: the limit of Blink (kMaxXMLTreeDepth)
MOST_ATTRIBUTES: Final = 10_000  # of one element: for years the limit of Java's parsers (elementAttributeLimit)
MOST_NAMES: Final = 50_000  # distinct names of elements and attributes: expat stores each
MOST_DECLARED: Final = 10_000  # entities, and the same number of attributes, in a document type declaration
MOST_DEFAULTS: Final = 64  # attributes with a default, of one element: expat adds them to each of its start tags
TOO_DEEP: Final = "elements-too-deep"
TOO_MANY_ATTRIBUTES: Final = "too-many-attributes"
TOO_MANY_NAMES: Final = "too-many-names"
TOO_MANY_DECLARATIONS: Final = "too-many-declarations"
TOO_LONG_ENTITIES: Final = "entities-too-long"
AHEAD: Final = frozenset({TOO_DEEP, TOO_MANY_ATTRIBUTES, TOO_MANY_NAMES})  # codes of `check_elements`, run before expat
ENTITY: Final = re.compile(rb"&([^#;&][^;&]*+);")  # 4.1, EntityRef, in a well-formed document
_MUCH: Final = 1 << 20  # bytes
HINT: Final = "--media-type text/html reads it as HTML"
_DEEPEST = DEEPEST
_MOST = MOST_ATTRIBUTES
_LEAST = 3  # bytes of the shortest start tag
_LEAST_ATTRIBUTE = 5  # bytes of the shortest attribute with the space before it
_MOST_NAMES = MOST_NAMES
_LEAST_NAMED = 6  # bytes per name, at least, when so many are distinct
_HASHES = (1 << 20) - 1  # mask of a name's hash: an index into a bit set
_FNV_BASIS = 2166136261  # FNV-1a, 32 bits
_FNV_PRIME = 16777619
_32_BITS = 0xFFFFFFFF


class Expansion:
    """A bound on the size of expanded entities, by name: `entities` are plain text, `nested` have references.

    Expat's own bound is a hundred times the size of the document.
    """

    def __init__(self, data: bytes, entities: Mapping[bytes, bytes], nested: Mapping[bytes, bytes]) -> None:
        self._data = data
        self._entities = entities
        self._nested = nested
        self._most = max(len(data), _MUCH)
        self._sizes: dict[bytes, int] = {}

    def check(self, start: int, end: int, *, is_text: bool = False) -> None:
        """Raise WalkError if the entities in this tag or text expand to more than the document's size and 1 MiB.

        In text, entities with references are not expanded and count as empty.
        """
        total = 0
        for found in ENTITY.finditer(self._data, start, end):
            total += len(self._entities.get(found[1], b"")) if is_text else self._size(found[1])
            if total > self._most:
                words = f"entities that expand to more than {self._most} bytes here ({HINT})"
                raise WalkError(TOO_LONG_ENTITIES, words, found.start())

    def _size(self, name: bytes) -> int:
        """Return an upper bound of an entity's expanded size in bytes.

        Without recursion: entities may be nested thousands deep, or refer to each other in a cycle.
        """
        sizes = self._sizes
        stack = [name] if name not in sizes else []
        opened: set[bytes] = set()
        while stack:
            inner = stack[-1]
            text = self._nested.get(inner, b"")
            if inner not in opened:
                opened.add(inner)
                stack += {one for one in ENTITY.findall(text) if one not in sizes and one not in opened}
            if stack[-1] == inner:
                if inner not in sizes:
                    more = sum(sizes.get(one, 0) for one in ENTITY.findall(text))
                    sizes[inner] = len(self._entities.get(inner, text)) + more
                stack.pop()
        return sizes[name]


def check_elements(data: bytes, start: cython.Py_ssize_t) -> None:
    """Raise WalkError at the first start tag that exceeds the limit of attributes, names or nesting.

    All markup before `start` must be complete. Stop at the next document type declaration. The result is exact only up
    to the first well-formedness error.
    """
    p: cython.p_const_uchar = data
    n: cython.Py_ssize_t = len(data) - 2  # no complete markup begins in the last two bytes
    if n < _DEEPEST * _LEAST:
        return
    i: cython.Py_ssize_t = byte_scan.find(p, 60, start, n)
    at: cython.Py_ssize_t
    depth: cython.Py_ssize_t = 0
    tags: _Tags | None = _Tags() if n > _MOST_NAMES * _LEAST_NAMED else None
    while i >= 0:
        if p[i + 1] == 47:
            depth -= 1
            at = i + 2
        elif p[i + 1] == 63:
            at = data.find(b"?>", i + 2)
        elif p[i + 1] != 33:
            if depth == _DEEPEST:
                raise WalkError(TOO_DEEP, f"elements nested more than {DEEPEST} deep ({HINT})", i)
            at = tag_end(p, i + 1, n + 2)
            if tags is None and at - i > _MOST * _LEAST_ATTRIBUTE:
                tags = _Tags()
            if tags is not None:
                if tags.attributes(p, i + 1, at) > _MOST:
                    words = f"an element with more than {MOST_ATTRIBUTES} attributes ({HINT})"
                    raise WalkError(TOO_MANY_ATTRIBUTES, words, i)
                if tags.names > _MOST_NAMES:
                    words = f"more than {MOST_NAMES} names of elements and attributes that differ ({HINT})"
                    raise WalkError(TOO_MANY_NAMES, words, i)
            if p[at - 2] != 47:
                depth += 1
        elif p[i + 2] == 45:
            at = data.find(b"-->", i + 4)
        elif p[i + 2] == 91:
            at = data.find(b"]]>", i + 9)
        else:
            return
        if at < 0:
            return
        i = byte_scan.find(p, 60, at, n)


class _Tags:
    """The number of distinct `names` in start tags; slightly low, as names with equal hashes count once."""

    def __init__(self) -> None:
        self.names = 0
        self._seen = bytearray((_HASHES >> 3) + 1)

    def attributes(self, p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the number of attributes of the tag whose name begins at `i` (3.1), and count its names."""
        seen: cython.p_uchar = self._seen
        count: cython.Py_ssize_t = 0
        of: cython.uint
        while i < end and p[i] != 62:
            of = _FNV_BASIS
            while i < end and p[i] > 32 and p[i] != 61 and p[i] != 62 and p[i] != 47:  # 2.3, Name
                of = ((of ^ p[i]) * _FNV_PRIME) & _32_BITS
                i += 1
            of = (of ^ of >> 20) & _HASHES
            if not seen[of >> 3] & 1 << (of & 7):
                seen[of >> 3] |= 1 << (of & 7)
                self.names += 1
            while i < end and p[i] <= 32:
                i += 1
            if i < end and p[i] == 61:
                i += 1
                while i < end and p[i] <= 32:
                    i += 1
                if i == end or (p[i] != 34 and p[i] != 39):
                    break
                i = byte_scan.find(p, p[i], i + 1, end) + 1
                if i == 0:
                    break
                count += 1
                while i < end and p[i] <= 32:
                    i += 1
            if i < end and p[i] == 47:
                i += 1
        return count
