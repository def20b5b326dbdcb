"""The proof of a rewrite: two witnesses compare a document with what became of it, and know nothing of each other.

The first (`spans`) sees bytes: outside the links they are the same on both sides. The second is a parser that shares
no code with absolve (`JUDGES`): it sees equal trees, but for the links that were meant to change. Both ask (`meant`)
whether a link leads where it led. What they find comes as diagnostics, by line and column of the document before.
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

# Media type -> the second witness: compare(before, after, meant, differences).
JUDGES: Final[dict[str, str]] = {
    registry.HTML: "absolve.verifying.html",
    registry.CSS: "absolve.verifying.css",
    registry.XML: "absolve.verifying.xml",
    **dict.fromkeys(registry.MAIL, "absolve.verifying.mail"),
    **dict.fromkeys(registry.JSON, "absolve.verifying.json"),
    registry.HAR: "absolve.verifying.har",
    **dict.fromkeys(registry.PACKAGES, "absolve.verifying.zip"),
    **dict.fromkeys((registry.HTTP, "application/http"), "absolve.verifying.http"),
    **dict.fromkeys((registry.WARC, registry.RECORDS), "absolve.verifying.warc"),
}


def differences(before: Entity, document: Document, after: bytes, policy: Policy | None = None) -> list[Diagnostic]:
    """What is different between a document and its rewrite beyond what was meant to be; empty where nothing is.

    `before` is the entity of `document`, `policy` what the rewrite was made with (None: every link absolute), which is
    called with the `Resolved` of each link again. A link may stay as it was where it still leads where it led; any
    other must be, to the letter, what its target is, or what the policy says. `after` is read in the charset of
    `before`.
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
    except DocumentError as error:  # XML that is not well-formed any more
        said = error.diagnostic
        text = f"what came out cannot be read: {said.text} (after: {said.line}:{said.column})"
        return [Diagnostic("unreadable", text, before.name)]
    hold(rewritten, links=False)  # they are asked for again and again; so is what `Meant` holds
    found = Differences(before, rewritten)
    meant = Meant(before, policy or absolute)
    Spans(meant, found).compare(before, rewritten)
    judge(before, rewritten, meant, found)
    return found.diagnostics


def judge(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Let the second witness of their kind, if there is one, say where two documents differ."""
    if after.data != before.data and before.media_type in JUDGES:  # the same bytes give the same tree
        import_module(JUDGES[before.media_type]).compare(before, after, meant, differences)
