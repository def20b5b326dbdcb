"""Read HTML as tokens with html5lib, which shares no code with absolve.

In: the text of a document. Out: `Html`, its tokens. html5lib's tree construction decides how its tokenizer reads on:
raw text, CDATA, plaintext. Of its tree only the open elements are kept: a hostile document of a few megabytes has a
million of them.
"""

from __future__ import annotations

import io
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from html5lib import html5parser
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import namespaces, tokenTypes
from html5lib.treebuilders.base import TreeBuilder

from absolve.core.model import LinkSite
from absolve.formats.html import names
from absolve.formats.html import rules as places
from absolve.verifying.differences import Position
from absolve.verifying.tokens import COMMENT, DOCTYPE, NOTHING, Markup, Token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.settings import Settings

    _Tag = tuple[int, str, dict[str, str], str | None, LinkSite | None]  # offset, name, attributes, namespace, site

_HTML: Final = namespaces["html"]
_NAMESPACES: Final = {_HTML: names.HTML, namespaces["svg"]: names.SVG, namespaces["mathml"]: names.MATHML}
_DEEPEST: Final = 1024  # open elements; browsers allow 512, and html5lib searches all of them for most tags
_BASE: Final = (_HTML, "base")
_CHARACTERS: Final = tokenTypes["Characters"]
_TEXTS: Final = (_CHARACTERS, tokenTypes["SpaceCharacters"])
_START, _END, _COMMENT, _ERROR = (tokenTypes[name] for name in ("StartTag", "EndTag", "Comment", "ParseError"))
_SHEET: Final = LinkSite("style", "", "css")
_SCRIPTS: Final = {kind: LinkSite("script", "", kind) for kind in places.JSON_SCRIPTS}
_BLANKS: Final = "\t\n\f\r "


class TooDeepError(Exception):
    """More elements are open than html5lib can search in reasonable time."""


class Html(Markup):
    """The tokens of an HTML document. Raise TooDeepError, or any exception of html5lib where it fails.

    `clones` counts the attributes (element, attribute, value) of cloned elements, which have no tag of their own: they
    result from formatting elements that stay open across others (HTML Standard 13.2.4.3, 13.2.6.4.7).
    """

    def __init__(self, text: str, errors: str, settings: Settings, *, scripting: bool = False) -> None:
        scripting = scripting or settings.scripting
        super().__init__("html5lib, scripting on" if scripting else "html5lib", errors)
        self.scripting = scripting
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.clones: Counter[tuple[str, str, str]] = Counter()
        self._rows = places.rows()
        _Parser(self).parse("", scripting=scripting)

    def position_of(self, offset: int) -> Position:
        return Position(self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset))

    def site(self, token: Token, attribute: str) -> LinkSite | None:
        # A tag that html5lib drops may be an element of any namespace in browsers of today, as in a select.
        spaces = [_NAMESPACES[token.namespace]] if token.namespace else _NAMESPACES.values()
        found = (self._rows.place(space, token.name, attribute) for space in spaces)
        place = next(filter(None, found), None)
        if place not in places.PLACEHOLDERS:
            return place
        return places.by_keywords(place, lambda key: _keyword(token.attributes, key))


def _text_site(name: str, attributes: dict[str, str], namespace: str | None) -> LinkSite | None:
    """Return the link site of the text of an element that is a style sheet or JSON with links."""
    if name == "style" and (namespace == namespaces["svg"] or places.is_sheet(_keyword(attributes, "type"))):
        return _SHEET
    return _SCRIPTS.get(_keyword(attributes, "type")) if name == "script" else None


def _keyword(attributes: dict[str, str], key: str) -> str:
    return attributes.get(key, "").strip(_BLANKS).lower()


# --- html5lib, whose names these are ----------------------------------------------------------------------------------


