"""Second check of HTML and XML: their tokens are equal, except for the links, which still resolve to the same URLs.

In: the two entities. Out: differences. html5lib reads HTML, lxml reads XML. References in the values that they read are
located by the tables and grammars of absolve; bases are computed from their own base elements (HTML Standard 4.2.3) and
`xml:base` attributes (XML Base).
HTML with a noscript element is compared twice: the content of noscript is markup with scripting off, and text with
scripting on (HTML Standard 4.12.2).
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from absolve.core.model import Link
from absolve.document.base_layers import scalar_claims
from absolve.document.entity import ENTERED, Entity
from absolve.document.resolved import LinkContext, value_of
from absolve.document.resolved import text as text_of
from absolve.formats import markdown, registry
from absolve.formats.html import rules as places
from absolve.formats.html.claims import base_claim, codebase_claim
from absolve.formats.xml.prolog import NOT_WELL_FORMED
from absolve.formats.xml.walker import OF_OFFICE
from absolve.urls.base import FORBIDDEN, Bases, establish, inherited
from absolve.verifying.expected import CODING, Fault, decoded, errors, in_document, in_value, shown
from absolve.verifying.readers import COMMENT, DOCTYPE, Html, Xml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import BaseURL, LinkSite
    from absolve.verifying.expected import Expected, Position, References
    from absolve.verifying.readers import Markup, Token

_DOCUMENTS: Final = {"css": places.CSS, **places.JSON_SCRIPTS}  # syntax of a text -> its media type
_BLANKS: Final = re.compile("  +")  # in place of code and destinations, whose lengths may change
# In a formula: texts, and names of sheets and columns; a quote in a name begins no text
_TEXTS: Final = re.compile(r"""\"(?:[^"]|"")*"|('(?:[^']|'')*'|\[(?:[^'\[\]]|'.)*)""", re.DOTALL)
_NOSCRIPT: Final = re.compile("<noscript", re.IGNORECASE | re.ASCII)


def faults(before: Entity, after: Entity, expected: Expected) -> Iterator[Fault]:
    """Yield the differences between the tokens, and between the base URLs of the parser and absolve."""
    is_xml = before.media_type == registry.XML
    parser = "lxml" if is_xml else "html5lib"
    for scripting in (False,) if is_xml else _modes(*(decoded(entity) for entity in (before, after))):
        sides: list[Side] = []
        for entity, when in ((before, "before"), (after, "after")):
            try:
                side = Side(_read(entity, before if is_xml else None, scripting=scripting), entity, entity.bases)
            except Exception as error:  # noqa: BLE001 - html5lib 1.1 raises various exceptions for some pages
                words = f"{parser} cannot parse the document {when}: {str(error) or type(error).__name__}"
                yield Fault("unjudged", words)
                return
            sides.append(side)
            seen, known = side.bases.base.url, entity.bases.base.url
            if seen != known and not scripting:  # with scripting on, a base element in noscript is text
                words = f"the base {when} is {shown(seen)} for {parser}, {shown(known)} for absolve"
                yield Fault("base", words)
        yield from _Judge(expected, *sides).faults()


def _read(entity: Entity, xml_before: Entity | None, *, scripting: bool) -> Markup:
    """Return the tokens of a document. XML after a rewrite is recovered only if it was recovered before."""
    text = decoded(entity)
    if xml_before is not None:
        if any(one.code == NOT_WELL_FORMED for one in xml_before.findings):
            return Xml(text, errors(entity.charset), recover=True)
        return Xml(text)
    if entity.media_type == registry.MARKDOWN:  # html5lib knows no code spans: absolve finds them
        text = _BLANKS.sub(" ", text_of(markdown.masked(value_of(text))))
    return Html(text, errors(entity.charset), entity.settings, scripting=scripting)


def _modes(*texts: str) -> tuple[bool, ...]:
    """Return the scripting flags to read these documents with: off, and also on if there is a noscript element."""
    return (False, True) if any(_NOSCRIPT.search(text) for text in texts) else (False,)


