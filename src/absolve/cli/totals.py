"""The line that ends a run on the standard error: how many links were found, and how many changed.

Input: the counts that tasks yield for each input. Output: text.
"""

from __future__ import annotations

from collections import Counter

from absolve.run.results import BytesRead, ChangeCounts, LinkCounts

_SCOPES = ("internal", "external", "same-document", "other")


class Totals:
    """Counts of a run: `documents` that were read, their `links`, and those that were `changed`."""

    def __init__(self) -> None:
        self.documents = self.links = self.changed = self.changed_documents = self.flawed = 0
        self.scopes: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()

    def add(self, piece: BytesRead | LinkCounts | ChangeCounts) -> None:
        """Add the counts of one input."""
        if isinstance(piece, BytesRead):
            self.documents += piece.documents
        elif isinstance(piece, LinkCounts):
            self.scopes.update(piece.scopes)
            self.problems.update(piece.problems)
            self.links += sum(piece.scopes.values())
            self.flawed += piece.flawed
        else:
            self.links += piece.links
            self.changed += piece.changed
            self.changed_documents += piece.documents


def number(count: int, noun: str) -> str:
    """Return a count with its noun: `1 link`, `2,000 links`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def of_links(totals: Totals) -> str:
    """Return the counts of a list of links: `3 links in 1 document: 2 internal, 1 external; 1 with problems`."""
    text = f"{number(totals.links, 'link')} in {number(totals.documents, 'document')}"
    scopes = [f"{totals.scopes[scope]:,} {scope}" for scope in _SCOPES if totals.scopes[scope]]
    if scopes:
        text += f": {', '.join(scopes)}"
    return f"{text}; {totals.flawed:,} with problems" if totals.flawed else text


def of_changes(totals: Totals) -> str:
    """Return the counts of a rewrite: `34 links in 1 document changed; 5 stay`."""
    return _changes(totals, "changed", "stay")


def of_possible_changes(totals: Totals) -> str:
    """Return the counts of a rewrite that writes nothing: `34 links in 1 document would change; 5 would stay`."""
    return _changes(totals, "would change", "would stay")


def _changes(totals: Totals, change: str, stay: str) -> str:
    stays = totals.links - totals.changed
    if stays == 1 and stay == "stay":
        stay = "stays"
    if not totals.changed:
        nothing = "no link changed" if change == "changed" else "no link would change"
        return f"{nothing}: {stays:,} in {number(totals.documents, 'document')} {stay}"
    place = number(totals.changed_documents, "document")
    return f"{number(totals.changed, 'link')} in {place} {change}; {stays:,} {stay}"
