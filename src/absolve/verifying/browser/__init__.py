"""A browser's view of pages: what a headless Chromium resolves every link to, and where absolve differs."""

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
    """Gives views of pages; Chromium is started when the first is asked for, and anew after a page that fails.

    `program` is its name or path; without one $ABSOLVE_BROWSER, then what is on PATH. A page has this many seconds.
    Raises NoBrowserError. It ends with the `with` block.
    """

    def __init__(self, program: str | None, seconds: float) -> None:
        self._program = find(program)
        self._seconds = seconds
        self._running: Chromium | None = None

    def view(self, document: Document, entity: Entity) -> View:
        """What the browser makes of a document (walked: `entity`) at its own URL; DocumentError where it cannot."""
        url = _url(entity)
        content_type = document.media_type or entity.media_type
        if document.charset is not None:
            content_type = f"{entity.media_type}; charset={document.charset}"
        with self._started(entity.name) as devtools:
            return view(devtools, document.data, entity.name, url, content_type, self._seconds)

    def dialogs(self, data: bytes, url: str, content_type: str = HTML) -> list[str]:
        """Return the messages of the dialogs that a page opens with scripts on, which nothing but tests may ask for.

        Its `javascript:` links are followed. It has no network either. Raise DocumentError where it cannot be loaded.
        """
        with self._started(url) as devtools:
            return dialogs(devtools, data, url, content_type, self._seconds)

    @contextmanager
    def _started(self, name: str) -> Iterator[DevTools]:
        """The running browser; one that fails is ended, and DocumentError names the page."""
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
