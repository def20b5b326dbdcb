"""Pages in a real Chromium: the links that it lists, its restrictions, and its termination."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import browser_view
import pytest
from browser_view import Browser, View, compared, listed

from absolve.core.errors import DocumentError, MissingPackageError
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.verifying.chromium import PROGRAMS, NoBrowserError, find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright import async_api as playwright

    from absolve.document.entity import Entity

URL = "http://h.example/d/p.html"
pytestmark = pytest.mark.slow
FIXTURES = Path(__file__).parents[3] / "fixtures"


def seen(browser: Browser, page: str | bytes, url: str = URL, charset: str | None = None) -> tuple[View, Entity]:
    data = page.encode() if isinstance(page, str) else page
    document = Document(data, media_type="text/html", url=url, charset=charset)
    entity = walk(document, Settings(profile="whatwg"))
    return browser.view(document, entity), entity


# --- the list of links ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "links"), [
    ("<a href=x></a>", [("a", "href", "x", "http://h.example/d/x")]),
    ("<base href=/b/><a href=' x '></a>", [("base", "href", "/b/", "http://h.example/b/"), ("a", "href", " x ", "http://h.example/b/x")]),
    ("<base href=b/><base href=c/>", [("base", "href", "b/", "http://h.example/d/b/"), ("base", "href", "c/", "http://h.example/d/c/")]),
    ("<base href='http://['>", [("base", "href", "http://[", None)]),
    ("<img src='http://[x'>", [("img", "src", "http://[x", None)]),
    ("<noscript><img src=n></noscript>", [("img", "src", "n", "http://h.example/d/n")]),
    ("<svg><linearGradient xlink:href='#i'/></svg>", [("lineargradient", "xlink:href", "#i", f"{URL}#i")]),
    ("<template><a href=t><template><a href=u></template></template>", [("a", "href", "t", "http://h.example/d/t"), ("a", "href", "u", "http://h.example/d/u")]),
    ("<p><template shadowrootmode=open><a href=s></a></template></p>", [("a", "href", "s", "http://h.example/d/s")]),
    ("<a href='?\u00e9'></a>", [("a", "href", "?\u00e9", f"{URL}?%E9")]),
])  # fmt: skip
def test_the_browser_lists_each_link_with_its_url(
    browser: Browser, page: str, links: list[tuple[str, str, str, str | None]]
) -> None:
    view, _ = seen(browser, page.encode("cp1252"), charset="windows-1252")
    assert view.links == links


@pytest.mark.parametrize("name", ["retrieval", "saved-page"])
def test_the_browser_lists_the_same_links_of_the_fixtures(browser: Browser, name: str) -> None:
    view, entity = seen(browser, (FIXTURES / f"{name}.html").read_bytes())
    assert not any(compared(entity, listed(entity), view))


@pytest.mark.parametrize("name", [
    "formasaurus/destinet.eu-1.html",  # clones
    "formasaurus/fideamerica.com-1.html",  # a base element
    "metascraper/metascraper-logo-favicon/test/fixtures/theverge.html",  # inline SVG
    "metascraper/metascraper/test/integration/github/input.html",  # templates
    "formasaurus/www.dragees-massardier.fr-3.html",
])
def test_the_browser_lists_the_same_links_of_real_pages(browser: Browser, shared: Path, name: str) -> None:
    view, entity = seen(browser, (shared / "pages" / name).read_bytes())
    assert len(view.links) > 20
    assert not any(compared(entity, listed(entity), view))


# --- restrictions -----------------------------------------------------------------------------------------------------


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(1)
        yield server


def test_the_browser_fetches_nothing_but_the_page(browser: Browser, listening: socket.socket) -> None:
    own = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    page = (
        f"<link rel=preconnect href={own}><link rel=dns-prefetch href={own}><link rel=prefetch href={own}p>"
        f"<link rel=stylesheet href={own}s><style>@import '{own}i'; p {{ background: url({own}u) }}</style><p>p"
        f"<img src={own}i><img srcset='{own}j 2x'><iframe src={own}f></iframe><object data={own}o></object>"
        f"<iframe srcdoc='<img src={own}d>'></iframe><iframe sandbox srcdoc='<img src={own}d>'></iframe>"
        f"<video src={own}v poster={own}w></video><script src={own}x></script>"
    )
    for url in (URL, f"{own}page.html"):
        view, _ = seen(browser, page, url)
        assert len(view.links) == 10
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.mark.parametrize("target", [URL, "http://other.example/", "x", "javascript:document.write(1)", "data:text/html,x"])
def test_the_browser_does_not_follow_a_refresh(browser: Browser, target: str) -> None:
    view, _ = seen(browser, f'<meta http-equiv=refresh content="0; url={target}"><a href=y></a>')
    assert view.links == [("a", "href", "y", "http://h.example/d/y")]


def test_the_browser_runs_no_script(browser: Browser) -> None:
    script = "document.body.innerHTML = '<a href=no></a>'"
    page = f'<body onload="{script}"><script>{script}</script><img src=data:, onerror="{script}"><svg onload="{script}"></svg>'
    view, _ = seen(browser, page)
    assert [link[:3] for link in view.links] == [("img", "src", "data:,")]


@pytest.mark.parametrize(("document", "message"), [
    (Document(b"<a href=x>", media_type="text/html"), "give --url"),
    (Document(b"<a href=x>", media_type="text/html", url="file:///p.html"), "this is file:///p.html"),
    (Document(b"a {}", media_type="text/css", url=URL), "this is text/css"),
])
def test_a_document_that_no_browser_opens_is_an_error(program: str, document: Document, message: str) -> None:
    with Browser(program, 60) as never_started, pytest.raises(DocumentError, match=message):
        never_started.view(document, walk(document, Settings(profile="whatwg")))


# --- termination ------------------------------------------------------------------------------------------------------


@pytest.fixture
def brief() -> Iterator[Path]:
    """Return an empty folder with a short path: that of Chromium's socket in it is at most 107 bytes (unix(7))."""
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        yield Path(folder)


