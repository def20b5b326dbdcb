"""The second witness of HTML: html5lib's trees are equal but for the links, which lead where they led."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.verifying.differences import shown
from absolve.verifying.html_judge import Judge
from absolve.verifying.html_parser import parse
from absolve.verifying.html_side import Side, decoded

if TYPE_CHECKING:
    from absolve.entity import Entity
    from absolve.verifying.differences import Differences
    from absolve.verifying.meant import Meant


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Say what html5lib sees that is different, and where it sees another base than absolve does."""
    sides: list[Side] = []
    for entity, when in ((before, "here"), (after, "after")):
        text = decoded(entity)
        try:
            side = Side(parse(text), entity, entity.bases)
        except Exception as error:  # noqa: BLE001 - html5lib 1.1 fails on some pages, each time in another way
            words = f"html5lib cannot parse what stands {when}: {str(error) or type(error).__name__}"
            differences.add("unjudged", words, None, None)
            return
        sides.append(side)
        seen, known = side.bases.base.url, entity.bases.base.url
        if seen != known:
            words = f"html5lib sees the base {shown(seen)} {when}, absolve sees {shown(known)}"
            differences.add("base", words, None, None)
    Judge(meant, differences, sides[0], sides[1]).compare()
