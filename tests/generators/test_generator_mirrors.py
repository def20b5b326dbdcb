"""Mirrors of sites of real generators in Chromium: links lead to files, nothing is asked of the web, pages look like the originals."""

from __future__ import annotations

import os
from contextlib import closing
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from building import HOST, TABLE, CannotBuildError, built
from PIL import Image, ImageChops

from absolve.cli import main
from tests.browser_online import browser, served
from tests.browser_page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Route

    from absolve.verifying.chromium import Chromium
    from tests.browser_online import Trap

pytestmark = pytest.mark.slow
BASE = "/boats/"
MOST = 8  # pages of a site
LINKS = "[...document.querySelectorAll('a[href], area[href]')].map(one => one.href.baseVal === undefined ? one.href : new URL(one.href.baseVal, document.baseURI).href)"
STILL = "const style = document.createElement('style'); style.textContent = '* { animation: none !important; transition: none !important; caret-color: transparent !important }'; document.head.append(style)"
FLAGS = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic")


@pytest.fixture(scope="module")
def online() -> Iterator[tuple[Chromium, Trap]]:
    with browser(*FLAGS) as found:
        yield found


def original(chromium: Chromium, site: Path, file: str) -> Page:
    """Return a page of a site that is opened at its URL, which the browser finds in the folder of the site."""

    async def answer(route: Route) -> None:
        path = site / unquote(urlsplit(route.request.url).path).removeprefix(BASE)
        path = path / "index.html" if path.is_dir() else path
        is_there = route.request.url.startswith(HOST + BASE) and path.is_file()
        await (route.fulfill(path=path) if is_there else route.abort())

    page = Page(chromium, "about:blank")
    page.do(lambda: page.page.route("**/*", answer))
    page.do(lambda: page.page.goto(f"{HOST}{BASE}{file}"))
    return page


def shot(page: Page, name: str) -> Image.Image:
    """Return a screenshot; keep it in the folder that $ABSOLVE_SCREENSHOTS names, to be looked at."""
    page.value(STILL)
    page.value("new Promise(done => setTimeout(done, 300))")
    data = page.do(page.page.screenshot)
    if kept := os.environ.get("ABSOLVE_SCREENSHOTS"):
        (Path(kept) / name).write_bytes(data)
    return Image.open(BytesIO(data)).convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> float:
    """Return the share of pixels in which two screenshots differ."""
    greys = ImageChops.difference(one, other).convert("L").histogram()
    return sum(greys[10:]) / sum(greys)


def is_there(port: int, url: str) -> bool:
    """Return whether a served mirror has a file for a link that a reader follows."""
    for _ in range(5):
        parts = urlsplit(url)
        with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
            connection.request("GET", parts.path, headers={"Host": parts.netloc, "Sec-Fetch-Mode": "navigate"})
            answer = connection.getresponse()
            answer.read()
        if answer.status != 307:
            return answer.status == 200
        url = answer.headers["Location"]
    return False


def wrong_links(page: Page, mirror: Path, port: int) -> list[str]:
    """Return the links of a page to its own site that lead to no file of the mirror."""
    found = []
    for url in sorted(set(page.value(LINKS))):
        parts = urlsplit(url)
        if parts.scheme == "file":
            path = Path(unquote(parts.path))
            is_right = path.is_file() and path.is_relative_to(mirror)
        else:
            is_right = is_there(port, url) if (parts.hostname or "").endswith("localhost") else parts.netloc not in {"example.org", "127.0.0.1"}
        found += [] if is_right else [url]
    return found


@pytest.mark.parametrize("name", TABLE)
def test_a_mirror_leads_to_files_asks_nothing_of_the_web_and_looks_like_the_site(name: str, online: tuple[Chromium, Trap], tmp_path: Path) -> None:
    chromium, trap = online
    try:
        site = built(name, BASE)
    except CannotBuildError as error:
        pytest.skip(str(error))
    mirror = tmp_path / "mirror"
    assert main(["mirror", str(site), "--url", HOST + BASE, "-o", str(mirror), "--absent", "sever", "-q"]) == 0
    assert main(["mirror", "--check", str(mirror), "-q"]) == any(one.startswith("fragment") for one in TABLE[name].get("expected", ()))
    own = mirror / "example.org" / BASE.strip("/")
    pages = [path.relative_to(own).as_posix() for path in own.rglob("*.html") if b'http-equiv="refresh' not in path.read_bytes()]
    pages = sorted((file for file in pages if not file.startswith("search/")), key=lambda file: (file.count("/"), file))[:MOST]
    allowed = {"served": 0.001, "disk": TABLE[name].get("disk", 0.001)}
    wrong: list[tuple[object, ...]] = []
    with served(mirror) as port:
        origin = f"http://example.org.localhost:{port}"
        for file in pages:
            trap.seen.clear()
            shots = []
            for kind, url in (("disk", (own / file).as_uri()), ("served", f"{origin}{BASE}{file}")):
                page = Page(chromium, url)
                shots.append((kind, shot(page, f"{name}-{file.replace('/', '-')}-{kind}.png")))
                wrong += [(file, kind, "asks", one) for one in page.requests if not one.startswith(("file:", "data:", "blob:", origin))]
                wrong += [(file, kind, "leads to", one) for one in wrong_links(page, mirror, port)]
                page.do(page.page.close)
            wrong += [(file, "asks", line) for line in trap.seen if "google" not in line]  # the browser's own services
            page = original(chromium, site, file)
            of_original = shot(page, f"{name}-{file.replace('/', '-')}-original.png")
            page.do(page.page.close)
            wrong += [(file, kind, "differs", share) for kind, one in shots if (share := difference(of_original, one)) > allowed[kind]]
    assert wrong == []
