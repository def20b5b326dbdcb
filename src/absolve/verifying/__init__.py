"""Verify a rewrite: two independent checks compare a document with its rewrite.

In: the walked document, the bytes of the rewrite, and the policy. Out: diagnostics, by line and column of the original.
The first check (`spans`) compares bytes: outside the links they are equal. The second (`JUDGES`) compares the trees of
a parser that shares no code with absolve: they are equal, except for the links that the policy changes. Both check with
`meant` that each link has its intended value and still resolves to the same URL.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.model import Document
from absolve.document.walk import hold, walk
from absolve.formats import registry
from absolve.rewriting.policy import absolute
from absolve.verifying.differences import Differences
from absolve.verifying.meant import Meant
from absolve.verifying.spans import Spans

if TYPE_CHECKING:
    from absolve.document.entity import Entity
    from absolve.rewriting.policy import Policy

# Media type -> module of the second check: compare(before, after, meant, differences).
JUDGES: Final[dict[str, str]] = {
    registry.HTML: "absolve.verifying.judging",
    registry.CSS: "absolve.verifying.css",
    registry.XML: "absolve.verifying.judging",
    **dict.fromkeys(registry.MAIL, "absolve.verifying.mail"),
    **dict.fromkeys(registry.JSON, "absolve.verifying.json"),
    registry.HAR: "absolve.verifying.har",
    **dict.fromkeys(registry.PACKAGES, "absolve.verifying.zip"),
    **dict.fromkeys((registry.HTTP, "application/http"), "absolve.verifying.http"),
    **dict.fromkeys((registry.WARC, registry.RECORDS), "absolve.verifying.warc"),
}


def differences(before: Entity, document: Document, after: bytes, policy: Policy | None = None) -> list[Diagnostic]:
    """Return the unintended differences between a document and its rewrite; an empty list if there are none.

    `before` is the entity of `document`, `policy` is the one of the rewrite (None: every link absolute), and is called
    again with the `Resolved` of each link. Without a policy a link may be unchanged if it still resolves to the same
    URL; any other must equal its target exactly. With a policy each must equal the result of the policy. `after` is
    decoded in the charset of `before`.
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
    try:
        rewritten = walk(written, before.settings, is_proof=True)
    except DocumentError as error:  # XML that is no longer well-formed
        diagnostic = error.diagnostic
        text = (
            f"the rewritten document cannot be read: {diagnostic.text} (after: {diagnostic.line}:{diagnostic.column})"
        )
        return [Diagnostic("unreadable", text, before.name)]
    hold(rewritten)  # inner entities are used repeatedly; `Meant` holds those of `before`
    found = Differences(before, rewritten)
    meant = Meant(before, policy or absolute)
    Spans(meant, found).compare(before, rewritten)
    judge(before, rewritten, meant, found)
    return found.diagnostics


def judge(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Run the second check for the media type of two documents, if there is one; add to `differences`."""
    if after.data != before.data and before.media_type in JUDGES:  # the same bytes give the same tree
        import_module(JUDGES[before.media_type]).compare(before, after, meant, differences)
