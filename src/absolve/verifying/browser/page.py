"""Load one page in the browser: its request is answered with the given bytes, every other request is refused.

In: the bytes of a page, its URL and Content-Type. Out: a `View` with its links, listed with scripts off.
`dialogs`, with scripts on, is for tests of rewritten pages.
"""

from __future__ import annotations

import base64
import json
import time
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.formats.html import link_tables
from absolve.verifying.browser.devtools import DevToolsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import LinkSite
    from absolve.verifying.browser.devtools import DevTools

SCHEMES: Final = ("http", "https")

# Attributes that absolve resolves against another base than the document's, and that browsers no longer read.
_UNREAD: Final = frozenset(("classid", "code", "manifest", "object"))

_NAMESPACES: Final = {
    "http://www.w3.org/1999/xhtml": link_tables.HTML,
    "http://www.w3.org/2000/svg": link_tables.SVG,
    "http://www.w3.org/1998/Math/MathML": link_tables.MATHML,
}


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


def view(devtools: DevTools, data: bytes, path: str, url: str, content_type: str, seconds: float) -> View:
    """Load a page at its retrieval URL and return its links. Raise DevToolsError where that fails or takes too long."""
    with _visit(devtools, data, content_type, seconds) as visit:
        found = visit.links(url)
    rows = [(element, attribute, value, resolved) for element, attribute, value, resolved in found["links"]]
    return View(path, url, content_type, found["character_set"], found["base_uri"], rows)


def dialogs(devtools: DevTools, data: bytes, url: str, content_type: str, seconds: float) -> list[str]:
    """Load a page with scripts on, follow its `javascript:` links, and return the messages of the dialogs it opens.

    Only the page is fetched, as in a view. Raise DevToolsError where it fails or takes too long.
    """
    with _visit(devtools, data, content_type, seconds) as visit:
        return visit.dialogs(url)


@contextmanager
def _visit(devtools: DevTools, data: bytes, content_type: str, seconds: float) -> Iterator[_Visit]:
    """Yield a new page in a temporary browser context."""
    devtools.deadline = time.monotonic() + seconds
    devtools.session = None
    context = devtools.call("Target.createBrowserContext")["browserContextId"]
    target = devtools.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
    devtools.session = devtools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    yield _Visit(devtools, data, content_type, target)
    devtools.session = None
    devtools.tell("Target.disposeBrowserContext", browserContextId=context)


class _Visit:
    """The visit of one page: answer its first request for itself with the data, and refuse any other."""

    def __init__(self, devtools: DevTools, data: bytes, content_type: str, target: str) -> None:
        self._devtools = devtools
        self._devtools.listener = self._heard
        self._data = data
        self._content_type = content_type
        self._frame = target  # the main frame of a page has the identifier of its target
        self._answered = False
        self._parsed = False
        self._loaded = False
        self._said: list[str] = []

    def dialogs(self, url: str) -> list[str]:
        """Return the messages of dialogs, after following the links."""
        self._open(url, scripts=True)
        self._devtools.until(lambda: self._loaded)
        self._evaluate(_FOLLOW, awaitPromise=True)
        return self._said

    def links(self, url: str) -> dict[str, Any]:
        """Return the result of walk.js. Raise DevToolsError where the page has navigated to another scheme."""
        self._open(url, scripts=False)
        self._devtools.until(lambda: self._parsed)
        found: dict[str, Any] = self._evaluate(_walk(), returnByValue=True)
        if not found["url"].startswith(SCHEMES):
            raise DevToolsError(f"the page leads to {found['url']} before it can be read")
        return found

    def _open(self, url: str, *, scripts: bool) -> None:
        call = self._devtools.call
        call("Inspector.enable")
        call("Emulation.setScriptExecutionDisabled", value=not scripts)
        call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        call("Page.enable")
        navigated = call("Page.navigate", url=url)
        if "errorText" in navigated:
            raise DevToolsError(f"the browser does not open {url}: {navigated['errorText']}")

    def _evaluate(self, expression: str, **options: Any) -> Any:
        """Return the value of an expression, evaluated in an isolated world: page scripts cannot interfere."""
        call = self._devtools.call
        world = call("Page.createIsolatedWorld", frameId=self._frame)["executionContextId"]
        done = call("Runtime.evaluate", expression=expression, contextId=world, **options)
        if "exceptionDetails" in done:
            raise DevToolsError(f"the walk failed: {done['exceptionDetails']['exception']['description']}")
        return done["result"].get("value")

    def _heard(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Page.domContentEventFired":
            self._parsed = self._answered
        elif method == "Page.loadEventFired":
            self._loaded = self._answered
        elif method == "Page.javascriptDialogOpening":
            self._said.append(parameters["message"])
            self._devtools.tell("Page.handleJavaScriptDialog", accept=True)
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
        else:  # after an aborted navigation (meta refresh) the page stays
            tell("Fetch.failRequest", requestId=number, errorReason="Aborted" if itself else "BlockedByClient")


_FOLLOW: Final = """(async () => {
  for (const link of document.querySelectorAll("a, area")) {
    if (/^javascript:/i.test(link.protocol ?? link.href?.baseVal)) link.dispatchEvent(new MouseEvent("click"));
  }
  await new Promise(done => setTimeout(done, 50));
})()"""


@cache
def _walk() -> str:
    """Return the expression that lists the links: walk.js, applied to the tables of link sites."""
    script = resources.files(__package__).joinpath("walk.js").read_text("utf-8")
    tables: dict[str, dict[str, list[str]]] = {}
    for namespace, table in _NAMESPACES.items():
        found = tables.setdefault(namespace, {})
        for place in filter(_has_one_url, table):
            found.setdefault(place.element, []).append(place.attribute)
    return f"({script})({json.dumps(tables)})"


def _has_one_url(place: LinkSite) -> bool:
    """Return whether the value of a site is one URL that current browsers read."""
    return place.syntax == "url" and place.stays != "always" and place.attribute not in _UNREAD


_COMPARED: Final = frozenset(
    (place.element, place.attribute) for table in _NAMESPACES.values() for place in table if _has_one_url(place)
)


def is_compared(element: str, attribute: str) -> bool:
    """Return whether views list the links of this attribute of this element; names are those of rows."""
    return (element, attribute) in _COMPARED or ("*", attribute) in _COMPARED
