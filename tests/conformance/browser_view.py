"""Compare absolve with a browser: the URL that a headless Chromium resolves each link of a page to.

In: HTML documents with an http or https URL. Out: a `View` of each, and the links that only it or only absolve has
(profile whatwg). Both list the same link sites, with the same multiplicity, except that an element which the HTML
parser cloned is one row of absolve. Empty values and links without a target are not compared.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.model import Layer
from absolve.formats.html import link_tables
from absolve.formats.registry import HTML
from absolve.inventory.link_rows import rows
from absolve.urls.identity import normal
from absolve.urls.placeholders import first
from absolve.urls.predicates import scheme
from absolve.urls.rfc1808 import NEVER_RELATIVE
from absolve.verifying import chromium
from absolve.verifying.chromium import BrowserError, Chromium
from absolve.verifying.readers import Html

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright import async_api as playwright

    from absolve.core.model import Document, LinkSite
    from absolve.document.entity import Entity

    Link = tuple[str, str, str]  # element, attribute, target

_SCHEMES: Final = ("http", "https")
_WHITE_SPACE: Final = "\t\n\f\r "

# Attributes that absolve resolves against another base than the document's, and that browsers no longer read.
_UNREAD: Final = frozenset(("classid", "code", "manifest", "object"))

_NAMESPACES: Final = {
    "http://www.w3.org/1999/xhtml": link_tables.HTML, "http://www.w3.org/2000/svg": link_tables.SVG,
    "http://www.w3.org/1998/Math/MathML": link_tables.MATHML,
}

_LOCAL: Final = frozenset((place.element, place.attribute) for place in link_tables.SVG if place.stays == "fragment")


class View(NamedTuple):
    """A page in a browser; the field names are the keys in JSON lines.

    `links` are (element, attribute, value, resolved) in tree order; `resolved` is None where the browser's URL parser
    returns failure for the value.
    """

    path: str
    url: str
    content_type: str
    character_set: str
    base_uri: str
    links: list[tuple[str, str, str, str | None]]


class Browser(Chromium):
    """A source of views of pages; `seconds` is the time limit of a page.

    `program` is its name or path; by default $ABSOLVE_BROWSER, then the first one on PATH. Raise NoBrowserError where
    none is installed.
    """

    def __init__(self, program: str | None, seconds: float) -> None:
        super().__init__(chromium.find(program))
        self.seconds = seconds

    def view(self, document: Document, entity: Entity) -> View:
        """Return the view of a document (walked: `entity`) at its own URL. Raise DocumentError where that fails."""
        url = _url(entity)
        content_type = document.media_type or entity.media_type
        if document.charset is not None:
            content_type = f"{entity.media_type}; charset={document.charset}"
        try:
            found = self.run(lambda browser: _links(browser, document.data, url, content_type), self.seconds)
        except BrowserError as error:
            raise DocumentError(Diagnostic("no-view", str(error), entity.name)) from error
        if not found["url"].startswith(_SCHEMES):
            text = f"the page leads to {found['url']} before it can be read"
            raise DocumentError(Diagnostic("no-view", text, entity.name))
        links = [(element, attribute, value, resolved) for element, attribute, value, resolved in found["links"]]
        return View(entity.name, url, content_type, found["character_set"], found["base_uri"], links)


def _url(entity: Entity) -> str:
    own = entity.bases.own
    if entity.media_type != HTML:
        text = f"browsers are asked for pages, and this is {entity.media_type}"
    elif own.layer is Layer.DEFAULT:
        text = "a browser needs to know where the page came from (give --url)"
    elif scheme(own.url) not in _SCHEMES:
        text = f"a browser can be given pages of {' and '.join(_SCHEMES)} URLs only, and this is {own.url[:100]}"
    else:
        return own.url
    raise DocumentError(Diagnostic("no-view", text, entity.name))


async def _links(browser: playwright.Browser, data: bytes, url: str, content_type: str) -> dict[str, Any]:
    """Return the result of browser_view.js for a page, without scripts."""
    async with opened(browser, data, content_type, scripts=False) as page:
        await page.goto(url, wait_until="domcontentloaded", timeout=0)
        found: dict[str, Any] = json.loads(await page.evaluate(_script()))
    return found


@asynccontextmanager
async def opened(browser: playwright.Browser, data: bytes, content_type: str, *, scripts: bool) -> AsyncIterator[playwright.Page]:
    """Yield a page that is to be loaded: its first request gets the data, and every other one is refused."""
    context = await browser.new_context(java_script_enabled=scripts, service_workers="block", accept_downloads=False)
    page = await context.new_page()
    answered = False

    async def answer(route: playwright.Route) -> None:
        nonlocal answered
        itself = route.request.is_navigation_request() and route.request.frame == page.main_frame
        if itself and not answered:
            answered = True
            await route.fulfill(status=200, headers={"Content-Type": content_type}, body=data)
        else:  # after an aborted navigation (meta refresh) the page stays
            await route.abort("aborted" if itself else "blockedbyclient")

    await context.route(lambda _: True, answer)
    yield page
    await context.close()  # after a failure all of the browser is closed


@cache
def _script() -> str:
    """Return the expression that lists the links: browser_view.js, applied to the tables of link sites."""
    script = Path(__file__).with_suffix(".js").read_text("utf-8")
    tables: dict[str, dict[str, list[str]]] = {}
    for namespace, table in _NAMESPACES.items():
        found = tables.setdefault(namespace, {})
        for place in filter(_has_one_url, table):
            found.setdefault(place.element, []).append(place.attribute)
    return f"({script})({json.dumps(tables)})"


def _has_one_url(place: LinkSite) -> bool:
    """Return whether the value of a site is one URL that current browsers read."""
    return place.syntax == "url" and place.stays != "always" and place.attribute not in _UNREAD


_COMPARED: Final = frozenset((place.element, place.attribute) for table in _NAMESPACES.values() for place in table if _has_one_url(place))


def _is_compared(element: str, attribute: str) -> bool:
    """Return whether views list the links of this attribute of this element; names are as in rows."""
    return (element, attribute) in _COMPARED or ("*", attribute) in _COMPARED


def listed(entity: Entity) -> Counter[Link]:
    """Return the links of a page, walked with the profile whatwg, of the attributes that views list."""
    return Counter(
        (row.element, row.attribute, row.target)
        for row in rows(entity)
        if not row.entity and row.reference and row.target and _is_compared(row.element, row.attribute)
    )


def compared(entity: Entity, ours: Counter[Link], view: View) -> tuple[Counter[Link], Counter[Link]]:
    """Return the links that only the browser has, and those that only absolve has; clones do not count.

    Nor do placeholders, which absolve keeps. A fragment that SVG looks for in the document itself is of its own URL.
    """
    own = normal(view.url) or view.url
    theirs = Counter(
        (place, name, own + value if value.startswith("#") and (place, name) in _LOCAL else url)
        for place, name, value, url in view.links
        if url and value.strip(_WHITE_SPACE) and not _is_filled_in(value)
    )
    ours = Counter({link: count for link, count in ours.items() if not _is_filled_in(link[2] or "")})
    if theirs == ours:
        return Counter(), Counter()
    theirs -= _cloned(entity, view)
    return theirs - ours, ours - theirs


def _is_filled_in(text: str) -> bool:
    return first(text) < len(text) and scheme(text) not in NEVER_RELATIVE


def _cloned(entity: Entity, view: View) -> Counter[Link]:
    """Return the links of cloned elements: html5lib can distinguish them from elements with a tag."""
    try:
        values = Html(entity.charset.decode(entity.data), "surrogatepass", entity.settings).clones
    except Exception:  # noqa: BLE001 - html5lib cannot parse the page: then no clones are known
        return Counter()
    targets = {(place, name, value): url for place, name, value, url in view.links}
    found: Counter[Link] = Counter()
    for (element, attribute, value), count in values.items():
        if url := targets.get((element, attribute, value)):
            found[element, attribute, url] += count
    return found
