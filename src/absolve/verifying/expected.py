"""The values that each link may have after the rewrite, whether it resolves to the same URL, and the differences.

In: the walked original and the policy. Out: for an old and a new value of a link, None or the text of a difference;
differences as `Diagnostic`s, with the position in the original, and in the text the position in the rewrite.

The second check finds links in values that an independent parser has decoded: `in_value` and `in_document` split these
into references and the bytes between them: for example, `a 1x, b` into `a`, `b` and ``, ` 1x, `, ``.
"""

from __future__ import annotations

import re
import sys
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import Diagnostic
from absolve.core.model import Link
from absolve.document.resolved import LinkContext, Resolved, placeholder_at, text, value_of
from absolve.document.walk import Settings, hold, inners
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import LOOK_AHEAD, Raw, from_utf8, to_utf8
from absolve.formats import registry
from absolve.formats.grammars import ESCAPES, GRAMMARS, WHITE_SPACE, is_read
from absolve.rewriting.forms import form_of
from absolve.rewriting.policy import absolute, mentions_of
from absolve.rewriting.remap import remapping_of
from absolve.verifying.mentioned import Mentioned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from absolve.core.model import LinkSite
    from absolve.document.entity import Entity
    from absolve.encodings.charsets import Charset
    from absolve.rewriting.policy import Policy


_LONGEST = 80  # characters of a quoted value


