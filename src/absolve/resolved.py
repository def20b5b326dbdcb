"""A link with what rules it: section 4 applied to what section 3 established."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.resolvers.urls import is_malformed

if TYPE_CHECKING:
    import cython

    from absolve.model import BaseURL, Edit, Link, Place
    from absolve.walk import Entity
else:
    from absolve import _cython as cython


def text(value: bytes) -> str:
    """A decoded value as text: bytes that are no character there are lone surrogates (PEP 383)."""
    return value.decode("ascii") if value.isascii() else value.decode("utf-8", "surrogateescape")


def value_of(reference: str) -> bytes:
    """What `text` read it from; a lone surrogate that stands for no byte becomes U+FFFD."""
    if reference.isascii():
        return reference.encode("ascii")
    return _NO_BYTE.sub("\ufffd", reference).encode("utf-8", "surrogateescape")


_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


@cython.final
@cython.cclass
class Rule:
    """All that decides about a link beside its reference: one for all links of a place, in a coding, under a base.

    `elsewhere`: the base is not the document's own URL. `known` and `prefixes` are for the rewriter: what it found out
    for raw bytes (an edit by offsets into them, or None), and how a prefix is written in this coding; `remembers`
    where nothing else has a say in that.
    """

    def __init__(self, entity: Entity, link: Link) -> None:
        place: Place = link.place
        self.place = place
        self.coding = link.coding
        self.scope = link.base
        self.base, self.resolver, self.elsewhere = entity.ruled(link)
        self.own = entity.bases.own
        self.settings = entity.settings
        self.keeps_fragments = entity.settings.fragments == "keep"
        self.stays = place.stays
        self.empty = place.empty
        self.remembers = place.syntax != "refresh"  # a quote before the URL must not be in it
        self.known: dict[bytes, Edit | None] = {}
        self.prefixes: dict[str, bytes] = {}

    @cython.ccall
    def target(self, reference: str, claims: cython.bint) -> str | None:
        """The absolute URL of a reference; `claims` for that of a base, which may be empty and still mean something."""
        if not reference:
            if self.empty == "nothing" and not claims:
                return None
            return (self.own.url if self.empty == "own" else self.resolver("")) or None
        found = self.resolver(reference)
        # Only a reference with an authority of its own can lead to a URL that is none: bases are well formed.
        if found is None or ((":" in reference or reference.startswith("//")) and is_malformed(found)):
            return None
        return found


class Resolved:
    """A link, its reference as text, and what rules it; `target` is worked out when it is asked for.

    `element`, `attribute` and `kind` are those of the row; `base` is the established BaseURL, `own` that of the
    document itself.
    """

    __slots__ = ("entity", "link", "reference", "rule")

    def __init__(self, entity: Entity, link: Link, rule: Rule | None = None) -> None:
        self.entity = entity
        self.link = link
        self.reference = text(link.coding.decode(entity.data[link.start : link.end]))
        self.rule = rule if rule is not None else Rule(entity, link)

    @property
    def element(self) -> str:
        return self.link.place.element

    @property
    def attribute(self) -> str:
        return self.link.place.attribute

    @property
    def kind(self) -> str:
        return self.link.place.kind

    @property
    def base(self) -> BaseURL:
        return self.rule.base

    @property
    def own(self) -> BaseURL:
        return self.rule.own

    @property
    def target(self) -> str | None:
        """The absolute URL; None where there is none (unresolved, malformed, an empty one that fetches nothing)."""
        return self.rule.target(self.reference, self.link.claim is not None)

    @property
    def resolves(self) -> bool:
        """Whether the base can be used at all, by some relative reference."""
        return self.rule.resolver("x") is not None
