"""Verify a rewrite: two independent checks compare a document with its rewrite.

In: the walked document, the bytes of the rewrite, and the policy. Out: diagnostics, by line and column of the original.
The first check (`spans`) compares bytes: outside the links they are equal, and each length, digest or checksum that a
container derives from a part is computed again. The second (`JUDGES`) compares the values that a parser without any
code of absolve reads: they are equal, except for the links that the policy changes. A container has no judge of its
own: the documents in it have theirs. Both check by `expected` that each link has its intended value and resolves to the
same URL.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.model import Document, Link
from absolve.document.resolved import Resolved
from absolve.document.walk import hold, inners, walk
from absolve.formats import registry
from absolve.rewriting.policy import absolute
from absolve.verifying.expected import Differences, Expected, Fault, shown
from absolve.verifying.spans import Spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.rewriting.policy import Policy

# Media type -> module of the second check; its function `faults(before, after, expected)` yields the differences.
JUDGES: Final[dict[str, str]] = {
    **dict.fromkeys((registry.HTML, registry.MARKDOWN, registry.XML), "markup"),
    registry.CSS: "css",
    **dict.fromkeys((*registry.JSON, registry.NOTEBOOK, registry.JSON_FEED, registry.HAR), "json"),
}


def differences(before: Entity, document: Document, after: bytes, policy: Policy | None = None) -> list[Diagnostic]:
    """Return the unintended differences between a document and its rewrite; an empty list if there are none.

    `before` is the entity of `document`, `policy` is the policy of the rewrite (None: every link absolute), and is
    called again with the `Resolved` of each link. Without a policy a link may be unchanged if it still resolves to the
    same URL; any other must equal its target exactly. With a policy each must equal the result of the policy. `after`
    is decoded in the charset of `before`.
    """
    written = Document(
        after,
        name=document.name,
        media_type=before.media_type,
        charset=before.charset.name,
        url=document.url,
        claims=document.claims,
        before=document.before,
    )
    written.beside = document.beside
    try:
        rewritten = walk(written, before.settings, is_proof=True)
    except DocumentError as error:  # XML that is no longer well-formed
        diagnostic = error.diagnostic
        text = (
            f"the rewritten document cannot be read: {diagnostic.text} (after: {diagnostic.line}:{diagnostic.column})"
        )
        return [Diagnostic("unreadable", text, before.name)]
    hold(rewritten)  # inner entities are used repeatedly; `Expected` holds the ones in `before`
    found = Differences(before, rewritten)
    expected = Expected(before, policy or absolute)
    Spans(expected, found).compare(before, rewritten)
    for fault in faults(before, rewritten, expected):
        found.add(fault)
    if before.media_type in registry.MAIL:
        for fault in _links_without_their_part(before, *(_recorded(entity) for entity in (before, rewritten))):
            found.add(fault)
    return found.diagnostics


def faults(before: Entity, after: Entity, expected: Expected) -> Iterator[Fault]:
    """Yield the differences that the second check finds in two documents, or in the documents inside a container."""
    if after.data == before.data:  # equal bytes have equal content
        return
    if judge := JUDGES.get(before.media_type):
        yield from import_module(f"{__name__}.{judge}").faults(before, after, expected)
        return
    for one, other in zip(inners(before), inners(after), strict=False):
        yield from faults_inside(one.entity, other.entity, expected, one.part.name or "document")


def faults_inside(before: Entity, after: Entity, expected: Expected, what: str = "body") -> Iterator[Fault]:
    """Yield the differences in two documents inside others, such as a `body`; their positions are part of the text."""
    for fault in faults(before, after, expected):
        place = f"at {fault.before} of this {what}: " if fault.before is not None else ""
        yield Fault(fault.code, place + fault.words)


def _recorded(message: Entity) -> Entity:
    """Return the entity of a message walked without a URL: a reader knows only the URLs in the message."""
    return walk(Document(message.data, media_type=message.media_type), message.settings)


def _links_without_their_part(known: Entity, before: Entity, after: Entity) -> Iterator[Fault]:
    """Yield a difference for each link that no longer leads to a part of its message (RFC 2557 8.3).

    `known` is the message with the URL that the user gave: a link that this URL leads to the web was none to a part.
    """
    documents = (known, before, after)
    found = [[Resolved(one, event) for event in one.events if isinstance(event, Link)] for one in documents]
    for ours, old, new in zip(*found, strict=False):
        held = all(one.context.how_held(one.target) is not None for one in (ours, old))
        if held and new.context.how_held(new.target) is None:
            words = f"{shown(old.reference)} led to a part of the message, {shown(new.reference)} leads to none"
            yield Fault("target", words)
    for three in zip(inners(known), inners(before), inners(after), strict=False):
        yield from _links_without_their_part(*(one.entity for one in three))
