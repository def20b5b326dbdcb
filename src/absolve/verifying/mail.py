"""Second check of messages and mailboxes: the package email reads equal parts and fields, except for the links.

In: the two entities. Out: differences. A changed body is compared by the second check of its own media type, after
email has decoded it to the same bytes as absolve.
"""

from __future__ import annotations

import email
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from absolve.core.model import Document, Link
from absolve.document.resolved import Resolved
from absolve.document.walk import inners, walk
from absolve.formats import registry
from absolve.formats.headers import OF_MAIL
from absolve.verifying.differences import shown
from absolve.verifying.fields import faults, judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from email.message import Message

    from absolve.core.model import Part
    from absolve.document.entity import Entity
    from absolve.verifying.differences import Differences
    from absolve.verifying.meant import Meant

_FROM: Final = re.compile(rb"^From [^\n]*\n", re.MULTILINE)
_BEFORE: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?>(?:>?From [^\n]*\n)*)")
_BLANKS_AT_END: Final = re.compile(rb"(?<![\t ])[\t ]++(?=\r?\n|\Z)")


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Add the differences between the messages that email reads."""
    found = _Judge(meant, differences)
    if before.held or before.media_type == registry.MAILBOX:
        documents = (Document(entity.data, media_type=entity.media_type) for entity in (before, after))
        found.together(*(walk(document, before.settings) for document in documents))
    if before.media_type != registry.MAILBOX:
        found.message(before.data, after.data, before, after, "")
        return
    old, new = (_messages(entity) for entity in (before, after))
    if len(old) != len(new):
        differences.add("tree", f"email: {len(old)} messages before, {len(new)} after", None, None)
        return
    walked = zip(*(_insides(entity, len(old)) for entity in (before, after)), strict=True)
    for index, (one, other, (inside, its_inside)) in enumerate(zip(old, new, walked, strict=True)):
        found.message(one, other, inside, its_inside, f"message {index + 1}")


def _messages(mailbox: Entity) -> list[bytes]:
    """Return the data after each From line; a From line that absolve takes for text belongs to its message."""
    known = {inner.part.start for inner in inners(mailbox)}
    lines = [found for found in _FROM.finditer(mailbox.data) if found.end() in known or not found.start()]
    ends = [*(found.start() for found in lines[1:]), len(mailbox.data)]
    return [mailbox.data[found.end() : end] for found, end in zip(lines, ends, strict=True)]


def _insides(entity: Entity | None, size: int) -> Sequence[Entity | None]:
    """Return the entities of `size` parts; None for each where absolve has another number of parts."""
    if entity is None:
        return [None] * size
    found = [inner.entity for inner in inners(entity) if not _is_no_line(entity.data, inner.part)]
    return found if len(found) == size else [None] * size


def _is_no_line(data: bytes, part: Part) -> bool:
    """Return whether a boundary directly follows another one: email has no part between them."""
    return part.start == part.end and data.startswith(b"--", part.start)


def _headed(message: Message[Any, Any]) -> tuple[Message[Any, Any], bytes]:
    """Return the message and the bytes before its header.

    email takes a `>From ` line or a byte order mark before the header for the body.
    """
    if message.keys() or message.is_multipart():
        return message, b""
    data = bytes(message.get_payload(decode=True) or b"")
    before = _BEFORE.match(data)
    if before is None or not before.end():
        return message, b""
    return email.message_from_bytes(data[before.end() :]), before[0]


def _links(entity: Entity) -> Iterator[Resolved]:
    return (Resolved(entity, event) for event in entity.events if isinstance(event, Link))


def _part_of(link: Resolved) -> Any:
    return link.context.how_held(link.target)


class _Judge:
    def __init__(self, meant: Meant, differences: Differences) -> None:
        self._meant = meant
        self._differences = differences

    def message(self, before: bytes, after: bytes, one: Entity | None, other: Entity | None, path: str) -> None:
        """Add the differences between two messages; `path` names the part for texts, as in `message 1` or `2/1`."""
        try:
            self._compare(email.message_from_bytes(before), email.message_from_bytes(after), one, other, path)
        except RecursionError:
            self._say("unjudged", "email cannot read multiparts nested as deep as these", path)

    def together(self, one: Entity, other: Entity) -> None:
        """Add a difference for each link that no longer leads to a part of the message (RFC 2557 8.3).

        Both entities are walked without a URL: a reader has only what the message records.
        """
        for old, new in zip(_links(one), _links(other), strict=False):
            if _part_of(old) is not None and _part_of(new) is None:
                words = f"{shown(old.reference)} led to a part of the message, {shown(new.reference)} leads to none"
                self._say("target", words, one.path)
        for inner, its in zip(inners(one), inners(other), strict=False):
            self.together(inner.entity, its.entity)

    def _compare(
        self, old: Message[Any, Any], new: Message[Any, Any], one: Entity | None, other: Entity | None, path: str
    ) -> None:
        (old, lines), (new, its_lines) = _headed(old), _headed(new)
        if lines != its_lines:
            words = f"the text above the header changed from {shown(str(lines))} to {shown(str(its_lines))}"
            self._say("tree", words, path)
        self._header(old, new, one, other, path)
        if old.is_multipart() != new.is_multipart():
            self._say("tree", "a multipart in one of the documents only", path)
        elif not old.is_multipart():
            body, changed_body = (bytes(part.get_payload(decode=True) or b"") for part in (old, new))
            self._body(body, changed_body, one, other, path)
        else:
            parts, changed = old.get_payload(), new.get_payload()
            around = [(part.preamble, part.epilogue, len(part.get_payload())) for part in (old, new)]
            if around[0] != around[1]:
                words = f"{len(parts)} parts before, {len(changed)} after, or the text around them differs"
                self._say("tree", words, path)
                return
            walked = zip(*(_insides(entity, len(parts)) for entity in (one, other)), strict=True)
            for index, (part, its, (inside, its_inside)) in enumerate(zip(parts, changed, walked, strict=True)):
                self._compare(part, its, inside, its_inside, f"{path}/{index + 1}".lstrip("/"))

    def _header(
        self, old: Message[Any, Any], new: Message[Any, Any], one: Entity | None, other: Entity | None, path: str
    ) -> None:
        for field, changed in zip_longest(old.raw_items(), new.raw_items()):
            if field == changed:
                continue
            place = OF_MAIL.get(field[0].lower()) if field and changed and field[0] == changed[0] else None
            if place is None or one is None or other is None:
                self._say("attribute", f"the field {shown(str(field))} changed to {shown(str(changed))}", path)
            else:
                for difference in faults(place, str(field[1]), str(changed[1]), one, other, self._meant):
                    self._say(*difference, path)

    def _body(self, old: bytes, new: bytes, one: Entity | None, other: Entity | None, path: str) -> None:
        if old == new:
            return
        inside, its_inside = (_insides(entity, 1)[0] for entity in (one, other))
        if inside is None or its_inside is None:
            self._say("tree", "the body differs", path)
            return
        for entity, decoded in ((inside, old), (its_inside, new)):
            if _BLANKS_AT_END.sub(b"", entity.data) != _BLANKS_AT_END.sub(b"", decoded):
                self._say("unjudged", "email decodes this body differently from absolve", path)
                return
        for difference in judged(inside, its_inside, self._meant):
            self._say(*difference, path)

    def _say(self, code: str, words: str, path: str) -> None:
        self._differences.add(code, f"email: {words}{f' (in part {path})' if path else ''}", None, None)
