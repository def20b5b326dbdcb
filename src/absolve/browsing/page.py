"""One page in the browser: answered at its URL by us, scripts off, every other request refused; its links listed."""

from __future__ import annotations

import base64
import json
import time
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.browsing.devtools import DevToolsError
from absolve.formats import html_tables

if TYPE_CHECKING:
    from absolve.browsing.devtools import DevTools
    from absolve.model import Place

SCHEMES: Final = ("http", "https")

# What absolve resolves against something else than the document's base, and no browser reads any more.
_UNREAD: Final = frozenset(("classid", "code", "manifest", "object"))

_NAMESPACES: Final = {
    "http://www.w3.org/1999/xhtml": html_tables.HTML,
    "http://www.w3.org/2000/svg": html_tables.SVG,
    "http://www.w3.org/1998/Math/MathML": html_tables.MATHML,
}


class View(NamedTuple):
    """What a browser makes of one page; the fields are the names in a line of JSON.

    `links` are (element, attribute, value, resolved) in tree order; `resolved` is None where the browser's URL parser
    fails on the value.
    """

    path: str
    url: str
    content_type: str
    character_set: str
    base_uri: str
    links: list[tuple[str, str, str, str | None]]


def view(devtools: DevTools, data: bytes, path: str, url: str, content_type: str, seconds: float) -> View:
    """Load a page (bytes) at its retrieval URL and list its links; DevToolsError where that fails or takes too long."""
    devtools.deadline = time.monotonic() + seconds
    devtools.session = None
    context = devtools.call("Target.createBrowserContext")["browserContextId"]
    target = devtools.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
    devtools.session = devtools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    found = _Visit(devtools, data, content_type, target).links(url)
    devtools.session = None
    devtools.tell("Target.disposeBrowserContext", browserContextId=context)
    rows = [(element, attribute, value, resolved) for element, attribute, value, resolved in found["links"]]
    return View(path, url, content_type, found["character_set"], found["base_uri"], rows)


class _Visit:
    """Answers what the page asks for: itself, once."""

    def __init__(self, devtools: DevTools, data: bytes, content_type: str, target: str) -> None:
        self._devtools = devtools
        self._devtools.listener = self._heard
        self._data = data
        self._content_type = content_type
        self._frame = target  # the main frame of a page has the identifier of its target
        self._answered = False
        self._parsed = False

    def links(self, url: str) -> dict[str, Any]:
        call = self._devtools.call
        call("Inspector.enable")
        call("Emulation.setScriptExecutionDisabled", value=True)
        call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        call("Page.enable")
        navigated = call("Page.navigate", url=url)
        if "errorText" in navigated:
            raise DevToolsError(f"the browser does not open {url}: {navigated['errorText']}")
        self._devtools.until(lambda: self._parsed)
        world = call("Page.createIsolatedWorld", frameId=self._frame)["executionContextId"]
        done = call("Runtime.evaluate", expression=_walk(), contextId=world, returnByValue=True)
        if "exceptionDetails" in done:
            raise DevToolsError(f"the walk failed: {done['exceptionDetails']['exception']['description']}")
        found: dict[str, Any] = done["result"]["value"]
        if not found["url"].startswith(SCHEMES):
            raise DevToolsError(f"the page leads to {found['url']} before it can be read")
        return found

    def _heard(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Page.domContentEventFired":
            self._parsed = self._answered
        elif method == "Fetch.requestPaused":
            self._answer(parameters)
        elif method == "Inspector.targetCrashed":
            raise DevToolsError("the browser crashed")

    def _answer(self, request: dict[str, Any]) -> None:
        tell, number = self._devtools.tell, request["requestId"]
        itself = request["frameId"] == self._frame and request["resourceType"] == "Document"
        if itself and not self._answered:
            self._answered = True
            headers = [{"name": "Content-Type", "value": self._content_type}]
            body = base64.b64encode(self._data).decode()
            tell("Fetch.fulfillRequest", requestId=number, responseCode=200, responseHeaders=headers, body=body)
        else:  # an aborted navigation (meta refresh) leaves the page where it is
            tell("Fetch.failRequest", requestId=number, errorReason="Aborted" if itself else "BlockedByClient")


@cache
def _walk() -> str:
    """The expression that lists the links: walk.js, applied to the places."""
    script = resources.files(__package__).joinpath("walk.js").read_text("utf-8")
    tables: dict[str, dict[str, list[str]]] = {}
    for namespace, table in _NAMESPACES.items():
        found = tables.setdefault(namespace, {})
        for place in filter(_has_one_url, table):
            found.setdefault(place.element, []).append(place.attribute)
    return f"({script})({json.dumps(tables)})"


def _has_one_url(place: Place) -> bool:
    """Whether its value is one URL and could be read by a browser of today."""
    return place.syntax == "url" and place.stays != "always" and place.attribute not in _UNREAD


_COMPARED: Final = frozenset(
    (place.element, place.attribute) for table in _NAMESPACES.values() for place in table if _has_one_url(place)
)


def is_compared(element: str, attribute: str) -> bool:
    """Whether views list the links of this attribute of this element, by the names in rows."""
    return (element, attribute) in _COMPARED or ("*", attribute) in _COMPARED
