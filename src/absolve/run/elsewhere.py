"""Report links of a rewritten document that lead elsewhere in a browser, or that climb above the root.

Input: a document, and whether its rewrite saw a sign of such links: only then it is searched, which costs as much as
the rewrite. Output: one diagnostic for each of the problems `divergent` and `above-root`, with a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic
from absolve.rewriting import rewriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.resolved import Resolved
    from absolve.rewriting.policy import Policy
    from absolve.run.load import Walked

BROWSERS: Final = "whatwg"  # the profile of browsers
_LITERAL: Final = "rfc1808"  # the one that keeps `..` above the root


def found(document: Walked, policy: Policy, tally: rewriter.Tally) -> Iterator[Diagnostic]:
    """Yield the diagnostics; `tally` is that of the rewrite."""
    settings = document.entity.settings
    if settings.profile == BROWSERS or not tally.odd:
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


def _links(number: int, verb: str) -> str:
    return f"{number:,} link{'s'[: number > 1]} {verb}{'s'[: number == 1]}"


def _keep(number: int) -> str:
    return "keeps" if number == 1 else "keep"
