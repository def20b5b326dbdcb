"""Report links of a rewritten document that lead elsewhere in a browser, or that climb above the root.

Input: a document and its new bytes. Output: one diagnostic for each of the problems `divergent` and `above-root`, with
a number. Only documents with a sign of such links are searched, because a search costs as much as the rewrite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic
from absolve.core.lazy_regex import pattern
from absolve.rewriting import rewriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.resolved import Resolved
    from absolve.rewriting.policy import Policy
    from absolve.run.load import Walked

BROWSERS: Final = "whatwg"  # the profile of browsers
_LITERAL: Final = "rfc1808"  # the one that keeps `..` above the root
_CLIMBS: Final = b"/../"
_CLIMBING: Final = pattern(rb"://[^\"'<>\t\n\f\r ]*?/\.\./")  # in a URL, not in a relative reference
_SCHEME_ALONE: Final = pattern(rb"https?:(?!//)")
_BEGINS: Final = frozenset(b"\"'=")  # bytes before a reference
_MOST: Final = 100  # backslashes that are looked at: scripts have many


def found(document: Walked, policy: Policy, new: bytes | None) -> Iterator[Diagnostic]:
    """Yield the diagnostics; `new` is None if the new bytes are not in memory."""
    settings = document.entity.settings
    if settings.profile == BROWSERS or not _has_sign(document.entity.own_data, new, settings.profile):
        return
    from absolve.inventory.problems import is_never  # most rewrites need no room of the inventory

    divergent = above = 0

    def count(resolved: Resolved) -> None:
        nonlocal divergent, above
        compared = resolved.context.base_context.compared()
        if not is_never(resolved.reference) and compared.divergent(resolved.reference):
            divergent += 1
        elif settings.profile == _LITERAL and compared.climbs_above_root(resolved.reference):
            above += policy(resolved) not in {None, resolved.reference}

    rewriter.edits(document.entity, count)
    name = document.entity.name
    if divergent:
        yield Diagnostic("divergent", f"{_links(divergent, 'lead')} elsewhere in a browser", name)
    if above:
        yield Diagnostic("above-root", f"{_links(above, 'climb')} above the root, and {_keep(above)} /../", name)


def _has_sign(old: bytes, new: bytes | None, profile: str) -> bool:
    """Return whether a document may have such links: searches for a few bytes take no time beside a walk."""
    if profile == _LITERAL and (b"../" in old if new is None else _CLIMBS in new and _CLIMBING.search(new) is not None):
        return True
    if _SCHEME_ALONE.search(old):
        return True
    at = -1
    for _ in range(_MOST):
        at = old.find(b"\\", at + 1)
        if at < 1:
            break
        if old[at - 1] in _BEGINS:
            return True
    return False


def _links(number: int, verb: str) -> str:
    return f"{number:,} link{'s'[: number > 1]} {verb}{'s'[: number == 1]}"


def _keep(number: int) -> str:
    return "keeps" if number == 1 else "keep"
