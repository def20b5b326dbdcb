"""Comparison of header fields and inner documents, shared by the checks of messages.

In: values of a field as an independent parser reads them, or two inner entities. Out: codes and texts of differences.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.core.model import Link
from absolve.document.resolved import link_context
from absolve.verifying import judge
from absolve.verifying.differences import Differences
from absolve.verifying.references import in_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import LinkSite
    from absolve.document.entity import Entity
    from absolve.verifying.meant import Meant

_WRAPPED: Final = re.compile(r'\s*(?:<(?:\s*URL:)?([^>]*)>?.*|"([^"]*)"?.*|(.*?)\s*)', re.IGNORECASE | re.DOTALL)


def faults(place: LinkSite, old: str, new: str, one: Entity, other: Entity, meant: Meant) -> Iterator[tuple[str, str]]:
    """Yield the differences between two values of a field with links.

    The number of links must be equal, and each link must have its intended value.
    """
    references, changed = (_references(place, value) for value in (old, new))
    links = [_link(entity, place) for entity in (one, other)]
    if links[0] is None or links[1] is None or len(references) != len(changed):
        yield "attribute", f"the field {place.attribute} has another number of links"
        return
    rules = [link_context(one, links[0]), link_context(other, links[1])]
    for reference, its in zip(references, changed, strict=True):
        fault = meant.fault_of_value(place, reference, its, *rules, claims=place.against != "base")
        if fault is not None:
            yield "target", f"{place.attribute}: {fault}"


def judged(one: Entity, other: Entity, meant: Meant) -> Iterator[tuple[str, str]]:
    """Yield the differences that the second check finds between two inner documents."""
    found = Differences(one, other)
    judge(one, other, meant, found)
    for diagnostic in found.diagnostics:
        place = f"at {diagnostic.line}:{diagnostic.column} of this body: " if diagnostic.line is not None else ""
        yield diagnostic.code, f"{place}{diagnostic.text}"


def _references(place: LinkSite, value: str) -> list[str]:
    """Return the references in the value of a field, which may be folded, and have surrogates for non-ASCII bytes."""
    value = value.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    value = re.sub(r"[\t ]*\r?\n[\t ]+", "", value)
    if place.syntax != "url":
        return [reference for _, reference in in_value(place, value.encode("utf-8", "surrogateescape")).links]
    found = _WRAPPED.fullmatch(value)
    bracketed, quoted, alone = found.groups() if found else (None, None, value)
    return [re.sub(r"\s", "", bracketed) if bracketed is not None else (quoted or alone or "").strip()]


def _link(entity: Entity, place: LinkSite) -> Link | None:
    """Return the first link that absolve found in a field of this site: all of them have the same context."""
    links = (event for event in entity.events if isinstance(event, Link))
    return next((link for link in links if link.place.attribute == place.attribute), None)
