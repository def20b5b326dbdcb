"""`absolve browser`: with a fake browser, and with a real one where one is installed."""

import json
from pathlib import Path

import pytest
from command_runner import PAGE, Runner

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.model import Document
from absolve.document.entity import Entity
from absolve.verifying.browser import Browser, View
from absolve.verifying.chromium import NoBrowserError, find

LINKS = [("a", "href", "x.html?a&b", "http://h/d/x.html?a&b"), ("a", "href", "http://g/", "http://g/")]


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, str, str, str | None]]:
    """Replace the browser by a fake that returns these links; pages with "unseen" in the name fail."""
    found: list[tuple[str, str, str, str | None]] = list(LINKS)

    def view(_: Browser, document: Document, entity: Entity) -> View:
        if "unseen" in entity.name:
            raise DocumentError(Diagnostic("no-view", "it took too long", entity.name))
        return View(entity.name, entity.bases.own.url, document.media_type or "text/html", "UTF-8", "http://h/d/", found)

    (tmp_path / "made-up").touch(0o755)
    monkeypatch.setenv("ABSOLVE_BROWSER", str(tmp_path / "made-up"))
    monkeypatch.setattr(Browser, "view", view)
    return found


@pytest.mark.usefixtures("links")
def test_browser_prints_a_line_for_each_page(absolve: Runner, page: Path, tmp_path: Path) -> None:
    done = absolve("browser", page, page)
    assert (done.status, done.err, len(done.lines)) == (0, "", 2)
    assert json.loads(done.lines[0]) == {
        "path": str(page),
        "url": "http://h/d/p.html",
        "content_type": "text/html",
        "character_set": "UTF-8",
        "base_uri": "http://h/d/",
        "links": [list(link) for link in LINKS],
    }
    assert absolve("browser", page, page, "-o", tmp_path / "links.jsonl") == (0, b"", "")
    assert (tmp_path / "links.jsonl").read_bytes() == done.out


@pytest.mark.usefixtures("links")
def test_browser_reports_pages_without_differences(absolve: Runner, page: Path) -> None:
    assert absolve("browser", "--compare", page) == (0, f"{page}: equal, 2 links\n".encode(), "")
    done = absolve("browser", "--compare", "-", "--url", "http://h/d/", stdin=PAGE)
    assert (done.status, done.out) == (0, b"-: equal, 2 links\n")


def test_a_difference_to_the_browser_is_reported_with_status_1(
    absolve: Runner, page: Path, links: list[tuple[str, str, str, str | None]]
) -> None:
    links.pop()
    assert absolve("browser", "--compare", page) == (
        1,
        f"{page}: different, 1 link\n".encode(),
        f"error: {page}:3:10: only-absolve: a href leads to http://g/\n",
    )
    assert absolve("browser", page).status == 0


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("way", [(), ("--compare",)])
def test_a_page_that_fails_in_the_browser_is_reported_and_the_rest_continues(absolve: Runner, page: Path, way: tuple[str, ...]) -> None:
    unseen = page.with_name("unseen.html")
    unseen.write_bytes(PAGE)
    done = absolve("browser", *way, unseen, page.with_name("none.html"), page)
    assert (done.status, len(done.lines)) == (3, 1)
    assert done.err.splitlines()[0] == f"error: {unseen}: no-view: it took too long"
    assert done.err.splitlines()[1].startswith(f"error: {page.with_name('none.html')}: not-found: ")


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize(
    "arguments",
    [("--compare", "-o", "x"), ("--timeout", "0"), ("--timeout", "x"), ("--timeout", "nan"), ("--browser", "./none")],
    ids=" ".join,
)
def test_wrong_usage_of_browser_is_reported(absolve: Runner, page: Path, arguments: tuple[str, ...]) -> None:
    done = absolve("browser", page, *arguments)
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith("error: usage: ")


def test_the_output_of_browser_must_not_be_an_input(absolve: Runner, page: Path, links: list[object]) -> None:
    assert links
    assert absolve("browser", page, "-o", page).status == 2
    assert page.read_bytes() == PAGE


@pytest.mark.slow
def test_browser_finds_the_same_links_in_a_real_browser(absolve: Runner, page: Path) -> None:
    try:
        find()
    except NoBrowserError as error:
        pytest.skip(str(error))
    done = absolve.process("browser", page)
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out)["links"] == [list(link) for link in LINKS]
    assert absolve.process("browser", "--compare", page) == (0, f"{page}: equal, 2 links\n".encode(), "")
    done = absolve.process("browser", "--timeout", "0.001", page)
    assert (done.status, done.err) == (3, f"error: {page}: no-view: it took too long\n")
