"""What the keywords of `meta` and `link` decide, as they stand in a charset: worked out once, for all documents."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Generic, TypeVar

from absolve.encodings.codings import quoted
from absolve.formats.grammars import WHITE_SPACE
from absolve.formats.html import rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.encodings.charsets import Charset

P = TypeVar("P")
Keywords = tuple[bytes, ...]  # values of attributes as they stand, empty where there is none
_MOST = 4096  # that are kept: documents choose them, and are many
_LONGEST = 256  # bytes of them together: they outlive the document, which may have a rel of megabytes


class Kept(Generic[P]):
    """What keywords decide, by their bytes in a charset; `known` has what was asked before."""

    __slots__ = ("_charset", "_decide", "known")

    def __init__(self, decide: Callable[..., P], charset: Charset) -> None:
        self._decide = decide
        self._charset = charset
        self.known: dict[Keywords, P] = {}

    def decided(self, keywords: Keywords) -> P:
        """What keywords decide that are not known; from now on short ones are."""
        if len(self.known) >= _MOST:
            self.known.clear()
        decided = self._decide(*(folded(raw, self._charset) for raw in keywords))
        if sum(map(len, keywords)) <= _LONGEST:
            self.known[keywords] = decided
        return decided


meta_places = cache(partial(Kept, rules.meta_place))  # for each charset: by http-equiv, property, name and itemprop,
link_places = cache(partial(Kept, rules.link_place))  # by rel, as and type,
scripts = cache(partial(Kept, rules.json_script))  # and scripts by type


def folded(raw: bytes, charset: Charset) -> str:
    """What the bytes of a keyword stand for, trimmed and in lower case."""
    return quoted(charset, 0x22).decode(raw).strip(WHITE_SPACE).lower().decode("latin-1")
