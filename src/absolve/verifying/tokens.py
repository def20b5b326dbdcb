"""Tokens of HTML and XML: what an independent parser reads of a document, in document order.

In: the calls of a reader (`html`, `xml`). Out: a `Markup`, whose tokens can be compared with those of another one.
"""

from __future__ import annotations

from array import array
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from absolve.core.model import BaseClaim, LinkSite
    from absolve.verifying.differences import Position

COMMENT: Final = "!--"
DOCTYPE: Final = "!DOCTYPE"
NOTHING: Final[dict[str, str]] = {}
_MOST_ALIKE: Final = 4096  # different tokens without attributes that are stored once


class Token(NamedTuple):
    """A start tag, an end tag (its name begins with a slash) or their like, with the text up to the next token.

    A comment, a document type and a processing instruction (its name begins with a question mark) are a start tag,
    before their text, and an end tag. `namespace` is None for what is no element, or none for the parser.
    `place` is the link site of the text, if it may have links. `scope` is the innermost `xml:base` around an element.
    """

    attributes: dict[str, str]
    name: str
    text: str = ""
    namespace: str | None = None
    place: LinkSite | None = None
    scope: BaseClaim | None = None


class Markup:
    """The tokens of a document, and the reference of its base element (None without one).

    `parser` is its name in messages, `errors` the handler by which values are encoded. With `scripting` the document
    was read as by a browser that runs scripts.
    """

    scripting = False

    def __init__(self, parser: str, errors: str) -> None:
        self.parser = parser
        self.errors = errors
        self.tokens: list[Token] = []
        self.base: str | None = None
        self.bare = lru_cache(_MOST_ALIKE)(partial(Token, NOTHING))  # makes tokens without attributes
        self._offsets = array("q")

    def add(self, token: Token, offset: int) -> None:
        """Add a token with its offset, or its line, by which `position_of` finds it."""
        self.tokens.append(token)
        self._offsets.append(offset)

    def position(self, index: int) -> Position:
        """Return the position of a token; behind the last one, that of the last one."""
        return self.position_of(self._offsets[min(index, len(self.tokens) - 1)])

    def position_of(self, offset: int) -> Position:
        raise NotImplementedError

    def site(self, token: Token, attribute: str) -> LinkSite | None:
        """Return the link site of an attribute of a tag, None if there is none."""
        raise NotImplementedError
