"""Compare absolve with a browser: the URL that a headless Chromium resolves each link of a page to.

In: HTML documents with an http or https URL. Out: a `View` of each, and the differences between it and absolve's rows.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.model import Layer
from absolve.formats.registry import HTML
from absolve.urls.predicates import scheme
from absolve.verifying.browser.chromium import Chromium, find
from absolve.verifying.browser.comparison import differences
from absolve.verifying.browser.devtools import DevToolsError
from absolve.verifying.browser.page import SCHEMES, View, dialogs, view

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from absolve.core.model import Document
    from absolve.document.entity import Entity
    from absolve.verifying.browser.devtools import DevTools

__all__ = ["Browser", "View", "differences"]


class Browser:
    """A source of views of pages; Chromium is started for the first one, and restarted after a page that fails.

    `program` is its name or path; by default $ABSOLVE_BROWSER, then the first one on PATH. `seconds` is the time limit
    of a page. Raise NoBrowserError where none is installed. The `with` block ends the process.
    """

    def __init__(self, program: str | None, seconds: float) -> None:
        self._program = find(program)
        self._seconds = seconds
        self._running: Chromium | None = None

    def view(self, document: Document, entity: Entity) -> View:
        """Return the view of a document (walked: `entity`) at its own URL. Raise DocumentError where that fails."""
        url = _url(entity)
        content_type = document.media_type or entity.media_type
        if document.charset is not None:
            content_type = f"{entity.media_type}; charset={document.charset}"
        with self._started(entity.name) as devtools:
            return view(devtools, document.data, entity.name, url, content_type, self._seconds)

    def dialogs(self, data: bytes, url: str, content_type: str = HTML) -> list[str]:
        """Return the messages of the dialogs that a page opens with scripts on; for tests only.

        Its `javascript:` links are followed. It has no network access. Raise DocumentError where it cannot be loaded.
        """
        with self._started(url) as devtools:
            return dialogs(devtools, data, url, content_type, self._seconds)

    @contextmanager
    def _started(self, name: str) -> Iterator[DevTools]:
        """Yield the connection to the browser, started if necessary.

        After a failure the browser is ended, and DocumentError, with the name of the page, is raised.
        """
        if self._running is None:
            self._running = Chromium(self._program)
        try:
            yield self._running.devtools
        except DevToolsError as error:
            self.close()
            raise DocumentError(Diagnostic("no-view", str(error), name)) from error

    def close(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _url(entity: Entity) -> str:
    own = entity.bases.own
    if entity.media_type != HTML:
        text = f"browsers are asked for pages, and this is {entity.media_type}"
    elif own.layer is Layer.DEFAULT:
        text = "a browser needs to know where the page came from (--url says it)"
    elif scheme(own.url) not in SCHEMES:
        text = f"a browser can be given pages of {' and '.join(SCHEMES)} URLs only, and this is {own.url[:100]}"
    else:
        return own.url
    raise DocumentError(Diagnostic("no-view", text, entity.name))
