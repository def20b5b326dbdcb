"""A link with what rules it: section 4 applied to what section 3 established."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.urls.parse import NEVER_RELATIVE
from absolve.urls.predicates import is_alone, scheme

if TYPE_CHECKING:
    import cython

    from absolve.core.model import BaseURL, Link, LinkSite
    from absolve.document.entity import Entity
    from absolve.urls.base import BaseContext
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.model import Link  # noqa: TC002 - likewise
    from cython.cimports.absolve.document.entity import Entity  # noqa: TC002 - the type of a C argument
    from cython.cimports.absolve.urls.base import BaseContext  # noqa: TC002 - the type of a C variable
    from cython.cimports.absolve.urls.predicates import is_malformed
    from cython.cimports.absolve.urls.prefixing import PrefixResolver
else:
    from absolve.urls.predicates import is_malformed
    from absolve.urls.prefixing import PrefixResolver

_AS_IT_STANDS = frozenset({"url", "srcset", "spaces", "likely", "config", "css"})  # no URL of plain bytes is escaped


def text(value: bytes) -> str:
    """A decoded value as text: bytes that are no character there are lone surrogates (PEP 383)."""
    return value.decode("ascii") if value.isascii() else value.decode("utf-8", "surrogateescape")


def shown(text: str) -> str:
    """Text that any sink can write: what was no character becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def value_of(reference: str) -> bytes:
    """What `text` read it from; a lone surrogate that stands for no byte becomes U+FFFD."""
    if reference.isascii():
        return reference.encode("ascii")
    return _NO_BYTE.sub("\ufffd", reference).encode("utf-8", "surrogateescape")


_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


_NOTHING: frozenset[str] = frozenset()
LONGER = 6  # characters that the URL Standard makes of a byte at most: of one in UTF-8 that a charset lacks
ROOM = 16  # characters by which what a base puts before a reference may be longer than the base: a slash, mostly


@cython.final
@cython.cclass
class LinkContext:
    """All that decides about a link beside its reference and its coding: one for all links of a place under a base.

    `elsewhere`: the base is not the document's own URL. `keeps_fragments`: it is, and they are to stay. `short`:
    the resolver, where what it puts before a reference may be written as it is. `held` are the URLs of what is in the
    same message: links to that stay. `longest` is how many characters a URL may have that is made; a reference of up to
    `room` bytes makes none that has more, by what the base puts before it.
    """

    def __init__(self, entity: Entity, link: Link) -> None:
        place: LinkSite = link.place
        self.place = place
        self.scope = link.base
        _, _, syntax, _, _, empty, stays = cython.cast(tuple, place)
        base_context: BaseContext = entity.ruled(link)
        self.base = base_context.base
        self.resolver = base_context.resolver
        self.base_context = base_context
        self.elsewhere = base_context.elsewhere
        settings = entity.settings
        self.own = entity.bases.own
        self.settings = settings
        self.keeps_fragments = not self.elsewhere and settings.fragments == "keep"
        self.stays_always = stays == "always" or base_context.unknown
        self.stays_as_fragment = stays == "fragment"
        self.empty = empty
        # Where the base element is to be emptied, what is held would no longer be found by a relative reference.
        emptied = self.elsewhere and settings.base == "empty"
        self.held = entity.held if link.claim is None and not emptied else _NOTHING
        self.longest: int = settings.max_url
        self.room = self.longest - len(self.base.url) - ROOM
        self.short: PrefixResolver | None = None
        if isinstance(self.resolver, PrefixResolver) and self.resolver.usable and syntax in _AS_IT_STANDS:
            self.short = None if self.held or entity.charset.in_comment else self.resolver

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
        return None if len(found) > self.longest and not is_alone(reference) else found

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def is_too_long(self, reference: str) -> cython.bint:
        """Return whether a reference has no target because that would have too many characters.

        One that takes nothing from a base (`data:`) is as long as it is: no URL is made of it.
        """
        if not reference or is_alone(reference):
            return False
        found = self.resolver(reference)
        return found is not None and len(found) > self.longest

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def may_write(self, url: str) -> cython.bint:
        """Return whether a URL that a policy gives may be written; `data:` and the like have no limit."""
        return len(url) <= self.longest or (scheme(url) or "") in NEVER_RELATIVE


class Resolved:
    """A link, its reference as text, and what rules it; `target` is worked out when it is asked for.

    `element`, `attribute` and `kind` are those of the row; `base` is the established BaseURL, `own` that of the
    document itself.
    """

    __slots__ = ("entity", "link", "reference", "rule")

    def __init__(
        self, entity: Entity, link: Link, rule: LinkContext | None = None, reference: str | None = None
    ) -> None:
        self.entity = entity
        self.link = link
        if reference is None:
            reference = text(link.coding.decode(entity.cut(link.start, link.end)))
        self.reference = reference
        self.rule = rule if rule is not None else LinkContext(entity, link)

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
