"""A browser's view of a page held against absolve's rows by the profile of browsers.

Both list the same places, as often; but an element that the parser cloned is one row, however often a browser has it.
Empty values are passed over, and so is what has no target.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic
from absolve.inventory.columns import rows
from absolve.verifying.browser.page import is_compared
from absolve.verifying.html_parser import clones

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.inventory.columns import Row
    from absolve.verifying.browser.page import View

    Link = tuple[str, str, str]  # element, attribute, target

_WHITE_SPACE: Final = "\t\n\f\r "


def differences(entity: Entity, view: View) -> list[Diagnostic]:
    """What absolve lists of a page, walked by the profile whatwg, and the browser does not, or the other way round.

    Codes: `target` (a link leads elsewhere), `only-browser`, `only-absolve` and, where there are such, `charset` (the
    browser reads the page in another one).
    """
    ours = [
        row
        for row in rows(entity)
        if not row.entity and row.reference and row.target and is_compared(row.element, row.attribute)
    ]
    more, less = compared(entity, Counter(map(_link, ours)), view)
    found = [*_said(entity.name, [row for row in ours if _taken(less, _link(row))], more, view)]
    if found and view.character_set.lower() != entity.charset.name:
        text = f"absolve reads it as {entity.charset.name}, the browser as {view.character_set}"
        found.append(Diagnostic("charset", text, entity.name))
    return found


def _link(row: Row) -> Link:
    return row.element, row.attribute, row.target or ""


def _taken(links: Counter[Link], link: Link) -> bool:
    """Whether the link is among these, as often as it is asked for."""
    links[link] -= 1
    return links[link] >= 0


def _said(name: str, ours: list[Row], theirs: Counter[Link], view: View) -> Iterator[Diagnostic]:
    """Differences in words; where both sides have the same reference, it is one."""
    found: dict[Link, list[str]] = {}
    for element, attribute, value, url in view.links:
        if url and value.strip(_WHITE_SPACE) and _taken(theirs, (element, attribute, url)):
            found.setdefault((element, attribute, value.strip(_WHITE_SPACE)), []).append(url)
    for row in ours:
        place = f"{row.element} {row.attribute}"
        if urls := found.get((row.element, row.attribute, row.reference)):
            text = f"{place} leads to {row.target}, in the browser to {urls.pop(0)}"
            yield Diagnostic("target", text, name, row.line, row.column)
        else:
            yield Diagnostic("only-absolve", f"{place} leads to {row.target}", name, row.line, row.column)
    for (element, attribute, _), urls in found.items():
        for url in urls:
            yield Diagnostic("only-browser", f"{element} {attribute} leads to {url}", name)


def compared(entity: Entity, ours: Counter[Link], view: View) -> tuple[Counter[Link], Counter[Link]]:
    """The links that only the browser has, and those that it lacks; clones do not count."""
    theirs = Counter((place, name, url) for place, name, value, url in view.links if url and value.strip(_WHITE_SPACE))
    if theirs == ours:
        return Counter(), Counter()
    theirs -= _cloned(entity, view)
    return theirs - ours, ours - theirs


def _cloned(entity: Entity, view: View) -> Counter[Link]:
    """The links of clones, which html5lib tells from the elements of tags."""
    try:
        values = clones(entity.charset.decode(entity.data))
    except Exception:  # noqa: BLE001 - of html5lib, on a page that it cannot parse: then no clone is known
        return Counter()
    targets = {(place, name, value): url for place, name, value, url in view.links}
    found: Counter[Link] = Counter()
    for (element, attribute, value), count in values.items():
        if url := targets.get((element, attribute, value)):
            found[element, attribute, url] += count
    return found
