"""A page in a Chromium, for tests of what absolve writes for browsers: its requests, its reports, and expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

from absolve.verifying.chromium import NoBrowserError, find

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from playwright import async_api as playwright

    from absolve.verifying.chromium import Chromium

SECONDS = 120.0


def program() -> str:
    """Return the path of a Chromium; skip the test without one."""
    try:
        return find()
    except NoBrowserError as error:
        pytest.skip(str(error))


class Page:
    """A loaded page: what it requests and what it reports, and the values of expressions."""

    def __init__(self, chromium: Chromium, url: str, *, width: int = 1280, scheme: Literal["light", "dark"] = "light", scripts: bool = True) -> None:
        self.requests: list[str] = []
        self.reports: list[str] = []
        self._chromium = chromium

        async def opened(browser: playwright.Browser) -> playwright.Page:
            page = await browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts)
            page.on("request", lambda request: self.requests.append(request.url))
            page.on("console", lambda message: self.reports.append(message.text))
            page.on("pageerror", lambda error: self.reports.append(str(error)))
            await page.goto(url, timeout=0)
            return page

        self.page = chromium.run(opened, SECONDS)

    def do(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Return the result of a method of `page`."""
        return self._chromium.run(lambda _: work(), SECONDS)

    def value(self, expression: str) -> Any:
        return self.do(lambda: self.page.evaluate(expression))
