"""Rewritten pages in a real Chromium with scripting: none runs a script that the original does not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import fuzz_harm
import pytest
from browser_view import opened
from harmful_pages import HARMFUL, PAGES, rewritten

if TYPE_CHECKING:
    from browser_view import Browser
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import Dialog

URL = "http://h.example/d/p.html"
pytestmark = pytest.mark.slow


FOLLOW: Final = """async () => {
  for (const link of document.querySelectorAll("a, area")) {
    if (/^javascript:/i.test(link.protocol ?? link.href?.baseVal)) link.dispatchEvent(new MouseEvent("click"));
  }
  await new Promise(done => setTimeout(done, 50));
}"""


def runs(browser: Browser, data: bytes, charset: str | None = None) -> list[str]:
    """Return the scripts of a page that ran, of themselves or by its links, each of which opens a dialog."""
    said: list[str] = []

    async def answered(dialog: Dialog) -> None:
        said.append(dialog.message)
        await dialog.accept()

    async def followed(chromium: Chromium) -> list[str]:
        async with opened(chromium, data, f"text/html; charset={charset or 'utf-8'}", scripts=True) as page:
            page.on("dialog", answered)
            await page.goto(URL, timeout=0)
            await page.evaluate(FOLLOW)
        return said

    return browser.run(followed, 60)


@pytest.mark.parametrize("name", PAGES)
def test_a_rewritten_page_runs_no_script(browser: Browser, name: str) -> None:
    charset = PAGES[name].options.get("charset")
    assert runs(browser, PAGES[name].data, charset) == []
    assert runs(browser, rewritten(name), charset) == []


@pytest.mark.parametrize("name", HARMFUL)
def test_known_harmful_rewrites_run_a_script_in_the_browser(browser: Browser, name: str) -> None:
    assert runs(browser, HARMFUL[name], PAGES[name].options.get("charset")) == ["1"]


def test_rewritten_fuzzer_pages_run_no_further_scripts(browser: Browser) -> None:
    judged = 0
    for number in range(3000):
        made = fuzz_harm.case(fuzz_harm.fresh(number))
        if made.document.media_type != "text/html" or b"alert" not in made.document.data:
            continue
        if made.charset not in {"utf-8", "shift_jis", "iso-2022-jp", "gbk", "windows-1252", "utf-16le"}:
            continue
        after = fuzz_harm.after(made)
        if after is not None and judged < 60:
            judged += 1
            assert set(runs(browser, after, made.charset)) <= set(runs(browser, made.document.data, made.charset)), (number)
    assert judged > 40