class _Node:
    """An element that knows its parent, but not its children."""

    __slots__ = ("attributes", "clones", "name", "nameTuple", "namespace", "parent")

    def __init__(self, name: str, namespace: str, clones: Counter[tuple[str, str, str]]) -> None:
        self.name = name
        self.namespace = namespace
        self.nameTuple = (namespace, name)
        self.attributes: dict[str, str] = {}
        self.parent: _Node | None = None
        self.clones = clones

    def around(self) -> Iterator[_Node]:
        """Yield the parent, its parent and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def appendChild(self, node: _Node) -> None:  # noqa: N802
        node.parent = self

    def insertBefore(self, node: _Node, _: _Node) -> None:  # noqa: N802
        node.parent = self

    def removeChild(self, node: _Node) -> None:  # noqa: N802
        node.parent = None

    def reparentChildren(self, _: _Node) -> None:  # noqa: N802
        """Leave the children here: their new parent is below this element, too."""

    def insertText(self, *_: object) -> None:  # noqa: N802
        """Ignore the text: the tokens have it."""

    def hasContent(self) -> bool:  # noqa: N802
        return False

    def cloneNode(self) -> _Node:  # noqa: N802
        self.clones.update((self.name, *attribute) for attribute in self.attributes.items())
        clone = _Node(self.name, self.namespace, self.clones)
        clone.attributes = dict(self.attributes)
        return clone


class _Builder(TreeBuilder):
    """A tree builder that keeps the open elements, and `last`, the element that was made last."""

    def __init__(self, clones: Counter[tuple[str, str, str]], namespaces: bool) -> None:
        self._clones = clones
        super().__init__(namespaces)

    def reset(self) -> None:
        super().reset()
        self.last: _Node = self.document

    def documentClass(self) -> _Node:  # noqa: N802
        return _Node("", "", self._clones)

    def elementClass(self, name: str, namespace: str) -> _Node:  # noqa: N802
        self.last = _Node(name, namespace, self._clones)
        return self.last

    def insertComment(self, *_: object) -> None:  # noqa: N802
        """Ignore a comment, as text."""

    def insertDoctype(self, *_: object) -> None:  # noqa: N802
        """Ignore a document type, likewise."""


class _Tokenizer(HTMLTokenizer):
    """A tokenizer that adds each tag to the markup, once the parser has processed it, with the text after it."""

    def __init__(self, markup: Html, parser: _Parser) -> None:
        super().__init__(io.StringIO(), parser=parser)
        stream: Any = self.stream
        stream.chunk, stream.chunkSize = markup.text, len(markup.text)  # in one chunk, offsets are those of the text
        self._markup = markup
        self._tree: _Builder = parser.tree
        self._opened = 0  # the offset of the last tag or comment
        self._base: _Node | None = None

    def __iter__(self) -> Iterator[Any]:
        add = self._add
        last: _Tag = (0, "", NOTHING, None, None)
        texts: list[str] = []
        is_settled = False  # the parser has met text that is no white space: more of it changes nothing
        tokens: Iterator[Any] = super().__iter__()
        for token in tokens:
            kind, data, name = token["type"], token.get("data"), token.get("name", "")
            if kind in _TEXTS:
                texts.append(data)
                if not is_settled:
                    yield token
                    is_settled = kind == _CHARACTERS and data != "\0"
                continue
            if kind == _ERROR:
                continue
            attributes = data.copy() if kind == _START and data else NOTHING
            yield token
            add(last, "".join(texts))
            texts.clear()
            is_settled = False
            start = self._opened
            tag: _Tag | None = None
            if kind == _START:
                namespace = self._inserted(token)
                tag = (start, name, attributes, namespace, _text_site(name, attributes, namespace))
                if token["selfClosing"] and namespace not in {None, _HTML}:
                    add(tag, "")
                    tag = None
            elif kind == _END:
                start = max(start, self._markup.text.rfind("</", start, self.stream.chunkOffset))
            elif kind == _COMMENT:
                name = COMMENT
                add((start, name, NOTHING, "", None), data)
            else:
                text = " ".join(str(token[key]) for key in ("name", "publicId", "systemId", "correct"))
                name = DOCTYPE
                add((start, name, NOTHING, "", None), text)
            last = tag or (start, f"/{name}", NOTHING, None, None)
        add(last, "".join(texts))
        if self._base is not None and self._tree.document in self._base.around():
            self._markup.base = self._base.attributes["href"]

    def _add(self, tag: _Tag, text: str) -> None:
        start, name, attributes, namespace, place = tag
        made = partial(Token, attributes) if attributes else self._markup.bare
        self._markup.add(made(name, text, namespace, place), start)

    def _inserted(self, token: Any) -> str | None:
        """Return the namespace of the element that the parser made of a start tag, None if it made none."""
        last = self._tree.last
        if last.attributes is not token["data"]:
            return None
        if len(self._tree.openElements) > _DEEPEST:
            raise TooDeepError(f"elements are nested more than {_DEEPEST} deep")
        if last.nameTuple == _BASE and "href" in last.attributes and self._base is None:
            self._base = None if any(node.name == "template" for node in last.around()) else last
        return last.namespace

    def tagOpenState(self) -> Any:  # noqa: N802
        self._opened = self.stream.chunkOffset - 1
        return super().tagOpenState()


class _Parser(html5parser.HTMLParser):
    """A parser with this tokenizer and builder, which stores no errors: real pages have thousands."""

    def __init__(self, markup: Html) -> None:
        super().__init__(partial(_Builder, markup.clones))  # type: ignore[arg-type]  # called like the class
        self._markup = markup

    def _parse(self, *_: object, scripting: bool = False, **_options: object) -> None:
        self.innerHTMLMode = False
        self.scripting = scripting
        self.tokenizer = _Tokenizer(self._markup, self)
        self.reset()
        self.mainLoop()

    def parseError(self, *_: object) -> None:  # noqa: N802
        """Ignore a parse error: both documents have the same ones."""
