"""The policy of `absolve rewrite`: which links stay, and the new text of the others (docs/decisions.md, S1 to S10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core import arguments, printable
from absolve.core.model import IGNORED_BASE
from absolve.urls import PROFILES
from absolve.urls.archives import led

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.document.resolved import LinkContext, Resolved
    from absolve.rewriting.mention_edits import MentionEdits

    Policy = Callable[[Resolved], str | None]

FORMS: Final = ("absolute", "root", "relative", "file", "keep")  # of links within a site
KEEPING: Final = frozenset({"file", "keep"})  # forms in which links stay as written unless a rule or a file matches
# The presets that know their URLs.
UNWRAPPED: Final = ("wayback", "safelinks", "google", "redirects", "proxies", "tracking", "sessions", "busters")


def unchanged(_resolved: Resolved) -> None:
    """Leave every link as it is written: a policy."""


def absolute(resolved: Resolved) -> str | None:
    """Return the new text of a link by the policy of `absolve rewrite`, valid outside its document; None to keep it."""
    is_claim = resolved.link.claim is not None and not resolved.context.stays_always
    if is_claim and resolved.entity.settings.base == "empty" and rules(resolved):
        return ""
    return absolute_of(resolved.reference, resolved.context)


def mentions_of(policy: Policy) -> MentionEdits | None:
    """Return the changes to mentions by a policy's rules, None for most policies."""
    found = getattr(policy, "mentions", None)
    if found is None:
        owner = getattr(policy, "__self__", None) or getattr(policy, "inner", None)
        return None if owner is None else mentions_of(owner)
    from absolve.rewriting.mention_edits import MentionEdits  # few runs have one

    return found if isinstance(found, MentionEdits) else None


def checked(policy: Policy) -> Policy:
    """Return a policy that raises TypeError, with the link, where the given one returns neither text nor None."""
    if policy is absolute:
        return policy
    arguments.check_policy(policy)

    def asked(resolved: Resolved) -> str | None:
        new = policy(resolved)
        if new is None or type(new) is str:
            return new
        link = f"{printable.masked(resolved.reference)[:200]!r} ({resolved.element} {resolved.attribute}".rstrip() + ")"
        return arguments.target_of(new, link)

    asked.mentions = mentions_of(policy)  # type: ignore[attr-defined]
    return asked


def absolute_of(reference: str, context: LinkContext) -> str | None:
    """Return the absolute URL of a reference, None where the link stays (docs/decisions.md, S1 to S7)."""
    if context.stays_always:
        return None
    if not reference:
        return None if context.empty == "nothing" or not context.elsewhere else context.target(reference, False)
    if reference.startswith("#") and (context.stays_as_fragment or context.keeps_fragments):
        return None
    if ":" in reference:
        is_absolute = PROFILES[context.settings.profile].is_absolute
        # Once the base element is empty, the document's own URL is the base: `http:g` may be relative to that one only.
        if is_absolute(reference, context.base.url) and (
            not context.is_emptied or is_absolute(reference, context.own.url)
        ):
            return None
    target = context.target(reference, False)
    return None if context.how_held(target) else led(context.resolver, reference) or target


def emptied(resolved: Resolved) -> str | None:
    """Return "" for a base claim that rules, None for a later base element, which stays.

    Scoped bases are emptied, too: they would lead relative links astray.
    """
    is_later = resolved.link.claim is IGNORED_BASE or (resolved.element == "base" and not rules(resolved))
    return None if is_later else ""


def rules(resolved: Resolved) -> bool:
    """Return whether the link is the base element whose URL is the base URL of the document.

    A base that resolves no reference (`mailto:`) does not count: if it were emptied, links without a target would have
    one.
    """
    chain = resolved.entity.bases.base.chain
    claim = resolved.link.claim
    if not chain or chain[0].verdict != "won" or chain[0].base is not claim or resolved.element == "header":
        return False
    return resolved.entity.base_context(None).resolver("x") is not None
