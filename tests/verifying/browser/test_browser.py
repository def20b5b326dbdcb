"""A real Chromium: it is found, it shows the links of a page, and it ends with its files, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import browser_view
import pytest
from browser_view import Browser

from absolve.core.errors import DocumentError, MissingPackageError
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.verifying.chromium import PROGRAMS, NoBrowserError, find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright import async_api as playwright


pytestmark = pytest.mark.slow


def links(browser: Browser, page: str) -> list[tuple[str, str, str, str | None]]:
    document = Document(page.encode(), media_type="text/html", url="http://h.example/d/p.html")
    return browser.view(document, walk(document, Settings(profile="whatwg"))).links


def test_the_browser_lists_the_links_of_a_page_and_runs_no_script_of_it(browser: Browser) -> None:
    page = "<base href=/b/><meta http-equiv=refresh content='0; url=r'><script>document.body.innerHTML = ''</script><a href=' x '></a>"
    assert links(browser, page) == [("base", "href", "/b/", "http://h.example/b/"), ("a", "href", " x ", "http://h.example/b/x")]


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
        links(browser, "<a href=x>")
        number = browser.run(process, 60)
        assert alive(number)
        assert list(temporary.iterdir())
    assert not alive(number)
    assert not list(temporary.iterdir())


def test_a_page_that_takes_too_long_is_abandoned_and_the_next_continues(program: str, temporary: Path) -> None:
    with Browser(program, 0.001) as browser:
        with pytest.raises(DocumentError, match="no-view: it took too long"):
            links(browser, "<a href=x>")
        assert not list(temporary.iterdir())
        browser.seconds = 60
        assert len(links(browser, "<a href=x>")) == 1


def test_a_browser_that_ended_is_started_again(program: str) -> None:
    with Browser(program, 60) as browser:
        links(browser, "<a href=x>")
        os.kill(browser.run(process, 60), signal.SIGKILL)
        with pytest.raises(DocumentError, match=r"no-view: .* has been closed"):
            links(browser, "<a href=x>")
        assert len(links(browser, "<a href=x>")) == 1


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


def test_the_browser_is_found_by_option_by_variable_or_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        links(browser, "<a href=x>")
    assert not list(temporary.iterdir())


def test_without_playwright_the_extra_is_named(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'absolve\[browser\]'"):
        Browser(program, 60)
