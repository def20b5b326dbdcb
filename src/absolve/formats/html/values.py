"""The attribute values of a tag: the coding of each, and the spans of the references in it.

In: the byte spans that `Attributes` has read. Out: a `Coding`, and byte spans in the document; the grammars of
grammars.py are applied to the decoded value, and their spans mapped back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.encodings.charsets import UTF_8
from absolve.encodings.offset_map import IDENTITY_OFFSETS
from absolve.formats.grammars import GRAMMARS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats.html.attributes import Attributes
    from absolve.formats.html.dispatch import Tables
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.formats.html.attributes import Attributes  # noqa: TC002 - the type of a C field


@cython.final
@cython.cclass
class Values:
    """The attribute values of the current tag of `attributes`, in a document of this charset.

    `double` is the coding of values in double quotes; it also decodes any other value. `raw` and `text` are the codings
    of text between tags, without and with character references.
    """

    def __init__(self, charset: Charset, attributes: Attributes, tables: Tables) -> None:
        self._data = b""
        self._charset = charset
        self._attributes = attributes
        self.double = tables.double
        self._single = tables.single
        self._bare = tables.bare
        self._absent = tables.absent
        self.raw = tables.raw
        self.text = tables.text

    @cython.cfunc
    def begin(self, data: bytes) -> cython.int:
        """Switch to another document."""
        self._data = data
        return 0

    @cython.cfunc
    def coding(self, attribute: cython.int) -> Coding:
        """Return the coding of a value; for an unquoted one it has the slot of the whole value."""
        quote: cython.int = self._attributes.quote[attribute]
        if quote == 34:
            return self.double
        if quote == 39:
            return self._single
        slot = (self._attributes.value_start[attribute], self._attributes.value_end[attribute])
        return self._bare.of(slot) if quote else self._absent.of(slot)

    @cython.cfunc
    def common(self, attribute: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Coding:
        """Return the coding of a value with one link; for a whole unquoted value, the shared one without a slot."""
        tag: Attributes = self._attributes
        quote: cython.int = tag.quote[attribute]
        if quote > 1 or start > tag.value_start[attribute] or end < tag.value_end[attribute]:
            return self.coding(attribute)
        return self._bare if quote else self._absent

    def references(
        self, syntax: str, start: cython.Py_ssize_t, end: cython.Py_ssize_t, coding: Coding
    ) -> Iterator[tuple[int, int]]:
        """Yield the spans of the references in a value by its grammar, which reads the decoded value."""
        raw = self._data[start:end]
        value = raw
        offsets: Offsets | None = IDENTITY_OFFSETS
        if 0x26 in raw or not (self._charset is UTF_8 or raw.isascii()):
            value, offsets = coding.decode_mapped(raw)
        if offsets is None:  # for mypy: codings of attributes return offsets
            return
        for one, other in GRAMMARS[syntax](value):
            yield start + offsets.start(one), start + (offsets.end(other) if other > one else offsets.start(one))
