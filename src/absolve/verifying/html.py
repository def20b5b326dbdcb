"""Second check of HTML: the trees of html5lib are equal, except for the links, which still resolve to the same URLs.

In: the two entities. Out: differences. A document with a noscript element is compared twice: the content of noscript is
markup with scripting off, and text with scripting on (HTML Standard 4.12.2).
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
    """Add the differences between the trees, and between the base URLs of html5lib and absolve."""
    texts = [decoded(entity) for entity in (before, after)]
    for scripting in modes(*texts):
        sides: list[Side] = []
        for entity, text, when in zip((before, after), texts, ("before", "after"), strict=True):
            try:
                side = Side(parse(text, scripting=scripting), entity, entity.bases)
            except Exception as error:  # noqa: BLE001 - html5lib 1.1 raises various exceptions for some pages
                words = f"html5lib cannot parse the document {when}: {str(error) or type(error).__name__}"
                differences.add("unjudged", words, None, None)
                return
            sides.append(side)
            seen, known = side.bases.base.url, entity.bases.base.url
            if seen != known and not scripting:  # with scripting on, a base element in noscript is text
                words = f"the base {when} is {shown(seen)} for html5lib, {shown(known)} for absolve"
                differences.add("base", words, None, None)
        Judge(meant, differences, sides[0], sides[1], scripting=scripting).compare()
