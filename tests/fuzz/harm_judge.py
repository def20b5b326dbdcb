"""Detect rewrites that turned text into markup or code, with parsers that share no code with absolve.

Both documents must be equal except for the values of links, and no link may get a scheme that runs code.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import ada_url
import tinycss2
from grammars_by_letter import candidates
from harm_charsets import decode
from harm_trees import (
    COMMENT,
    DOCTYPE,
    LEXBOR,
    PI,
    STAND_INS,
    TEXT,
    Node,
    UnjudgedError,
    by_html5lib,
    by_lexbor,
    by_lxml,
)

RUNS: Final = frozenset({"javascript:", "vbscript:", "data:"})
_SPACE: Final = "\t\n\f\r "


class HarmError(AssertionError):
    """A difference other than a link, or a link that now runs code."""


# --- URLs -------------------------------------------------------------------------------------------------------------

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_CONTROLS: Final = "".join(map(chr, range(33)))
_IGNORED: Final = {9: None, 10: None, 13: None}


def scheme(value: str) -> str:
    """Return the scheme of a URL as a browser reads it, in lower case with its colon; empty for a relative one."""
    bare = value.strip(_CONTROLS).translate(_IGNORED)
    try:
        return str(ada_url.URL(bare.encode("utf-8", "replace").decode(), base="relative://x/").protocol).removeprefix("relative:")
    except ValueError:
        found = _SCHEME.match(bare)
        return found[0].lower() if found else ""


class Judge:
    """Compares two documents; `allowed` are schemes that the user's own rules contain, `options` those of `rewrite`."""

    def __init__(self, *, allowed: frozenset[str] = frozenset(), thorough: bool = False) -> None:
        self._runs = RUNS - allowed
        self._thorough = thorough or LEXBOR is None
        self.looked = 0  # documents that html5lib checked

    def url(self, old: str, new: str) -> None:
        if old != new and (found := scheme(new)) in self._runs and found != scheme(old):
            raise HarmError(f"scheme: {old!r} became {new!r}, which is {found}")

    # --- HTML ----------------------------------------------------------------------------------------------------

    def html(self, old: str, new: str) -> None:
        """Assert that the trees are the same, with scripting off and on."""
        if old == new:
            return
        if not self._thorough:
            try:
                for name in STAND_INS if "noscript" in old.lower() or "noscript" in new.lower() else STAND_INS[:1]:
                    self._nodes(by_lexbor(old, name), by_lexbor(new, name), raw=name)
            except (HarmError, UnjudgedError):
                pass
            else:
                return
        self.looked += 1
        for scripting in (False, True):
            raw = "noscript" if scripting else ""
            self._nodes(by_html5lib(old, scripting=scripting), by_html5lib(new, scripting=scripting), raw=raw)

    def _nodes(self, old: Sequence[Node], new: Sequence[Node], *, raw: str) -> None:
        """Compare node by node; the text of `raw` is the markup of a noscript, which the other trees parse."""
        for place, (one, other) in enumerate(zip(old, new, strict=False)):
            if one is other or one == other:
                continue
            if one.kind != other.kind or one.parent != other.parent:
                raise HarmError(f"tree: {one} became {other}")
            if one.kind == TEXT:
                if not raw or one.parent != raw:
                    self._text(one, other, dict(old[place - 1].attributes).get("type", ""))
            elif one.kind == COMMENT:
                self._comment(one.text, other.text)
            elif one.kind in {PI, DOCTYPE}:
                raise HarmError(f"{one.kind}: {one} became {other}")
            else:
                self._attributes(one, other)
        if len(old) != len(new):
            raise HarmError(f"tree: {len(old)} nodes became {len(new)}: {(old if len(old) > len(new) else new)[min(len(old), len(new))]}")

    def _text(self, old: Node, new: Node, script: str) -> None:
        """Compare the texts of an element; `script` is the type of a script, which has no other node before its text."""
        if old.parent == "style":
            self.css(old.text, new.text)
        elif old.parent == "script" and script.partition(";")[0].strip(_SPACE).lower() in _JSON_SCRIPTS:
            self.json(old.text, new.text)
        else:
            raise HarmError(f"text: {old} became {new}")

    def _comment(self, old: str, new: str) -> None:
        if old != new:
            raise HarmError(f"comment: {old!r} became {new!r}")

    def _attributes(self, old: Node, new: Node) -> None:
        if [key for key, _ in old.attributes] != [key for key, _ in new.attributes]:
            raise HarmError(f"attributes: {old} became {new}")
        names = dict(old.attributes)
        for (key, one), (_, other) in zip(old.attributes, new.attributes, strict=True):
            if one != other:
                self.attribute(old.kind.rpartition("}")[2].lower(), key.lower(), names, one, other)

    def attribute(self, element: str, name: str, attributes: dict[str, str], old: str, new: str) -> None:
        if name == "srcdoc":
            self.html(old, new)
        elif name in _STYLES:
            self.css(old, new)
        elif name in _SETS:
            self._listed(candidates(old), candidates(new))
        elif name in _LISTS:
            split = _COMMA if name == "archive" and element != "object" else _BLANK
            self._listed(*([(word, "") for word in split.split(value.strip(_SPACE)) if word] for value in (old, new)))
        elif element == "meta" and name == "content":
            if attributes.get("http-equiv", "").strip(_SPACE).lower() == "refresh":
                self._refresh(old, new)
            else:
                self.url(old, new)
        elif name in _URLS:
            self.url(old, new)
        else:
            raise HarmError(f"attribute: {name} of {element}: {old!r} became {new!r}")

    def _listed(self, old: list[tuple[str, str]], new: list[tuple[str, str]]) -> None:
        if [descriptor for _, descriptor in old] != [descriptor for _, descriptor in new]:
            raise HarmError(f"list: {old} became {new}")
        for (one, _), (other, _) in zip(old, new, strict=True):
            self.url(one, other)

    def _refresh(self, old: str, new: str) -> None:
        one, other = refresh(old), refresh(new)
        if one[0] != other[0]:
            raise HarmError(f"refresh: {old!r} became {new!r}")
        self.url(one[1], other[1])

    # --- CSS and JSON --------------------------------------------------------------------------------------------

    def css(self, old: str, new: str) -> None:
        """Assert that the tokens are the same except for URLs."""
        one, other = (list(_tokens(tinycss2.parse_component_value_list(text), url=False)) for text in (old, new))
        for (kind, value), (changed, became) in zip(one, other, strict=False):
            if kind != changed or (value != became and kind != "URL"):
                raise HarmError(f"css: {kind} {value!r} became {changed} {became!r}")
            if kind == "URL":
                self.url(value, became)
        if len(one) != len(other):
            raise HarmError(f"css: {len(one)} tokens became {len(other)}")

    def json(self, old: str, new: str) -> None:
        """Assert that the values are the same except for strings that are URLs."""
        if old == new:
            return
        try:
            one = json.loads(old, object_pairs_hook=_Pairs)
        except ValueError:
            if _JSON_STRING.sub('""', old) != _JSON_STRING.sub('""', new):
                raise HarmError(f"json: {old!r} became {new!r}") from None
            return
        try:
            other = json.loads(new, object_pairs_hook=_Pairs)
        except ValueError as error:
            raise HarmError(f"json: {old!r} became {new!r}: {error}") from error
        self._values(one, other)

    def _values(self, old: Any, new: Any) -> None:
        if type(old) is not type(new):
            raise HarmError(f"json: {old!r} became {new!r}")
        if isinstance(old, str):
            self.url(old, new)
        elif isinstance(old, list | tuple):
            if len(old) != len(new):
                raise HarmError(f"json: {old!r} became {new!r}")
            for one, other in zip(old, new, strict=True):
                self._values(one, other)
        elif old != new:
            raise HarmError(f"json: {old!r} became {new!r}")

    # --- XML -----------------------------------------------------------------------------------------------------

    def xml(self, old: str, new: str) -> None:
        """Compare the trees of lxml; without one, absolve may have been asked to read the document as HTML."""
        try:
            one = by_lxml(old)
        except UnjudgedError:
            self.html(old, new)
            return
        try:
            other = by_lxml(new)
        except UnjudgedError as error:
            raise HarmError(f"xml: not well-formed any more: {error}") from error
        _ForXML(self).nodes(one, other)

    def file(self, old: bytes, new: bytes, media_type: str, charset: str) -> None:
        """Return a document of this format in this charset."""
        if old == new:
            return
        kinds: dict[str, Callable[[str, str], None]] = {"text/html": self.html, "text/css": self.css}
        judged = kinds.get(media_type) or (self.xml if "xml" in media_type else self.json if "json" in media_type else None)
        if judged is None:
            raise HarmError(f"{media_type}: {old!r} became {new!r}")
        judged(decode(old, charset), decode(new, charset))


