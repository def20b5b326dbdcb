"""What is before a base element, and a base that a policy forbids: as Chromium and Firefox resolve it.

One page per element is served, with its base element behind or before it; both browsers load all of them in frames.
The requests that reach the server, and the URLs of hyperlinks in the DOM, are the same as in absolve.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import absolve
from absolve.verifying.chromium import Chromium
from tests import browser_page
from tests.browser_online import running

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright import async_api as playwright

pytestmark = pytest.mark.slow

# Fetched as soon as it is parsed: the first request is the one by the bases before the base element.
FETCHED = {
    "link-stylesheet": '<link rel=stylesheet href="NAME.css">', "link-preload": '<link rel=preload as=image href="NAME.png">',
    "link-imagesrcset": '<link rel=preload as=image imagesrcset="NAME.png 1x">',
    "link-modulepreload": '<link rel=modulepreload href="NAME.js">', "script": '<script src="NAME.js"></script>',
    "script-defer": '<script defer src="NAME.js"></script>', "script-async": '<script async src="NAME.js"></script>',
    "script-module": '<script type=module src="NAME.js"></script>', "script-svg": '<svg><script href="NAME.js"></script></svg>',
    "importmap": '<script type=importmap>{"imports": {"m": "./NAME.js"}}</script><script type=module>import "m"</script>',
    "iframe": '<iframe src="NAME.html"></iframe>', "img": '<img src="NAME.png">', "img-srcset": '<img srcset="NAME.png 1x">',
    "picture": '<picture><source srcset="NAME.png"><img></picture>',
    "svg-image": '<svg width=9 height=9><image href="NAME.png" width=9 height=9 /></svg>',
    "import": '<style>@import "NAME.css";</style>', "style": "<style>p { background: url(NAME.png) }</style><p>x",
    "style-attribute": '<p style="background: url(NAME.png)">x',
    "svg-style": "<svg width=9 height=9><style>rect { filter: url(NAME.svg#a) }</style><rect width=9 height=9 /></svg>",
}
# By the base element wherever it is; some browsers ask for the other URL, too, before they see it.
LATER = {
    "object": '<object data="NAME.png"></object>', "embed": '<embed src="NAME.png">', "input": '<input type=image src="NAME.png">',
    "video": '<video src="NAME.mp4"></video>', "source": '<video><source src="NAME.mp4"></video>', "poster": '<video poster="NAME.png"></video>',
    "audio": '<audio src="NAME.mp3" preload=auto></audio>',
    "svg-fill": '<svg width=9 height=9><rect width=9 height=9 fill="url(NAME.svg#a)" /></svg>',
}
# Chromium as the HTML Standard has it (7.4.2.2, about base URL); Firefox takes the base element of the page.
DIFFERENT = {"srcdoc": "<iframe srcdoc=\"<img src='NAME.png'>\"></iframe>"}
HYPERLINKS = '<a href="NAME-a">x</a><area href="NAME-b"><form action="NAME-c"><button formaction="NAME-d">x</button></form>'
BASE = '<base href="/base/">'
NONE, OTHER = "base-uri 'none'", "img-src *; base-uri 'self' http://other.example/"
META = '<meta http-equiv=Content-Security-Policy content="POLICY">'
DOM = """<script>
const urls = [...document.querySelectorAll("a, area")].map(one => one.href), form = document.querySelector("form");
urls.push(form.action, form.firstChild.formAction);
const request = new XMLHttpRequest(); request.open("POST", "/dom", false); request.send(JSON.stringify(urls));
</script>"""
BODIES = {
    "css": ("text/css", b"p { color: green }"), "js": ("text/javascript", b"1"),
    "svg": ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>'),
    "html": ("text/html", b"<!DOCTYPE html><title>t</title>"),
}


def pages() -> dict[str, tuple[str, str]]:
    """Return the pages by path, each with the policy of its header."""
    made = {}
    for kind, markup in (FETCHED | LATER | DIFFERENT).items():
        for order, text in (("before", f"{markup}{BASE}"), ("after", f"{BASE}{markup}")):
            made[f"/dir/page.{kind}.{order}.html"] = f"<!DOCTYPE html><title>t</title>{text.replace('NAME', f'{kind}.{order}')}", ""
    made["/dir/dom.html"] = f"<!DOCTYPE html><title>t</title>{HYPERLINKS.replace('NAME', 'dom')}{BASE}{DOM}", ""
    image = '<img src="NAME.png">'
    policies = {
        "none-meta": (META.replace("POLICY", NONE) + BASE + image, ""), "none-late": (BASE + META.replace("POLICY", NONE) + image, ""),
        "none-header": (BASE + image, NONE), "self-header": (BASE + image, OTHER), "host-header": (BASE + image, "base-uri http://other.example"),
        "path-header": (BASE + image, "base-uri http://*:*/base/"), "other-path": (BASE + image, "base-uri http://*:*/dir/"),
        "body-meta": ("<p>" + META.replace("POLICY", NONE) + BASE + image, ""),
    }
    for name, (text, policy) in policies.items():
        made[f"/dir/page.{name}.html"] = f"<!DOCTYPE html><title>t</title>{text.replace('NAME', name)}", policy
    return made


PAGES = pages()


class Site(ThreadingHTTPServer):
    """Serves the pages, and something for each URL that they ask for; `asked` are the paths by their names."""

    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: dict[str, list[str]] = defaultdict(list)
        self.dom: list[str] = []
        self.done = threading.Event()
        self.root = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore it: a browser that has ended reads no more."""


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        path = self.path
        if path == "/slow.png":
            time.sleep(3)
            self.server.done.set()
        elif path not in PAGES:
            self.server.asked[path.rpartition("/")[2]].append(path)
        text, policy = PAGES.get(path, ("", ""))
        if path == "/":
            text = "".join(f'<iframe src="{page}"></iframe>' for page in PAGES) + '<img src="/slow.png">'
        media_type, body = BODIES.get(path.rpartition(".")[2], ("image/png", b""))
        self._answer(("text/html", text.encode()) if text else (media_type, body), policy)

    def do_POST(self) -> None:
        self.server.dom += json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(("text/plain", b""), "")

    def _answer(self, answer: tuple[str, bytes], policy: str) -> None:
        self.send_response(200)
        for name, value in (("Content-Type", answer[0]), ("Content-Length", str(len(answer[1]))), ("Cache-Control", "no-store")):
            self.send_header(name, value)
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(answer[1])

    def log_message(self, *_: object) -> None:
        pass