class Position(NamedTuple):
    """Line and column, counted from 1; columns in characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class Fault(NamedTuple):
    """A difference that the second check finds, with its positions in both documents, None for unknown ones."""

    code: str
    text: str
    before: Position | None = None
    after: Position | None = None

    @property
    def words(self) -> str:
        """The text, with the position in the rewrite."""
        return self.text if self.after is None else f"{self.text} (after: {self.after})"


class Differences:
    """The differences between two documents."""

    def __init__(self, before: Entity, after: Entity) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._before = before
        self._after = after
        self._said: set[tuple[str, int, int]] = set()

    def add(self, fault: Fault) -> None:
        """Add a difference."""
        line, column = fault.before or (None, None)
        self.diagnostics.append(Diagnostic(fault.code, fault.words, self._before.name, line, column))

    def add_at(self, code: str, text: str, before: int, after: int) -> None:
        """Add a difference at byte offsets into the two documents, unless the code is already reported there."""
        if (code, before, after) not in self._said:
            self._said.add((code, before, after))
            places = (Position(*self._before.line_column(before)), Position(*self._after.line_column(after)))
            self.add(Fault(code, text, *places))


def shown(text: str | None) -> str:
    """Return a value for a message: quoted, for example `'a'`, and shortened if it is long; "nothing" for None."""
    if text is None:
        return "nothing"
    return repr(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


# --- expected values --------------------------------------------------------------------------------------------------

CODING: Final = Raw(UTF_8)  # a placeholder: links that an independent parser finds have no bytes
_SETTINGS: Final = Settings(max_links=sys.maxsize)  # the links of the whole document are counted already
_BLANKS = WHITE_SPACE.decode()
_LOST = "\N{REPLACEMENT CHARACTER}"
_NO_CHARACTER = re.compile("[\udc80-\udcff]")


def lost(reference: str) -> str:
    """Return a reference with U+FFFD for each byte that is no valid character."""
    return _NO_CHARACTER.sub(_LOST, reference)


def _in_xml(new: str) -> str:
    """Return a value as XML can have it: bytes and characters that are none (2.2) come from a base."""
    return lost(new).replace("\ufffe", "%EF%BF%BE").replace("\uffff", "%EF%BF%BF")


class Expected:
    """The intended values of every link of a document: by link, and by element, attribute and reference.

    For example, {"http://h/a"} for `a` in `<img src>`: an independent parser provides only element, attribute and
    reference.
    """

    def __init__(self, before: Entity, policy: Policy) -> None:
        self.by_policy = policy is not absolute
        form = form_of(policy)
        self._keeps_targets = policy is absolute or (
            form is not None and form.keeps_targets and remapping_of(policy) is None
        )
        self._policy = policy
        mentions = mentions_of(policy)
        self._mentioned = Mentioned(mentions.rules) if mentions is not None else None
        self._links: dict[int, set[str]] = {}  # by identity: the entity holds its links
        self._values: dict[tuple[str, str, str], set[str]] = {}
        hold(before)
        self._learn(before, before.charset, sealed=False)

    def _learn(self, entity: Entity, charset: Charset, *, sealed: bool) -> None:
        """Collect the intended values of an entity and of all inside it.

        `charset` is the charset of the bytes that are written in the end. `sealed`: all links must stay unchanged.
        """
        for event in entity.events:
            if isinstance(event, Link):
                resolved = Resolved(entity, event)
                new = None if sealed or event.place.stays == "always" else self._policy(resolved)
                if new is not None and self.by_policy:
                    new = new.strip(_BLANKS)  # as the rewriter does with the result of a policy
                if new is not None and not resolved.context.may_write(new):
                    new = None
                values = {resolved.reference} if new is None else self._written(resolved, new, charset)
                self._links[id(event)] = values
                self._values_for(resolved, resolved.reference).update(values)
                bare = resolved.reference.strip(_BLANKS)
                if bare != resolved.reference:  # white space by CSS escapes: a parser's value has no escapes
                    self._values_for(resolved, bare).update(value.strip(_BLANKS) for value in values)
                if _LOST in bare:  # invalid bytes with such an escape between them
                    self._values_for(resolved, lost(bare)).update(lost(value.strip(_BLANKS)) for value in values)
        for inner in inners(entity):
            part = inner.part
            inside = inner.entity.charset if part.own_charset else charset
            self._learn(inner.entity, inside, sealed=sealed or bool(part.signed_by))

    def _values_for(self, resolved: Resolved, reference: str) -> set[str]:
        """Return the set of intended values for a reference in this attribute of this element."""
        return self._values.setdefault((resolved.element, resolved.attribute, reference), set())

    def _written(self, resolved: Resolved, new: str, charset: Charset) -> set[str]:
        """Return the forms in which the result of the policy may be written.

        These differ in the escapes of the grammar, and for characters that the charset lacks.
        """
        entity, link = resolved.entity, resolved.link
        escape = ESCAPES.get(link.place.syntax)
        if escape is None or new == resolved.reference:
            return {new}
        if not new and link.place.syntax != "url":
            return {new, resolved.reference}  # no empty reference can be written in a list
        if not is_read(link.place.syntax, new):
            return {resolved.reference}  # it would be no link any more
        before = link.coding.decode(entity.data[max(0, link.start - LOOK_AHEAD) : link.start])
        end = placeholder_at(new)
        new = text(escape(value_of(new[:end]), before)) + new[end:]
        if new.isascii() and resolved.element != "header":
            return {new}
        ends = zip(reversed(resolved.reference), reversed(new), strict=False)
        same = takewhile(lambda pair: pair[0] == pair[1], ends)
        kept = "".join(one for one, _ in same)[::-1]  # these bytes of its own stay unchanged
        prefix = new.removesuffix(kept)
        if resolved.element == "header":  # bytes that are invalid in a field are percent-encoded
            whole, prefix = (text(link.coding.decode(link.coding.encode(value_of(one)))) for one in (new, prefix))
            return {new, whole, prefix + kept}
        return {new, _in_xml(new), _in_xml(prefix) + kept, _within(charset, new)}

    def fault(self, link: Link, old: str, new: str, before: LinkContext, after: LinkContext) -> str | None:
        """Return the fault of the new value of this link; None if it is correct."""
        return self._fault(old, new, before, after, self._links[id(link)], claims=link.claim is not None)

    def fault_of_value(
        self, place: LinkSite, old: str, new: str, before: LinkContext, after: LinkContext, *, claims: bool = False
    ) -> str | None:
        """Return the fault of a new value by element and attribute only; None if it is correct."""
        wanted = self._values.get((place.element, place.attribute, old), {old})
        return self._fault(old, new, before, after, wanted, claims=claims)

    def fault_of_text(self, place: LinkSite, old: str, new: str) -> str | None:
        """Return the fault of a changed value, without resolving it; None if it is correct."""
        wanted = self._values.get((place.element, place.attribute, old), {old})
        return None if self._is_wanted(wanted, new) else _other_than(wanted, old, new)

    def by_reference(self) -> dict[str, set[str]]:
        """Return the intended values by reference, for the whole document."""
        found: dict[str, set[str]] = {}
        for (_, _, reference), values in self._values.items():
            found.setdefault(reference, set()).update(values)
        return found

    def alike(self, old: str | bytes, new: str | bytes) -> bool:
        """Return whether two texts outside links are equal, but for the mentions that the rules of a remapping change.

        The lengths of serialized strings are compared in bytes only: a parser of XML drops a CR from a text.
        """
        if old == new or self._mentioned is None:
            return old == new
        pair = [one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in (old, new)]
        return self._mentioned.alike(*pair, fits=isinstance(old, bytes))

    def _is_wanted(self, wanted: set[str], new: str) -> bool:
        return new in wanted or (self._mentioned is not None and any(self.alike(one, new) for one in wanted))

    def _fault(
        self, old: str, new: str, before: LinkContext, after: LinkContext, wanted: set[str], *, claims: bool
    ) -> str | None:
        if not self._is_wanted(wanted, new) and (self.by_policy or new != old):
            return _other_than(wanted, old, new)
        if not self._keeps_targets or _exempt(before.place, old) or (claims and not new):
            return None
        led, leads = before.target(old, claims), after.target(new, claims)
        if leads == led or (new != old and leads == before.target(new, claims)):
            return None
        return f"{shown(old)} resolved to {shown(led)}, {shown(new)} resolves to {shown(leads)}"


def _other_than(wanted: set[str], old: str, new: str) -> str:
    right = " or ".join(sorted(map(shown, wanted)))
    return f"{shown(old)} should {'stay unchanged' if wanted == {old} else f'become {right}'}, but is {shown(new)}"


def _within(charset: Charset, new: str) -> str:
    """Return a value with the characters that the charset lacks percent-encoded, as in CSS.

    For example, `%D0%B6` for `ж` in ISO 8859-1: CSS has no character references.
    """
    try:
        return text(to_utf8(charset, from_utf8(charset, value_of(new), "absolve.percent")))
    except UnicodeError:
        return new


def _exempt(place: LinkSite, reference: str) -> bool:
    """Return whether a reference stays unchanged under any base: an identifier, or a fragment of this document."""
    return place.stays == "always" or (place.stays == "fragment" and reference.startswith("#"))


# --- references in values of an independent parser --------------------------------------------------------------------


def decoded(entity: Entity) -> str:
    """Return the text of a document, without a byte order mark."""
    charset = entity.charset
    return to_utf8(charset, entity.data).decode("utf-8", errors(charset)).removeprefix("\ufeff")


def errors(charset: Charset) -> str:
    """Return the codec error handler that encodes surrogates as codings do."""
    return "surrogateescape" if charset.codec == UTF_8.codec else "surrogatepass"


class References(NamedTuple):
    """Each reference with its link site, and the bytes before, between and after them."""

    links: list[tuple[LinkSite, str]]
    gaps: list[bytes]

    def alike(self, other: References, are: Callable[[bytes, bytes], bool]) -> bool:
        """Return whether both have alike bytes around the same number of references of the same sites."""
        names = [[(place.element, place.attribute) for place, _ in side.links] for side in (self, other)]
        if names[0] != names[1]:
            return False
        if len(names[0]) == 1 and not (self.links[0][1] and other.links[0][1]):
            return are(b"".join(self.gaps), b"".join(other.gaps))  # an empty one may be anywhere in the white space
        if len(names[0]) == 1 and not b"".join(other.gaps):
            return not b"".join(self.gaps).strip()  # white space that an entity had with the URL
        return all(map(are, self.gaps, other.gaps))


def in_value(place: LinkSite, value: bytes) -> References:
    """Return the references in the value of an attribute, by its grammar; a text without one has none: a script."""
    spans = list(GRAMMARS[place.syntax](value)) if place.syntax in GRAMMARS else []
    return References([(place, text(value[start:end])) for start, end in spans], _gaps(value, spans))


def in_document(media_type: str, value: bytes) -> References:
    """Return the references in a document, by its walker: a style sheet, a list of declarations, JSON."""
    walker = registry.walker(media_type)
    events = walker(value, UTF_8, _SETTINGS) if walker is not None else ()
    found = [event for event in events if isinstance(event, Link)]
    spans = [(link.start, link.end) for link in found]
    links = [(link.place, text(link.coding.decode(value[link.start : link.end]))) for link in found]
    return References(links, _gaps(value, spans))


def _gaps(value: bytes, spans: Iterable[tuple[int, int]]) -> list[bytes]:
    edges = [0, *(edge for span in spans for edge in span), len(value)]
    return [value[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