@pytest.fixture
def temporary(brief: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this the folder for temporary folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(brief))
    monkeypatch.setenv("TMPDIR", str(brief))
    return brief


async def process(browser: playwright.Browser) -> int:
    """Return the process of a browser."""
    session = await browser.new_browser_cdp_session()
    found = await session.send("SystemInfo.getProcessInfo")
    return next(int(one["id"]) for one in found["processInfo"] if one["type"] == "browser")


def test_the_browser_leaves_no_files_and_processes(program: str, temporary: Path) -> None:
    with Browser(program, 60) as browser:
        seen(browser, "<a href=x>")
        number = browser.run(process, 60)
        assert alive(number)
        assert list(temporary.iterdir())
    assert not alive(number)
    assert not list(temporary.iterdir())


def test_a_page_that_takes_too_long_is_abandoned_and_the_next_continues(program: str, temporary: Path) -> None:
    with Browser(program, 0.001) as browser:
        with pytest.raises(DocumentError, match="no-view: it took too long"):
            seen(browser, "<a href=x>")
        assert not list(temporary.iterdir())
        browser.seconds = 60
        assert len(seen(browser, "<a href=x>")[0].links) == 1


def test_a_browser_that_ended_is_started_again(program: str) -> None:
    with Browser(program, 60) as browser:
        seen(browser, "<a href=x>")
        os.kill(browser.run(process, 60), signal.SIGKILL)
        with pytest.raises(DocumentError, match=r"no-view: .* has been closed"):
            seen(browser, "<a href=x>")
        assert len(seen(browser, "<a href=x>")[0].links) == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look for processes in")
def test_the_browser_ends_with_the_program_that_started_it(program: str, brief: Path) -> None:
    code = (
        "import os, sys, test_browser, absolve.verifying.chromium as c; found = c.Chromium(sys.argv[1]).run(test_browser.process, 60);"
        "print(found); sys.stdout.flush(); os._exit(1)"
    )
    folders = os.pathsep.join((str(Path(__file__).parent), str(Path(browser_view.__file__).parent)))
    environment = {**os.environ, "TMPDIR": str(brief), "PYTHONPATH": folders}
    done = subprocess.run([sys.executable, "-c", code, program], capture_output=True, text=True, check=False, env=environment)
    number = int(done.stdout)
    until = time.monotonic() + 30
    while alive(number) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(number)


def alive(process: int) -> bool:
    """Return whether a process runs; zombies do not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


# --- without a browser ------------------------------------------------------------------------------------------------


def test_the_browser_is_found_by_option_by_variable_or_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ABSOLVE_BROWSER", raising=False)
    for name in (PROGRAMS[0], "mine", "other"):
        (tmp_path / name).touch(0o755)
    assert find() == str(tmp_path / PROGRAMS[0])
    monkeypatch.setenv("ABSOLVE_BROWSER", "mine")
    assert find() == str(tmp_path / "mine")
    assert find("other") == str(tmp_path / "other")
    with pytest.raises(NoBrowserError, match=r"no program 'none' is there.*--browser"):
        find("none")


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
def test_a_program_that_is_no_browser_is_an_error(tmp_path: Path, temporary: Path) -> None:
    program = tmp_path.parent / "no-browser"
    program.write_text("#!/bin/sh\necho 'I am none' >&2\n")
    program.chmod(0o755)
    with Browser(str(program), 60) as browser, pytest.raises(NoBrowserError, match="no-browser does not start: I am none"):
        seen(browser, "<a href=x>")
    assert not list(temporary.iterdir())


def test_without_playwright_the_extra_is_named(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'absolve\[browser\]'"):
        Browser(program, 60)