def in_chromium(site: Site, folder: Path) -> None:  # noqa: ARG001 - like the other one
    async def opened(browser: playwright.Browser) -> None:
        page = await browser.new_page()
        await page.goto(f"{site.root}/", timeout=0)

    with Chromium(browser_page.program(), ()) as chromium:
        chromium.run(opened, 120)


def in_firefox(site: Site, folder: Path) -> None:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("there is no Firefox (Debian: firefox-esr)")
    command = [program, "--headless", "--no-remote", "--profile", str(folder), "--screenshot", str(folder / "x.png")]
    environment = {**os.environ, "HOME": str(folder)}
    subprocess.run([*command, f"{site.root}/"], env=environment, capture_output=True, timeout=120, check=True)


def targets(site: Site, profile: Any) -> dict[str, str]:
    """Return the paths that absolve gives the references of all pages, by their names."""
    found = {}
    for path, (text, policy) in PAGES.items():
        headers = {"Content-Type": "text/html", "Content-Security-Policy": policy}
        rows = absolve.links(text, url=site.root + path, headers=headers, profile=profile, on_diagnostic=print)
        for row in rows:
            target = (row.target or "").removeprefix(site.root)
            found[row.reference.removeprefix("./").partition("#")[0]] = target.partition("#")[0]
    return found


# What a browser does otherwise: Firefox has srcdoc by the base of the page, and from 140 on asks for no imagesrcset; Chromium
# has an SVG image by the base when it lays out the page, from 150 on (SVG 2 does not say when), Firefox when it parses it.
OTHERWISE: dict[Callable[[Site, Path], None], set[str]] = {in_firefox: {*DIFFERENT, "link-imagesrcset"}, in_chromium: {"svg-image"}}


@pytest.mark.parametrize("load", [in_chromium, in_firefox])
def test_the_base_before_and_behind_each_element_is_that_of_browsers(load: Callable[[Site, Path], None], tmp_path: Path) -> None:
    for attempt in range(4):
        wrong = differences(load, tmp_path / str(attempt))
        if not wrong or not LATER.keys() >= {name.partition(".")[0] for name in wrong}:
            break  # a busy browser loads media before it has parsed the base
    assert not wrong


def differences(load: Callable[[Site, Path], None], folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Return the targets that a browser did not ask for, with the requests that it made instead."""
    folder.mkdir()
    site = Site()
    with running(site):
        load(site, folder)
    assert site.done.is_set()
    wrong = {}
    for profile in ("whatwg", "browser"):
        found = targets(site, profile)
        names = [name for name in found if re.search(r"\.(?:css|png|js|svg|html|mp4|mp3)\Z", name)]
        assert len(names) == len(PAGES) - 1  # the page of the DOM has hyperlinks
        for name in names:
            kind = name.partition(".")[0]
            seen = site.asked[name] if kind in {*LATER, "body-meta"} else site.asked[name][:1]
            if found[name] not in seen and kind not in OTHERWISE[load]:
                wrong[name] = found[name], site.asked[name]
        assert site.dom == [site.root + found[f"dom-{letter}"] for letter in "abcd"]
    return wrong
