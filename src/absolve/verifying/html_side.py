"""One of the two trees of an HTML document, with the base of its own base elements and the contexts of its links.

In: a tree of html5lib and the entity. Out: bases, link contexts and positions, independent of absolve's walker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.model import Link
from absolve.document.entity import ENTERED, Entity
from absolve.document.resolved import LinkContext
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import Raw, to_utf8
from absolve.formats.base_claims import base_claim, codebase_claim
from absolve.urls.base import Bases, establish, inherited

if TYPE_CHECKING:
    from absolve.core.model import BaseClaim, LinkSite
    from absolve.encodings.charsets import Charset
    from absolve.verifying.differences import Position
    from absolve.verifying.html_nodes import Tree

_BASE: Final = "{http://www.w3.org/1999/xhtml}base"
_TEMPLATE: Final = "{http://www.w3.org/1999/xhtml}template"


def decoded(entity: Entity) -> str:
    """Return the text of a document, without a byte order mark."""
    charset = entity.charset
    return to_utf8(charset, entity.data).decode("utf-8", errors(charset)).removeprefix("\ufeff")


def errors(charset: Charset) -> str:
    """Return the codec error handler that encodes surrogates as codings do."""
    return "surrogateescape" if charset.codec == UTF_8.codec else "surrogatepass"


class Side:
    """A tree, its bases and the positions of its nodes.

    `at` is the position of all nodes of HTML in an attribute or a comment, `around` are the bases outside, `depth` is
    the number of enclosing documents.
    """

    def __init__(self, tree: Tree, like: Entity, around: Bases, at: Position | None = None, depth: int = 0) -> None:
        self.tree = tree
        self.charset = like.charset
        self.settings = like.settings
        self.depth = depth
        self._at = at
        self._entity = Entity(b"", like.charset, like.media_type, like.name, "", like.settings)
        self._entity.text_left = like.text_left
        claim = _claim(tree, like.charset)
        base = around.own if at is None else around.base
        if claim is not None:
            base = establish(around.own, [claim], like.settings.profile, None, like.settings.max_url)
        self.bases = self._entity.bases = Bases(around.own, base)
        self._scopes: dict[bytes, BaseClaim | None] = {b"": None}
        self._rules: dict[tuple[LinkSite, bytes], LinkContext] = {}

    @property
    def leaves(self) -> bool:
        """Return whether absolve skipped documents nested as deep as those inside this one, by its nesting budget."""
        return self.depth >= ENTERED and self._entity.text_left is not None and self._entity.text_left.is_exceeded

    def inside(self, tree: Tree, step: str, at: Position) -> Side:
        """Return the side of a tree inside this one: of a srcdoc (a document of its own), or of a comment."""
        own = inherited(self.bases.base, step)
        around = Bases(own, own) if step else self.bases
        return Side(tree, self._entity, around, at, self.depth + bool(step))

    def position(self, index: int) -> Position:
        return self._at or self.tree.position(index)

    def rule(self, place: LinkSite, codebase: bytes) -> LinkContext:
        """Return the context of the links of a site, on an element with this codebase."""
        key = (place, codebase)
        if key not in self._rules:
            if codebase not in self._scopes:
                self._scopes[codebase] = codebase_claim(codebase, 0)
            link = Link(place, 0, 0, CODING, self._scopes[codebase])
            self._rules[key] = LinkContext(self._entity, link)
        return self._rules[key]


CODING: Final = Raw(UTF_8)  # a placeholder: these links have no bytes


def _claim(tree: Tree, charset: Charset) -> BaseClaim | None:
    """Return the claim of the first base element with an href, outside templates (HTML Standard 4.2.3); else None."""
    hidden = 0  # remaining nodes of a template
    for tag, size, content in zip(tree.tags(), tree.sizes(), tree.contents(), strict=True):
        if hidden or tag == _TEMPLATE:
            hidden += size - bool(hidden)
        elif tag == _BASE and content is not None and "href" in content[0]:
            return base_claim(content[0]["href"].encode("utf-8", errors(charset)), 0)
    return None
