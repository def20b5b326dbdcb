"""The attribute values of a tag: the coding of each, and the spans of the references in it.

In: the byte spans that `Tag` has read. Out: a `Coding`, and byte spans in the document; the grammars of
grammars.py are applied to the decoded value, and their spans mapped back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.encodings.charsets import UTF_8
from absolve.encodings.offset_map import IDENTITY_OFFSETS
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    import cython

    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.encodings.codings import Unquoted
    from absolve.formats.html.dispatch import Tables
    from absolve.formats.html.tag import Tag


UNQUOTED = names.UNQUOTED


class Values:
    """The attribute values of the current `tag`, in a document of this charset.

    `codings` has the coding of a whole value by its quoting: that of values in double quotes, `double`, also decodes
    any other value. `raw` and `text` are the codings of text between tags, without and with character references.
    """

    def __init__(self, charset: Charset, tag: Tag, tables: Tables) -> None:
        self._data = b""
        self._charset = charset
        self._tag = tag
        self.codings = tables.codings
        self.double = tables.codings[names.DOUBLE]
        self.raw = tables.raw
        self.text = tables.text

    def begin(self, data: bytes) -> cython.int:
        """Switch to another document."""
        self._data = data
        return 0

    def coding(self, attribute: cython.int) -> Coding:
        """Return the coding of a value; for an unquoted one it has the slot of the whole value."""
        quote: cython.int = self._tag.quote[attribute]
        if quote > UNQUOTED:
            return self.codings[quote]
        shared: Unquoted = self.codings[quote]  # type: ignore[assignment]  # it is one without a quote
        return shared.of((self._tag.value_start[attribute], self._tag.value_end[attribute]))

    def common(self, attribute: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Coding:
        """Return the coding of a value with one link; for a whole unquoted value, the shared one without a slot."""
        tag: Tag = self._tag
        quote: cython.int = tag.quote[attribute]
        if quote <= UNQUOTED and (start > tag.value_start[attribute] or end < tag.value_end[attribute]):
            return self.coding(attribute)
        return self.codings[quote]

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
