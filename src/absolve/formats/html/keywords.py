"""Caches of decisions by keywords: the link site of `meta content` and `link href`, the media type of a script.

In: raw attribute values in the document's charset. Out: the result of `rules.meta_place`, `link_place` or
`script_document`.
Each cache belongs to one charset and is shared by all documents of the process.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Generic, TypeVar

from absolve.core.caching import BoundedCache
from absolve.encodings.codings import quoted
from absolve.formats.grammars import WHITE_SPACE
from absolve.formats.html import rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.encodings.charsets import Charset

P = TypeVar("P")
Keywords = tuple[bytes, ...]  # raw attribute values, empty for absent attributes
_MOST = 4096  # entries of a cache: documents choose the keys
_LONGEST = 256  # bytes of a key, all keywords together: it outlives the document, which may have a rel of megabytes


class Kept(Generic[P]):
    """A bounded cache from keywords, as bytes in a charset, to a decision; `known` has the entries."""

    __slots__ = ("_cache", "_charset", "_decide", "known")

    def __init__(self, decide: Callable[..., P], charset: Charset) -> None:
        self._decide = decide
        self._charset = charset
        self._cache: BoundedCache[Keywords, P] = BoundedCache(_MOST)
        self.known = self._cache.entries

    def decided(self, keywords: Keywords) -> P:
        """Compute the decision for keywords that are not in `known`; cache it if they are short."""
        decided = self._decide(*(folded(raw, self._charset) for raw in keywords))
        if sum(map(len, keywords)) <= _LONGEST:
            self._cache.put(keywords, decided)
        return decided


# One cache per charset.
meta_places = cache(partial(Kept, rules.meta_place))  # by http-equiv, property, name and itemprop
link_places = cache(partial(Kept, rules.link_place))  # by rel, as and type
scripts = cache(partial(Kept, rules.script_document))  # by type


def folded(raw: bytes, charset: Charset) -> str:
    """Return a keyword decoded, without surrounding white space, in lower case."""
    return quoted(charset, 0x22).decode(raw).strip(WHITE_SPACE).lower().decode("latin-1")
