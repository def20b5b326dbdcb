"""Real pages: `absolve.links` with the profile whatwg gives the URLs to which Chromium resolved their links.

The expected links are in `browser/links.jsonl` of the shared folder, written by Chromium 156 without page scripts. For
pages that differ, `data/browser_pins.json` has the differing URLs with counts and the class of the reason; a page that
begins to pass, or that differs otherwise, must be removed there. `browser_view` makes such a file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from browser_view import View, compared
from material import pins

from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.inventory.link_rows import rows

if TYPE_CHECKING:
    from browser_view import Link

    from absolve.document.entity import Entity

pytestmark = pytest.mark.slow
PINS: Final[dict[str, Any]] = pins("browser")
PAGES: Final = 419
EXPLAINED: Final = {path: pin["class"] for path, pin in PINS["pages"].items() if pin["class"] != "clone"}


class Found(NamedTuple):
    """One page: the browser's links, and absolve's links in the same kinds of places."""

    view: View
    entity: Entity
    ours: Counter[Link]

    @property
    def theirs(self) -> Counter[Link]:
        return Counter((element, name, url) for element, name, value, url in self.view.links if url and value.strip())


@cache
def found(shared: Path) -> list[Found]:
    with (shared / "browser" / "links.jsonl").open(encoding="utf-8") as lines:
        return [_found(View(**json.loads(line)), shared / "pages") for line in lines]


def _found(view: View, pages: Path) -> Found:
    data = (pages / view.path).read_bytes()
    entity = walk(Document(data, media_type=view.content_type, url=view.url), Settings(profile="whatwg"))
    places = {(element, attribute) for element, attribute, _, _ in view.links}
    ours = Counter(
        (row.element, row.attribute, row.target)
        for row in rows(entity)
        if not row.entity and (row.element, row.attribute) in places and row.target and row.reference
    )
    return Found(view, entity, ours)


def facts(links: Counter[Link]) -> dict[str, int]:
    return {url if (element, name) == ("a", "href") else f"{element} {name} {url}": count for (element, name, url), count in links.items()}


def behind(links: Counter[Link]) -> Counter[Link]:
    """Return the links with the captured URLs in place of those at web.archive.org, as absolve lists them."""
    captures: Counter[Link] = Counter()
    for (element, name, url), count in links.items():
        captures[element, name, _CAPTURE.sub("", url)] += count
    return captures


_CAPTURE: Final = re.compile(r"https?://web\.archive\.org/web/\d+(?:[a-z]{2}_)?/")


def test_pages_have_the_links_of_the_browser_unless_pinned(shared: Path) -> None:
    differing = {}
    for page in found(shared):
        theirs, ours = page.theirs, page.ours
        if PINS["pages"].get(page.view.path, {}).get("class") == "web archive":
            theirs, ours = behind(theirs), behind(ours)
        if theirs != ours:
            differing[page.view.path] = {"browser": facts(theirs - ours), "absolve": facts(ours - theirs)}
    assert differing == {path: {side: pin[side] for side in ("browser", "absolve")} for path, pin in PINS["pages"].items()}
    assert len(found(shared)) == PAGES


def test_with_cloned_elements_counted_once_only_sixteen_explained_pages_differ(shared: Path) -> None:
    """absolve has one row for all clones of an element; check_browser.py of the shared folder counts each clone."""
    differing = {page.view.path for page in found(shared) if any(compared(page.entity, page.ours, page.view))}
    assert differing == EXPLAINED.keys()
    assert len(EXPLAINED) == 16


def test_every_browser_pin_has_a_class_with_a_reason() -> None:
    assert {pin["class"] for pin in PINS["pages"].values()} == set(PINS["classes"])