_JSON_SCRIPTS: Final = frozenset(("importmap", "speculationrules", "application/ld+json"))
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class _Pairs(tuple[tuple[str, Any], ...]):
    """Return the members of a JSON object, including duplicate names."""

    __slots__ = ()


_STYLES: Final = frozenset("style fill stroke filter mask clip-path cursor color-profile marker marker-start".split())
_SETS: Final = frozenset("srcset imagesrcset data-srcset data-lazy-srcset".split())
_LISTS: Final = frozenset("ping archive profile attributionsrc".split())
_URLS: Final = frozenset(
    """
    href xlink:href xml:base src action formaction cite longdesc background data poster codebase code classid manifest
    object icon itemid data-src altimg url uri xmlurl htmlurl lowsrc dynsrc data-lazy-src data-original definitionurl
    cdgroup
    """.split()
)
_BLANK: Final = re.compile(r"[\t\n\f\r ]+")
_COMMA: Final = re.compile(r"[\t\n\f\r ]*,[\t\n\f\r ]*")


_REFRESH: Final = re.compile(r"([\t\n\f\r ]*[0-9.]*[\t\n\f\r ]*[;,]?[\t\n\f\r ]*(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?)(.*)", re.DOTALL | re.IGNORECASE)


def refresh(text: str) -> tuple[str, str]:
    """Return the text before the URL of a refresh, and the URL."""
    found = _REFRESH.fullmatch(text)
    if found is None:
        return text, ""
    url = found[2]
    if url[:1] in {"'", '"'}:
        quote = url[0]
        url, _, behind = url[1:].partition(quote)
        return f"{found[1]}{quote}|{behind}", url
    return found[1], url


