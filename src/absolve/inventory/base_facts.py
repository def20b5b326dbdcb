"""Facts about one base in an entity, for the rows of all references that are resolved against it.

In: an entity and a base context (RFC 1808 section 3). Out: the columns of the base, the scope and the problem codes of
targets on each host, and the prefix of each reference shape (`urls/prefixing.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.document.resolved import ROOM, shown
from absolve.inventory.problems import beginning, target_problems
from absolve.urls import PROFILES, prefixing
from absolve.urls.identity import site
from absolve.urls.predicates import split_fragment
from absolve.urls.prefixing import PrefixResolver

if TYPE_CHECKING:
    import cython

    from absolve.document.entity import Entity
    from absolve.urls.base import BaseContext

    Codes = tuple[str, ...]  # problem codes
    Seen = tuple[str, Codes]  # the scope of targets on a host, and the problems of their scheme


_SCHEME_RELATIVE = ("scheme-relative",)


class KnownBases:
    """Cached facts about the bases of one entity, by id, and about the hosts that it links to; for all its RowFacts."""

    __slots__ = ("bases", "hosts")

    def __init__(self) -> None:
        self.bases: dict[int, BaseFacts] = {}
        self.hosts: dict[bytes, Seen | None] = {}


class BaseFacts:
    """Facts common to all references that are resolved against one base in an entity.

    `words` are the columns base, base_layer and base_source. `appending` is the resolver if every profile resolves
    most references by the same prefix of the base; otherwise it is None. `in_utf_8`: the charset of
    the document, in which the URL Standard encodes queries, is UTF-8.
    """

    def __init__(self, entity: Entity, base_context: BaseContext) -> None:
        base = base_context.base
        resolver = base_context.resolver
        url = base.url
        own = entity.bases.own.url
        self.base = base  # a reference to it: its id is the key in the cache
        self.url = url
        self.words = (shown(url), base.layer.label, base.source)
        self.size = sum(map(len, self.words))
        self.site = site(own)
        self.site_name = (self.site or "").encode("utf-8", "surrogatepass")
        self.own_page = split_fragment(own)[0].encode("utf-8", "surrogatepass")
        self.own = own
        self.normalizes = PROFILES[entity.settings.profile].normalizes
        self.in_utf_8 = base_context.charset == "utf-8"
        self.room = entity.settings.max_url - len(url) - ROOM  # like `LinkContext.room`
        self.held = entity.held
        self.files = entity.files is not None
        self.where, self.codes = self.seen(url)  # of targets on the same host
        self.appending: PrefixResolver | None = None
        if isinstance(resolver, PrefixResolver) and resolver.usable and url.isascii() and base_context.other is None:
            self.appending = resolver if base_context.compared().agrees_on_shapes() else None
        self.scheme = url[: url.find(":") + 1].encode("utf-8", "surrogatepass")
        # Problem codes of references with a plain host: with the schemes http and https, and without any.
        self.http_codes = target_problems("http://h", own)
        self.https_codes = target_problems("https://h", own)
        self.relative_codes = (*target_problems(f"{url[: url.find(':') + 1]}//h", own), *_SCHEME_RELATIVE)
        self._shape = 0
        self._prefix = b""
        self._prefixes: dict[int, bytes] = {}
        self._levels = -1

    def seen(self, url: str) -> Seen:
        """Return the scope and the problem codes of targets with the scheme and the authority of a URL."""
        codes = target_problems(beginning(url), self.own)
        return "internal" if site(url) == self.site else "external", codes

    def prefix(self, of: cython.int) -> bytes:
        """Return the prefix of a reference shape."""
        if of != self._shape:  # most references have the shape of the one before
            found = self._prefixes.get(of)
            if found is None:
                appending: PrefixResolver = self.appending  # type: ignore[assignment]  # callers have checked it
                found = self._prefixes[of] = appending.prefix(of).encode("ascii")
            self._shape = of
            self._prefix = found
        return self._prefix

    def climbs(self, of: cython.int) -> cython.bint:
        """Return whether references of this shape climb above the root: each `../` removes a segment of the path."""
        if self._levels < 0:
            self._levels = self.prefix(prefixing.PATH).count(b"/") - 3  # two before the host, one after it
        return (of >> prefixing.DOTS) // 3 > self._levels
