"""How a new reference is written in the place of an old one: as few bytes as may be change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.encodings.codings import LOOK_AHEAD
from absolve.formats.grammars import ESCAPES
from absolve.rewriting.edits import kept_end

if TYPE_CHECKING:
    import cython

    from absolve.core.model import Link
    from absolve.document.entity import Entity
    from absolve.document.resolved import LinkContext
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.model import Edit, Link  # noqa: TC002 - likewise
    from cython.cimports.absolve.document.entity import Entity  # noqa: TC002 - the type of a C argument
    from cython.cimports.absolve.document.resolved import LinkContext, text, value_of  # noqa: TC002 - likewise
else:
    from absolve.core.model import Edit
    from absolve.document.resolved import text, value_of


@cython.final
@cython.cclass
class Written:
    """What was found out under one rule for one coding, where nothing else has a say in it.

    `known` has what becomes of raw bytes (an edit by offsets into them, or None), `prefixes` how a prefix is written.
    """

    def __init__(self) -> None:
        self.known: dict[bytes, Edit | None] = {}
        self.prefixes: dict[str, bytes] = {}


@cython.cfunc
@cython.exceptval(check=False)
def after_word(data: bytes, start: cython.Py_ssize_t) -> cython.bint:
    """Whether a letter or digit stands before a link: that of a character reference without its semicolon."""
    before: cython.int = data[start - 1] if start else 0
    return 48 <= before <= 57 or 97 <= before | 32 <= 122


@cython.cfunc
def edit_of(
    entity: Entity, link: Link, rule: LinkContext, reference: str, new: str, raw: bytes, written: Written
) -> Edit | None:
    """The edit that makes a link what the policy says, by offsets into its own raw bytes; None where nothing changes.

    Where the new reference ends with the old one only what comes before is written: the old bytes stay as they are.
    """
    if new == reference:
        return None
    if rule.place.syntax != "url" and rule.place.syntax in ESCAPES:
        if not new and rule.place.syntax in _LISTS:
            return None
        new = text(ESCAPES[rule.place.syntax](value_of(new), link.coding.decode(_before(entity.own_data, link.start))))
    if reference and new.endswith(reference):
        prefix = new[: -len(reference)]
        alone: cython.bint = not after_word(entity.own_data, link.start)
        known = written.prefixes.get(prefix) if alone else None
        if known is None:
            known = link.coding.encode(value_of(prefix), raw[:LOOK_AHEAD], _before(entity.own_data, link.start))
            if alone and len(known) <= _LONGEST_KNOWN and not _DEPENDS.search(prefix):
                # else what is around has a say
                written.prefixes[prefix] = known
        return Edit(0, 0, known)
    value = value_of(new)
    # Written as they read, the old bytes come out the same when they are written anew.
    kept, at = (0, len(raw)) if value_of(reference) == raw else kept_end(link.coding, value, raw)
    after = raw[at:] + entity.own_data[link.end : link.end + LOOK_AHEAD]
    return Edit(0, at, link.coding.encode(value[: len(value) - kept], after, _before(entity.own_data, link.start)))


@cython.cfunc
def _before(data: bytes, start: cython.Py_ssize_t) -> bytes:
    """What a coding is shown of the bytes before a link."""
    return data[start - LOOK_AHEAD if start > LOOK_AHEAD else 0 : start]


_LONGEST_KNOWN = 1 << 16  # bytes of a prefix that is remembered
# A prefix that what follows it may change: by a character reference, an escape, the end of a comment or section.
_DEPENDS = re.compile(r"[&\\]|[]!?-]\Z")
_LISTS = frozenset({"commas", "refresh", "spaces", "srcset", "tasks"})  # no empty reference can be written in them