_FUNCTIONS: Final = frozenset(("url", "src", "image-set", "-webkit-image-set"))


def _tokens(nodes: Sequence[Any], *, url: bool) -> Iterator[tuple[str, str]]:
    """Yield types and values in order; strings are URLs if `url` is set, or after @import."""
    imported = False
    for node in nodes:
        kind = node.type
        if kind == "url" or (kind == "string" and (url or imported)):
            yield "URL", node.value
        elif kind == "function":
            yield "function", node.lower_name
            yield from _tokens(node.arguments, url=node.lower_name in _FUNCTIONS)
            yield "end", ""
        elif kind.endswith("block"):
            yield kind, ""
            yield from _tokens(node.content, url=False)
            yield "end", ""
        elif kind == "error":
            yield kind, node.kind
        else:
            yield kind, str(getattr(node, "representation", None) or getattr(node, "value", ""))
        if kind == "at-keyword":
            imported = node.lower_value == "import"
        elif kind not in {"whitespace", "comment"}:
            imported = False


# --- XML: text of one element may be a link or a page in another ------------------------------------------------------

_LINKS: Final = frozenset("link comments docs url loc icon logo uri guid".split())
_PAGES: Final = frozenset("description content title summary subtitle encoded".split())
_HREF: Final = re.compile(r"""(\bhref\s*=\s*)("[^"]*"|'[^']*')""")


class _ForXML:
    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def nodes(self, old: Sequence[Node], new: Sequence[Node]) -> None:
        for one, other in zip(old, new, strict=False):
            if one == other:
                continue
            if one.kind != other.kind or one.parent != other.parent:
                raise HarmError(f"tree: {one} became {other}")
            if one.kind == TEXT and one.parent in _LINKS:
                self._judge.url(one.text.strip(), other.text.strip())
            elif one.kind == TEXT and one.parent in _PAGES:
                self._judge.html(one.text, other.text)
            elif one.kind == TEXT and one.parent == "style":
                self._judge.css(one.text, other.text)
            elif one.kind == PI and one.text.startswith("xml-stylesheet "):
                self._instruction(one.text, other.text)
            elif one.attributes and other.attributes:
                self._judge._attributes(one, other)
            else:
                raise HarmError(f"xml: {one} became {other}")
        if len(old) != len(new):
            raise HarmError(f"tree: {len(old)} nodes became {len(new)}")

    def _instruction(self, old: str, new: str) -> None:
        if _HREF.sub(r"\1", old) != _HREF.sub(r"\1", new):
            raise HarmError(f"instruction: {old!r} became {new!r}")
        one, other = (_HREF.search(text) for text in (old, new))
        if one and other:
            self._judge.url(one[2][1:-1], other[2][1:-1])
