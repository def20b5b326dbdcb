"""The built site, served on the loopback interface, in a real Chromium: without errors, accessible, and searchable.

The site is the folder that `$ABSOLVE_SITE` names (`.ci/full` builds it); else Sphinx builds it here, strictly.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Final, Literal

import pytest
import reference_pages

from absolve.verifying.chromium import Chromium
from tests import browser_page

pytestmark = pytest.mark.slow
ROOT: Final = Path(__file__).parents[1]
PAGES: Final = ("", "tutorial/migration.html", "howto/httpx.html", "concepts/layers.html", "reference/columns.html", "reference/diagnostics.html",
                "reference/api.html", "reference/commands/audit.html", "project/peers.html", "decisions.html", "search.html?q=divergent")  # fmt: skip
JUDGED: Final = ("", "tutorial/migration.html", "tutorial/saved-folder.html", "howto/httpx.html", "reference/diagnostics.html",
                 "reference/api.html", "reference/commands/audit.html", "search.html?q=divergent")  # fmt: skip
WIDTHS: Final = (1280, 400)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("ABSOLVE_SITE")
    if given:
        return Path(given)
    pytest.importorskip("furo", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    argv = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(folder / "doctrees")]
    done = subprocess.run([*argv, "docs", str(folder / "html")], cwd=ROOT, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium(browser_page.program(), ("--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")) as browser:
        yield browser


class Page(browser_page.Page):
    """A page of the site."""

    def __init__(self, chromium: Chromium, url: str, *, width: int = 1280, scheme: Literal["light", "dark"] = "light") -> None:
        super().__init__(chromium, url, width=width, scheme=scheme)
        assert "absolve" in self.value("document.title"), "the browser shows a page of its own"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_reports_nothing_requests_only_its_own_host_and_fits_the_window(chromium: Chromium, url: str, name: str, width: int) -> None:
    page = Page(chromium, f"{url}{name}", width=width)
    page.value("new Promise(done => setTimeout(done, 300))")
    assert len(page.requests) > 3
    assert page.reports == []
    assert [one for one in page.requests if not one.startswith((url, "data:", "blob:"))] == []
    assert page.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
@pytest.mark.parametrize("name", JUDGED)
def test_axe_finds_nothing(chromium: Chromium, url: str, name: str, width: int, scheme: Literal["light", "dark"]) -> None:
    pytest.importorskip("axe_core_python", reason="the axe engine is not installed")
    page = Page(chromium, f"{url}{name}", width=width, scheme=scheme)
    page.value("new Promise(done => setTimeout(done, 300))")
    page.value(resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8") + ";0")
    found = page.value("axe.run(document).then(done => done.violations.map(one => [one.impact, one.id, one.nodes[0].html]))")
    assert found == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_search_finds_the_problem_divergent(chromium: Chromium, url: str, width: int) -> None:
    page = Page(chromium, f"{url}search.html?q=divergent", width=width)
    found = page.value("""new Promise(done => { const look = left => {
        const links = [...document.querySelectorAll('#search-results ul.search li a')].map(one => one.href);
        // the results appear one by one
        links.some(link => link.includes('/reference/problems.html')) || !left
            ? done(links) : setTimeout(() => look(left - 1), 100); }; look(100); })""")
    assert any("/reference/problems.html" in one for one in found), found


def test_an_audit_of_the_site_finds_nothing(site: Path, tmp_path: Path) -> None:
    done = reference_pages.run(f"absolve audit {site} --url https://absolve.example/ -o {tmp_path}/findings.jsonl", ROOT)
    assert done.returncode == 0, (tmp_path / "findings.jsonl").read_text("utf-8")