class Side:
    """One of the two documents as its parser reads it, with its bases and the contexts of its links.

    `at` is the position of all tokens of HTML in a value or text, `around` are the bases outside, `depth` is the number
    of enclosing documents.
    """

    def __init__(self, markup: Markup, like: Entity, around: Bases, at: Position | None = None, depth: int = 0) -> None:
        self.markup = markup
        self.settings = like.settings
        self.depth = depth
        self._at = at
        self._entity = Entity(b"", like.charset, like.media_type, like.name, "", like.settings)
        self._entity.text_left = like.text_left
        base = around.own if at is None else around.base
        if markup.base is not None and not any(fate.verdict == FORBIDDEN for fate in like.bases.base.chain):
            claims = scalar_claims([base_claim(self.encoded(markup.base), 0)], self._entity)
            base = establish(around.own, claims, like.settings.profile, None, like.settings.max_url)
        self.bases = self._entity.bases = Bases(around.own, base)
        # Some links have the URL of the page as base, which nobody knows: browsers fetch them before the base element.
        self.is_open = like.bases.before is not None and not around.own.url
        self._contexts: dict[tuple[LinkSite, str, int], LinkContext] = {}

    @property
    def leaves(self) -> bool:
        """Return whether documents inside this one are nested too deep for absolve, which left them unchanged."""
        return self.depth >= ENTERED and self._entity.text_left is not None and self._entity.text_left.is_exceeded

    def encoded(self, text: str) -> bytes:
        """Encode a text in UTF-8, in the form in which codings decode values."""
        return text.encode("ascii") if text.isascii() else text.encode("utf-8", self.markup.errors)

    def inside(self, text: str, step: str, index: int, *, scripting: bool) -> Side:
        """Return the side of HTML in a token, which is a document of its own."""
        markup = Html(text, self.markup.errors, self.settings, scripting=scripting)
        own = inherited(self.base(self.markup.tokens[index]), step)
        return Side(markup, self._entity, Bases(own, own), self.position(index), self.depth + 1)

    def position(self, index: int) -> Position:
        return self._at or self.markup.position(index)

    def base(self, token: Token) -> BaseURL:
        """Return the base of the links of an element, but for `codebase`."""
        return self._entity.base_context(token.scope).base if token.scope else self.bases.base

    def context(self, place: LinkSite, token: Token) -> LinkContext:
        """Return the context of the references of a site in this token; a claim's context is outside of its scope."""
        scope = token.scope
        if place.attribute == "xml:base" and scope is not None:
            scope = scope.scope
        if place.against == "own" or _is_base(place):
            scope = None
        codebase = token.attributes.get("codebase", "") if place.against == "codebase" else ""
        key = (place, codebase, id(scope))
        if key not in self._contexts:
            claim = codebase_claim(self.encoded(codebase), 0)
            link = Link(place, 0, 0, CODING, claim._replace(scope=scope) if claim is not None else scope)
            self._contexts[key] = LinkContext(self._entity, link)
        return self._contexts[key]


