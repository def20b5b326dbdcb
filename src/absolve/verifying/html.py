"""The second witness of HTML: html5lib's trees are equal but for the links, which lead where they led.

Where there is a noscript element the trees are compared twice: it holds markup where scripting is off, else text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.verifying.differences import shown
from absolve.verifying.html_judge import Judge, modes
from absolve.verifying.html_parser import parse
from absolve.verifying.html_side import Side, decoded

if TYPE_CHECKING:
    from absolve.document.entity import Entity
    from absolve.verifying.differences import Differences
    from absolve.verifying.meant import Meant


def compare(before: Entity, after: Entity, meant: Meant, differences: Differences) -> None:
    """Say what html5lib sees that is different, and where it sees another base than absolve does."""
    texts = [decoded(entity) for entity in (before, after)]
    for scripting in modes(*texts):
        sides: list[Side] = []
        for entity, text, when in zip((before, after), texts, ("here", "after"), strict=True):
            try:
                side = Side(parse(text, scripting=scripting), entity, entity.bases)
            except Exception as error:  # noqa: BLE001 - html5lib 1.1 fails on some pages, each time in another way
                words = f"html5lib cannot parse what stands {when}: {str(error) or type(error).__name__}"
                differences.add("unjudged", words, None, None)
                return
            sides.append(side)
            seen, known = side.bases.base.url, entity.bases.base.url
            if seen != known and not scripting:  # with scripts on a base in a noscript is text
                words = f"html5lib sees the base {shown(seen)} {when}, absolve sees {shown(known)}"
                differences.add("base", words, None, None)
        Judge(meant, differences, sides[0], sides[1], scripting=scripting).compare()
