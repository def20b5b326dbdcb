"""Rewritten pages in a real Chromium with scripting: none runs a script that the original does not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fuzz_harm
import pytest
from harmful_pages import HARMFUL, PAGES, rewritten

import absolve
from absolve.document.settings import Settings
from absolve.document.walk import walk

if TYPE_CHECKING:
    from absolve.verifying.browser import Browser

URL = "http://h.example/d/p.html"
pytestmark = pytest.mark.slow


def runs(browser: Browser, page: bytes, charset: str | None) -> list[str]:
    """Return the scripts of a page that ran, each of which opens a dialog."""
    return browser.dialogs(page, URL, f"text/html; charset={charset or 'utf-8'}")


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
            assert set(runs(browser, after, made.charset)) <= set(runs(browser, made.document.data, made.charset)), (
                number
            )
    assert judged > 40


# --- the browser as a reference ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "ran"),
    [
        (b"<p>alert(1)", []),
        (b"<svg/onload=alert`1`>", ["1"]),
        (b"<script>alert(1)</script>", ["1"]),
        (b"<img src=x onerror=alert(1)>", ["1"]),
        (b"<a href='java&#10;script:alert(1)'>x</a>", ["1"]),
        (b"<svg><a href='javascript:alert(1)'>x</a></svg>", ["1"]),
        (b"<a href='http://h.example/javascript:alert(1)'>x</a>", []),
        (b"<noscript><svg/onload=alert`1`></noscript>", []),
        (b"<meta http-equiv=refresh content='0;url=http://other.example/'><script>alert(1)</script>", ["1"]),
    ],
)
def test_the_test_browser_runs_scripts_and_follows_script_links(browser: Browser, page: bytes, ran: list[str]) -> None:
    assert browser.dialogs(page, URL) == ran


def test_views_of_pages_run_no_scripts(browser: Browser) -> None:
    assert browser.dialogs(b"<script>alert(1)</script>", URL) == ["1"]
    document = absolve.Document(
        b"<script>document.write('<a href=x>')</script><a href=y>", media_type="text/html", url=URL
    )
    view = browser.view(document, walk(document, Settings(profile="whatwg")))
    assert [link[2] for link in view.links] == ["y"]
