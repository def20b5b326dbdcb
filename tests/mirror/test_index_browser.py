"""The entry page of a mirror in a real Chromium, from a disk: no request, no report, accessible, and a search that finds."""

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import pytest

from absolve.cli import main
from absolve.verifying.chromium import Chromium
from tests import browser_page
from tests.browser_page import Page
from tests.shapes import captures

pytestmark = pytest.mark.slow
SEARCH = """(async text => {
  const input = document.getElementById('search');
  input.value = text; input.form.requestSubmit();
  return [document.getElementById('found').textContent, ...[...document.querySelectorAll('#results li')].map(one => one.innerText.trim())];
})"""


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    hostile = b"<title>&lt;/script>&lt;img src=x onerror=document.title='harmed'>\xe2\x80\xae</title></script><p>Sea &lt;b>fog&lt;/b> </p>"
    pages = {
        "http://h/": b"<title>Start</title><body><form action=/search><a href=http://other/>o</a><img src=gone.png><script type=module src=a.js></script>",
        "http://h/a.js": b"fetch('x')",
        "http://h/deep/er/one": b"<title>One</title><body><p>The lamp of the lighthouse &amp; its keeper</p>",
        "http://h/x\"><script>document.title='harmed'</script>": hostile,
        "http://h/long": b"<title>" + b"x" * (1 << 20) + b"</title>",
    }
    records = (captures.page(url, data, "text/javascript" if url.endswith("js") else "text/html; charset=utf-8") for url, data in pages.items())
    (folder / "c.warc").write_bytes(b"".join(records))
    assert main(["mirror", str(folder / "c.warc"), "-o", str(folder / "m"), "-q"]) == 0
    return folder / "m" / "index.html"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium(browser_page.program()) as browser:
        yield browser


def found(page: Page, text: str) -> Any:
    return page.value(f"{SEARCH}({text!r})")


def test_it_asks_for_nothing_and_texts_of_pages_do_no_harm(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri())
    title = page.value("document.title")
    for text in ("fog", "script", "lamp"):
        found(page, text)
    assert page.value("document.title") == title == "Mirror of h"
    assert page.value("document.querySelectorAll('img, iframe').length") == 0
    assert [url for url in page.requests if not url.startswith("data:")] == [entry.as_uri()]
    assert page.reports == []


def test_the_search_finds_titles_paths_and_texts(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri())
    assert found(page, "LAMP keeper")[0] == "1 page found"
    assert "The lamp of the lighthouse & its keeper" in found(page, "LAMP keeper")[1]
    assert page.value("[...document.querySelectorAll('#results mark')].map(one => one.textContent)") == ["lamp", "keeper"]
    assert found(page, "deep/er")[0] == "1 page found"
    assert found(page, "start")[0] == "1 page found"
    assert found(page, "<b>fog</b>")[0] == "1 page found"
    assert found(page, "nowhere") == ["No page found"]
    assert page.value("document.getElementById('pages').hidden")
    assert found(page, " ") == [""]
    assert not page.value("document.getElementById('pages').hidden")


def test_without_scripts_there_is_no_search_and_the_tree_opens(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri(), scripts=False)
    shown = page.do(lambda: page.page.is_visible("#search"))
    assert not shown
    assert page.do(lambda: page.page.is_visible("#pages a"))


def test_a_reader_comes_to_search_and_pages_by_keyboard(chromium: Chromium, entry: Path) -> None:
    page = Page(chromium, entry.as_uri())
    reached = []
    for _ in range(12):
        page.do(lambda: page.page.keyboard.press("Tab"))
        reached.append(page.value("document.activeElement.id || document.activeElement.localName"))
    assert reached[0] == "a"  # the start page
    assert {"search", "summary"} <= set(reached)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_fault_and_nothing_is_wider_than_the_window(
    chromium: Chromium, entry: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    pytest.importorskip("axe_core_python", reason="the axe engine is not installed")
    page = Page(chromium, entry.as_uri(), width=width, scheme=scheme)
    page.value(resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8") + ";0")
    for prepare in ("document.querySelectorAll('details').forEach(one => { one.open = true; })", f"{SEARCH}('lamp')"):
        page.value(prepare)
        violations = page.value("axe.run(document).then(done => done.violations.map(one => [one.impact, one.id, one.nodes[0].html]))")
        assert violations == []
        assert page.value("document.documentElement.scrollWidth") <= width
