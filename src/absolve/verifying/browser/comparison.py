"""Compare the view of a browser with absolve's rows (profile whatwg).

In: the walked page and its view. Out: differences as diagnostics.
Both list the same link sites, with the same multiplicity, except that an element which the HTML parser cloned is one
row of absolve. Empty values and links without a target are not compared.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from absolve.core.errors import Diagnostic
from absolve.inventory.link_rows import rows
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
    """Return the links that only absolve or only the browser lists, of a page walked with the profile whatwg.

    Codes: `target` (different URLs for the same reference), `only-browser`, `only-absolve` and, if there are any
    differences, `charset` (the browser decodes the page in another charset).
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
    """Remove one occurrence of a link from the counter; return whether there was one."""
    links[link] -= 1
    return links[link] >= 0


def _said(name: str, ours: list[Row], theirs: Counter[Link], view: View) -> Iterator[Diagnostic]:
    """Yield the differences; links with the same reference on both sides are one difference (`target`)."""
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
    """Return the links that only the browser has, and those that only absolve has; clones do not count."""
    theirs = Counter((place, name, url) for place, name, value, url in view.links if url and value.strip(_WHITE_SPACE))
    if theirs == ours:
        return Counter(), Counter()
    theirs -= _cloned(entity, view)
    return theirs - ours, ours - theirs


def _cloned(entity: Entity, view: View) -> Counter[Link]:
    """Return the links of cloned elements: html5lib can distinguish them from elements with a tag."""
    try:
        values = clones(entity.charset.decode(entity.data))
    except Exception:  # noqa: BLE001 - html5lib cannot parse the page: then no clones are known
        return Counter()
    targets = {(place, name, value): url for place, name, value, url in view.links}
    found: Counter[Link] = Counter()
    for (element, attribute, value), count in values.items():
        if url := targets.get((element, attribute, value)):
            found[element, attribute, url] += count
    return found
