"""Encode a new reference in place of an old one, as an edit that changes as few bytes as possible.

Input: a link, its old and new reference as text, its raw bytes. Output: an `Edit` of those bytes, in the coding and the
syntax of the attribute value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.core.model import Edit
from absolve.document.resolved import placeholder_at, text, value_of
from absolve.encodings.codings import LOOK_AHEAD
from absolve.formats.grammars import ESCAPES, is_read
from absolve.rewriting.edits import kept_end

if TYPE_CHECKING:
    import cython

    from absolve.core.model import Link
    from absolve.document.entity import Entity
    from absolve.document.resolved import LinkContext



class Written:
    """Caches for one LinkContext and one coding, of results that do not depend on the bytes around a link.

    `known`: raw bytes -> their edit (by offsets into them) or None. `prefixes`: a prefix of a URL -> its bytes.
    """

    def __init__(self) -> None:
        self.known: dict[bytes, Edit | None] = {}
        self.prefixes: dict[str, bytes] = {}


def edit_of(
    entity: Entity, link: Link, context: LinkContext, reference: str, new: str, raw: bytes, written: Written
) -> Edit | None:
    """Return the edit that writes the policy's new reference, by offsets into the link's raw bytes; None if unchanged.

    If the new reference ends with the old one, only the prefix is inserted, and the old bytes are kept. `written` is a
    cache for this context and coding; for a link whose preceding bytes matter, an empty one.
    """
    if new == reference:
        return None
    if context.place.syntax != "url" and context.place.syntax in ESCAPES:
        if not new and context.place.syntax in _LISTS:
            return None
        if not is_read(context.place.syntax, new):
            return None
        # Nothing is escaped in the own placeholder of a reference and behind it: another program reads that. Its blanks
        # and commas separate nothing, so it stays where it would be replaced.
        rest = reference[placeholder_at(reference) :]
        if not new.endswith(rest):
            return None
        before = link.coding.decode(_before(entity.own_data, link.start))
        new = text(ESCAPES[context.place.syntax](value_of(new[: len(new) - len(rest)]), before)) + rest
    if reference and new.endswith(reference):
        prefix = new[: -len(reference)]
        known = written.prefixes.get(prefix)
        if known is None:
            known = link.coding.encode(value_of(prefix), raw[:LOOK_AHEAD], _before(entity.own_data, link.start))
            if len(known) <= _LONGEST_KNOWN and not _DEPENDS.search(prefix):
                # otherwise its encoding depends on the bytes around it
                written.prefixes[prefix] = known
        return Edit(0, 0, known)
    value = value_of(new)
    # If the raw bytes equal the value, encoding it again gives the same bytes, but for `<` and the like.
    is_same = value_of(reference) == raw and placeholder_at(reference) == len(reference)
    kept, at = (0, len(raw)) if is_same else kept_end(link.coding, value, raw)
    after = raw[at:] + entity.own_data[link.end : link.end + LOOK_AHEAD]
    return Edit(0, at, link.coding.encode(value[: len(value) - kept], after, _before(entity.own_data, link.start)))


def _before(data: bytes, start: cython.Py_ssize_t) -> bytes:
    """Return the bytes before a link that a coding may look at."""
    return data[start - LOOK_AHEAD if start > LOOK_AHEAD else 0 : start]


_LONGEST_KNOWN = 1 << 16  # bytes of a prefix that is cached
# A prefix whose encoding depends on the next bytes: a character reference, an escape, the end of a comment or section.
_DEPENDS = re.compile(r"[&\\]|[]!?-]\Z")
# In these no empty reference can be written.
_LISTS = frozenset({"commas", "destination", "refresh", "spaces", "srcset", "tasks", "uri"})