class _Judge:
    """Compare two sides of one document; a document inside it gets a judge of its own.

    With scripting on only the values of links are compared, not their targets: then a base inside a noscript element
    has no effect.
    """

    def __init__(self, expected: Expected, before: Side, after: Side) -> None:
        self._expected = expected
        self._found: list[Fault] = []
        self._before = before
        self._after = after
        self._scripting = before.markup.scripting
        same = [(side.bases.own.url, side.bases.base.url) for side in (before, after)]
        self._differ_in_base = expected.by_policy or same[0] != same[1]
        self._index = 0
        self._looks = False

    def faults(self) -> list[Fault]:
        """Return all differences, up to the first token with another name."""
        tokens = zip_longest(self._before.markup.tokens, self._after.markup.tokens)
        for self._index, (old, new) in enumerate(tokens):
            if old is None or new is None or (old.name, old.namespace) != (new.name, new.namespace):
                self._say("tree", f"{_name(old)} before, {_name(new)} after")
                break
            self._looks = self._is_to_look_at(old, new)
            if self._looks or old != new:
                if old.attributes or new.attributes:
                    self._attributes(old, new)
                if self._looks or old.text != new.text:
                    self._text(old, new)
        return self._found

    def _is_to_look_at(self, old: Token, new: Token) -> bool:
        """Return whether equal values may be wrong: with a policy, or another base. Tags without an element are not."""
        if self._scripting or old.namespace is None:
            return False
        if self._differ_in_base or (old.scope is None and new.scope is None):
            return self._differ_in_base
        return self._before.base(old).url != self._after.base(new).url

    def _attributes(self, old: Token, new: Token) -> None:
        for key in {**old.attributes, **new.attributes}:
            value, changed = old.attributes.get(key), new.attributes.get(key)
            if value is None or changed is None:
                self._differ("attribute", f"the attribute {key} of {_name(old)}", value, changed)
            elif self._looks or value != changed:
                place = self._before.markup.site(old, key)
                self._value("attribute", f"the attribute {key} of {_name(old)}", place, (value, changed), old, new)

    def _text(self, old: Token, new: Token) -> None:
        """Compare the text after a tag, which may be a style sheet, JSON with links, or the markup of a noscript."""
        if self._scripting and old.name == "noscript":
            return  # compared as elements of the documents without scripting
        what = f"the text {'following' if old.name.startswith('/') else 'in'} {_name(old)}"
        self._value("tree", what, old.place, (old.text, new.text), old, new)

    def _value(
        self, code: str, what: str, place: LinkSite | None, values: tuple[str, str], old: Token, new: Token
    ) -> None:
        """Compare two values: their references, if there is a link site, else the text."""
        if place is not None and place.syntax in OF_OFFICE and not self._before.settings.open_xml:
            place = None
        if place is not None and place.syntax in {"srcdoc", "html"}:
            self._document(code, what, values, place.element if place.syntax == "html" else "srcdoc")
            return
        if place is not None:
            one, other = (self._read(place, value) for value in values)
            if one.alike(other, self._expected.alike) and (place.syntax != "formula" or _have_same_tokens(*values)):
                self._references(one, other, old, new)
                return
        if not self._expected.alike(*values):
            self._differ(code, what, *values)

    def _read(self, place: LinkSite, value: str) -> References:
        if place.syntax == "css" and place.attribute:
            return in_document(places.CSS_DECLARATIONS, self._before.encoded(value))
        if place.syntax in _DOCUMENTS:
            return in_document(_DOCUMENTS[place.syntax], self._before.encoded(value))
        return in_value(place, self._before.encoded(value))

    def _document(self, code: str, what: str, values: tuple[str, str], step: str) -> None:
        """Compare HTML in a value; beyond the maximum depth, as text."""
        if values[0] == values[1] and not (self._looks and not self._before.leaves):
            return
        if self._before.depth >= self._before.settings.max_depth:
            if not self._expected.alike(*values):
                self._differ(code, what, *values)
            return
        for scripting in (True,) if self._scripting else _modes(*values):
            try:
                one, other = (
                    side.inside(value, step, self._index, scripting=scripting)
                    for side, value in zip((self._before, self._after), values, strict=True)
                )
            except Exception as error:  # noqa: BLE001 - as in `faults`
                self._say("unjudged", f"this HTML cannot be parsed: {str(error) or type(error).__name__}")
                return
            self._found += _Judge(self._expected, one, other).faults()

    def _references(self, one: References, other: References, old: Token, new: Token) -> None:
        """Check pairs of references: each has its intended value and still resolves to the same URL."""
        for (place, value), (_, changed) in zip(one.links, other.links, strict=True):
            if self._scripting:
                fault = self._expected.fault_of_text(place, value, changed) if value != changed else None
            else:
                contexts = self._before.context(place, old), self._after.context(place, new)
                claims = place.attribute in {"codebase", "xml:base"} or _is_base(place)
                fault = self._expected.fault_of_value(place, value, changed, *contexts, claims=claims and bool(value))
            if fault is not None and not (self._before.is_open and value == changed):
                self._say("target", f"{place.element} {place.attribute}: {fault}")

    def _differ(self, code: str, what: str, old: str | None, new: str | None) -> None:
        """Add a difference of two texts, quoted from shortly before their first difference; None for a missing text."""
        if old and new:
            same = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
            cut = max(0, min(same, len(old), len(new)) - 20)
            old, new = old[cut:], new[cut:]
        self._say(code, f"{what} changed from {shown(old)} to {shown(new)}")

    def _say(self, code: str, words: str) -> None:
        positions = (side.position(self._index) for side in (self._before, self._after))
        self._found.append(Fault(code, f"{self._before.markup.parser}: {words}", *positions))


def _have_same_tokens(one: str, other: str) -> bool:
    """Return whether two formulas differ only in their texts: for example, `A1&"x"` and `A1&"y"`."""
    return _TEXTS.sub(_emptied, one) == _TEXTS.sub(_emptied, other)


def _emptied(found: re.Match[str]) -> str:
    return found[1] or '""'


def _is_base(place: LinkSite) -> bool:
    return (place.element, place.attribute) == ("base", "href")


def _name(token: Token | None) -> str:
    if token is None:
        return "nothing more"
    names = {"": "the document", COMMENT: "a comment", DOCTYPE: "the document type"}
    return names.get(token.name.removeprefix("/"), f"<{token.name}>")
